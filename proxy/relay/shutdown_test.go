package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// stopper stops the relay, in a bubble, as soon as it learns that its last exchange has ended. With waits, it returns
// only after the relay has begun to stop, and waits.
type stopper struct {
	Observer
	w     **wire
	last  int
	waits bool
}

// Ended implements Observer.
func (s stopper) Ended(x int) {
	s.Observer.Ended(x)
	if x == s.last {
		(*s.w).stop()
		if s.waits {
			synctest.Wait()
		}
	}
}

// TestShutdownAtTheEnd stops the relay between the report that an exchange has ended and the last bytes of its answer:
// the client gets them, the agent's or ours.
func TestShutdownAtTheEnd(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	tests := map[string]struct {
		change func(*Config)
		serves bool   // the agent answers
		sends  string // of the client
		want   string // the beginning of what it gets
	}{
		"the agent's answer": {sends: get, serves: true, want: answer},
		"no request behind another": {
			sends: get + "GET /a b c HTTP/1.1\r\nHost: $HOST\r\n\r\n", serves: true, want: answer + "HTTP/1.1 400 ",
		},
		"no request": {sends: "GET /a b c HTTP/1.1\r\nHost: $HOST\r\n\r\n", want: "HTTP/1.1 400 "},
		"no agent": {sends: get, want: "HTTP/1.1 502 ", change: func(c *Config) {
			c.Dial = func(context.Context) (net.Conn, error) { return nil, errors.New("nobody is there") }
		}},
		"the agent is slow": {sends: get, want: "HTTP/1.1 504 ", change: func(c *Config) { c.AnswerTimeout = time.Second }},
	}
	for name, test := range tests {
		for when, order := range map[string]struct {
			waits bool          // the relay, before it writes
			reads time.Duration // after which the client reads
		}{
			"before it is written":      {true, 0},
			"before it can be written":  {false, LingerTime / 2},
			"while nothing is in a way": {false, 0},
		} {
			t.Run(name+"/"+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var w *wire
					w = newPipes(t, func(c *Config) {
						c.Observer = stopper{c.Observer, &w, strings.Count(test.sends, " HTTP/1.1\r\n") - 1, order.waits}
						if test.change != nil {
							test.change(c)
						}
					})
					client := w.client()
					client.send(w.host(test.sends))
					if test.serves {
						agent := w.accept()
						agent.receive(w.agentHost(get))
						agent.send(answer)
					}
					time.Sleep(order.reads) // by the clock of the bubble
					got, err := client.rest()
					if !strings.HasPrefix(got, test.want) || err != nil {
						t.Errorf("got %q and %v, want %q", got, err, test.want)
					}
					w.result()
				})
			})
		}
	}
}

// TestShutdownTakesNoRequest stops the relay while the last bytes of an answer cannot be written yet: what the client
// asks meanwhile does not reach the agent.
func TestShutdownTakesNoRequest(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	synctest.Test(t, func(t *testing.T) {
		var w *wire
		w = newPipes(t, func(c *Config) { c.Observer = stopper{c.Observer, &w, 0, false} })
		client, agent := w.begin(get)
		agent.send(answer)
		w.ended(0)
		synctest.Wait()
		client.send(w.host(get)) // before it reads
		client.receive(answer)
		client.receiveEnd()
		agent.receiveBreak()
		w.result()
		expect.Equal(t, "exchanges were recorded", 1, len(w.exchanges))
	})
}

// TestShutdownBehindAnAnswer stops the relay while a second request waits for its answer and the client has not read the
// first one: the client gets that whole, though the system still has some of it to send.
func TestShutdownBehindAnAnswer(t *testing.T) {
	body := strings.Repeat("a", 120<<10)
	answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	w := newWire(t, false, nil)
	client := w.client()
	must.Do(t, client.Conn.(*net.TCPConn).SetReadBuffer(16<<10))
	client.send(w.host(get + get))
	agent := w.accept()
	agent.receive(w.agentHost(get + get))
	agent.send(answer)
	w.ended(0)
	w.stop()
	w.result()
	client.receive(answer)
	client.receiveBreak()
	wantFault(t, w.ended(1).Fault, KindShutdown, SideProxy)
}
