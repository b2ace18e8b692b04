package proxy_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/ca"
	"a2atap/proxy/capture"
	"a2atap/proxy/forward"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// A forwardRig is a rig with a forward proxy.
type forwardRig struct {
	*rig
	forward *forward.Proxy
	roots   *x509.CertPool // what clients trust: our authority
}

func newForwardRig(t *testing.T, set func(*proxy.Options), agents ...string) *forwardRig {
	t.Helper()
	authority := must.Get(ca.Open(t.TempDir()))(t)
	f := &forwardRig{roots: x509.NewCertPool()}
	f.roots.AddCert(authority.Certificate())
	f.rig = newRig(t, func(o *proxy.Options, r *recording.Options) {
		o.Forward = &forward.Spec{Listen: "127.0.0.1:0", Leaf: authority.Leaf}
		o.RootCAs = testRoots(t)
		r.IfFull = recording.Wait
		if set != nil {
			set(o)
		}
	}, agents...)
	f.forward = f.proxy.Forward()
	return f
}

// testRoots holds the certificate that all TLS agents of tests show. It is for 127.0.0.1 and example.com.
func testRoots(t *testing.T) *x509.CertPool {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.StartTLS()
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

// client returns a client whose proxy is ours. The user may be empty.
func (f *forwardRig) client(user string) *http.Client {
	u := must.Get(url.Parse(f.forward.URL()))(f.t)
	if name, password, ok := strings.Cut(user, ":"); ok {
		u.User = url.UserPassword(name, password)
	} else if user != "" {
		u.User = url.User(user)
	}
	transport := &http.Transport{
		Proxy: http.ProxyURL(u), TLSClientConfig: &tls.Config{RootCAs: f.roots}, DisableCompression: true,
		MaxIdleConnsPerHost: 100,
	}
	f.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 4 * must.Patience}
}

// A way is one of those in which traffic passes a forward proxy.
type way struct{ secure bool } // inside CONNECT, opened

func bothWays(t *testing.T, test func(t *testing.T, w way)) {
	t.Run("plain", func(t *testing.T) { test(t, way{false}) })
	t.Run("intercepted", func(t *testing.T) { test(t, way{true}) })
}

// agent starts an agent for clients that come this way.
func (w way) agent(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	agent := httptest.NewUnstartedServer(handler)
	agent.Config.ErrorLog = discardLog
	if w.secure {
		agent.StartTLS()
	} else {
		agent.Start()
	}
	t.Cleanup(agent.Close)
	return agent
}

// listen starts an agent that the test plays itself.
func (w way) listen(t *testing.T) net.Listener {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	if w.secure {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.StartTLS()
		defer server.Close()
		return tls.NewListener(listener, &tls.Config{Certificates: server.TLS.Certificates})
	}
	return listener
}

// scheme returns that of the agent's URLs.
func (w way) scheme() string {
	if w.secure {
		return "https"
	}
	return "http"
}

// dial opens a connection to an agent, through the forward proxy, and returns what its request targets begin with.
func (w way) dial(f *forwardRig, agent string) (conn net.Conn, origin string) {
	f.t.Helper()
	conn = f.dial()
	if !w.secure {
		return conn, "http://" + agent
	}
	f.connect(conn, agent, "")
	session := tls.Client(conn,
		&tls.Config{RootCAs: f.roots, ServerName: "127.0.0.1", NextProtos: []string{"http/1.1"}})
	must.Do(f.t, session.Handshake())
	return session, ""
}

// dial opens a connection to the forward proxy.
func (f *forwardRig) dial() net.Conn {
	f.t.Helper()
	conn := must.Get(net.Dial("tcp", f.forward.Addr()))(f.t)
	f.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(4 * must.Patience))
	return conn
}

// connect asks for CONNECT, with further field lines, and expects to get it.
func (f *forwardRig) connect(conn net.Conn, target, fields string) {
	f.t.Helper()
	write(f.t, conn, fmt.Sprintf("CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", target, target, fields))
	receive(f.t, conn, "HTTP/1.1 200 Connection established\r\n\r\n")
}

func write(t *testing.T, w io.Writer, s string) {
	t.Helper()
	must.Get(io.WriteString(w, s))(t)
}

// receive reads exactly these bytes.
func receive(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Fatalf("got %q and %v, want %q", got[:n], err, want)
	}
}

// expectEnd reads to the end, and returns how it ended: nil for a clean end.
func expectEnd(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// ownAnswer reads one of a2atap's own answers and returns its status, its mark and its text.
func ownAnswer(t *testing.T, r io.Reader) (status int, mark, text string) {
	t.Helper()
	answer := must.Get(http.ReadResponse(bufio.NewReader(r), nil))(t)
	defer answer.Body.Close()
	return answer.StatusCode, answer.Header.Get("X-A2atap"), string(must.Get(io.ReadAll(answer.Body))(t))
}

// isClosed reports whether a step ends an exchange.
func isClosed(s capture.Step) bool {
	_, closed := s.What.(capture.Closed)
	return closed
}
