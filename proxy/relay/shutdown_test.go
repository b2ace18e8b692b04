package relay

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// stopper stops the relay as soon as it is told that an exchange has ended.
type stopper struct {
	Observer
	w **wire
}

// Ended implements Observer. In a bubble the pause ends when the relay has begun to stop and waits.
func (s stopper) Ended(x int) {
	s.Observer.Ended(x)
	(*s.w).stop()
	time.Sleep(lingerTime / 2)
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
		"no request":         {sends: "GET /a b c HTTP/1.1\r\nHost: $HOST\r\n\r\n", want: "HTTP/1.1 400 "},
		"no agent": {sends: get, want: "HTTP/1.1 502 ", change: func(c *Config) {
			c.Dial = func(context.Context) (net.Conn, error) { return nil, errors.New("nobody is there") }
		}},
		"the agent is slow": {sends: get, want: "HTTP/1.1 504 ", change: func(c *Config) { c.AnswerTimeout = time.Second }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w *wire
				w = newPipes(t, func(c *Config) {
					c.Observer = stopper{c.Observer, &w}
					if test.change != nil {
						test.change(c)
					}
				})
				client := w.client()
				client.send(w.host(test.sends))
				if test.serves {
					agent := w.accept()
					agent.receive(w.agentHost(test.sends))
					agent.send(answer)
				}
				got, err := client.rest()
				if !strings.HasPrefix(got, test.want) || err != nil {
					t.Errorf("got %q and %v, want %q", got, err, test.want)
				}
				w.result()
			})
		})
	}
}
