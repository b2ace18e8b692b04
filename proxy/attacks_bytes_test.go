package proxy_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

// passes plays client and agent: what each sends, the other gets byte for byte, but for Host and the target's form.
func passes(t *testing.T, r road, request, answer string) {
	t.Helper()
	p, l := r.listen(t, nil)
	conn, origin, host := p.dial()
	said := strings.NewReplacer("TARGET", origin+"/x;y?a;b", "HOST", host).Replace(request)
	heard := strings.NewReplacer("TARGET", "/x;y?a;b", "HOST", p.agent).Replace(request)
	sent := make(chan error, 1)
	go func() { // a large one needs its reader
		_, err := io.WriteString(conn, said)
		sent <- err
	}()
	agent := accept(t, l)
	receive(t, agent, heard)
	expect.OK(t, <-sent)
	go func() {
		_, err := io.WriteString(agent, answer)
		sent <- err
	}()
	receive(t, conn, answer)
	expect.OK(t, <-sent)
	agent.Close()
	expect.OK(t, expectEnd(conn))
	conn.Close()
	p.follow(isClosed)
	if x := p.record()[0]; x.Fault != nil || !strings.HasPrefix(said, string(x.Request.Head)) {
		t.Errorf("recorded %v, %q", x.Fault, x.Request.Head)
	}
}

// Every framing arrives as it was sent.
func framingStays(t *testing.T, r road) {
	const get, post = "GET TARGET HTTP/1.1\r\nHost: HOST\r\n\r\n", "POST TARGET HTTP/1.1\r\nhost:  HOST\r\n"
	const none = "HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n"
	big := strings.Repeat("0123456789abcdef", 1<<16)
	tests := map[string]struct{ request, answer string }{
		"204":  {get, "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n"},
		"304":  {get, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"},
		"HEAD": {"HEAD TARGET HTTP/1.1\r\nHost: HOST\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
		"1xx":  {get, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 X\r\n\r\n" + none},
		"trailers": {
			post + "Transfer-Encoding: chunked\r\n\r\n1;x\r\na\r\n0\r\nX: y\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nY: z\r\n\r\n",
		},
		"Expect": {post + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 100 Continue\r\n\r\n" + none},
		"upgrade": {
			"GET TARGET HTTP/1.1\r\nHost: HOST\r\nConnection: upgrade\r\nUpgrade: e\r\n\r\n",
			"HTTP/1.1 101 Switching Protocols\r\nUpgrade: e\r\n\r\n\x00raw",
		},
		"zero body": {post + "Content-Length: 0\r\n\r\n", none},
		"big body": {
			fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", post, len(big), big),
			fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(big), big),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { passes(t, r, test.request, test.answer) })
	}
}

// No coding is asked for, undone or added.
func codingsStay(t *testing.T, r road) {
	for _, coding := range []string{"gzip", "br", "x-unknown"} {
		body := "\x1f\x8b\x00no " + coding
		passes(t, r, "GET TARGET HTTP/1.1\r\nHost: HOST\r\nAccept-Encoding: "+coding+"\r\n\r\n",
			fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", coding, len(body), body))
	}
}

// Fields between the client and the agent pass, those that Connection names included: each connection of a client is
// one of the agent's. Fields for a forward proxy stay with it.
func hopByHop(t *testing.T, r road) {
	passes(t, r, "GET TARGET HTTP/1.1\r\nHost: HOST\r\nConnection: X-Hop\r\nX-Hop: 1\r\nAuthorization: Bearer a\r\n\r\n",
		"HTTP/1.1 200 OK\r\nConnection: X-Back\r\nX-Back: 1\r\nContent-Length: 0\r\n\r\n")
	if !r.forward || r.secure {
		return
	}
	p, l := r.listen(t, nil)
	conn, origin, host := p.dial()
	write(t, conn, "GET "+origin+"/ HTTP/1.1\r\nProxy-Authorization: Basic YTpi\r\nHost: "+host+
		"\r\nProxy-Connection: x\r\n\r\n")
	receive(t, accept(t, l), "GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
}
