package relay

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/unreachable"
)

// ownAnswerOf reads one of the relay's own answers and checks its mark.
func ownAnswerOf(t *testing.T, r io.Reader) (status int, kind string) {
	t.Helper()
	a, err := http.ReadResponse(bufio.NewReader(r), nil)
	if err != nil {
		t.Fatalf("read our own answer: %v", err)
	}
	defer a.Body.Close()
	var body struct {
		Error struct{ From, Reason, Side, Message string }
	}
	if err := json.NewDecoder(a.Body).Decode(&body); err != nil {
		t.Fatalf("body of our own answer: %v", err)
	}
	kind = a.Header.Get("X-A2atap")
	if !a.Close || kind == "" || body.Error.Reason != kind || body.Error.From != "a2atap" || body.Error.Message == "" {
		t.Errorf("got close %v, X-A2atap %q, error %+v; want a marked answer that closes", a.Close, kind, body.Error)
	}
	return a.StatusCode, kind
}

// TestRefusedRequests sends requests whose end two readers could find in two places, and some that no reader could.
func TestRefusedRequests(t *testing.T) {
	const head = "POST / HTTP/1.1\r\nHost: $HOST\r\n"
	tests := map[string]struct {
		request string
		status  int
	}{
		"two lengths":           {head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n", 400},
		"two lengths in a list": {head + "Content-Length: 3, 4\r\n\r\n", 400},
		"length no number":      {head + "Content-Length: +3\r\n\r\n", 400},
		"length empty":          {head + "Content-Length:\r\n\r\n", 400},
		"length huge":           {head + "Content-Length: 9223372036854775808\r\n\r\n", 400},
		"length and chunked":    {head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		"chunked not last":      {head + "Transfer-Encoding: chunked, gzip\r\n\r\n", 400},
		"not chunked":           {head + "Transfer-Encoding: gzip\r\n\r\n", 400},
		"chunked twice":         {head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		"chunked with a weight": {head + "Transfer-Encoding: chunked;q=1\r\n\r\n", 400},
		"coding no token":       {head + "Transfer-Encoding: \x0bchunked\r\n\r\n", 400},
		"coding empty":          {head + "Transfer-Encoding:\r\n\r\n", 400},
		"coding in 1.0":         {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		"folded line":           {head + "A: b\r\n c\r\n\r\n", 400},
		"fold at once":          {"GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400},
		"bare CR in value":      {head + "A: b\rc\r\n\r\n", 400},
		"bare CR in line":       {"GET /\r HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"two CRs":               {head + "A: b\r\r\n\r\n", 400},
		"NUL in value":          {head + "A: b\x00\r\n\r\n", 400},
		"NUL in name":           {head + "A\x00: b\r\n\r\n", 400},
		"blank before colon":    {head + "A : b\r\n\r\n", 400},
		"no name":               {head + ": b\r\n\r\n", 400},
		"no colon":              {head + "A\r\n\r\n", 400},
		"no Host":               {"GET / HTTP/1.1\r\n\r\n", 400},
		"two Hosts":             {head + "HOST: other\r\n\r\n", 400},
		"Host is no host":       {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
		"three blanks":          {"GET  / HTTP/1.1\r\nHost: $HOST\r\n\r\n", 400},
		"no target":             {"GET HTTP/1.1\r\nHost: $HOST\r\n\r\n", 400},
		"method no token":       {"G(T / HTTP/1.1\r\nHost: $HOST\r\n\r\n", 400},
		"CONNECT":               {"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", 501},
		"HTTP/2.0":              {"GET / HTTP/2.0\r\nHost: $HOST\r\n\r\n", 505},
		"huge head":             {head + "A: " + strings.Repeat("b", 2000) + "\r\n\r\n", 431},
		"huge head, no end":     {head + "A: " + strings.Repeat("b", 2000), 431},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, false, func(c *Config) { c.HeadLimit = 1000 })
			client := w.client()
			client.send(w.host(test.request))
			status, _ := ownAnswerOf(t, client)
			expect.Equal(t, "", test.status, status)
			client.Close()
			e := w.ended(0)
			if e.Fault == nil || e.Fault.Status != test.status || e.Fault.Side != SideClient {
				t.Errorf("got fault %+v, want one of the client with %d", e.Fault, test.status)
			}
			expect.Equal(t, "recorded", w.host(test.request), e.Request+string(e.Fault.Bytes))
			if len(w.accepts) > 0 {
				t.Error("the agent was dialled")
			}
		})
	}
}

// TestRefusedInTurn refuses the second of two pipelined requests, or breaks its framing: the answer to the first one
// comes whole, then ours.
func TestRefusedInTurn(t *testing.T) {
	tests := map[string]struct {
		passes, refused string
		ends            func(end)
	}{
		"head":  {get, "GET / HTTP/1.1\r\n\r\n", end.receiveEnd},
		"chunk": {get + chunkedPost, noChunk, func(e end) { e.receiveBreak() }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, false, nil)
			client := w.client()
			client.send(w.host(test.passes + test.refused))
			agent := w.accept()
			agent.receive(w.agentHost(test.passes))
			agent.tells(client, ok[:len(ok)-2])
			agent.tells(client, ok[len(ok)-2:])
			if status, _ := ownAnswerOf(t, client); status != 400 {
				t.Errorf("got %d, want 400", status)
			}
			test.ends(agent)
			client.Close()
			if e := w.ended(0); e.Fault != nil {
				t.Errorf("got fault %v for the first request, want none", e.Fault)
			}
			wantFault(t, w.ended(1).Fault, KindRefused, SideClient)
		})
	}
}

// TestRefusedLater refuses a request on a connection that has served one.
func TestRefusedLater(t *testing.T) {
	w := newWire(t, false, nil)
	client, agent := w.begin(get)
	agent.tells(client, ok)
	w.ended(0)
	client.send("GET / HTTP/1.1\r\n\r\n")
	if status, _ := ownAnswerOf(t, client); status != 400 {
		t.Errorf("got %d, want 400", status)
	}
	agent.receiveEnd()
}

// TestBrokenChunks breaks the framing of a body that is under way: the agent sees a break, and the client too, or our
// answer where it does not exist yet.
func TestBrokenChunks(t *testing.T) {
	tests := map[string]string{
		"no size":         "\r\n",
		"no digit":        "x\r\n",
		"sign":            "-1\r\n",
		"size too large":  "fffffffffffffffff\r\n",
		"bare LF":         "5\nhello\r\n",
		"no CRLF":         "5\r\nhelloworld",
		"LF after data":   "5\r\nhello\n",
		"CR in extension": "5;a\rb\r\n",
		"long extension":  "5;" + strings.Repeat("a", maxChunkLine),
		"trailer with CR": "0\r\nA: b\rc\r\n",
		"trailer NUL":     "0\r\nA: \x00\r\n",
		"trailer huge":    "0\r\nA: " + strings.Repeat("b", 3000),
	}
	const good = "3\r\nabc\r\n"
	limit := func(c *Config) { c.HeadLimit = 2000 }
	for name, wrong := range tests {
		t.Run("request/"+name, func(t *testing.T) {
			w := newWire(t, false, limit)
			head := "POST / HTTP/1.1\r\nHost: $HOST\r\nTransfer-Encoding: chunked\r\n\r\n" + good
			client, agent := w.begin(head)
			client.send(wrong)
			if s := agent.receiveBreak(); strings.HasSuffix(s, "0\r\n\r\n") {
				t.Errorf("the agent got %q, want a break", s)
			}
			if status, kind := ownAnswerOf(t, client); status != 400 || kind != KindRefused {
				t.Errorf("got %d %s, want 400 refused", status, kind)
			}
			client.receiveBreak()
			e := w.ended(0)
			wantFault(t, e.Fault, KindRefused, SideClient)
			if e.Fault.Status != 400 || e.RequestEnd || !strings.HasPrefix(e.Body, "abc") {
				t.Errorf("got %+v, want a part of a request", e)
			}
		})
		t.Run("answer/"+name, func(t *testing.T) {
			w := newWire(t, false, limit)
			client, agent := w.stream()
			agent.tells(client, good)
			agent.send(wrong)
			if s := client.receiveBreak(); strings.HasSuffix(s, "0\r\n\r\n") {
				t.Errorf("the client got %q, want a break", s)
			}
			agent.receiveBreak()
			e := w.ended(0)
			wantFault(t, e.Fault, KindRefused, SideAgent)
			if e.AnswerEnd || !strings.HasPrefix(e.AnswerBody, "abc") {
				t.Errorf("got %+v, want a part of an answer", e)
			}
		})
	}
}

// TestRefusedAnswers lets the agent answer so that the end of the answer is in doubt: the client gets 502 in its place.
func TestRefusedAnswers(t *testing.T) {
	tests := map[string]string{
		"two lengths":        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"length and chunked": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"coding in 1.0":      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"folded line":        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
		"bare CR":            "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
		"blank before colon": "HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\n",
		"no HTTP":            "hello",
		"HTTP/2 frames":      "\x00\x00\x12\x04\x00\x00\x00\x00\x00",
		"status of 2 digits": "HTTP/1.1 20 OK\r\n",
		"status 099":         "HTTP/1.1 099 OK\r\n\r\n",
		"version 2":          "HTTP/2.0 200 OK\r\n\r\n",
		"huge head":          "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", 2000),
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, false, func(c *Config) { c.HeadLimit = 1000 })
			client, agent := w.begin(get)
			agent.send(answer)
			if status, kind := ownAnswerOf(t, client); status != 502 || kind != KindRefused {
				t.Errorf("got %d %s, want 502 %s", status, kind, KindRefused)
			}
			agent.receiveBreak()
			e := w.ended(0)
			wantFault(t, e.Fault, KindRefused, SideAgent)
			if !strings.HasPrefix(answer, e.Answer) || len(e.Answer) < min(len(answer), 5) {
				t.Errorf("recorded answer %q, want what the agent sent, %q", e.Answer, answer)
			}
		})
	}
}

// TestNotHTTP sends what is not HTTP at all: it is recorded and refused, and no agent is bothered.
func TestNotHTTP(t *testing.T) {
	tests := map[string]string{
		"TLS":            "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"HTTP/2 preface": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		"text":           "hello there\r\n",
		"HTTP/0.9":       "GET /\r\n",
		"binary":         strings.Repeat("\x00\xff", 60<<10),
	}
	for name, bytes := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, false, nil)
			client := w.client()
			client.send(bytes)
			if status, kind := ownAnswerOf(t, client); status != 400 || kind != KindNotHTTP {
				t.Errorf("got %d %s, want 400 %s", status, kind, KindNotHTTP)
			}
			CloseWrite(client.Conn)
			f := w.faultWithoutExchange()
			wantFault(t, &f, KindNotHTTP, SideClient)
			if want := bytes[:min(len(bytes), 64<<10)]; string(f.Bytes) != want {
				t.Errorf("recorded %d bytes %.40q, want %d", len(f.Bytes), f.Bytes, len(want))
			}
			if len(w.accepts) > 0 || len(w.exchanges) > 0 {
				t.Error("the agent was dialled, or an exchange was begun")
			}
		})
	}
}

// TestUnreachable dials agents that cannot be reached. The request is recorded whole all the same.
func TestUnreachable(t *testing.T) {
	address := unreachable.Address(t)
	plain := listen(t)
	defer plain.Close()
	go acceptAll(plain, func(c net.Conn) {
		io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
		c.Close()
	})
	tests := map[string]struct {
		dial   func(ctx context.Context) (net.Conn, error)
		secure bool
		kind   string
		status int
	}{
		"refused": {
			dial: func(ctx context.Context) (net.Conn, error) { return net.Dial("tcp", address) },
			kind: KindUnreachable, status: 502,
		},
		"name": {dial: func(ctx context.Context) (net.Conn, error) {
			return nil, &net.OpError{
				Op:  "dial",
				Err: &net.DNSError{Err: "no such host", Name: "agent.invalid", IsNotFound: true},
			}
		}, kind: KindUnreachable, status: 502},
		"timeout": {dial: func(ctx context.Context) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
		}, kind: KindTimeout, status: 504},
		"no TLS": {dial: func(ctx context.Context) (net.Conn, error) {
			return tlsDial(ctx, plain.Addr().String())
		}, kind: KindTLS, status: 502},
		"untrusted": {dial: nil, secure: true, kind: KindTLS, status: 502},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var w *wire
			w = newWire(t, test.secure, func(c *Config) {
				if c.Dial = test.dial; test.dial == nil {
					c.Dial = func(ctx context.Context) (net.Conn,
						error,
					) {
						return tlsDial(ctx, w.agent.Addr().String())
					}
				}
			})
			client := w.client()
			client.send(w.host(post))
			if status, kind := ownAnswerOf(t, client); status != test.status || kind != test.kind {
				t.Errorf("got %d %s, want %d %s", status, kind, test.status, test.kind)
			}
			client.Close()
			w.result()
			e := w.ended(0)
			wantFault(t, e.Fault, test.kind, SideAgent)
			if e.Request == "" || e.Body != "ping" || !e.RequestEnd || e.Answer != "" {
				t.Errorf("recorded %+v, want the whole request and no answer", e)
			}
		})
	}
}

// TestUnreachableLargeBody refuses a request whose body is far larger than what sockets hold: the client still gets
// the answer, since we read on for a while.
func TestUnreachableLargeBody(t *testing.T) {
	w := newWire(t, false, func(c *Config) {
		c.Dial = func(context.Context) (net.Conn, error) { return nil, fmt.Errorf("no route") }
		c.linger = time.Minute // whatever else the machine has to do
	})
	client := w.client()
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(client,
			w.host("POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 2000000\r\n\r\n")+strings.Repeat("x", 2000000))
		sent <- err
	}()
	if status, _ := ownAnswerOf(t, client); status != 502 {
		t.Errorf("got %d, want 502", status)
	}
	if err := <-sent; err != nil {
		t.Errorf("the client could not send: %v", err)
	}
	client.Close()
	if e := w.ended(0); len(e.Body) != 2000000 || !e.RequestEnd {
		t.Errorf("recorded %d bytes of body, end %v, want all", len(e.Body), e.RequestEnd)
	}
}

// TestAgentStopsReading lets the agent answer and reset while the request is under way: the client gets the answer
// that came before, then the reset.
func TestAgentStopsReading(t *testing.T) {
	w := newWire(t, false, nil)
	head := "POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 100000000\r\n\r\n"
	client, agent := w.begin(head)
	agent.tells(client, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
	Reset(agent.Conn)
	var err error
	for err == nil {
		_, err = io.WriteString(client, "more")
	}
	if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the client got %v, want a reset", err)
	}
	e := w.ended(0)
	wantFault(t, e.Fault, KindReset, SideAgent)
	if !e.AnswerEnd || e.RequestEnd {
		t.Errorf("got %+v, want a complete answer to a part of a request", e)
	}
}

// tlsDial dials with TLS and does not trust the test's certificates.
func tlsDial(ctx context.Context, addr string) (net.Conn, error) {
	return (&tls.Dialer{}).DialContext(ctx, "tcp", addr)
}
