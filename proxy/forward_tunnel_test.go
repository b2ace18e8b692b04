package proxy_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/hostname"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
	"a2atap/proxy/unreachable"
)

// newEcho starts an agent that is not HTTP: it says hello first, then gives back what it gets.
func newEcho(t *testing.T, hello string) string {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { listener.Close() })
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				io.WriteString(conn, hello)
				io.Copy(conn, conn)
			})
		}
	})
	return listener.Addr().String()
}

// some is an unknown number of bytes, but not a small one.
const some = -1

// expectTunnel checks that the record of a tunnel says that nothing was observed, how much passed, and holds none of
// it.
func expectTunnel(t *testing.T, x *capture.Exchange, agent, why string, sent, got int64) {
	t.Helper()
	if head := capture.ParseRequestHead(x.Request.Head); head.Method != "CONNECT" || x.Agent.Name != agent {
		t.Errorf("recorded %s %s for %s", head.Method, head.Target, x.Agent.Name)
	}
	if len(x.Notes) != 1 || !strings.HasPrefix(x.Notes[0], "tunnelled, not observed: ") ||
		!strings.Contains(x.Notes[0], why) {
		t.Errorf("notes %q, want one with %q", x.Notes, why)
	}
	if x.Response == nil || !strings.HasPrefix(string(x.Response.Head), "HTTP/1.1 200 ") ||
		len(x.Request.Body.Data)+len(x.Response.Body.Data) != 0 {
		t.Errorf("recorded %+v, %+v", x.Request, x.Response)
		return
	}
	if sent == some { // a client that closes with bytes unread resets the connection, so how it ends is chance
		if x.Request.Body.Dropped < 100 || x.Response.Body.Dropped < 100 {
			t.Errorf("recorded %d bytes sent, %d answered", x.Request.Body.Dropped, x.Response.Body.Dropped)
		}
		return
	}
	if x.Fault != nil || x.Response.Body.Size != got || x.Response.Body.Dropped != got ||
		x.Request.Body.Dropped != sent {
		t.Errorf("recorded %+v, %+v, %v; want %d bytes sent, %d answered", x.Request.Body, x.Response.Body, x.Fault,
			sent, got)
	}
}

// What the user wants left alone passes as it is, with the agent's own certificate.
func TestTunnelAsAsked(t *testing.T) {
	agent := (way{true}).agent(t, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "hi") })
	f := newForwardRig(t, func(o *proxy.Options) {
		pattern := must.Get(hostname.ParsePattern("127.0.0.1"))(t)
		o.Forward.Tunnel = []hostname.Pattern{pattern}
	})
	client := f.client("planner")
	expect.ErrorHas(t, "with our authority alone", "certificate", expect.Err(client.Get(agent.URL)))
	client = f.client("planner")
	client.Transport.(*http.Transport).TLSClientConfig.RootCAs = testRoots(t)
	if answer, body := get(t, client, agent.URL); body != "hi" || answer.TLS == nil {
		t.Errorf("got %s", body)
	}
	client.CloseIdleConnections()
	f.follow(closings(2))
	x := f.record()[1]
	expectTunnel(t, x, agent.Listener.Addr().String(), "as --tunnel asks", some, some)
	expect.Equal(t, "client", "planner", x.Client.Name)
}

// closings returns a condition that holds when n exchanges have ended.
func closings(n int) func(capture.Step) bool {
	return func(s capture.Step) bool {
		if isClosed(s) {
			n--
		}
		return n == 0
	}
}

// What cannot be opened passes nevertheless, each direction until its own end.
func TestTunnelWhatIsNoHTTP(t *testing.T) {
	tests := map[string]struct{ says, why string }{
		"another protocol": {"SSH-2.0-x\r\n", "neither TLS nor HTTP"},
		"bytes":            {"\x00\x01", "neither TLS nor HTTP"},
		"almost a method":  {"GETS it\r\n", "neither TLS nor HTTP"},
		"less than one":    {"GE", "neither TLS nor HTTP"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			agent := newEcho(t, "hello")
			f := newForwardRig(t, nil)
			conn := f.dial()
			f.connect(conn, agent, "")
			write(t, conn, test.says)
			must.Do(t, conn.(*net.TCPConn).CloseWrite())
			receive(t, conn, "hello"+test.says)
			if err := expectEnd(conn); err != nil {
				t.Errorf("it ends with %v", err)
			}
			f.follow(isClosed)
			n := int64(len(test.says))
			expectTunnel(t, f.record()[0], agent, test.why, n, n+int64(len("hello")))
		})
	}
}

// A client that speaks HTTP/2 alone gets an agent that does not as it is: that is between the two.
func TestTunnelHTTP2(t *testing.T) {
	agent := newEcho(t, "")
	f := newForwardRig(t, nil)
	client := f.client("")
	transport := client.Transport.(*http.Transport)
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP2(true)
	expect.Error(t, "an agent that is not TLS has answered", expect.Err(client.Get("https://"+agent)))
	client.CloseIdleConnections()
	f.follow(isClosed)
	expectTunnel(t, f.record()[0], agent, "HTTP/2, not decoded: the client uses h2 instead of HTTP/1.1", some, some)
}

func TestTunnelToNobody(t *testing.T) {
	closed := unreachable.Address(t)
	for name, says := range map[string]string{"asked": "", "found out": "SSH-2.0-x\r\n"} {
		t.Run(name, func(t *testing.T) {
			f := newForwardRig(t, func(o *proxy.Options) {
				if says == "" {
					o.Forward.Tunnel = []hostname.Pattern{mustPattern(t, "*")}
				}
			})
			conn := f.dial()
			if says == "" {
				write(t, conn, "CONNECT "+closed+" HTTP/1.1\r\nHost: "+closed+"\r\n\r\n")
				if status, mark, text := ownAnswer(t, conn); status != 502 || mark != relay.KindUnreachable ||
					!strings.Contains(text, closed) {
					t.Errorf("got %d %s %s", status, mark, text)
				}
			} else {
				f.connect(conn, closed, "")
				write(t, conn, says)
				expect.Error(t, "a clean end, want a reset", expectEnd(conn))
			}
			conn.Close()
			f.follow(isClosed)
			if x := f.record()[0]; x.Fault == nil || x.Fault.Kind != relay.KindUnreachable || x.Response != nil {
				t.Errorf("recorded %v", x.Fault)
			}
		})
	}
}

func mustPattern(t *testing.T, flag string) hostname.Pattern {
	t.Helper()
	return must.Get(hostname.ParsePattern(flag))(t)
}

// A client that waits for its agent to speak first gets what it sends.
func TestTunnelWhereTheAgentBegins(t *testing.T) {
	agent := newEcho(t, "220 ready\r\n")
	f := newForwardRig(t, func(o *proxy.Options) { o.HeadTimeout = 20 * time.Millisecond })
	conn := f.dial()
	f.connect(conn, agent, "")
	receive(t, conn, "220 ready\r\n")
	write(t, conn, "EHLO")
	receive(t, conn, "EHLO")
	must.Do(t, conn.(*net.TCPConn).CloseWrite())
	expect.OK(t, expectEnd(conn))
	f.follow(isClosed)
	expectTunnel(t, f.record()[0], agent, "waited 20ms for the agent to send first", 4, 15)
}
