package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"

	"a2atap/proxy/capture"
	"a2atap/proxy/hold"
	"a2atap/proxy/hostname"
	"a2atap/proxy/injection"
	"a2atap/proxy/internal/card"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
	"a2atap/proxy/relay/h2"
	"a2atap/proxy/webhook"
)

// Name returns the agent's name.
func (t *Tap) Name() string { return t.spec.Name }

// Agent returns the agent's URL, which must not be changed.
func (t *Tap) Agent() *url.URL { return t.spec.Agent }

// Addr returns the listening address, host:port.
func (t *Tap) Addr() string { return t.listener.Addr() }

// URL returns the URL for clients instead of the agent's: the tap's origin with the agent's path and query. For a tap
// on all addresses it has the loopback address.
func (t *Tap) URL() string {
	u := *t.spec.Agent
	u.Scheme, u.Host = "http", t.listener.At(nil)
	return u.String()
}

// relay serves one connection.
func (t *Tap) relay(ctx context.Context, client net.Conn) {
	l := newLink(t, client)
	err := t.session(l, client).Serve(ctx) // the record has its errors about exchanges
	if l.abandon() > 0 {
		t.proxy.notice(fmt.Sprintf("tap %s: recording of a connection failed, its traffic was still forwarded: %v", t.Name(),
			err))
	}
}

// session returns the session of a client, which l reports.
func (t *Tap) session(l *link, client net.Conn) relay.Session {
	cfg := relay.Config{
		Dial:        func(ctx context.Context) (net.Conn, error) { return l.dial(ctx) },
		Authority:   t.spec.Agent.Host,
		Accept:      t.listener.Admission(l.local, t.refused),
		Observer:    l,
		HeadTimeout: t.proxy.opts.HeadTimeout,
		IdleTimeout: t.proxy.opts.IdleTimeout,

		AnswerTimeout: t.proxy.opts.AnswerTimeout,
		Advise: func(err error, authority string) string {
			if authority != t.spec.Agent.Host { // it is a webhook
				return ""
			}
			return t.proxy.advise(err, hostname.HostPort(t.spec.Agent))
		},
	}
	switch {
	case l.hooks != nil && !t.hooks.Leaves():
		cfg.Editor, cfg.Route = l.hooks, t.hooks.Route(cfg.Accept)
	case !t.cards.Leaves:
		cfg.Editor = l.cards
	}
	cfg.HTTP2 = func(ctx context.Context, client net.Conn, begun []byte) error {
		return h2.Serve(ctx, client, begun, t.overHTTP2(cfg, l))
	}
	return relay.New(client, cfg)
}

// overHTTP2 returns the configuration of a client that speaks HTTP/2.
func (t *Tap) overHTTP2(cfg relay.Config, l *link) relay.Config {
	cfg.Dial = func(ctx context.Context) (net.Conn, error) {
		conn, err := t.dialFor(ctx, l.client, "h2")
		if session, ok := conn.(*tls.Conn); ok && session.ConnectionState().NegotiatedProtocol != "h2" {
			conn.Close()
			return nil, errors.New("it does not support HTTP/2 (ALPN, RFC 7301)")
		}
		if l.faults != nil && err == nil {
			conn = l.faults.WrapHTTP2(ctx, conn)
		}
		return conn, err
	}
	return cfg
}

// refused tells the user, once, of a request for a host that the tap does not accept.
func (t *Tap) refused(why error) {
	t.misdirected.Do(func() { t.proxy.notice(fmt.Sprintf("tap %s refused a request: %v", t.Name(), why)) })
}

// dialFor connects to the agent for the client with an address.
func (t *Tap) dialFor(ctx context.Context, client string, protocols ...string) (net.Conn, error) {
	conn, err := t.dial(ctx, protocols...)
	if err == nil && t.proxy.opts.OnDial != nil {
		t.proxy.opts.OnDial(client, conn.LocalAddr().String())
	}
	return conn, err
}

// dial connects to the agent. It refuses a connection that would come back to the proxy.
func (t *Tap) dial(ctx context.Context, protocols ...string) (net.Conn, error) {
	u := t.spec.Agent
	refuse := t.proxy.refuseLoop(u.Host)
	return t.proxy.connect(ctx, hostname.HostPort(u), u.Scheme == "https", u.Hostname(), func(conn net.Conn) error {
		if err := refuse(conn); err != nil {
			return err
		}
		t.proxy.callers.reached(t, conn.RemoteAddr())
		return nil
	}, protocols...)
}

// AgentName returns the agent's name in the record: that of a further tap is the one of the agent whose card names the address.
func (t *Tap) AgentName() string { return t.family }

// peer returns the agent's peer for the record.
func (t *Tap) peer() capture.Peer {
	return capture.Peer{Name: t.family, Addr: hostname.HostPort(t.spec.Agent), URL: t.spec.Agent.String()}
}

// A link is one client connection through a tap. It records the traffic, passes it to the editors, and counts exchanges
// in flight.
type link struct {
	*recording.Conn
	tap    *Tap
	client string // its address in the record
	local  net.Addr
	cards  *card.Editor
	hooks  *webhook.Editor     // nil if webhooks bypass the tap
	faults *injection.Injector // injects faults into its answers; nil for none
	held   *hold.Line          // holds the user's messages; nil if none can be held
}

var _ relay.StreamObserver = (*link)(nil)

func newLink(t *Tap, client net.Conn) *link {
	from := t.proxy.handover.client(client)
	l := &link{tap: t, client: from.RemoteAddr().String(), local: client.LocalAddr()}
	l.Conn = t.proxy.opts.Recorder.Conn(t.peer(), l.client)
	l.cards = t.cards.NewEditor(l.local, l.Conn)
	if t.hooks != nil {
		l.hooks = t.hooks.NewEditor(l.cards, l.Conn, t.listener.At(l.local))
	}
	if t.faults != nil {
		l.faults = injection.New(t.faults, l.Fact, func(text string) { t.proxy.notice("tap " + t.Name() + ": " + text) })
	}
	if desk := t.proxy.opts.Hold; desk != nil && l.faults == nil { // fault injection must see traffic as it passes
		l.held = desk.Line(t.peer(), l.Fact, l.NameNow)
	}
	t.proxy.callers.look(from, t.family, l.Conn)
	return l
}

// Stream implements relay.StreamObserver.
func (l *link) Stream(x int, id uint32) {
	l.Conn.Stream(x, id)
	if l.faults != nil {
		l.faults.Stream(x, id)
	}
	if l.held != nil {
		l.held.Stream()
	}
}

// Request implements relay.Observer.
func (l *link) Request(x int, head []byte) {
	l.tap.proxy.inFlight.add(1)
	if l.hooks != nil && l.hooks.ObserveRequest(x, head) {
		return
	}
	l.Conn.Request(x, head)
	if l.faults != nil {
		l.faults.Request(x, head)
	}
	if l.held != nil {
		l.held.Request(x, head)
	} else if desk := l.tap.proxy.opts.Hold; desk != nil {
		desk.Pass("agents with --fault are not held")
	}
	l.cards.ObserveRequest(x, head)
}

// RequestBody implements relay.Observer.
func (l *link) RequestBody(x int, p []byte) {
	if l.faults != nil {
		l.faults.RequestBody(x, p)
	}
	recorded := p
	if l.hooks != nil {
		recorded = l.hooks.ObserveRequestBody(x, p)
	}
	l.Conn.RequestBody(x, recorded)
	l.cards.ObserveRequestBody(x, p)
}

// RequestEnd implements relay.Observer.
func (l *link) RequestEnd(x int, trailer []byte) {
	if l.hooks != nil {
		if rest := l.hooks.ObserveRequestEnd(x); len(rest) > 0 {
			l.Conn.RequestBody(x, rest)
		}
	}
	l.Conn.RequestEnd(x, trailer)
	if l.faults != nil {
		l.faults.RequestEnd(x)
	}
	if l.held != nil {
		l.held.RequestEnd(x)
	}
	l.cards.ObserveRequestEnd(x)
}

// Answer implements relay.Observer.
func (l *link) Answer(x int, head []byte) {
	l.Conn.Answer(x, head)
	l.cards.ObserveAnswer(x, head)
	if l.hooks != nil {
		l.hooks.ObserveAnswer(x, head)
	}
}

// AnswerBody implements relay.Observer.
func (l *link) AnswerBody(x int, p []byte) {
	l.cards.ObserveAnswerBody(x, p)
	if l.hooks != nil {
		p = l.hooks.ObserveAnswerBody(x, p, false)
	}
	l.Conn.AnswerBody(x, p)
}

// AnswerEnd implements relay.Observer.
func (l *link) AnswerEnd(x int, trailer []byte) {
	l.cards.ObserveAnswerEnd(x)
	if l.hooks != nil {
		if rest := l.hooks.ObserveAnswerBody(x, nil, true); len(rest) > 0 {
			l.Conn.AnswerBody(x, rest)
		}
	}
	l.Conn.AnswerEnd(x, trailer)
	if l.held != nil {
		l.held.AnswerEnd(x)
	}
}

// Fault implements relay.Observer.
func (l *link) Fault(x int, f relay.TransportError) {
	if l.faults != nil {
		f = l.faults.Fault(x, f)
	}
	if l.held != nil {
		f = l.held.Fault(x, f)
	}
	l.Conn.Fault(x, f)
}

// dial connects to the agent, with any faults to inject and messages to hold.
func (l *link) dial(ctx context.Context) (net.Conn, error) {
	conn, err := l.tap.dialFor(ctx, l.client)
	switch {
	case err != nil:
	case l.faults != nil:
		conn = l.faults.Wrap(conn)
	case l.held != nil:
		conn = l.held.Wrap(conn, func(ctx context.Context) (net.Conn, error) { return l.tap.dialFor(ctx, l.client) })
	}
	return conn, err
}

// Ended implements relay.Observer.
func (l *link) Ended(x int) {
	l.Conn.Ended(x)
	if l.faults != nil {
		l.faults.Ended(x)
	}
	if l.held != nil {
		l.held.Ended(x)
	}
	l.tap.proxy.inFlight.add(-1)
	l.cards.ObserveEnded(x)
	if l.hooks != nil {
		l.hooks.ObserveEnded(x)
	}
}

// abandon ends the exchanges that the relay has left open, which happens only after a panic: the relay then reports
// nothing more. It returns their number.
func (l *link) abandon() int {
	n := l.Conn.Abandon()
	l.tap.proxy.inFlight.add(-n)
	return n
}

// Upgraded implements relay.Observer.
func (l *link) Upgraded(x int) {
	l.Conn.Upgraded(x)
	protocol, agent := l.Protocol(x)
	l.tap.proxy.upgraded(agent, protocol)
}
