package proxy

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/injection"
	"a2atap/proxy/relay"
)

// A Tap is one listening address and the agent behind it. It maps origin to origin: the path of a request is that which
// the client asked for.
type Tap struct {
	proxy       *Proxy
	spec        TapSpec
	agent       origin
	listener    net.Listener
	addr        *net.TCPAddr
	hosts       *hostList
	cardPaths   cardPaths
	misdirected sync.Once       // the user was told of a request for another host
	further     bool            // it opened by itself
	family      string          // the name that further taps of the same agent begin with
	faults      *injection.Plan // made in its answers; nil for none

	diverts atomic.Bool                    // the agent was given an address of ours for a webhook
	reached atomic.Pointer[netip.AddrPort] // where the agent was; nil before
}

// Name returns the agent's name.
func (t *Tap) Name() string { return t.spec.Name }

// Agent returns the agent's URL, which must not be changed.
func (t *Tap) Agent() *url.URL { return t.spec.Agent }

// Addr returns the listening address, host:port.
func (t *Tap) Addr() string { return t.addr.String() }

// URL returns what a client is to use in place of the agent's URL: the tap's origin and the agent's path and query. A
// tap that listens on all addresses names the loopback one.
func (t *Tap) URL() string {
	u := *t.spec.Agent
	u.Scheme, u.Host = "http", t.listening(nil)
	return u.String()
}

// listening returns host:port of the tap as a client can use it that has reached us at local.
func (t *Tap) listening(local net.Addr) string { return listeningAt(t.addr, local) }

func listeningAt(addr *net.TCPAddr, local net.Addr) string {
	ip := addr.IP
	if ip.IsUnspecified() {
		if at, ok := local.(*net.TCPAddr); ok {
			ip = at.IP
		} else {
			ip = net.IPv4(127, 0, 0, 1)
		}
	}
	host := ip.String()
	if addr.Zone != "" {
		host += "%25" + addr.Zone // RFC 6874 section 2
	}
	return net.JoinHostPort(host, strconv.Itoa(addr.Port))
}

// authority returns what stands for the tap in a URL: what the client used in Host if that is the tap's, otherwise the
// listening address.
func (t *Tap) authority(used string, local net.Addr) string {
	host, port, ok := parseAuthority(used)
	if !ok || port != strconv.Itoa(t.addr.Port) {
		return t.listening(local)
	}
	if !t.hosts.has(host, port, local) {
		return t.listening(local)
	}
	return used
}

// listen opens a tap.
func (p *Proxy) listen(spec TapSpec) (*Tap, error) {
	listener, err := p.listenTCP("tap "+spec.Name, spec.Listen, "after @ (without one, a free port is taken)",
		"anybody who reaches it reaches the agent")
	if err != nil {
		return nil, err
	}
	t := &Tap{
		proxy: p, spec: spec, agent: originOf(spec.Agent), family: spec.Name,
		listener: listener, addr: listener.Addr().(*net.TCPAddr),
	}
	t.hosts = newHostList("this tap", spec.Listen, t.addr, p.opts.AllowHosts)
	// Clients that a file of hosts or an option of theirs leads here name the agent itself, which then hears nothing new.
	t.hosts.names = append(t.hosts.names, hostname.Normal(spec.Agent.Hostname()))
	for _, a := range p.opts.Aliases {
		if a.Name == spec.Name {
			t.hosts.names = append(t.hosts.names, hostname.Normal(a.URL.Hostname()))
		}
	}
	return t, nil
}

// relay serves one connection.
func (t *Tap) relay(ctx context.Context, client net.Conn) {
	l := newLink(t, client)
	err := t.session(l, client).Serve(ctx) // what it says of exchanges is in the record
	if l.abandon() > 0 {
		t.proxy.notice(fmt.Sprintf("tap %s: recording of a connection has failed, its traffic went on: %v", t.Name(),
			err))
	}
}

// session returns the session of a client, which l reports.
func (t *Tap) session(l *link, client net.Conn) relay.Session {
	hosts := admission{list: t.hosts, local: l.local, refused: t.refused}
	cfg := relay.Config{
		Dial:        func(ctx context.Context) (net.Conn, error) { return l.dial(ctx, client) },
		Authority:   t.spec.Agent.Host,
		Accept:      hosts.accept,
		Observer:    l,
		HeadTimeout: t.proxy.opts.HeadTimeout,
		IdleTimeout: t.proxy.opts.IdleTimeout,

		AnswerTimeout: t.proxy.opts.AnswerTimeout,
		Advise: func(err error, authority string) string {
			if authority != t.spec.Agent.Host { // it is a webhook
				return ""
			}
			return t.proxy.advise(err, hostPort(t.spec.Agent))
		},
	}
	switch {
	case t.proxy.seals != nil:
		cfg.Editor, cfg.Detour = hookEditor{cardEditor{l}}, t.detour()
	case !t.proxy.opts.NoRewrite:
		cfg.Editor = cardEditor{l}
	}
	return relay.New(client, cfg)
}

// refused tells the user, once, of a request for a host that is not the tap's.
func (t *Tap) refused(why error) {
	t.misdirected.Do(func() { t.proxy.notice(fmt.Sprintf("tap %s refused a request: %v", t.Name(), why)) })
}

// dialFor connects to the agent for a client.
func (t *Tap) dialFor(ctx context.Context, client net.Conn) (net.Conn, error) {
	conn, err := t.dial(ctx)
	if err == nil && t.proxy.opts.OnDial != nil {
		t.proxy.opts.OnDial(client.RemoteAddr().String(), conn.LocalAddr().String())
	}
	return conn, err
}

// dial connects to the agent. The connection is refused if it would come back to us.
func (t *Tap) dial(ctx context.Context) (net.Conn, error) {
	u := t.spec.Agent
	refuse := t.proxy.refuseLoop(u.Host)
	return t.proxy.connect(ctx, hostPort(u), u.Scheme == "https", u.Hostname(), func(conn net.Conn) error {
		if err := refuse(conn); err != nil {
			return err
		}
		t.proxy.callers.reached(t, conn.RemoteAddr())
		return nil
	})
}

// peer returns the agent as the record names it.
func (t *Tap) peer() capture.Peer {
	return capture.Peer{Name: t.spec.Name, Addr: hostPort(t.spec.Agent), URL: t.spec.Agent.String()}
}
