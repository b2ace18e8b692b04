package proxy_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

// A client that rejects our certificate is tunnelled to that agent from then on, and told of once. Another one that
// takes it stays observed there, and so does the first one elsewhere.
func TestRejectedCertificate(t *testing.T) {
	hello := func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "hi") }
	agent, other := (way{true}).agent(t, hello), (way{true}).agent(t, hello)
	f := newForwardRig(t, nil)
	pinned := f.client("pinned")
	pinned.Transport.(*http.Transport).TLSClientConfig.RootCAs = testRoots(t)
	if _, err := pinned.Get(agent.URL); err == nil {
		t.Fatal("a client that trusts the agent alone took our certificate")
	}
	expect.Contains(t, "notice", "pinned to "+agent.Listener.Addr().String(), f.notice())
	for range 2 {
		if answer, body := get(t, pinned, agent.URL); body != "hi" || answer.TLS == nil {
			t.Errorf("got %q through the tunnel", body)
		}
		pinned.CloseIdleConnections()
	}
	if _, body := get(t, f.client("planner"), agent.URL); body != "hi" {
		t.Errorf("got %q", body)
	}
	expect.Error(t, "another agent was tunnelled as well", expect.Err(pinned.Get(other.URL)))
	f.follow(closings(5))
	for i, x := range f.record() {
		switch i {
		case 1, 2:
			expectTunnel(t, x, agent.Listener.Addr().String(), "rejected a2atap's certificate", some, some)
		case 3:
			if x.Client.Name != "planner" || string(x.Response.Body.Data) != "hi" {
				t.Errorf("recorded %+v of a client that trusts us", x)
			}
		default:
			if x.Fault == nil || !strings.Contains(x.Fault.Detail, "rejected a2atap's certificate") {
				t.Errorf("exchange %d: %v", i+1, x.Fault)
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	expect.Equal(t, f.notices, 2, len(f.notices))
}

// A client that gives up in the handshake has said nothing of the certificate.
func TestGivingUpIsNoRejection(t *testing.T) {
	agent := (way{true}).agent(t, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "hi") })
	addr := agent.Listener.Addr().String()
	f := newForwardRig(t, nil)
	for range 4 {
		conn := f.dial()
		f.connect(conn, addr, "User-Agent: Go-http-client/1.1\r\n")
		session := tls.Client(conn, &tls.Config{
			ServerName: "127.0.0.1", InsecureSkipVerify: true,
			VerifyConnection: func(tls.ConnectionState) error { return conn.Close() },
		})
		if err := session.Handshake(); err == nil {
			t.Fatal("the client did not give up")
		}
	}
	f.follow(closings(4))
	if _, body := get(t, f.client(""), agent.URL); body != "hi" {
		t.Errorf("got %q", body)
	}
	record := f.record()
	if x := record[4]; string(x.Response.Body.Data) != "hi" {
		t.Errorf("after clients that gave up, this was recorded: %+v, notes %q", x, x.Notes)
	}
}
