package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

// A Tap is one listening address and the agent behind it. It maps origin to origin: the path of a request is that which
// the client asked for.
type Tap struct {
	proxy    *Proxy
	spec     TapSpec
	agent    origin
	listener net.Listener
	addr     *net.TCPAddr
	further  bool   // it opened by itself
	family   string // the name that further taps of the same agent begin with
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
func (t *Tap) listening(local net.Addr) string {
	ip := t.addr.IP
	if ip.IsUnspecified() {
		if at, ok := local.(*net.TCPAddr); ok {
			ip = at.IP
		} else {
			ip = net.IPv4(127, 0, 0, 1)
		}
	}
	host := ip.String()
	if t.addr.Zone != "" {
		host += "%25" + t.addr.Zone // RFC 6874 section 2
	}
	return net.JoinHostPort(host, strconv.Itoa(t.addr.Port))
}

// authority returns what stands for the tap in a URL: what the client used in Host if that is the tap's, otherwise the
// listening address.
func (t *Tap) authority(used string, local net.Addr) string {
	host, port, ok := parseAuthority(used)
	if !ok || port != strconv.Itoa(t.addr.Port) {
		return t.listening(local)
	}
	// Of a tap that other machines reach nobody here knows all names, but a loopback tap has only its own.
	name, own := newOrigin(host, port).host, newOrigin(t.addr.IP.String(), port).host
	if t.addr.IP.IsLoopback() && name != loopback && name != own {
		return t.listening(local)
	}
	return used
}

// listen opens a tap.
func (p *Proxy) listen(spec TapSpec) (*Tap, error) {
	addr, err := net.ResolveTCPAddr("tcp", spec.Listen)
	if err != nil {
		return nil, fmt.Errorf("open tap %s: %q is no address to listen on: %w", spec.Name, spec.Listen, err)
	}
	if addr.IP == nil {
		addr.IP = net.IPv4zero
	}
	if !addr.IP.IsLoopback() && !p.opts.AllowRemote {
		return nil, fmt.Errorf("open tap %s: %s can be reached from other machines, and whoever reaches it reaches the agent; "+
			"listen on 127.0.0.1, or give --allow-remote", spec.Name, spec.Listen)
	}
	listener, err := net.ListenTCP("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("open tap %s: port %d of %s is in use; stop what listens there, or choose another port after @ "+
			"(without one, a free port is taken): %w", spec.Name, addr.Port, addr.IP, err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("open tap %s: port %d needs a privilege; choose a port from 1024 on: %w", spec.Name, addr.Port, err)
	case err != nil:
		return nil, fmt.Errorf("open tap %s on %s: %w", spec.Name, spec.Listen, err)
	}
	return &Tap{
		proxy: p, spec: spec, agent: originOf(spec.Agent), family: spec.Name,
		listener: listener, addr: listener.Addr().(*net.TCPAddr),
	}, nil
}

// accept serves connections until the listening address is closed. What goes wrong with one connection, such as too many
// open files, is waited out.
func (t *Tap) accept(ctx context.Context) {
	const first, last = 5 * time.Millisecond, time.Second
	for pause := first; ; {
		conn, err := t.listener.Accept()
		if err == nil {
			pause = first
			t.proxy.served.Go(func() { t.relay(ctx, conn) })
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		t.proxy.notice(fmt.Sprintf("tap %s cannot accept connections for the moment: %v", t.Name(), err))
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		pause = min(2*pause, last)
	}
}

// relay serves one connection.
func (t *Tap) relay(ctx context.Context, client net.Conn) {
	l := newLink(t, client)
	cfg := relay.Config{
		Dial:        t.dial,
		Authority:   t.spec.Agent.Host,
		Observer:    l,
		HeadTimeout: t.proxy.opts.HeadTimeout,
		IdleTimeout: t.proxy.opts.IdleTimeout,
	}
	if !t.proxy.opts.NoRewrite {
		cfg.Editor = cardEditor{l}
	}
	err := relay.Serve(ctx, client, cfg) // what it says of exchanges is in the record
	if l.abandon() > 0 {
		t.proxy.notice(fmt.Sprintf("tap %s: recording of a connection has failed, its traffic went on: %v", t.Name(), err))
	}
}

// dial connects to the agent. The connection is refused if it would come back to a tap of ours.
func (t *Tap) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, t.proxy.opts.DialTimeout)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", hostPort(t.spec.Agent))
	if err != nil {
		return nil, err
	}
	if tap := t.proxy.isSelf(conn.LocalAddr(), conn.RemoteAddr()); tap != nil {
		conn.Close()
		return nil, fmt.Errorf("%s leads back to the tap of %s, which would be a loop", t.spec.Agent.Host, tap.Name())
	}
	if t.spec.Agent.Scheme != "https" {
		return conn, nil
	}
	config := t.proxy.tls.Clone()
	config.ServerName = t.spec.Agent.Hostname()
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// peer returns the agent as the record names it.
func (t *Tap) peer() capture.Peer {
	return capture.Peer{Name: t.spec.Name, Addr: hostPort(t.spec.Agent), URL: t.spec.Agent.String()}
}
