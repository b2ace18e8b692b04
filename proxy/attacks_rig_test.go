package proxy_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// A road is one of those that traffic takes through a proxy: through a tap to an agent in the clear or on TLS, or through
// a forward proxy in the clear or inside a CONNECT that is opened. Over HTTP/2 there is a CONNECT in the clear, too.
type road struct{ forward, secure, http2 bool }

// everyRoad runs a test for each of the roads: those of HTTP/1.1, and of HTTP/2 where that is wanted.
func everyRoad(t *testing.T, http2 bool, test func(t *testing.T, r road)) {
	for name, r := range map[string]road{
		"tap": {}, "TLS": {secure: true}, "plain": {forward: true}, "intercepted": {forward: true, secure: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, r)
		})
		if !http2 {
			continue
		}
		t.Run(name+" over HTTP/2", func(t *testing.T) {
			t.Parallel()
			r := r
			r.http2 = true
			test(t, r)
		})
	}
}

// agent starts an agent at the end of the road.
func (r road) agent(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	if r.http2 {
		return newHTTP2Agent(t, r.secure, handler)
	}
	return (way{r.secure}).agent(t, handler)
}

// A trip is a proxy with an agent at the end of a road.
type trip struct {
	*rig
	road
	agent   string // the agent's address
	forward *forwardRig
}

// to builds a proxy on the road to an agent.
func (r road) to(t *testing.T, agent string, set func(*proxy.Options)) *trip {
	t.Helper()
	if r.forward {
		f := newForwardRig(t, set)
		return &trip{f.rig, r, agent, f}
	}
	scheme := "http://"
	if r.secure {
		scheme = "https://"
	}
	return &trip{newRig(t, func(o *proxy.Options, recorder *recording.Options) {
		o.RootCAs = testRoots(t)
		recorder.IfFull = recording.Wait
		if set != nil {
			set(o)
		}
	}, "booker="+scheme+agent), r, agent, nil}
}

// serve starts an agent and builds a proxy on the road to it.
func (r road) serve(t *testing.T, set func(*proxy.Options), handler http.HandlerFunc) *trip {
	t.Helper()
	return r.to(t, r.agent(t, handler).Listener.Addr().String(), set)
}

// listen starts an agent that the test plays, and builds a proxy on the road to it.
func (r road) listen(t *testing.T, set func(*proxy.Options)) (*trip, net.Listener) {
	t.Helper()
	l := (way{r.secure}).listen(t)
	return r.to(t, l.Addr().String(), set), l
}

// entry is where connections of clients arrive.
func (p *trip) entry() string {
	if p.forward != nil {
		return p.forward.forward.Addr()
	}
	return p.tap(0).Addr()
}

// dial connects as a client does, and returns what its targets begin with and the host that it names.
func (p *trip) dial() (conn net.Conn, origin, host string) {
	p.t.Helper()
	if p.forward != nil {
		conn, origin = (way{p.secure}).dial(p.forward, p.agent)
		return conn, origin, p.agent
	}
	conn = must.Get(net.Dial("tcp", p.entry()))(p.t)
	p.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(4 * must.Patience))
	return conn, "", p.entry()
}

// client returns a client and the URL of the agent as it knows it.
func (p *trip) client() (client *http.Client, url string) { return p.clientOf("") }

// clientOf is client for one that says to a forward proxy who it is.
func (p *trip) clientOf(user string) (client *http.Client, url string) {
	switch {
	case p.forward == nil && p.http2:
		return newHTTP2Client(p.t), "http://" + p.entry()
	case p.forward == nil:
		return newClient(p.t), "http://" + p.entry()
	}
	client, url = p.forward.client(user), (way{p.secure}).scheme()+"://"+p.agent
	if transport := client.Transport.(*http.Transport); p.http2 {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP2(p.secure)
		transport.Protocols.SetUnencryptedHTTP2(!p.secure)
		if !p.secure {
			transport.Proxy = nil
			transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
				conn := p.forward.dial()
				fields := "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":")) + "\r\n"
				p.forward.connect(conn, p.agent, fields)
				return conn, nil
			}
		}
	}
	return client, url
}

// accept takes a connection of the agent's.
func accept(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn := must.Get(l.Accept())(t)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(4 * must.Patience))
	return conn
}

// noRoots trusts no certificate authority.
func noRoots(o *proxy.Options) { o.RootCAs = x509.NewCertPool() }
