//go:build peers && linux

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
)

// A chaosAgent answers in all bindings, with what follows from the number of an exchange. Some answers it cuts.
type chaosAgent struct {
	t     *testing.T
	url   string
	seed  uint64
	seen  atomic.Int64
	conns atomic.Int64
}

func newChaosAgent(t *testing.T, seed uint64) *chaosAgent {
	a := &chaosAgent{t: t, seed: seed}
	server := httptest.NewUnstartedServer(a)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of answers that are cut
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			a.conns.Add(1)
		case http.StateClosed, http.StateHijacked:
			a.conns.Add(-1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// chance returns numbers that follow from that of an exchange.
func chance(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }

// filler is text of some length that cannot be compressed much.
func filler(r *rand.Rand, most int) string {
	raw := make([]byte, r.IntN(most))
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(raw)
}

// A chaosCall is one exchange of the crowd: what is sent, and what comes back if nothing is cut.
type chaosCall struct {
	path, body string
	mediaType  string
	stream     bool
	http2      bool // gRPC is over HTTP/2 always
	pieces     []string
	cutAfter   int // pieces, by the agent; -1 for not at all
	leaveAfter int // bytes, by the client; -1 for not at all
}

func newCall(seed, n uint64) chaosCall {
	r := chance(seed, n)
	most := 2000
	if r.IntN(20) == 0 {
		most = 100_000
	}
	message := fmt.Sprintf(`{"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"%s"}]}`, n, filler(r, most))
	c := chaosCall{cutAfter: -1, leaveAfter: -1, mediaType: "application/json"}
	rpc, overGRPC := r.IntN(2) == 0, r.IntN(3) == 0
	c.stream = r.IntN(3) == 0
	c.http2 = overGRPC || r.IntN(3) == 0
	method, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendMessage")
	if c.stream {
		method, _ = grpc.MethodOf("/" + grpc.Service1_0 + "/SendStreamingMessage")
	}
	switch {
	case overGRPC:
		c.path, c.mediaType = "/"+method.Service+"/"+method.Name, "application/grpc"
		c.body = messageIn(method.Request, `{"message":`+message+`}`)
	case rpc && c.stream:
		c.path, c.body = "/", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"SendStreamingMessage","params":{"message":%s}}`, n, message)
	case rpc:
		c.path, c.body = "/", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"SendMessage","params":{"message":%s}}`, n, message)
	case c.stream:
		c.path, c.body = "/message:stream", `{"message":`+message+`}`
	default:
		c.path, c.body = "/message:send", `{"message":`+message+`}`
	}
	pieces := 1
	if c.stream {
		pieces = 1 + r.IntN(20)
	}
	for i := range pieces {
		result := fmt.Sprintf(`{"message":{"messageId":"a%d-%d","role":"ROLE_AGENT","parts":[{"text":"%s"}]}}`, n, i, filler(r, most))
		if rpc && !overGRPC {
			result = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, n, result)
		}
		switch {
		case overGRPC:
			result = messageIn(method.Answer, result)
		case c.stream:
			result = "data: " + result + "\n\n"
		}
		c.pieces = append(c.pieces, result)
	}
	switch r.IntN(20) {
	case 0:
		c.cutAfter = r.IntN(pieces + 1)
	case 1:
		c.leaveAfter = r.IntN(2000)
	}
	return c
}

// messageIn returns JSON as a message of gRPC with its prefix.
func messageIn(of *grpc.Type, text string) string {
	message, err := of.FromJSON(jsondoc.Parse([]byte(text)).Root)
	if err != nil {
		panic(err) // it is ours
	}
	return string(grpc.AppendFrame(nil, message))
}

// ServeHTTP implements http.Handler. What arrives whole must be what was sent.
func (a *chaosAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.seen.Add(1)
	n, err := strconv.ParseUint(r.Header.Get(exchangeNumber), 10, 64)
	if err != nil {
		a.t.Errorf("a request has the number %q", r.Header.Get(exchangeNumber))
		return
	}
	c := newCall(a.seed, n)
	body, err := io.ReadAll(r.Body)
	if err == nil && (string(body) != c.body || r.URL.Path != c.path) || !strings.HasPrefix(c.body, string(body)) {
		a.t.Errorf("exchange %d: the agent got other bytes than were sent", n)
	}
	if err != nil {
		return
	}
	if w.Header().Set("Content-Type", c.mediaType); c.stream && c.mediaType == "application/json" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for i, piece := range c.pieces {
		if i == c.cutAfter {
			if c.http2 {
				panic(http.ErrAbortHandler)
			}
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				conn.Close()
			}
			return
		}
		io.WriteString(w, piece) //nolint:errcheck // the client may have gone
		if c.stream {
			http.NewResponseController(w).Flush() //nolint:errcheck
		}
	}
	if c.mediaType == "application/grpc" {
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}
}

// A chaosCrowd is clients that call without a pause, while they may.
type chaosCrowd struct {
	t               *testing.T
	agent           *chaosAgent
	seed            uint64
	url             atomic.Pointer[string]
	tried, answered atomic.Int64
	clients         sync.WaitGroup
	stopped         chan struct{}

	gate sync.RWMutex // held by each call; wholly while they may not

	mu   sync.Mutex
	when map[uint64]time.Time // whole answers
}

const chaosClients = 6

func newChaosCrowd(t *testing.T, seed uint64) *chaosCrowd {
	c := &chaosCrowd{
		t: t, agent: newChaosAgent(t, seed), seed: seed, stopped: make(chan struct{}),
		when: make(map[uint64]time.Time),
	}
	c.gate.Lock()
	for range chaosClients {
		c.clients.Go(func() {
			client := newChaosClient()
			defer client.CloseIdleConnections()
			for {
				c.gate.RLock()
				select {
				case <-c.stopped:
					c.gate.RUnlock()
					return
				default:
				}
				failed := c.call(client) != nil
				c.gate.RUnlock()
				if failed { // perhaps no process listens
					<-time.After(time.Millisecond)
				}
			}
		})
	}
	return c
}

// A chaosClient calls over HTTP/1.1 and HTTP/2.
type chaosClient struct{ overHTTP1, overHTTP2 http.Transport }

func newChaosClient() *chaosClient {
	c := &chaosClient{}
	c.overHTTP2.Protocols = new(http.Protocols)
	c.overHTTP2.Protocols.SetUnencryptedHTTP2(true)
	return c
}

// CloseIdleConnections closes connections over which no call is made.
func (c *chaosClient) CloseIdleConnections() {
	c.overHTTP1.CloseIdleConnections()
	c.overHTTP2.CloseIdleConnections()
}

// call makes one call. What it gets is what the agent sends, from its beginning.
func (c *chaosCrowd) call(client *chaosClient) error {
	n := uint64(c.tried.Add(1))
	want := newCall(c.seed, n)
	request, err := http.NewRequest(http.MethodPost, strings.TrimSuffix(*c.url.Load(), "/")+want.path, strings.NewReader(want.body))
	if err != nil {
		return err
	}
	request.GetBody = nil // a call that was sent is not sent again
	request.Header.Set("Content-Type", want.mediaType)
	request.Header.Set("A2A-Version", "1.0")
	request.Header.Set(exchangeNumber, strconv.FormatUint(n, 10))
	transport := &client.overHTTP1
	if want.http2 {
		transport = &client.overHTTP2
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Header.Get("X-A2atap") != "" {
		_, err := io.Copy(io.Discard, answer.Body) // the tap says that the agent has gone
		return err
	}
	whole := strings.Join(want.pieces, "")
	var got []byte
	if want.leaveAfter >= 0 {
		got, err = io.ReadAll(io.LimitReader(answer.Body, int64(want.leaveAfter)))
	} else {
		got, err = io.ReadAll(answer.Body)
	}
	if !strings.HasPrefix(whole, string(got)) {
		c.t.Errorf("exchange %d: the client got other bytes than the agent sent: %x", n, sha256.Sum256(got))
	}
	if err == nil && want.leaveAfter < 0 {
		if want.mediaType == "application/grpc" && answer.Trailer.Get("Grpc-Status") != "0" {
			c.t.Errorf("exchange %d: the trailer is %v", n, answer.Trailer)
		}
		if len(got) != len(whole) {
			c.t.Errorf("exchange %d: the client got %d bytes of %d, and no error", n, len(got), len(whole))
		}
		c.answered.Add(1)
		c.mu.Lock()
		c.when[n] = time.Now()
		c.mu.Unlock()
	}
	return err
}

// flood makes n calls more at once, of which half open a connection and say nothing whole.
func (c *chaosCrowd) flood(n int) {
	for i := range n {
		c.clients.Go(func() {
			c.gate.RLock()
			defer c.gate.RUnlock()
			if i%2 == 0 {
				client := newChaosClient()
				client.overHTTP1.DisableKeepAlives = true
				c.call(client) //nolint:errcheck // it counts
				client.CloseIdleConnections()
				return
			}
			conn, err := net.Dial("tcp", strings.Split(strings.TrimPrefix(*c.url.Load(), "http://"), "/")[0])
			if err == nil {
				io.WriteString(conn, []string{"POST / HTTP/1.1\r\nHost: ", http2.ClientPreface}[i/2%2]) //nolint:errcheck
				conn.Close()
			}
			c.tried.Add(1) // it may be recorded
		})
	}
}

// goOn lets clients call.
func (c *chaosCrowd) goOn(url string) {
	c.url.Store(&url)
	c.gate.Unlock()
}

// pause waits until no call is under way, and the agent has seen the end of all connections.
func (c *chaosCrowd) pause(t *testing.T) {
	t.Helper()
	c.gate.Lock()
	eventually(t, "the end of all connections", func() bool { return c.agent.conns.Load() == 0 })
}

// end ends the clients, which are paused.
func (c *chaosCrowd) end() {
	close(c.stopped)
	c.gate.Unlock()
	c.clients.Wait()
}

// answers returns when calls after a number had their whole answers.
func (c *chaosCrowd) answers(after int64) map[string]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]time.Time)
	for n, at := range c.when {
		if n > uint64(after) {
			all[strconv.FormatUint(n, 10)] = at
		}
	}
	return all
}
