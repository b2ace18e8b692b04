package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// TestOrderIsCausal lets clients react to what they have read, over every path. Nothing that they do is in the record
// before what they had read, nor before its time.
func TestOrderIsCausal(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"tap", "plain", "intercepted"} {
		for _, mode := range []string{"keep-alive", "new connections", "two in turn", "events"} {
			t.Run(way+"/"+mode, func(t *testing.T) {
				next := make(chan struct{}) // lets the agent send another event
				serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					if r.URL.Path != "/events" {
						fmt.Fprint(w, `{"answer":1}`)
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					for range next {
						fmt.Fprint(w, "data: {}\n\n")
						w.(http.Flusher).Flush()
					}
				})
				agent := httptest.NewUnstartedServer(serve)
				if way == "intercepted" {
					agent.StartTLS()
				} else {
					agent.Start()
				}
				defer agent.Close()
				var r *rig
				at := agent.URL
				clients := make([]*http.Client, 2)
				if way == "tap" {
					r = newRig(t, nil, "booker="+agent.URL)
					at = "http://" + r.tap(0).Addr()
					for i := range clients {
						clients[i] = &http.Client{Transport: &http.Transport{}, Timeout: 4 * must.Patience}
					}
				} else {
					f := newForwardRig(t, nil)
					r = f.rig
					for i := range clients {
						clients[i] = f.client("")
					}
				}
				c := &caller{
					t: t, at: at, clients: clients, fresh: mode == "new connections",
					turns: mode == "two in turn",
				}
				if mode == "events" {
					c.converse(next)
				} else {
					for range orderRounds {
						c.post()
					}
				}
				for _, client := range clients {
					client.CloseIdleConnections()
				}
				checkOrder(t, r.steps(), mode == "events")
			})
		}
	}
}

// A caller makes one call after the other.
type caller struct {
	t            *testing.T
	at           string
	clients      []*http.Client
	fresh, turns bool
	n            int
}

func (c *caller) post() {
	c.t.Helper()
	client := c.clients[0]
	if c.n++; c.turns {
		client = c.clients[c.n%2]
	}
	res := must.Get(client.Post(c.at+"/rpc", "application/json", http.NoBody))(c.t)
	must.Get(io.Copy(io.Discard, res.Body))(c.t)
	res.Body.Close()
	if c.fresh {
		client.CloseIdleConnections()
	}
}

// converse makes a call upon each event of a stream.
func (c *caller) converse(next chan<- struct{}) {
	c.t.Helper()
	go func() { next <- struct{}{} }()
	res := must.Get(c.clients[1].Get(c.at + "/events"))(c.t)
	defer res.Body.Close()
	in := bufio.NewReader(res.Body)
	for n := range orderRounds / 4 {
		if n > 0 {
			next <- struct{}{}
		}
		for range 2 {
			must.Get(in.ReadString('\n'))(c.t)
		}
		c.post()
	}
	close(next)
	must.Get(io.Copy(io.Discard, in))(c.t)
}

// checkOrder compares steps with the required order of their exchanges, one after the other. With events, the first
// exchange is a stream, and another exchange follows each of its events.
func checkOrder(t *testing.T, steps []capture.Step, events bool) {
	t.Helper()
	var open, opened, seen int
	var now time.Time
	started := map[uint64]time.Time{}
	for _, s := range steps {
		at := started[s.Seq].Add(s.Offset)
		stream := events && s.Seq == 1
		switch what := s.What.(type) {
		case capture.Opened:
			at, started[s.Seq] = what.Started, what.Started
			if opened++; stream {
				break
			}
			if open++; open > 1 {
				t.Fatalf("step %d: exchange %d begins before another one has ended", s.Arrival, s.Seq)
			}
			if events && opened-1 != seen {
				t.Fatalf("step %d: exchange %d begins after event %d, want %d", s.Arrival, s.Seq, seen, opened-1)
			}
		case capture.ResponseEvent:
			seen++
		case capture.Closed:
			if !stream {
				open--
			}
		}
		if at.Before(now) {
			t.Fatalf("step %d of exchange %d is %v older than the one before", s.Arrival, s.Seq, now.Sub(at))
		}
		now = at
	}
	if want := orderRounds; !events && opened != want || events && opened != 1+want/4 {
		t.Errorf("%d exchanges", opened)
	}
}

// steps stops everything and returns what was recorded.
func (r *rig) steps() []capture.Step {
	r.t.Helper()
	r.stop()
	r.close()
	var all []capture.Step
	for s, err := range r.memory.Steps(context.Background(), 1) {
		must.Do(r.t, err)
		all = append(all, s)
	}
	return all
}
