package relay

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/expect"
)

// TestAnswerTimeout lets an agent be slow with the head of an answer, by a clock of the test's own.
func TestAnswerTimeout(t *testing.T) {
	const limit = time.Minute
	// passes lets a time pass, and then what it wakes.
	passes := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
	// late expects our answer, and the end, when just the limit has passed since a moment.
	late := func(t *testing.T, w *wire, client, agent end, x int, since time.Time) {
		t.Helper()
		answer, err := io.ReadAll(client)
		if took := time.Since(since); took != limit || !strings.HasPrefix(string(answer), "HTTP/1.1 504 ") || err != nil ||
			!strings.Contains(string(answer), "X-A2atap: timeout\r\n") ||
			!strings.Contains(string(answer), "no head of an answer within 1m0s") {
			t.Errorf("after %v got %q and %v", took, answer, err)
		}
		agent.receiveBreak()
		e := w.ended(x)
		wantFault(t, e.Fault, KindTimeout, SideAgent)
		if e.Fault.Status != 504 || e.AnswerEnd {
			t.Errorf("recorded %+v", e)
		}
	}
	asked := func(w *wire) (client, agent end) {
		client = w.client()
		client.send(w.host(get))
		agent = w.accept()
		agent.receive(w.agentHost(get))
		for _, c := range []end{client, agent} {
			c.SetDeadline(time.Time{})
		}
		return client, agent
	}
	tests := map[string]func(t *testing.T, w *wire){
		"silent": func(t *testing.T, w *wire) {
			since := time.Now()
			client, agent := asked(w)
			late(t, w, client, agent, 0, since)
		},
		"half a head": func(t *testing.T, w *wire) {
			since := time.Now()
			client, agent := asked(w)
			passes(limit / 2)
			agent.send("HTTP/1.1 200 OK\r\nA: ")
			late(t, w, client, agent, 0, since)
			expect.Equal(t, "recorded", "HTTP/1.1 200 OK\r\nA: ", w.ended(0).Answer)
		},
		"interim answers do not count": func(t *testing.T, w *wire) {
			const interim = "HTTP/1.1 102 Processing\r\n\r\n"
			since := time.Now()
			client, agent := asked(w)
			for range 3 {
				passes(limit / 4)
				agent.tells(client, interim)
			}
			late(t, w, client, agent, 0, since)
		},
		"in time": func(_ *testing.T, w *wire) {
			client, agent := asked(w)
			passes(limit - time.Nanosecond)
			agent.tells(client, ok)
		},
		"idle between requests": func(t *testing.T, w *wire) {
			client, agent := asked(w)
			agent.tells(client, ok)
			passes(10*limit + limit/3)
			since := time.Now()
			client.send(w.host(get))
			agent.receive(w.agentHost(get))
			late(t, w, client, agent, 1, since)
		},
		"slow upload": func(t *testing.T, w *wire) {
			const head, rest = "POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 2\r\n\r\n", "hi"
			client := w.client()
			client.SetDeadline(time.Time{})
			client.send(w.host(head))
			agent := w.accept()
			agent.SetDeadline(time.Time{})
			agent.receive(w.agentHost(head))
			passes(3 * limit)
			since := time.Now()
			client.send(rest)
			agent.receive(rest)
			late(t, w, client, agent, 0, since)
		},
		"in turn": func(t *testing.T, w *wire) {
			client, agent := asked(w)
			client.send(w.host(get))
			agent.receive(w.agentHost(get))
			passes(limit / 2)
			since := time.Now()
			agent.tells(client, ok)
			late(t, w, client, agent, 1, since)
		},
		"quiet stream": func(_ *testing.T, w *wire) {
			client, agent := asked(w)
			agent.tells(client, silentStream)
			passes(100 * limit)
			agent.tells(client, "3\r\nabc\r\n")
			passes(100 * limit)
			agent.tells(client, "0\r\n\r\n")
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, newPipes(t, func(c *Config) { c.AnswerTimeout = limit }))
			})
		})
	}
	bothWires(t, func(t *testing.T, secure bool) { // over sockets, whose deadlines are their own
		w := newWire(t, secure, func(c *Config) { c.AnswerTimeout = 20 * time.Millisecond })
		client, agent := asked(w)
		if status, kind := ownAnswerOf(t, client); status != 504 || kind != KindTimeout {
			t.Errorf("got %d %s, want 504 timeout", status, kind)
		}
		agent.receiveBreak()
	})
	t.Run("no limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newPipes(t, nil)
			client, agent := asked(w)
			passes(24 * time.Hour)
			agent.tells(client, ok)
		})
	})
}
