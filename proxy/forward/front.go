package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"

	"github.com/elazarl/goproxy"

	"a2atap/proxy/hostname"
	"a2atap/proxy/listener"
	"a2atap/proxy/relay"
)

// Open opens the listening address of a forward proxy.
func Open(o Options) (*Proxy, error) {
	l, err := listener.Open(listener.Spec{
		Address: o.Listen, What: "the forward proxy", Itself: "this forward proxy", Where: "with --forward (0 for a free one)",
		Danger: "anyone who can reach it can go anywhere through it", AllowRemote: o.AllowRemote, AllowHosts: o.AllowHosts,
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

// Serve serves connections, each in a goroutine of the group, until the listening address is closed.
func (f *Proxy) Serve(ctx context.Context, group *sync.WaitGroup) {
	f.listener.Accept(ctx, group, f.Notice, f.serve)
}

// newFront decides about CONNECT: the first matching condition counts. Passed traffic uses our own connections, since
// goproxy's hold back heads, hide broken streams and do not notice clients that leave.
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

// then is what the front does with a CONNECT.
func then(do func(*connect)) func(*http.Request, net.Conn, *goproxy.ProxyCtx) {
	return func(r *http.Request, _ net.Conn, _ *goproxy.ProxyCtx) { do(connectOf(r)) }
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
			f.Notice(fmt.Sprintf("the forward proxy dropped a connection: %v", v))
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
				dial := func() (net.Conn, error) {
					agent, err := f.dial(ctx, to, to.Host)
					return f.dialed(client, agent, err)
				}
				if to.Scheme == "http" && f.Tapped(hostname.NewOrigin(to.Host, to.Port)) {
					return f.HandOver(conn, dial)
				}
				return dial()
			},
		},
	})
}
