package playback

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
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
	uses     int  // how often it was played
}

// neighbors are the recorded calls that are not A2A.
type neighbors struct {
	calls     []*neighborCall
	byMeaning map[canonical.Sum][]*neighborCall
	bodiless  map[string]uint64 // calls that cannot be played, since bodies are missing: the last one, by place
	lacking   int               // how many of those there are
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

// readNeighbor notes a call that is not A2A.
func (s *recording) readNeighbor(x *capture.Exchange, rules *canonical.Rules) {
	q, err := requestOf(x)
	if q.Method == http.MethodConnect || strings.HasPrefix(x.Agent.URL, "stdio:") && q.Target == "/stdout" {
		return // what passed inside is not known, or it is no call
	}
	if err != nil || !isWhole(x) {
		s.neighbors.bodiless[q.Method+" "+pathOf(q.Target)] = x.Seq
		s.neighbors.lacking++
		return
	}
	if !playable(x) {
		return
	}
	f := rules.Form(q)
	c := &neighborCall{
		started: x.Started, asks: asks(q, f, x.Agent.URL),
		seq: x.Seq, agent: x.Agent.Name, upstream: upstreamOf(x.Agent.URL), form: f, sample: rules.Sample(q),
	}
	if x.Response != nil {
		status := capture.ParseResponseHead(x.Response.Head).Status
		c.refused = status == http.StatusUnauthorized || status == http.StatusForbidden
	}
	n := &s.neighbors
	n.calls = append(n.calls, c)
	n.byMeaning[c.form.Meaning] = append(n.byMeaning[c.form.Meaning], c)
}

// isWhole reports whether the recording has everything of an exchange that was sent.
func isWhole(x *capture.Exchange) bool {
	if x.Request.Body.Dropped > 0 || x.Lost > 0 || !x.Request.Body.Kept() && x.Request.Body.Size > 0 {
		return false
	}
	r := x.Response
	switch {
	case r == nil, r.Stream && !capture.IsGRPC(mediaTypeOf(r)):
		return true
	case capture.IsGRPC(mediaTypeOf(r)):
		return false // of an unknown service
	}
	return r.Body.Dropped == 0 && (r.Body.Kept() || r.Body.Size == 0)
}

func mediaTypeOf(r *capture.Response) string {
	head := capture.ParseResponseHead(r.Head)
	return head.Fields.MediaType()
}

// pathOf returns the path of a request's target in origin or absolute form.
func pathOf(target string) string {
	if u, err := url.Parse(target); err == nil {
		return u.EscapedPath()
	}
	return target
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

// learnUpstream notes the addresses of an exchange: where the agent is, and the tap that its client used.
func (s *recording) learnUpstream(x *capture.Exchange) {
	key := upstreamOf(x.Agent.URL)
	if key == "" {
		return
	}
	s.upstreams.known[key] = key
	head := capture.ParseRequestHead(x.Request.Head)
	if host := head.Fields.Get("Host"); host != "" && !strings.HasPrefix(key, "stdio:") {
		if tap := upstreamOf("http://" + host); tap != "" && s.upstreams.known[tap] == "" {
			s.upstreams.known[tap] = key
		}
	}
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

// A neighborRequest is a live request for comparison.
type neighborRequest struct {
	*canonical.Request
	form    *canonical.Form
	address string // that it was sent to; "" if that does not matter
	session string // recorded id of its MCP session; "" if it has none
	asks    bool   // as in a neighborCall
}

// asked returns the request of a service for comparison, with its secrets hidden.
func (s *service) asked() (*neighborRequest, error) {
	p := s.p
	x := &capture.Exchange{
		Seq: 1, Started: time.Now().UTC(), State: capture.StateClosed,
		Request: capture.Request{
			Head: headOf(s.r), Body: capture.Body{Data: s.body, Size: int64(len(s.body)), Complete: true},
		},
	}
	if x.Request.Body.Data == nil {
		x.Request.Body.Data = []byte{}
	}
	q := &neighborRequest{}
	if p.opts.Upstream != nil {
		q.address = p.opts.Upstream(s.r)
		x.Agent.URL = q.address
	}
	if p.opts.Hide != nil {
		hidden, err := p.opts.Hide(x)
		if err != nil {
			return nil, err
		}
		x = hidden
	}
	var err error
	if q.Request, err = requestOf(x); err != nil {
		return nil, err
	}
	q.form = p.rules.Form(q.Request)
	q.asks = asks(q.Request, q.form, q.address)
	p.mu.Lock()
	q.session = p.sessions.recorded[s.r.Header.Get("Mcp-Session-Id")]
	p.mu.Unlock()
	return q, nil
}

// headOf returns the head of a request as a client writes it.
func headOf(r *http.Request) []byte {
	var b strings.Builder
	b.WriteString(r.Method + " " + r.RequestURI + " HTTP/1.1\r\nHost: " + r.Host + "\r\n")
	r.Header.Write(&b) //nolint:errcheck // it is a buffer
	b.WriteString("\r\n")
	return []byte(b.String())
}

// isNeighbor reports whether a request that matches nothing counts as one that is not A2A.
func (s *service) isNeighbor() bool {
	if s.neighbor == nil {
		return !s.call.A2A()
	}
	if c := s.neighbor.form.Call; c != nil && (c.Kind == neighbor.Model || c.Kind == neighbor.MCP) {
		return true
	}
	return s.p.opts.Upstream != nil && (!s.call.A2A() || !s.p.isAgent(s.r, &s.call))
}

// isAgent reports whether an agent is played at the upstream of a request. An unknown upstream may be an agent if the
// request is a call of A2A.
func (p *Player) isAgent(r *http.Request, call *a2a.Call) bool {
	at := p.upstream(r)
	return slices.ContainsFunc(p.recording.exchanges, func(a *exchange) bool {
		return a.form.upstream == at || at == "" && call.Operation != a2a.NoOperation
	})
}
