package proxy_test

import (
	"bufio"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/relay"
)

// The head of a stream that is silent still, and each of its events, reach the client before the agent does anything
// more.
func TestForwardStream(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		const events = 300
		next := make(chan bool)
		agent := w.agent(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/event-stream")
			rw.WriteHeader(200)
			rw.(http.Flusher).Flush()
			for n := 0; <-next; n++ {
				fmt.Fprintf(rw, "data: %d\n\n", n)
				rw.(http.Flusher).Flush()
			}
		})
		f := newForwardRig(t, nil)
		answer, err := f.client("").Get(agent.URL + "/stream")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		in := bufio.NewReader(answer.Body)
		for n := range events {
			next <- true
			expect(t, in, fmt.Sprintf("data: %d\n\n", n))
		}
		close(next)
		if err := expectEnd(in); err != nil {
			t.Error(err)
		}
		x := f.record()[0]
		if x.Response == nil || len(x.Response.Events) != events {
			t.Fatalf("recorded %+v", x.Response)
		}
		for n, e := range x.Response.Events {
			if string(e.Raw) != fmt.Sprintf("data: %d\n\n", n) || n > 0 && e.At < x.Response.Events[n-1].At {
				t.Errorf("event %d is %q at %v", n, e.Raw, e.At)
			}
		}
		if got, want := x.Agent.URL, agent.URL; got != want || x.Agent.Name != agent.Listener.Addr().String() {
			t.Errorf("agent %s at %s, want %s", x.Agent.Name, got, want)
		}
	})
}

// What an agent breaks, the client sees broken, and the record says who it was.
func TestForwardBreaks(t *testing.T) {
	tests := map[string]struct {
		answer string
		reset  bool
		kind   string
	}{
		"reset in the body": {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", true, relay.KindReset},
		"close in the body": {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", false, relay.KindTruncated},
		"close in a chunk": {
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", false,
			relay.KindTruncated,
		},
		"close between the chunks": {
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n", false,
			relay.KindTruncated,
		},
		"bad chunk": {
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno\r\n", false,
			relay.KindRefused,
		},
		"close before the answer": {"", false, relay.KindTruncated},
	}
	bothWays(t, func(t *testing.T, w way) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				listener := w.listen(t)
				var wg sync.WaitGroup
				defer wg.Wait()
				wg.Go(func() {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					defer conn.Close()
					if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
						t.Error(err)
					}
					io.WriteString(conn, test.answer)
					if test.reset {
						if over, ok := conn.(interface{ NetConn() net.Conn }); ok {
							conn = over.NetConn()
						}
						conn.(*net.TCPConn).SetLinger(0)
						conn.Close()
					}
				})
				f := newForwardRig(t, nil)
				answer, err := f.client("").Get(w.scheme() + "://" + listener.Addr().String())
				if err == nil {
					err = expectEnd(answer.Body)
					answer.Body.Close()
				}
				if err == nil {
					t.Error("the client sees no error")
				}
				for _, x := range f.record() {
					if x.Fault == nil || x.Fault.Side != relay.SideAgent || x.Fault.Kind != test.kind {
						t.Errorf("got fault %+v, want %s", x.Fault, test.kind)
					}
				}
			})
		}
	})
}

// The agent of a client that leaves a silent stream learns of it at once.
func TestForwardClientLeaves(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		left := make(chan struct{})
		agent := w.agent(t, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/event-stream")
			rw.WriteHeader(200)
			rw.(http.Flusher).Flush()
			<-r.Context().Done()
			close(left)
			panic(http.ErrAbortHandler) // else the server would end its answer in order
		})
		f := newForwardRig(t, nil)
		answer, err := f.client("").Get(agent.URL)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		select {
		case <-left:
		case <-time.After(testTimeout):
			t.Fatal("the agent was not told")
		}
		f.follow(isClosed)
		if fault := f.record()[0].Fault; fault == nil || fault.Kind != relay.KindClientLeft {
			t.Errorf("got fault %+v", fault)
		}
	})
}

// Whatever keeps us from the agent is told to the client in an answer with our mark, and recorded.
func TestForwardUnreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the kernel, and never says a word of TLS
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	plain := newAgent(t, func(http.ResponseWriter, *http.Request) {})
	untrusted := (way{true}).agent(t, func(http.ResponseWriter, *http.Request) {})
	tests := map[string]struct {
		url    string
		status int
		mark   string
	}{
		"refused":               {"http://" + closed.Addr().String(), 502, relay.KindUnreachable},
		"refused, intercepted":  {"https://" + closed.Addr().String(), 502, relay.KindUnreachable},
		"no such name":          {"http://nowhere.invalid/", 502, relay.KindUnreachable},
		"no such name, secure":  {"https://nowhere.invalid/", 502, relay.KindUnreachable},
		"no TLS":                {"https://" + plain.Listener.Addr().String(), 502, relay.KindTLS},
		"certificate not known": {untrusted.URL, 502, relay.KindTLS},
		"silent":                {"https://" + silent.Addr().String(), 504, relay.KindTimeout},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newForwardRig(t, func(o *proxy.Options) {
				o.RootCAs = x509.NewCertPool()
				if name == "silent" {
					o.DialTimeout = 100 * time.Millisecond
				}
			})
			answer, _ := get(t, f.client(""), test.url)
			if answer.StatusCode != test.status || answer.Header.Get("X-A2atap") != test.mark {
				t.Errorf("got %s, %s", answer.Status, answer.Header.Get("X-A2atap"))
			}
			x := f.record()[0]
			if x.Fault == nil || x.Fault.Kind != test.mark || x.Response != nil {
				t.Errorf("recorded %+v", x.Fault)
			}
		})
	}
}

// Every kind of framing arrives as it was sent, and what the proxy is told about itself stays here.
func TestForwardMessages(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<16)
	tests := map[string]struct{ request, seen, answer string }{
		"no content": {
			"GET URL/ HTTP/1.1\r\nHost: ADDR\r\n\r\n", "GET / HTTP/1.1\r\nHost: ADDR\r\n\r\n",
			"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
		},
		"not modified": {
			"GET URL/ HTTP/1.1\r\nHost: ADDR\r\n\r\n", "GET / HTTP/1.1\r\nHost: ADDR\r\n\r\n",
			"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
		},
		"HEAD": {
			"HEAD URL/ HTTP/1.1\r\nHost: ADDR\r\n\r\n", "HEAD / HTTP/1.1\r\nHost: ADDR\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
		},
		"interim": {
			"GET URL/ HTTP/1.1\r\nHost: ADDR\r\n\r\n", "GET / HTTP/1.1\r\nHost: ADDR\r\n\r\n",
			"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n",
		},
		"trailers": {
			"POST URL/x;y?a;b HTTP/1.1\r\nhost:  ADDR\r\nTransfer-Encoding: " +
				"chunked\r\n\r\n1;x\r\na\r\n0\r\nX: y\r\n\r\n", "POST /x;y?a;b HTTP/1.1\r\nhost:  " +
				"ADDR\r\nTransfer-Encoding: chunked\r\n\r\n1;x\r\na\r\n0\r\nX: y\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nY: z\r\n\r\n",
		},
		"encodings": {
			"GET URL/ HTTP/1.1\r\nHost: ADDR\r\nAccept-Encoding: br, x\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: ADDR\r\nAccept-Encoding: br, x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: " +
				"unknown\r\nContent-Length: 3\r\n\r\n\x00\xff\x01",
		},
		"big": {
			"POST URL/ HTTP/1.1\r\nHost: ADDR\r\nContent-Length: 1048576\r\n\r\n" + big, "POST / HTTP/1.1\r\nHost: " +
				"ADDR\r\nContent-Length: 1048576\r\n\r\n" + big,
			"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n" + big,
		},
		"credentials": {
			"GET URL/ HTTP/1.1\r\nHost: ADDR\r\nAuthorization: Bearer a\r\nProxy-Authorization: Basic " +
				"cGxhbm5lcjo=\r\nProxy-Connection: x\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: ADDR\r\nAuthorization: Bearer a\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		},
	}
	bothWays(t, func(t *testing.T, w way) {
		for name, test := range tests {
			if w.secure && name == "credentials" { // inside TLS the fields are between the client and the agent
				continue
			}
			t.Run(name, func(t *testing.T) {
				listener := w.listen(t)
				f := newForwardRig(t, nil)
				addr := listener.Addr().String()
				var wg sync.WaitGroup
				defer wg.Wait()
				wg.Go(func() {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					defer conn.Close()
					want := strings.ReplaceAll(test.seen, "ADDR", addr)
					got := make([]byte, len(want))
					if n, err := io.ReadFull(conn, got); err != nil || string(got) != want {
						t.Errorf("the agent got %.200q, %v", got[:n], err)
					}
					io.WriteString(conn, test.answer)
					expectEnd(conn)
				})
				conn, origin := w.dial(f, addr)
				request := strings.NewReplacer("URL", origin, "ADDR", addr).Replace(test.request)
				write(t, conn, request)
				expect(t, conn, test.answer)
				conn.Close()
				x := f.record()[0]
				head, _, _ := strings.Cut(request, "\r\n\r\n")
				if string(x.Request.Head) != head+"\r\n\r\n" || x.Fault != nil {
					t.Errorf("recorded head %q, fault %v", x.Request.Head, x.Fault)
				}
			})
		}
	})
}

// An agent's 100 is not waited for longer than without us, and after 101 the bytes are somebody else's.
func TestForwardExpectAndUpgrade(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		listener := w.listen(t)
		f := newForwardRig(t, nil)
		addr := listener.Addr().String()
		conn, origin := w.dial(f, addr)
		agents := make(chan net.Conn, 1)
		go func() {
			agent, err := listener.Accept()
			if err != nil {
				t.Error(err)
			}
			agents <- agent
		}()
		write(t, conn, "POST "+origin+"/ HTTP/1.1\r\nHost: "+addr+
			"\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
		agent := <-agents
		defer agent.Close()
		agent.SetDeadline(time.Now().Add(testTimeout))
		expect(t, agent, "POST / HTTP/1.1\r\nHost: "+addr+"\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
		write(t, agent, "HTTP/1.1 100 Continue\r\n\r\n")
		expect(t, conn, "HTTP/1.1 100 Continue\r\n\r\n")
		write(t, conn, "hi")
		expect(t, agent, "hi")
		write(t, agent, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		expect(t, conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		write(t, conn, "GET "+origin+"/ HTTP/1.1\r\nHost: "+addr+"\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
		expect(t, agent, "GET / HTTP/1.1\r\nHost: "+addr+"\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
		write(t, agent, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n")
		expect(t, conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n")
		write(t, conn, "\x00ping")
		expect(t, agent, "\x00ping")
		write(t, agent, "\x00pong")
		expect(t, conn, "\x00pong")
	})
}
