package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// A replacer is an Editor that replaces a word in answers while they pass, keeping back what may begin one.
type replacer struct{ upperCaser }

func (replacer) Request(_ int, head []byte) []byte { return head }
func (replacer) Hold(int, []byte) int              { return 0 }
func (replacer) Change(int, []byte) Change         { return &replacing{} }

type replacing struct{ kept []byte }

func (r *replacing) Next(p []byte, last bool) []byte {
	text := append(r.kept, p...)
	r.kept = nil
	for n := min(len(text), len("secret")-1); n > 0 && !last; n-- {
		if bytes.HasPrefix([]byte("secret"), text[len(text)-n:]) {
			r.kept = bytes.Clone(text[len(text)-n:])
			text = text[:len(text)-n]
			break
		}
	}
	return bytes.ReplaceAll(text, []byte("secret"), []byte("****"))
}

// Answers without a declared length are changed as they pass, framed again, and observed as they came. An answer that
// breaks off passes as far as it came.
func TestChangedAnswer(t *testing.T) {
	const (
		chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		closed  = "HTTP/1.1 200 OK\r\n\r\n"
	)
	tests := map[string]struct {
		pieces   []string
		closes   bool
		want     string
		observed string
	}{
		"chunks": {
			[]string{chunked, "8\r\na secret\r\n3\r\n se\r\n", "4\r\ncret\r\n0\r\nA: b\r\n\r\n"},
			false,
			chunked + "6\r\na ****\r\n1\r\n \r\n4\r\n****\r\n0\r\nA: b\r\n\r\n", "a secret secret",
		},
		"the end is kept back": {
			[]string{chunked + "3\r\nsec\r\n", "0\r\n\r\n"}, false, chunked + "3\r\nsec\r\n0\r\n\r\n", "sec",
		},
		"close":       {[]string{closed, "a sec", "ret, s"}, true, closed + "a ****, s", "a secret, s"},
		"broken off":  {[]string{chunked, "9\r\na sec"}, true, chunked + "2\r\na \r\n3\r\nsec\r\n", "a sec"},
		"wrong chunk": {[]string{chunked, "3\r\nsec\r\nx"}, true, chunked + "3\r\nsec\r\n", "sec"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, observed := talkThrough(t, Config{Editor: replacer{}}, test.pieces, test.closes)
			if got != test.want || observed != test.observed {
				t.Errorf("the client got %q, observed is %q; want %q and %q", got, observed, test.want, test.observed)
			}
		})
	}
}

// An answer of declared length is not changed while it passes.
func TestDeclaredAnswerIsNotChanged(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"
	if got, _ := talkThrough(t, Config{Editor: replacer{}}, []string{answer}, true); got != answer {
		t.Errorf("the client got %q", got)
	}
}

// bodyObserver gathers the bodies of answers.
type bodyObserver struct {
	Discard
	body bytes.Buffer
}

func (o *bodyObserver) AnswerBody(_ int, p []byte) { o.body.Write(p) }

// talkThrough asks once, has the agent answer in pieces, and returns what the client got until the connection ended, and
// what was observed of the body.
func talkThrough(t *testing.T, cfg Config, pieces []string, closes bool) (got, observed string) {
	t.Helper()
	agent, here := tcpPair(t)
	client, served := tcpPair(t)
	var o bodyObserver
	cfg.Observer = &o
	cfg.Dial = func(context.Context) (net.Conn, error) { return here, nil }
	done := make(chan struct{})
	go func() {
		defer close(done)
		New(served, cfg).Serve(t.Context()) //nolint:errcheck // it says what the observer was told
	}()
	const ask = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	io.WriteString(client, ask)
	must.Get(io.ReadFull(agent, make([]byte, len(ask))))(t)
	for _, piece := range pieces {
		io.WriteString(agent, piece)
	}
	if !closes {
		client.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, agent)
	}
	agent.Close()
	text, _ := io.ReadAll(client) // a break is part of what is tested
	client.Close()
	<-done
	return string(text), o.body.String()
}

// tcpPair returns the two ends of a connection.
func tcpPair(t *testing.T) (one, other net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer l.Close()
	if one, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if other, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { one.Close(); other.Close() })
	return one, other
}

// Requests whose target begins with the prefix go elsewhere, with another target and Host; the others to the agent, in
// whatever order they come on one connection. Hosts are asked about only where they are the agent's.
func TestRoute(t *testing.T) {
	server := func(name string) (string, func()) {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				var seen bytes.Buffer
				for piece := make([]byte, 1024); ; {
					n, err := conn.Read(piece)
					if seen.Write(piece[:n]); err != nil {
						break
					}
					for {
						head, rest, whole := strings.Cut(seen.String(), "\r\n\r\n")
						if !whole {
							break
						}
						seen.Reset()
						seen.WriteString(rest)
						line, _, _ := strings.Cut(head, " HTTP/1.1\r\n")
						_, host, _ := strings.Cut(head, "Host: ")
						body := name + " " + line + " " + host
						fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
					}
				}
				conn.Close()
			}
		}()
		return l.Addr().String(), func() { l.Close(); <-done }
	}
	agent, stopAgent := server("agent")
	hook, stopHook := server("hook")
	dial := func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) }
	host, port, _ := net.SplitHostPort(hook)
	client, served := tcpPair(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := New(served, Config{
			Dial:      func(context.Context) (net.Conn, error) { return dial(agent) },
			Authority: "agent.example",
			Accept: func(authority []byte) error {
				if string(authority) != "tap" {
					return errors.New("foreign host")
				}
				return nil
			},
			Route: &Route{
				Prefix: "/hook/",
				Resolve: func(target string) (Target, string, string, error) {
					if target == "/hook/none" {
						return Target{}, "", "", errors.New("no such hook")
					}
					return Target{"http", host, port}, "hook.example", strings.TrimPrefix(target, "/hook"), nil
				},
				Dial:     func(_ context.Context, to Target) (net.Conn, error) { return dial(to.Authority()) },
				Receiver: "the hook",
			},
		})
		s.Serve(t.Context()) //nolint:errcheck // it says what the observer was told
	}()
	for _, step := range []struct{ target, host, want string }{
		{"/a", "tap", "agent GET /a agent.example"},
		{"/hook/b?c", "elsewhere", "hook GET /b?c hook.example"},
		{"/hook/d", "tap", "hook GET /d hook.example"},
		{"/hook", "tap", "agent GET /hook agent.example"},
		{"/hook/", "tap", "hook GET / hook.example"},
	} {
		fmt.Fprintf(client, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", step.target, step.host)
		want := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(step.want), step.want)
		got := make([]byte, len(want))
		if n, err := io.ReadFull(client, got); err != nil || string(got) != want {
			t.Fatalf("%s is answered by %q, %v; want %q", step.target, got[:n], err, want)
		}
	}
	fmt.Fprintf(client, "GET /hook/none HTTP/1.1\r\nHost: tap\r\n\r\n")
	text, _ := io.ReadAll(client)
	if !strings.HasPrefix(string(text), "HTTP/1.1 403 Forbidden\r\n") || !strings.Contains(string(text), "no such hook") {
		t.Errorf("a hook that is not there is answered by %q", text)
	}
	client.Close()
	<-done
	stopAgent()
	stopHook()
}
