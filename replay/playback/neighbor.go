package playback

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/neighbor"
	"a2atap/replay/canonical"
)

// A neighborCall is a recorded call that is not A2A: of a model, an MCP server or another service. Like an exchange, it
// has only what is needed to find it.
type neighborCall struct {
	seq      uint64
	agent    string // its name
	upstream string // see upstreamOf
	form     *canonical.Form
	sample   canonical.Sample
	started  time.Time
	asks     bool // something, so that a run without it is another run
	refused  bool // it was answered with 401 or 403
	uses     int  // how often it was played; guarded by Player.mu

	x *capture.Exchange // nil if it is read again to be played
}

// hiding returns an exchange without its secrets.
type hiding = func(*capture.Exchange) (*capture.Exchange, error)

// neighbors are the recorded calls that are not A2A.
type neighbors struct {
	calls     []*neighborCall
	byMeaning map[canonical.Sum][]*neighborCall
	bodiless  map[string]uint64 // calls that cannot be played, since bodies are missing: the last one, by place
	lacking   int               // how many of those there are
	room      int               // bytes of contents that may still be kept
}

// keptContents bounds the contents of calls that are kept, in bytes: reading them again takes most of the time of an
// answer.
const keptContents = 8 << 20

// keep keeps the contents of a call if there is room.
func (n *neighbors) keep(c *neighborCall, x *capture.Exchange) {
	size := len(x.Request.Head) + len(x.Request.Body.Data)
	if r := x.Response; r != nil {
		size += len(r.Head) + len(r.Body.Data)
		for i := range r.Events {
			size += len(r.Events[i].Raw)
		}
	}
	if size <= n.room {
		n.room -= size
		c.x = x
	}
}

// neighborExchange returns the recorded exchange of a call.
func (p *Player) neighborExchange(c *neighborCall) (*capture.Exchange, error) {
	if c.x != nil {
		return c.x, nil
	}
	return p.recording.src.Exchange(p.ctx, c.seq)
}

// Operations of MCP that ask nothing: a stream for what the server has to say, and the end of a session.
const (
	listens = "listen"
	leaves  = "end session"
)

// asks reports whether a request asks something, so that a run without it is another run. upstream is where it goes.
func asks(q *canonical.Request, f *canonical.Form, upstream string) bool {
	if strings.HasPrefix(upstream, "stdio:") {
		return q.Method == http.MethodPost
	}
	return f.Call == nil || f.Call.Kind != neighbor.MCP || f.Call.Operation != listens && f.Call.Operation != leaves
}

// String describes the call, such as "chat gpt-x" or "GET /status".
func (c *neighborCall) String() string { return titleOf(c.form) }

func titleOf(f *canonical.Form) string {
	if f.Call == nil {
		return f.Place
	}
	return cmp.Or(f.Call.Title(), f.Place)
}

// requestOf returns the request of an exchange for comparison.
func requestOf(x *capture.Exchange) (*canonical.Request, error) {
	head := capture.ParseRequestHead(x.Request.Head)
	body, err := x.Request.Content()
	return &canonical.Request{Method: head.Method, Target: head.Target, Fields: head.Fields, Body: body}, err
}

// hiddenRequest returns the request of an exchange for comparison, with its secrets hidden. A body that hiding has
// withheld counts as it is, and is not shown.
func hiddenRequest(x, hidden *capture.Exchange) (*canonical.Request, error) {
	q, err := requestOf(hidden)
	if err == nil && x.Request.Body.Kept() && !hidden.Request.Body.Kept() {
		q.Secret = true
		q.Body, err = x.Request.Content()
	}
	return q, err
}

// upstreamOf returns the key of an agent's or a service's address: its origin, or the name of a tool on standard input
// and output.
func upstreamOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	if u.Scheme == "stdio" {
		return "stdio://" + u.Host
	}
	return origin(u)
}

// upstreams are the addresses of a recording.
type upstreams struct {
	known map[string]string // keys, by the addresses under which clients reached them
	bound map[string]string // the same for addresses that are not in the recording
}

// of returns the key of an address. The address itself is the key if the recording does not have it.
func (u *upstreams) of(address string) (key string, known bool) {
	key = upstreamOf(address)
	if was, ok := u.known[key]; ok {
		return was, true
	}
	if was, ok := u.bound[key]; ok {
		return was, true
	}
	return key, false
}

// sessions translate ids of MCP sessions, which a recording hides.
type sessions struct {
	live     map[string]string // by recorded id
	recorded map[string]string // by live id
}

// origin returns the origin of a URL in the form in which origins are compared.
func origin(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)])
	return strings.ToLower(u.Scheme) + "://" + net.JoinHostPort(hostname.Normal(u.Hostname()), port)
}

// Upstream returns the address of a service in the form in which addresses are compared: the origin of its URL, or the
// name of a tool on standard input and output.
func Upstream(address string) string { return upstreamOf(address) }
