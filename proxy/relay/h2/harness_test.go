package h2_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
	"a2atap/proxy/relay/h2"
)

// The agents' server keeps a connection for a while that it has given up.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*http2serverConn).serve"))
}

// A tap relays to an agent, and keeps what was observed.
type tap struct {
	addr  string
	agent string
	seen  *witness
	stop  context.CancelFunc // ends what is relayed
	wait  func()             // until nothing is relayed any more
}

// newTap starts a tap before an agent at an address, and ends it with the test.
func newTap(t testing.TB, agent string, change func(*relay.Config)) *tap {
	t.Helper()
	l := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	p := &tap{addr: l.Addr().String(), agent: agent, seen: newWitness(t), stop: cancel, wait: wait.Wait}
	wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wait.Go(func() {
				w := p.seen.connection()
				cfg := relay.Config{
					Dial: func(ctx context.Context) (net.Conn, error) {
						return new(net.Dialer).DialContext(ctx, "tcp", agent)
					},
					Authority: agent, Observer: w,
				}
				if change != nil {
					change(&cfg)
				}
				plain := cfg
				plain.HTTP2 = func(ctx context.Context, client net.Conn, begun []byte) error {
					return h2.Serve(ctx, client, begun, cfg)
				}
				relay.New(c, plain).Serve(ctx)
				w.over()
			})
		}
	})
	t.Cleanup(func() {
		cancel()
		l.Close()
		wait.Wait()
	})
	return p
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	return must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
}

// A witness keeps what the Observers of all connections were told, and complains about calls that break their contract.
type witness struct {
	t       testing.TB
	mu      sync.Mutex
	cs      []*connection
	changed chan struct{}   // closed when an exchange has ended, then replaced
	foreign map[string]bool // the sides that sent what belongs to no request
}

func newWitness(t testing.TB) *witness {
	return &witness{t: t, changed: make(chan struct{}), foreign: make(map[string]bool)}
}

type connection struct {
	*witness
	exchanges map[int]*exchange
}

// An exchange is what an Observer was told of one.
type exchange struct {
	Request, Trailer       string
	Body                   []byte
	Asked                  bool
	Informational          []string
	Answer, AnswerTrailer  string
	AnswerBody             []byte
	Answered               bool
	Upgraded               bool
	Sides                  []string // what SideEnded was called with
	Fault                  *relay.TransportError
	Ended                  bool
	AnswerPieces, AskPiece int
}

func (w *witness) connection() *connection {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &connection{witness: w, exchanges: make(map[int]*exchange)}
	w.cs = append(w.cs, c)
	return c
}

// all returns the exchanges that were observed, in order.
func (w *witness) all() (all []*exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.cs {
		for x := range len(c.exchanges) {
			if e := c.exchanges[x]; e != nil {
				all = append(all, new(*e))
			}
		}
	}
	return all
}

// ended waits until n exchanges have ended, and returns all.
func (w *witness) ended(n int) []*exchange {
	w.t.Helper()
	patience := time.NewTimer(must.Patience)
	defer patience.Stop()
	for {
		w.mu.Lock()
		changed := w.changed
		w.mu.Unlock()
		all, over := w.all(), 0
		for _, e := range all {
			if e.Ended {
				over++
			}
		}
		if over >= n {
			return all
		}
		select {
		case <-changed:
		case <-patience.C:
			w.t.Fatalf("%d exchanges have ended, want %d: %+v", over, n, all)
		}
	}
}

// tell changes an exchange, which must be open.
func (c *connection) tell(x int, change func(*exchange)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.exchanges[x]
	if e == nil || e.Ended {
		c.t.Errorf("exchange %d was told of when it was not open: %+v", x, e)
		return
	}
	change(e)
}

// over complains about exchanges that have not ended when their connection has.
func (c *connection) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for x, e := range c.exchanges {
		if !e.Ended {
			c.t.Errorf("exchange %d was not ended: %+v", x, e)
		}
	}
}

func (c *connection) Request(x int, head []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.exchanges[x] != nil {
		c.t.Errorf("exchange %d was begun twice", x)
	}
	c.exchanges[x] = &exchange{Request: string(head)}
}

func (c *connection) SideEnded(x int, side, how string) {
	c.tell(x, func(e *exchange) { e.Sides = append(e.Sides, side+" "+how) })
}

func (c *connection) RequestBody(x int, p []byte) {
	c.tell(x, func(e *exchange) {
		if e.Asked && !e.Upgraded {
			c.t.Errorf("exchange %d: a body after its end", x)
		}
		e.Body = append(e.Body, p...)
		e.AskPiece++
	})
}

func (c *connection) RequestEnd(x int, trailer []byte) {
	c.tell(x, func(e *exchange) {
		if e.Asked {
			c.t.Errorf("exchange %d: its request ended twice", x)
		}
		e.Asked, e.Trailer = true, string(trailer)
	})
}

func (c *connection) Informational(x int, head []byte) {
	c.tell(x, func(e *exchange) { e.Informational = append(e.Informational, string(head)) })
}

func (c *connection) Answer(x int, head []byte) {
	c.tell(x, func(e *exchange) {
		expect.Equal(c.t, fmt.Sprintf("exchange %d was answered twice", x), "", e.Answer)
		e.Answer = string(head)
	})
}

func (c *connection) Upgraded(x int) { c.tell(x, func(e *exchange) { e.Upgraded = true }) }

func (c *connection) AnswerBody(x int, p []byte) {
	c.tell(x, func(e *exchange) {
		if e.Answer == "" || e.Answered {
			c.t.Errorf("exchange %d: a body before the head of its answer or after its end", x)
		}
		e.AnswerBody = append(e.AnswerBody, p...)
		e.AnswerPieces++
	})
}

func (c *connection) AnswerEnd(x int, trailer []byte) {
	c.tell(x, func(e *exchange) {
		if e.Answered {
			c.t.Errorf("exchange %d: its answer ended twice", x)
		}
		e.Answered, e.AnswerTrailer = true, string(trailer)
	})
}

func (c *connection) Fault(x int, f relay.TransportError) {
	if x < 0 { // it belongs to no exchange
		c.mu.Lock()
		c.foreign[f.Side] = c.foreign[f.Side] || f.Kind == relay.KindUnsolicited
		c.mu.Unlock()
		return
	}
	c.tell(x, func(e *exchange) {
		if e.Fault != nil {
			c.t.Errorf("exchange %d has two faults: %v and %v", x, e.Fault, f)
		}
		e.Fault = &f
	})
}

func (c *connection) Ended(x int) {
	c.tell(x, func(e *exchange) {
		e.Ended = true
		close(c.changed)
		c.witness.changed = make(chan struct{})
	})
}

// agent serves HTTP/2 in the clear until the test ends, and returns its address.
func agent(t testing.TB, h http.HandlerFunc) (addr string) {
	t.Helper()
	l := listen(t)
	server := &http.Server{Handler: h, Protocols: new(http.Protocols), ErrorLog: log.New(io.Discard, "", 0)}
	server.Protocols.SetUnencryptedHTTP2(true)
	server.Protocols.SetHTTP1(true)
	var wait sync.WaitGroup
	wait.Go(func() { server.Serve(l) })
	t.Cleanup(func() {
		server.Close()
		wait.Wait()
	})
	return l.Addr().String()
}

// client returns a client of HTTP/2 with prior knowledge.
func client(t testing.TB) *http.Client {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: must.Patience}
}

// ask posts a body and returns the answer, its body and its trailer.
func ask(t testing.TB, c *http.Client, url, body string) (*http.Response, string) {
	t.Helper()
	res := must.Get(c.Post(url, "application/json", strings.NewReader(body)))(t)
	defer res.Body.Close()
	return res, string(must.Get(io.ReadAll(res.Body))(t))
}

// lines returns a head without the fields that differ from run to run.
func lines(head string) string {
	var kept []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if !strings.HasPrefix(line, "date:") && !strings.HasPrefix(line, "user-agent:") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
