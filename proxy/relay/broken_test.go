package relay

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

const (
	chunkedPost = "POST / HTTP/1.1\r\nHost: $HOST\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
	noChunk     = "no chunk\r\n"
)

// TestBrokenChunkAnswered breaks a request when the client can still get our answer.
func TestBrokenChunkAnswered(t *testing.T) {
	const interim = "HTTP/1.1 100 Continue\r\n\r\n"
	tests := map[string]struct {
		before, passes string // what the agent has sent, and the client has got of it
	}{
		"at once":             {"", ""},
		"interim":             {interim, interim},
		"two interim":         {interim + interim, interim + interim},
		"half a head":         {"HTTP/1.1 200 OK\r\nA: ", ""},
		"interim, half a one": {interim + "HTTP/1.1 103 Ea", interim},
	}
	bothWires(t, func(t *testing.T, secure bool) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				w := newWire(t, secure, nil)
				client, agent := w.begin(chunkedPost)
				agent.send(test.before)
				client.receive(test.passes)
				client.send(noChunk)
				if status, kind := ownAnswerOf(t, client); status != 400 || kind != KindRefused {
					t.Errorf("got %d %s, want 400 refused", status, kind)
				}
				agent.receiveBreak()
				client.Close()
				e := w.ended(0)
				wantFault(t, e.Fault, KindRefused, SideClient)
				if e.Fault.Status != 400 || e.Answer != "" || e.AnswerEnd || strings.Join(e.Interim, "") != test.passes {
					t.Errorf("recorded %+v", e)
				}
			})
		}
	})
}

// TestBrokenChunkBehindAnswer breaks a request whose answer is under way: it gets no other.
func TestBrokenChunkBehindAnswer(t *testing.T) {
	w := newWire(t, false, nil)
	client, agent := w.begin(chunkedPost)
	agent.tells(client, silentStream)
	client.send(noChunk)
	expect.Equal(t, "the client", "", client.receiveBreak())
	agent.receiveBreak()
	e := w.ended(0)
	wantFault(t, e.Fault, KindRefused, SideClient)
	if e.Fault.Status != 0 || e.Answer == "" || e.AnswerEnd {
		t.Errorf("recorded %+v", e)
	}
}

// TestBrokenChunkToNobody breaks a request whose agent cannot be reached. The client gets the error about the agent.
func TestBrokenChunkToNobody(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"in one piece": chunkedPost + noChunk, "in two": chunkedPost} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, false, func(c *Config) {
				c.Dial = func(context.Context) (net.Conn, error) { return nil, errors.New("no way") }
			})
			client := w.client()
			client.send(w.host(first))
			if status, kind := ownAnswerOf(t, client); status != 502 || kind != KindUnreachable {
				t.Errorf("got %d %s", status, kind)
			}
			client.send(noChunk)
			client.receiveBreak()
			wantFault(t, w.ended(0).Fault, KindUnreachable, SideAgent)
		})
	}
}
