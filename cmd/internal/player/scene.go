package player

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/replay/playback"
)

// A scene is a server in memory that stands for all upstreams of a program. Its connections do not leave the process.
type scene struct {
	player *playback.Player
	leaf   func(host string) (*tls.Certificate, error)
	plays  func(address string) bool // reports whether an address is answered from the recording
	isTap  func(address string) bool // reports whether a tap listens there, which knows where its requests go; may be nil

	numbers atomic.Int64 // of connections

	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
	server *http.Server
}

func newScene(leaf func(string) (*tls.Certificate, error), plays func(string) bool) *scene {
	s := &scene{leaf: leaf, plays: plays, conns: make(chan net.Conn), closed: make(chan struct{})}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	s.server = &http.Server{
		ReadHeaderTimeout: time.Minute, Protocols: protocols, ConnState: s.state,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, placeKey{}, placeOf(c))
		},
	}
	return s
}

// serve answers until stop is called.
func (s *scene) serve(player *playback.Player) {
	s.player, s.server.Handler = player, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, ok := r.Context().Value(placeKey{}).(*placed); ok {
			p.asked.Store(true)
		}
		player.ServeHTTP(w, r)
	})
	s.server.Serve(s) //nolint:errcheck // it ends with stop
}

func (s *scene) stop() {
	s.close.Do(func() { close(s.closed) })
	s.server.Close()
}

// placeKey is the key of the upstream that a request is for.
type placeKey struct{}

// upstream returns the URL that the client of a request sent it to.
func upstream(r *http.Request) string {
	switch at := r.Context().Value(placeKey{}).(type) {
	case *placed:
		return at.address
	case string:
		return at
	}
	return ""
}

// connect is proxy.Options.Connect.
func (s *scene) connect(ctx context.Context, address string, secure bool, protocols []string) (net.Conn, error) {
	if s.isTap != nil && s.isTap(address) {
		return nil, nil //nolint:nilnil // the tap, which comes here for its agent
	}
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	if !s.plays(scheme + address) {
		return nil, nil //nolint:nilnil // the agent itself
	}
	pipe, theirs := net.Pipe()
	number := &net.UnixAddr{Name: fmt.Sprintf("playback:%d", s.numbers.Add(1)), Net: "unix"}
	ours := &numbered{pipe, number}
	var at net.Conn = &placed{Conn: theirs, number: number, address: scheme + address}
	overTLS := secure && slices.Contains(protocols, "h2")
	if overTLS {
		host, _, _ := net.SplitHostPort(address)
		at = tls.Server(at, &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.leaf(host) },
		})
	}
	select {
	case s.conns <- at:
	case <-s.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if !overTLS {
		return ours, nil
	}
	session := tls.Client(ours, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: protocols, InsecureSkipVerify: true, //nolint:gosec // it does not leave the process
	})
	if err := session.HandshakeContext(ctx); err != nil {
		ours.Close()
		return nil, err
	}
	return session, nil
}

// Accept implements net.Listener.
func (s *scene) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (s *scene) Close() error {
	s.close.Do(func() { close(s.closed) })
	return nil
}

// Addr implements net.Listener.
func (s *scene) Addr() net.Addr { return &net.UnixAddr{Name: "playback", Net: "unix"} }

// state counts connections that brought something, and no request, as misses.
func (s *scene) state(c net.Conn, state http.ConnState) {
	p := placeOf(c)
	if _, overTLS := c.(*tls.Conn); state != http.StateClosed || p == nil || overTLS || !p.heard.Load() || p.asked.Load() {
		return
	}
	s.player.Refuse("connection to "+p.address, "it does not speak HTTP, and only HTTP can be played")
}

// A placed connection knows which upstream it stands for.
type placed struct {
	net.Conn
	number       net.Addr
	address      string // URL
	heard, asked atomic.Bool
}

// RemoteAddr implements net.Conn.
func (p *placed) RemoteAddr() net.Addr { return p.number }

// A numbered connection is the client's end of a placed one.
type numbered struct {
	net.Conn
	number net.Addr
}

// LocalAddr implements net.Conn.
func (n *numbered) LocalAddr() net.Addr { return n.number }

// Read implements net.Conn.
func (p *placed) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if n > 0 {
		p.heard.Store(true)
	}
	return n, err
}

func placeOf(c net.Conn) *placed {
	if session, ok := c.(*tls.Conn); ok {
		c = session.NetConn()
	}
	p, _ := c.(*placed)
	return p
}
