package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	"github.com/elazarl/goproxy"

	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

// A ForwardSpec says what a forward proxy opens, and what it leaves alone. Listen and Leaf are required.
type ForwardSpec struct {
	Listen string // host:port; port 0 is a free one

	// Leaf returns the certificate that clients are shown in the place of an agent's, for a name or an IP address.
	Leaf func(host string) (*tls.Certificate, error)

	Tunnel []HostPattern // agents whose TLS is not opened: bytes pass, and nothing of them is observed
	Auth   *Credentials  // that clients must give; nil is none

	OnlyA2A bool // of exchanges without a sign of A2A, record no bodies
}

// A Forward is a forward proxy: clients name it as their HTTP proxy and go to any agent through it. Requests in
// absolute form and those inside CONNECT are recorded, each with the agent that it is for.
type Forward struct {
	proxy    *Proxy
	spec     ForwardSpec
	listener net.Listener
	addr     *net.TCPAddr
	hosts    *hostList                // that requests to itself, in origin form, may name
	front    *goproxy.ProxyHttpServer // decides about CONNECT
	rejected rejections               // clients that do not take our certificates
}

// Addr returns the listening address, host:port.
func (f *Forward) Addr() string { return f.addr.String() }

// URL returns what clients are to take as their HTTP and HTTPS proxy. A proxy that listens on all addresses names the
// loopback one.
func (f *Forward) URL() string {
	return "http://" + listeningAt(f.addr, nil)
}

// openForward opens the listening address of a forward proxy.
func (p *Proxy) openForward(spec ForwardSpec) (*Forward, error) {
	listener, err := p.listenTCP("the forward proxy", spec.Listen, "with --forward (0 is a free one)",
		"anybody who reaches it can go anywhere through it")
	if err != nil {
		return nil, err
	}
	f := &Forward{proxy: p, spec: spec, listener: listener, addr: listener.Addr().(*net.TCPAddr)}
	f.hosts = newHostList("this forward proxy", spec.Listen, f.addr, p.opts.AllowHosts)
	if !f.addr.IP.IsLoopback() && spec.Auth == nil {
		return nil, errors.Join(listener.Close(), fmt.Errorf("open the forward proxy: %s can be reached from other "+
			"machines; ask its clients for credentials with --proxy-auth USER:PASS, or listen on 127.0.0.1",
			spec.Listen))
	}
	for _, t := range p.taps {
		if t.agent == f.origin() {
			return nil, errors.Join(listener.Close(), fmt.Errorf("open the forward proxy: it would listen where the "+
				"agent %s is, %s; choose another port with --forward", t.Name(), t.spec.Agent))
		}
	}
	f.front = f.newFront()
	return f, nil
}

func (f *Forward) origin() origin { return newOrigin(f.addr.IP.String(), fmt.Sprint(f.addr.Port)) }

// newFront says what becomes of CONNECT: the first condition that holds decides. What passes goes to our own
// connections, since those of goproxy hold back heads, hide broken streams and do not notice clients that leave.
func (f *Forward) newFront() *goproxy.ProxyHttpServer {
	front := goproxy.NewProxyHttpServer()
	front.Logger = log.New(io.Discard, "", 0)
	front.OnRequest(when(func(c *connect) bool { return !f.admits(c.head) })).HijackConnect(then((*connect).challenge))
	isLoop := func(c *connect) bool { return newOrigin(c.to.Host, c.to.Port) == f.origin() }
	isTunnel := func(c *connect) bool { return f.tunnels(c.to) }
	front.OnRequest(when(isLoop)).HijackConnect(then((*connect).loop))
	front.OnRequest(when(isTunnel)).HijackConnect(then((*connect).tunnelAsAsked))
	front.OnRequest(when((*connect).isRejected)).HijackConnect(then((*connect).tunnelRejected))
	front.OnRequest().HijackConnect(then((*connect).intercept))
	return front
}

// when is a condition of the front on a connection that asks for CONNECT.
func when(holds func(*connect) bool) goproxy.ReqConditionFunc {
	return func(r *http.Request, _ *goproxy.ProxyCtx) bool { return holds(connectOf(r)) }
}

// then is what the front does with one.
func then(do func(*connect)) func(*http.Request, net.Conn, *goproxy.ProxyCtx) {
	return func(r *http.Request, _ net.Conn, _ *goproxy.ProxyCtx) { do(connectOf(r)) }
}

// tunnels reports whether the user wants the TLS of a target left alone.
func (f *Forward) tunnels(to relay.Target) bool {
	for _, pattern := range f.spec.Tunnel {
		if pattern.matches(to) {
			return true
		}
	}
	return false
}

// serve serves one connection of a client.
func (f *Forward) serve(ctx context.Context, conn net.Conn) {
	client, err := f.firstBytes(ctx, conn)
	if err != nil {
		conn.Close()
		return
	}
	if !client.begins("CONNECT ") {
		l := f.newForwardLink(conn, nil, "")
		f.relay(ctx, l, f.plainSession(l, client, conn))
		return
	}
	c, err := f.readConnect(ctx, client)
	if err != nil { // answered, or the client has closed
		client.Close()
		return
	}
	defer c.Close()
	defer func() {
		if v := recover(); v != nil {
			f.proxy.notice(fmt.Sprintf("the forward proxy gave a connection up: %v", v))
		}
	}()
	f.front.ServeHTTP(connectWriter{c}, c.request)
}

// plainSession returns the session of a client that asks in the clear, on conn, and names an agent in each request.
func (f *Forward) plainSession(l *forwardLink, client, conn net.Conn) relay.Session {
	hosts := admission{list: f.hosts, local: conn.LocalAddr(), refused: func(error) {}}
	return f.session(l, client, relay.Config{
		Accept: hosts.accept,
		Forward: &relay.Forward{
			Admit: f.admits,
			Dial: func(ctx context.Context, to relay.Target) (net.Conn, error) {
				return f.dial(ctx, to, to.Host)
			},
		},
	})
}

// session returns the session of a client, which l reports.
func (f *Forward) session(l *forwardLink, client net.Conn, cfg relay.Config) relay.Session {
	cfg.Observer = l
	cfg.HeadTimeout, cfg.IdleTimeout = f.proxy.opts.HeadTimeout, f.proxy.opts.IdleTimeout
	cfg.AnswerTimeout = f.proxy.opts.AnswerTimeout
	if cfg.Advise == nil {
		cfg.Advise = f.proxy.advise
	}
	return relay.New(client, cfg)
}

// relay relays one connection, in the clear or opened.
func (f *Forward) relay(ctx context.Context, l *forwardLink, s relay.Session) {
	err := s.Serve(ctx) // what it says of exchanges is in the record
	if l.abandon() > 0 {
		f.proxy.notice(fmt.Sprintf("the forward proxy: recording of a connection has failed, its traffic went on: %v",
			err))
	}
}

// dial connects to a target; name is whom its certificate must be for. A tap of ours may be the target, the forward
// proxy itself not.
func (f *Forward) dial(ctx context.Context, to relay.Target, name string) (net.Conn, error) {
	return f.proxy.connect(ctx, to.Authority(), to.Scheme == "https", name, func(conn net.Conn) error {
		local, _ := conn.LocalAddr().(*net.TCPAddr)
		remote, _ := conn.RemoteAddr().(*net.TCPAddr)
		if local != nil && remote != nil && leadsTo(f.addr, local, remote) {
			return fmt.Errorf("%s leads back to this forward proxy, which would be a loop", to.Authority())
		}
		return nil
	})
}

// peer returns the agent at a target as the record names it: the name of the tap in front of it, if there is one.
func (f *Forward) peer(to relay.Target) capture.Peer {
	f.proxy.mu.Lock()
	defer f.proxy.mu.Unlock()
	at := newOrigin(to.Host, to.Port)
	if t := f.proxy.aliases[at]; t != nil {
		return t.peer()
	}
	for _, t := range f.proxy.taps {
		if t.agent == at {
			return t.peer()
		}
	}
	return capture.Peer{Name: to.Authority(), Addr: to.Authority(), URL: to.String()}
}

// isTap reports whether a target is a tap of ours, which records what comes to it.
func (f *Forward) isTap(to relay.Target) bool {
	f.proxy.mu.Lock()
	defer f.proxy.mu.Unlock()
	return f.proxy.tapAt(newOrigin(to.Host, to.Port)) != nil
}
