package forward

import (
	"fmt"
	"net"
	"strings"
	"sync"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

// A link records one client connection through the forward proxy, or the traffic inside its CONNECT.
type link struct {
	*recording.Conn
	forward  *Proxy
	agent    capture.Peer  // the default agent
	pinned   *relay.Target // of CONNECT: where all exchanges go; nil if each names its own target
	user     string        // that the client has given with CONNECT
	sni      string        // the name that TLS uses, if CONNECT has another
	isTunnel bool          // a tunnel may last forever, so nothing waits for its end

	mu    sync.Mutex
	noted bool // the notes about the connection were recorded
}

var _ relay.StreamObserver = (*link)(nil)

func (f *Proxy) newLink(client net.Conn, pinned *relay.Target, user string) *link {
	agent := capture.Peer{Name: "a2atap", Addr: f.Addr()}
	if pinned != nil {
		agent = f.peer(*pinned)
	}
	l := &link{
		Conn:    f.Recorder.Conn(agent, client.RemoteAddr().String()),
		forward: f, agent: agent, pinned: pinned, user: user,
	}
	l.Bodies = f.Bodies
	if user == "" {
		f.FindCaller(client, l.Conn)
	}
	return l
}

// Request implements relay.Observer.
func (l *link) Request(x int, head []byte) {
	if !l.isTunnel {
		l.forward.InFlight(1)
	}
	h := capture.ParseRequestHead(head)
	to, known := l.target(&h)
	if known && l.forward.Tapped(hostname.NewOrigin(to.Host, to.Port)) {
		return // the tap records it
	}
	agent, user := l.agent, l.user
	if known {
		agent = l.forward.peer(to)
	}
	if l.pinned == nil {
		user = proxyUser(head)
	}
	l.RequestTo(x, head, agent, user)
	if known && h.Method != "CONNECT" {
		l.note(x, &h, to)
	}
}

// target returns the destination of an exchange, if known.
func (l *link) target(h *capture.Head) (to relay.Target, known bool) {
	if l.pinned != nil {
		return *l.pinned, true
	}
	to, _, _, err := relay.ParseTarget(h.Target)
	return to, err == nil
}

// note adds a note if a client names its target in two different ways.
func (l *link) note(x int, h *capture.Head, to relay.Target) {
	host, has := h.Fields.Get("Host"), h.Fields.Has("Host")
	at, _, _, err := relay.ParseTarget(to.Scheme + "://" + host)
	switch {
	case !has || err == nil && at == to:
	case l.pinned != nil:
		l.Fact(x, capture.Fact{
			Note: fmt.Sprintf("Host is %s inside CONNECT to %s: the request was sent to the latter", host, to.Authority()),
		})
	default:
		_, now, _, _ := relay.ParseTarget(h.Target)
		l.Fact(x, capture.Fact{
			Note: fmt.Sprintf("Host is %s, and the request target %s: the request was sent to the latter (RFC 9112 "+
				"section 3.2.2)", host, to.Authority()),
			Rewrites: rawhead.Rewrite("request", "Host", []string{host}, now),
		})
	}
	if l.sni == "" {
		return
	}
	l.mu.Lock()
	first := !l.noted
	l.noted = true
	l.mu.Unlock()
	if first {
		l.Fact(x, capture.Fact{
			Note: fmt.Sprintf("TLS is for %s inside CONNECT to %s: the connection went to the latter, "+
				"and was verified for the former", strings.ToLower(l.sni), to.Authority()),
		})
	}
}

// Ended implements relay.Observer.
func (l *link) Ended(x int) {
	l.Conn.Ended(x)
	if !l.isTunnel {
		l.forward.InFlight(-1)
	}
}

// abandon ends the exchanges that the relay has left open, which happens only after a panic. It returns their number.
func (l *link) abandon() int {
	n := l.Conn.Abandon()
	l.forward.InFlight(-n)
	return n
}

// Upgraded implements relay.Observer.
func (l *link) Upgraded(x int) {
	l.Conn.Upgraded(x)
	protocol, agent := l.Protocol(x)
	l.forward.Upgraded(agent, protocol)
}
