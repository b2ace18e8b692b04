package relay

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// findInPieces looks for the end of a head in bytes that come in pieces of the given size.
func findInPieces(b []byte, size int) int {
	var f headFinder
	for end := size; ; end += size {
		if n := f.find(b[:min(end, len(b))]); n > 0 || end >= len(b) {
			return n
		}
	}
}

// FuzzRequest gives foreign bytes to everything that looks at request heads. Where net/http accepts one too, both must
// agree on its Host and its framing.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		get, post, "\r\n" + get, "GET / HTTP/1.1\nHost: x\n\n", "POST / HTTP/1.1\r\nhost:\tx \r\nTransfer-Encoding: " +
			"gzip, Chunked\r\n\r\n",
		"POST / HTTP/1.0\r\nContent-Length: 5, 5\r\n\r\nhello", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", "\x16\x03\x01\x02\x00",
		"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
	} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		n := findInPieces(b, len(b)+1)
		if got := findInPieces(b, 1+abs(size)%9); got != n {
			t.Fatalf("head of %q is %d bytes long in pieces, %d in one", b, got, n)
		}
		new(headFinder).earlyRequest(b)
		if n == 0 {
			return
		}
		h, err := scanRequest(b[:n], 100)
		if err != nil {
			return
		}
		theirs, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(bytes.TrimLeft(b, "\r\n"))))
		if err != nil {
			return
		}
		if h.hasHost && theirs.URL.Host == "" && theirs.Host != string(b[h.hostStart:h.hostTo]) {
			t.Errorf("%q: Host is %q, net/http says %q", b, b[h.hostStart:h.hostTo], theirs.Host)
		}
		wantFraming(t, b, h.body, theirs.ContentLength, theirs.TransferEncoding)
	})
}

// FuzzAnswer does the same for answers.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		ok, silentStream, "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 204\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx",
		"HTTP/1.1 101 x\r\n\r\n",
	} {
		f.Add([]byte(seed), 3, false)
	}
	f.Fuzz(func(t *testing.T, b []byte, size int, head bool) {
		n := findInPieces(b, len(b)+1)
		if got := findInPieces(b, 1+abs(size)%9); got != n {
			t.Fatalf("head of %q is %d bytes long in pieces, %d in one", b, got, n)
		}
		new(headFinder).earlyAnswer(b)
		if n == 0 {
			return
		}
		m, request := methodOther, &http.Request{Method: "GET"}
		if head {
			m, request.Method = methodHead, "HEAD"
		}
		_, ours, err := scanAnswer(b[:n], m, 100)
		if err != nil {
			return
		}
		theirs, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(bytes.TrimLeft(b, "\r\n"))), request)
		if err != nil || theirs.StatusCode < 200 || theirs.Body == http.NoBody && ours.framing == framedNone {
			return
		}
		wantFraming(t, b, ours, theirs.ContentLength, theirs.TransferEncoding)
	})
}

// wantFraming compares our framing with that of net/http.
func wantFraming(t *testing.T, b []byte, ours body, length int64, codings []string) {
	t.Helper()
	switch {
	case ours.framing == framedNone && length <= 0 && len(codings) == 0:
	case ours.framing == framedLength && ours.left == length:
	case ours.framing == framedChunked && len(codings) == 1 && codings[0] == "chunked":
	case ours.framing == framedClose && length == -1 && len(codings) == 0:
	default:
		t.Errorf("%q: framing is %d with %d bytes, net/http says %d %q", b, ours.framing, ours.left, length, codings)
	}
}

// FuzzChunked decodes foreign bytes as a chunked body, in one and in pieces, and with net/http's reader. Where both
// accept them, they must agree on the data and on where it ends.
func FuzzChunked(f *testing.F) {
	for _, seed := range []string{
		"0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\nmore", "5;a=\"b\"\r\nhello\r\n000\r\nA: b\r\nC: d\r\n\r\n",
		"5\nhello\n0\n\n",
		"A \r\n0123456789\r\n0 ;x\r\n\r\n", "fffffffffffffffff\r\n", "0\r\nA: b\n\n", "1\r\nab\r\n",
	} {
		f.Add([]byte(seed), 2)
	}
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		data, trailer, used, err := decode(b, len(b)+1)
		data2, trailer2, used2, err2 := decode(b, 1+abs(size)%9)
		if data != data2 || trailer != trailer2 || used != used2 || err != err2 {
			t.Fatalf("%q: in one (%q, %q, %d, %v), in pieces (%q, %q, %d, %v)", b, data, trailer, used, err, data2,
				trailer2, used2, err2)
		}
		r := bufio.NewReader(bytes.NewReader(b))
		theirs, theirErr := io.ReadAll(httputil.NewChunkedReader(r))
		if err != nil || theirErr != nil || used < 0 {
			return
		}
		expect.Same(t, fmt.Sprintf("%q: data", b), string(theirs), data)
		// Their reader ends before the trailer section, which ours includes.
		rest, _ := io.ReadAll(r)
		after := string(b[used:])
		if section := strings.TrimSuffix(string(rest), after); len(section) != len(rest)-len(after) ||
			!strings.HasPrefix(section, trailer) {
			t.Errorf("%q: net/http leaves %q, we leave %q after trailer section %q", b, rest, after, trailer)
		}
	})
}

// decode reads b as a chunked body that arrives in pieces. Used is its length, or -1 if its end is not there.
func decode(b []byte, size int) (data, trailer string, used int, err error) {
	c := newBody(framedChunked, 0, 1000)
	for at := 0; at < len(b); {
		piece := b[at:min(at+size, len(b))]
		look := c
		n, err := look.skip(piece)
		var t []byte
		t = describe(0, &c, piece[:n], t, func(_ int, p []byte) { data += string(p) })
		trailer += string(t)
		if at += n; err != nil {
			return data, trailer, at, err
		}
		if c.done() {
			return data, trailer, at, nil
		}
	}
	return data, trailer, -1, nil
}

func abs(n int) int {
	return max(n, -(n + 1)) // of all numbers, the smallest included
}

// FuzzServe lets a client and an agent send anything at all. The relay must end, and its calls must come in order.
func FuzzServe(f *testing.F) {
	f.Add([]byte(post+get), []byte(ok+ok), true)
	f.Add([]byte(get), []byte(silentStream+"5\r\nhello\r\n0\r\nA: b\r\n\r\n"), false)
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: y\r\n\r\nraw"), []byte("HTTP/1.1 101 x\r\n\r\nraw"), false)
	f.Add([]byte("HEAD / HTTP/1.0\r\n\r\n"), []byte("HTTP/1.1 100 x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "+
		"gzip\r\n\r\nx"), true)
	f.Add([]byte("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nx"), []byte("junk"), false)
	f.Add([]byte(post+get), []byte(ok+ok), false)
	f.Add([]byte(get), []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\rx"), true)
	f.Fuzz(func(t *testing.T, asked, answered []byte, hold bool) {
		agent := listen(t)
		defer agent.Close()
		told := newRecorder(t)
		cfg := Config{
			Dial:     func(context.Context) (net.Conn, error) { return net.Dial("tcp", agent.Addr().String()) },
			Observer: told, HeadLimit: 500, Authority: agent.Addr().String(),
		}
		if hold {
			cfg.Editor = requestUpperCaser{upperCaser: upperCaser{limit: 20, tooLarge: make(chan int, 1000)}}
		}
		go acceptAll(agent, func(c net.Conn) {
			c.Write(answered)
			CloseWrite(c)
			io.Copy(io.Discard, c)
			c.Close()
		})
		ends := listen(t)
		defer ends.Close()
		client := must.Get(net.Dial("tcp", ends.Addr().String()))(t)
		defer client.Close()
		server := must.Get(ends.Accept())(t)
		go func() {
			client.Write(asked)
			CloseWrite(client)
			io.Copy(io.Discard, client)
		}()
		ctx, cancel := context.WithTimeout(context.Background(), must.Patience)
		defer cancel()
		New(server, cfg).Serve(ctx)
		if ctx.Err() != nil {
			t.Fatalf("Serve did not end by itself: asked %q, answered %q", asked, answered)
		}
		for x, e := range told.exchanges {
			if !e.Ended {
				t.Errorf("exchange %d was not ended: %+v", x, e)
			}
			if whole := e.RequestEnd && e.AnswerEnd; !whole && e.Fault == nil {
				t.Errorf("exchange %d is not whole and has no fault: %+v", x, e)
			}
		}
	})
}
