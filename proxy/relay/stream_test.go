package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/must"
)

// TestEvents sends 1,000 events, each only after the one before has arrived: a relay that held one back would hang.
func TestEvents(t *testing.T) {
	bothWires(t, func(t *testing.T, secure bool) {
		w := newWire(t, secure, nil)
		client, agent := w.stream()
		for n := range 1000 {
			event := fmt.Sprintf("data: {\"n\":%d}\n\n", n)
			event = fmt.Sprintf("%x\r\n%s\r\n", len(event), event)
			agent.tells(client, event)
		}
		agent.tells(client, "0\r\n\r\n")
		e := w.ended(0)
		if got := strings.Count(e.AnswerBody, "data: "); got != 1000 || e.Fault != nil {
			t.Errorf("got %d events and fault %v, want 1000 and none", got, e.Fault)
		}
	})
}

// A tap is a listener whose connections are relayed to an agent, for tests with ordinary clients.
type tap struct {
	net.Listener
	serving sync.WaitGroup
}

// newTap starts a tap before the agent at addr, which the configuration need not name. It ends with the test.
func newTap(t testing.TB, addr string, cfg Config) *tap {
	tap := &tap{Listener: listen(t)}
	var dialer net.Dialer
	cfg.Dial = func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", addr) }
	cfg.Authority = addr
	tap.serving.Go(func() {
		acceptAll(tap, func(c net.Conn) {
			tap.serving.Go(func() {
				New(c, cfg).Serve(context.Background())
			})
		})
	})
	t.Cleanup(func() {
		tap.Close()
		tap.serving.Wait()
	})
	return tap
}

func (p *tap) url() string { return "http://" + p.Addr().String() }

// TestAnswersAtOnce asks agents that answer before they have read the request, with 20 KB and with a stream, 1,000
// times each: nothing may be cut off.
func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 20<<10)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			io.WriteString(w, large)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for n := range 5 {
			fmt.Fprintf(w, "data: %d\n\n", n)
			w.(http.Flusher).Flush()
		}
	}))
	defer agent.Close()
	tap := newTap(t, agent.Listener.Addr().String(), Config{})
	want := map[string]string{"/large": large, "/stream": "data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n"}
	for path, want := range want {
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				client := &http.Client{Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				for range 250 {
					a, err := client.Post(tap.url()+path, "application/json", strings.NewReader(large))
					if err != nil {
						t.Error(err)
						return
					}
					got, err := io.ReadAll(a.Body)
					a.Body.Close()
					if err != nil || string(got) != want {
						t.Errorf("%s: got %d bytes and %v, want %d", path, len(got), err, len(want))
						return
					}
				}
			})
		}
		wait.Wait()
	}
}

// TestManyClients runs 50 clients at once, and then looks for descriptors that were left open. Goroutines are looked
// for when all tests have ended.
func TestManyClients(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
	}))
	defer agent.Close()
	before := openFiles(t)
	tap := newTap(t, agent.Listener.Addr().String(), Config{})
	var wait sync.WaitGroup
	for c := range 50 {
		wait.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := range 40 {
				want := fmt.Sprintf("%d/%d", c, n)
				a, err := client.Post(tap.url(), "text/plain", strings.NewReader(want))
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(a.Body)
				a.Body.Close()
				if err != nil || string(got) != want {
					t.Errorf("got %q and %v, want %q", got, err, want)
				}
			}
		})
	}
	wait.Wait()
	tap.Close()
	tap.serving.Wait()
	agent.Close()
	if after := openFiles(t); after > before {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}

// openFiles counts the open descriptors of this process, where the system tells.
func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Logf("descriptors are not counted: %v", err)
	}
	return len(entries)
}

// TestConnectionsOpenedAndLeft opens 3,000 connections, a third of which leave without a word, a third in the middle
// of a head and a third in the middle of an exchange, and waits for all of them to be served.
func TestConnectionsOpenedAndLeft(t *testing.T) {
	const connections = 3000
	agent := listen(t)
	defer agent.Close()
	go acceptAll(agent, func(c net.Conn) {
		go func() {
			defer c.Close()
			io.WriteString(c, silentStream)
			io.Copy(io.Discard, c)
		}()
	})
	address := agent.Addr().String()
	cfg := Config{Dial: func(context.Context) (net.Conn, error) { return net.Dial("tcp", address) }, Authority: address}
	tap := listen(t)
	defer tap.Close()
	served := make(chan error, 100)
	go acceptAll(tap, func(c net.Conn) { go func() { served <- New(c, cfg).Serve(context.Background()) }() })
	go func() {
		for n := range connections {
			c, err := net.Dial("tcp", tap.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			switch n % 3 {
			case 1:
				io.WriteString(c, "POST / HT")
			case 2:
				io.WriteString(c, strings.ReplaceAll(get, "$HOST", "x"))
				bufio.NewReader(c).ReadString('\n')
			}
			c.Close()
		}
	}()
	for n := range connections {
		select {
		case <-served:
		case <-time.After(must.Patience):
			t.Fatalf("%d of %d connections were served, and then none", n, connections)
		}
	}
}

// A blockingObserver holds up the description of answers until it is let go.
type blockingObserver struct {
	Discard
	entered, let chan struct{}
}

func (b blockingObserver) Answer(int, []byte) {
	close(b.entered)
	<-b.let
}

// TestReportsBeforeItForwards blocks the Observer at the head of an answer: the client cannot have seen the head then,
// and the other direction continues.
func TestReportsBeforeItForwards(t *testing.T) {
	b := blockingObserver{entered: make(chan struct{}), let: make(chan struct{})}
	w := newWire(t, false, func(c *Config) { c.Observer = b })
	client, agent := w.begin(get)
	agent.send(ok)
	<-b.entered
	client.send(w.host(post))
	agent.receive(w.agentHost(post))
	client.SetReadDeadline(time.Now())
	if n, err := client.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the client read %d bytes of what was not reported yet (%v)", n, err)
	}
	client.SetReadDeadline(time.Now().Add(must.Patience))
	close(b.let)
	client.receive(ok)
}

// An orderObserver numbers its calls, over all connections.
type orderObserver struct {
	Discard
	order func(call string)
}

func (o orderObserver) Request(int, []byte)       { o.order("request") }
func (o orderObserver) AnswerBody(int, []byte)    { o.order("body") }
func (o orderObserver) Ended(int)                 { o.order("ended") }
func (o orderObserver) Fault(int, TransportError) { o.order("fault") }

// TestOrderIsCausal has clients that act upon what they have read, on one connection, on a new one for each request,
// and on two in turn: what they had read is reported before what they then did.
func TestOrderIsCausal(t *testing.T) {
	t.Parallel()
	const rounds = 2000
	for _, mode := range []string{"one connection", "a new one each", "two in turn"} {
		t.Run(mode, func(t *testing.T) {
			var mu sync.Mutex
			var told []string
			w := newWire(t, false, func(c *Config) {
				c.Observer = orderObserver{order: func(call string) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, call)
				}}
			})
			served := make(chan struct{})
			go func() {
				defer close(served)
				var agents sync.WaitGroup
				defer agents.Wait()
				for {
					select {
					case <-w.served: // of connections that ended
					case c := <-w.accepts:
						if c == nil {
							return
						}
						agents.Go(func() { answerAll(c) })
					}
				}
			}()
			conns := make([]end, 0, rounds)
			for n := range rounds {
				switch {
				case n == 0, mode == "a new one each", mode == "two in turn" && n == 1:
					conns = append(conns, w.client())
				}
				c := conns[len(conns)-1]
				if mode == "two in turn" {
					c = conns[n%len(conns)]
				}
				c.send(w.host(get))
				c.receive(ok)
				if mode == "a new one each" {
					c.Close()
				}
			}
			for _, c := range conns {
				c.Close()
			}
			w.accepts <- nil
			<-served
			mu.Lock()
			defer mu.Unlock()
			for i := 0; i+2 < len(told); i += 3 {
				if told[i] != "request" || told[i+1] != "body" || told[i+2] != "ended" {
					t.Fatalf("call %d and on are %q; the exchanges are one after the other", i, told[i:i+3])
				}
			}
			if len(told) != 3*rounds {
				t.Errorf("%d calls, want %d", len(told), 3*rounds)
			}
		})
	}
}

// answerAll answers all requests without a body on a connection.
func answerAll(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if line == "\r\n" {
			if _, err := io.WriteString(c, ok); err != nil {
				return
			}
		}
	}
}
