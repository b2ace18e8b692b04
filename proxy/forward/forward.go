package forward

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/elazarl/goproxy"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/listener"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
	"a2atap/proxy/relay/h2"
)

// A Spec configures what a forward proxy opens, and what it leaves alone. Listen and Leaf are required.
type Spec struct {
	Listen string // host:port; port 0 is a free one

	// Leaf returns the certificate that clients are shown in the place of an agent's, for a name or an IP address.
	Leaf func(host string) (*tls.Certificate, error)

	Tunnel []hostname.Pattern // agents whose TLS is not opened: bytes pass, and nothing of them is observed
	Auth   *Credentials       // required of clients; nil means none

	Bodies recording.Scope // which exchanges are recorded with their bodies

	Names map[hostname.Origin]string // of agents without a tap
}

// Options are a Spec and what a forward proxy shares with the taps. All but AllowHosts and the time limits are
// required.
type Options struct {
	Spec

	Recorder *recording.Recorder

	// Connect connects to an agent, with TLS for the name and an offer of protocols if it is secure. Before any byte is
	// sent, refuse may return an error if the connection must not be used. Advise returns what to do about an error of
	// Connect.
	Connect func(ctx context.Context, address string, secure bool, name string,
		refuse func(net.Conn) error, protocols ...string) (net.Conn, error)
	Advise func(err error, address string) string

	Tapped func(at hostname.Origin) bool                          // reports whether a tap, which records its own traffic, listens there
	Agent  func(at hostname.Origin) (agent capture.Peer, ok bool) // tapped agents

	// HandOver connects to a tap by dial, for a client.
	HandOver func(client net.Conn, dial func() (net.Conn, error)) (net.Conn, error)

	OnDial     func(client, connection string)                   // see proxy.Options; may be nil
	Notice     func(text string)                                 // tells the user something
	Upgraded   func(agent, protocol string)                      // called when a connection switches to another protocol
	InFlight   func(n int)                                       // so many exchanges began, or ended
	FindCaller func(client net.Conn, connection *recording.Conn) // looks for the process of a client

	AllowRemote bool               // other machines may reach it
	AllowHosts  []hostname.Pattern // additional hosts that requests to the forward proxy itself may name

	// Less than 0 is without limit, and for the last 0 is, too.
	HeadTimeout, IdleTimeout, TunnelTimeout, AnswerTimeout time.Duration
}

// DefaultHeadTimeout is how long a head may take.
const DefaultHeadTimeout = 30 * time.Second

// A Proxy is a forward proxy: clients configure it as their HTTP proxy and reach any agent through it. Requests in
// absolute form and requests inside CONNECT are recorded, each with its agent.
type Proxy struct {
	Options
	listener *listener.Listener       // whose hosts requests to itself, in origin form, may name
	front    *goproxy.ProxyHttpServer // decides about CONNECT
	rejected rejections               // clients that do not take our certificates
}

// Addr returns the listening address, host:port.
func (f *Proxy) Addr() string { return f.listener.Addr() }

// Origin returns the listening address in the form in which origins are compared.
func (f *Proxy) Origin() hostname.Origin { return f.listener.Origin() }

// URL returns the URL for clients to use as their HTTP and HTTPS proxy. A proxy that listens on all addresses names the
// loopback one.
func (f *Proxy) URL() string { return "http://" + f.listener.At(nil) }

// Close closes the listening address. Connections continue until the context of Serve ends.
func (f *Proxy) Close() error { return f.listener.Close() }

// Reaches reports whether a connection from local to remote reaches this forward proxy.
func (f *Proxy) Reaches(local, remote net.Addr) bool { return f.listener.Reaches(local, remote) }

// tunnels reports whether the user excluded a target's TLS from interception.
func (f *Proxy) tunnels(to relay.Target) bool {
	host := hostname.Normal(to.Host)
	return slices.ContainsFunc(f.Tunnel, func(p hostname.Pattern) bool { return p.Matches(host, to.Port) })
}

// session returns the session of a client, which l reports.
func (f *Proxy) session(l *link, client net.Conn, cfg relay.Config) relay.Session {
	cfg.Observer = l
	cfg.HeadTimeout, cfg.IdleTimeout = f.HeadTimeout, f.IdleTimeout
	cfg.AnswerTimeout = f.AnswerTimeout
	if cfg.Advise == nil {
		cfg.Advise = f.Advise
	}
	if over := cfg; cfg.Forward == nil {
		cfg.HTTP2 = func(ctx context.Context, client net.Conn, begun []byte) error {
			return h2.Serve(ctx, client, begun, over)
		}
	}
	return relay.New(client, cfg)
}

// relay relays one connection, in the clear or opened.
func (f *Proxy) relay(ctx context.Context, l *link, s relay.Session) {
	err := s.Serve(ctx) // the record has its errors about exchanges
	if l.abandon() > 0 {
		f.Notice(fmt.Sprintf("the forward proxy: recording of a connection failed, its traffic was still forwarded: %v",
			err))
	}
}

// dial connects to a target; its certificate must be for name, and TLS offers protocols. The target may be a tap, but
// not the forward proxy itself.
func (f *Proxy) dial(ctx context.Context, to relay.Target, name string, protocols ...string) (net.Conn, error) {
	return f.Connect(ctx, to.Authority(), to.Scheme == "https", name, func(conn net.Conn) error {
		if f.listener.Reaches(conn.LocalAddr(), conn.RemoteAddr()) {
			return fmt.Errorf("%s leads back to this forward proxy, which would be a loop", to.Authority())
		}
		return nil
	}, protocols...)
}

// dialed reports a new connection for a client.
func (f *Proxy) dialed(client, conn net.Conn, err error) (net.Conn, error) {
	if err == nil && f.OnDial != nil {
		f.OnDial(client.RemoteAddr().String(), conn.LocalAddr().String())
	}
	return conn, err
}

// peer returns the agent at a target under its recorded name: the name of the tap in front of it, if there is one.
func (f *Proxy) peer(to relay.Target) capture.Peer {
	if agent, ok := f.Agent(hostname.NewOrigin(to.Host, to.Port)); ok {
		return agent
	}
	if name := f.Names[hostname.NewOrigin(to.Host, to.Port)]; name != "" {
		return capture.Peer{Name: name, Addr: to.Authority(), URL: to.String()}
	}
	return capture.Peer{Name: to.Authority(), Addr: to.Authority(), URL: to.String(), How: capture.ByAddress}
}

// maxSniffTimeout is how long a client may be silent after its CONNECT before the proxy assumes that the agent speaks
// first.
const maxSniffTimeout = 5 * time.Second

// firstBytes reads from a client until it is certain whether the client sends CONNECT. A silent client gets the timeout
// between requests, and a slow one the timeout of a head.
func (f *Proxy) firstBytes(ctx context.Context, conn net.Conn) (*peekedConn, error) {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	client := &peekedConn{Conn: conn}
	const method = "CONNECT "
	timeout := f.IdleTimeout
	for ; !client.begins(method) && client.mayBegin(method); timeout = f.headTimeout() {
		if timeout > 0 {
			conn.SetReadDeadline(time.Now().Add(timeout))
		}
		if err := client.more(); err != nil {
			if err == io.EOF && len(client.peeked) > 0 {
				break // the relay records the partial data
			}
			return nil, err
		}
	}
	return client, conn.SetReadDeadline(time.Time{})
}

// headTimeout is how long a head or a handshake may take.
func (f *Proxy) headTimeout() time.Duration {
	if f.HeadTimeout > 0 {
		return f.HeadTimeout
	}
	return DefaultHeadTimeout
}

// sniffTimeout is how long a client may be silent inside CONNECT.
func (f *Proxy) sniffTimeout() time.Duration { return min(maxSniffTimeout, f.headTimeout()) }
