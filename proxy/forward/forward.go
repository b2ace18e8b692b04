package forward

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/elazarl/goproxy"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/internal/listener"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

// A Spec says what a forward proxy opens, and what it leaves alone. Listen and Leaf are required.
type Spec struct {
	Listen string // host:port; port 0 is a free one

	// Leaf returns the certificate that clients are shown in the place of an agent's, for a name or an IP address.
	Leaf func(host string) (*tls.Certificate, error)

	Tunnel []hostname.Pattern // agents whose TLS is not opened: bytes pass, and nothing of them is observed
	Auth   *Credentials       // that clients must give; nil is none

	OnlyA2A bool // of exchanges without a sign of A2A, record no bodies
}

// Options are a Spec and what a forward proxy has in common with the taps beside it. All but AllowHosts and the limits
// of time are required.
type Options struct {
	Spec

	Recorder *recording.Recorder

	// Connect connects to an agent, with TLS for the name if it is secure. Before any byte is sent, refuse may say why the
	// connection must not be used. Advise says what to do about an error of it.
	Connect func(ctx context.Context, address string, secure bool, name string,
		refuse func(net.Conn) error) (net.Conn, error)
	Advise func(err error, address string) string

	Tapped func(at hostname.Origin) bool                          // a tap of ours listens there, which records what comes to it
	Agent  func(at hostname.Origin) (agent capture.Peer, ok bool) // that is tapped there

	Notice     func(text string)                                 // tells the user something
	Upgraded   func(agent, protocol string)                      // a connection goes on in another protocol
	InFlight   func(n int)                                       // so many exchanges began, or ended
	FindCaller func(client net.Conn, connection *recording.Conn) // looks for the process of a client

	AllowRemote bool               // other machines may reach it
	AllowHosts  []hostname.Pattern // that requests to the forward proxy itself may name, beside its own

	// Less than 0 is without limit, and for the last 0 is, too.
	HeadTimeout, IdleTimeout, TunnelTimeout, AnswerTimeout time.Duration
}

// DefaultHeadTimeout is how long a head may take.
const DefaultHeadTimeout = 30 * time.Second

// A Proxy is a forward proxy: clients name it as their HTTP proxy and go to any agent through it. Requests in absolute
// form and those inside CONNECT are recorded, each with the agent that it is for.
type Proxy struct {
	Options
	listener *listener.Listener       // whose hosts requests to itself, in origin form, may name
	front    *goproxy.ProxyHttpServer // decides about CONNECT
	rejected rejections               // clients that do not take our certificates
}

// Open opens the listening address of a forward proxy.
func Open(o Options) (*Proxy, error) {
	l, err := listener.Open(listener.Spec{
		Address: o.Listen, What: "the forward proxy", Itself: "this forward proxy", Where: "with --forward (0 is a free one)",
		Danger: "whoever reaches it goes anywhere through it", AllowRemote: o.AllowRemote, AllowHosts: o.AllowHosts,
	})
	if err != nil {
		return nil, err
	}
	if !l.IP().IsLoopback() && o.Auth == nil {
		return nil, errors.Join(l.Close(), fmt.Errorf("open the forward proxy: %s can be reached from other "+
			"machines; ask its clients for credentials with --proxy-auth USER:PASS, or listen on 127.0.0.1", o.Listen))
	}
	f := &Proxy{Options: o, listener: l}
	f.front = f.newFront()
	return f, nil
}

// Addr returns the listening address, host:port.
func (f *Proxy) Addr() string { return f.listener.Addr() }

// Origin returns the listening address in the form in which origins are compared.
func (f *Proxy) Origin() hostname.Origin { return f.listener.Origin() }

// URL returns what clients are to take as their HTTP and HTTPS proxy. A proxy that listens on all addresses names the
// loopback one.
func (f *Proxy) URL() string { return "http://" + f.listener.At(nil) }

// Close closes the listening address. Connections go on until the context of Serve ends.
func (f *Proxy) Close() error { return f.listener.Close() }

// Reaches reports whether a connection from local to remote comes to this forward proxy.
func (f *Proxy) Reaches(local, remote net.Addr) bool { return f.listener.Reaches(local, remote) }

// Serve serves connections, each in a goroutine of the group, until the listening address is closed.
func (f *Proxy) Serve(ctx context.Context, group *sync.WaitGroup) {
	f.listener.Accept(ctx, group, f.Notice, f.serve)
}

// newFront says what becomes of CONNECT: the first condition that holds decides. What passes goes to our own
// connections, since those of goproxy hold back heads, hide broken streams and do not notice clients that leave.
func (f *Proxy) newFront() *goproxy.ProxyHttpServer {
	front := goproxy.NewProxyHttpServer()
	front.Logger = log.New(io.Discard, "", 0)
	front.OnRequest(when(func(c *connect) bool { return !f.admits(c.head) })).HijackConnect(then((*connect).challenge))
	isLoop := func(c *connect) bool { return hostname.NewOrigin(c.to.Host, c.to.Port) == f.listener.Origin() }
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
func (f *Proxy) tunnels(to relay.Target) bool {
	for _, pattern := range f.Tunnel {
		if pattern.Matches(hostname.Normal(to.Host), to.Port) {
			return true
		}
	}
	return false
}

// serve serves one connection of a client.
func (f *Proxy) serve(ctx context.Context, conn net.Conn) {
	client, err := f.firstBytes(ctx, conn)
	if err != nil {
		conn.Close()
		return
	}
	if !client.begins("CONNECT ") {
		l := f.newLink(conn, nil, "")
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
			f.Notice(fmt.Sprintf("the forward proxy gave a connection up: %v", v))
		}
	}()
	f.front.ServeHTTP(connectWriter{c}, c.request)
}

// plainSession returns the session of a client that asks in the clear, on conn, and names an agent in each request.
func (f *Proxy) plainSession(l *link, client, conn net.Conn) relay.Session {
	return f.session(l, client, relay.Config{
		Accept: f.listener.Admission(conn.LocalAddr(), nil),
		Forward: &relay.Forward{
			Admit: f.admits,
			Dial: func(ctx context.Context, to relay.Target) (net.Conn, error) {
				return f.dial(ctx, to, to.Host)
			},
		},
	})
}

// session returns the session of a client, which l reports.
func (f *Proxy) session(l *link, client net.Conn, cfg relay.Config) relay.Session {
	cfg.Observer = l
	cfg.HeadTimeout, cfg.IdleTimeout = f.HeadTimeout, f.IdleTimeout
	cfg.AnswerTimeout = f.AnswerTimeout
	if cfg.Advise == nil {
		cfg.Advise = f.Advise
	}
	return relay.New(client, cfg)
}

// relay relays one connection, in the clear or opened.
func (f *Proxy) relay(ctx context.Context, l *link, s relay.Session) {
	err := s.Serve(ctx) // what it says of exchanges is in the record
	if l.abandon() > 0 {
		f.Notice(fmt.Sprintf("the forward proxy: recording of a connection has failed, its traffic went on: %v",
			err))
	}
}

// dial connects to a target; name is whom its certificate must be for. A tap of ours may be the target, the forward
// proxy itself not.
func (f *Proxy) dial(ctx context.Context, to relay.Target, name string) (net.Conn, error) {
	return f.Connect(ctx, to.Authority(), to.Scheme == "https", name, func(conn net.Conn) error {
		if f.listener.Reaches(conn.LocalAddr(), conn.RemoteAddr()) {
			return fmt.Errorf("%s leads back to this forward proxy, which would be a loop", to.Authority())
		}
		return nil
	})
}

// peer returns the agent at a target as the record names it: the name of the tap in front of it, if there is one.
func (f *Proxy) peer(to relay.Target) capture.Peer {
	if agent, ok := f.Agent(hostname.NewOrigin(to.Host, to.Port)); ok {
		return agent
	}
	return capture.Peer{Name: to.Authority(), Addr: to.Authority(), URL: to.String()}
}
