package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// A rawAgent answers each request with bytes, and keeps what it was asked.
type rawAgent struct {
	addr   string
	mu     sync.Mutex
	heads  []string
	answer func(method, target string) string
}

// newRawAgent starts an agent that gives the answer to every request, unmodified. ADDR in it is the agent's host:port,
// PORT its port.
func newRawAgent(t *testing.T, answer string) *rawAgent {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := listener.Addr().String()
	a := &rawAgent{addr: addr}
	answer = a.expand(answer)
	a.answer = func(string, string) string { return answer }
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { listener.Close() })
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { a.serve(conn) })
		}
	})
	return a
}

func (a *rawAgent) expand(s string) string {
	_, port, _ := net.SplitHostPort(a.addr)
	return strings.NewReplacer("ADDR", a.addr, "PORT", port).Replace(s)
}

func (a *rawAgent) serve(conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(4 * must.Patience))
	in := bufio.NewReader(conn)
	for {
		var head strings.Builder
		request, err := http.ReadRequest(bufio.NewReaderSize(io.TeeReader(oneByte{in}, &head), 16))
		if err != nil {
			return
		}
		io.Copy(io.Discard, request.Body)
		raw, _, _ := strings.Cut(head.String(), "\r\n\r\n")
		a.mu.Lock()
		a.heads = append(a.heads, raw+"\r\n\r\n")
		a.mu.Unlock()
		answer := a.answer(request.Method, request.RequestURI)
		io.WriteString(conn, answer)
		if request.Close || strings.Contains(answer, "HTTP/1.0") {
			return
		}
	}
}

// oneByte keeps a reader above it from reading ahead.
type oneByte struct{ io.Reader }

func (r oneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:1]) }

// asked returns the head of the last request.
func (a *rawAgent) asked() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.heads[len(a.heads)-1]
}

// cardRequestOf sends raw bytes and returns all that comes back until the connection is closed, which the request has
// to ask for.
func cardRequestOf(t *testing.T, addr, request string) string {
	t.Helper()
	conn := must.Get(net.Dial("tcp", addr))(t)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(must.Patience))
	must.Get(io.WriteString(conn, request))(t)
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("after %q: %v", answer, err)
	}
	return string(answer)
}

// askCard fetches the public card, with further field lines.
func askCard(t *testing.T, addr string, fields ...string) string {
	t.Helper()
	return cardRequestOf(t, addr, "GET /.well-known/agent-card.json HTTP/1.1\r\nHost: "+addr+
		"\r\nConnection: close\r\n"+
		strings.Join(append(fields, ""), "\r\n")+"\r\n")
}

// bodyOf returns what follows the head.
func bodyOf(message string) string {
	_, body, _ := strings.Cut(message, "\r\n\r\n")
	return body
}

// now returns by place what an exchange's rewrites put in.
func now(x *capture.Exchange) map[string]string {
	all := make(map[string]string)
	for _, r := range x.Rewrites {
		all[r.Place] = r.Now
	}
	return all
}
