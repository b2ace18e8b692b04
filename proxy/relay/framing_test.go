package relay

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

const (
	get  = "GET /a HTTP/1.1\r\nHost: $HOST\r\n\r\n"
	post = "POST /rpc HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 4\r\n\r\nping"
	ok   = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong"
)

// A step is something that one end sends and the other receives.
type step struct{ client, agent string }

// TestFraming plays conversations in which one party waits for the other. A relay that looked for the end of a message
// in the wrong place would hang.
func TestFraming(t *testing.T) {
	tests := map[string][]step{
		"keep-alive":    {{client: get}, {agent: ok}, {client: post}, {agent: ok}},
		"no length":     {{client: get}, {agent: "HTTP/1.1 200 OK\r\n\r\n"}, {agent: "to the end"}},
		"http/1.0":      {{client: "GET / HTTP/1.0\r\n\r\n"}, {agent: "HTTP/1.0 200 OK\r\n\r\nold"}, {agent: "er"}},
		"http/1.0 host": {{client: "GET / HTTP/1.0\r\nHost: $HOST\r\n\r\n"}, {agent: ok}},
		"head": {
			{client: "HEAD" + get[3:]},
			{agent: "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"},
			{client: get},
			{agent: ok},
		},
		"204": {
			{client: get},
			{agent: "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n"},
			{client: get},
			{agent: ok},
		},
		"304": {
			{client: get},
			{agent: "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"},
			{client: get},
			{agent: ok},
		},
		"empty chunked": {
			{client: get},
			{agent: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
			{client: get},
			{agent: ok},
		},
		"coding unknown": {
			{client: get},
			{agent: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"},
			{agent: "to the end"},
		},
		"equal lengths": {{client: get}, {agent: "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: " +
			"2\r\n\r\nhi"}, {client: get}, {agent: ok}},
		"expect": {
			{client: "POST / HTTP/1.1\r\nHost: $HOST\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"},
			{agent: "HTTP/1.1 100 Continue\r\n\r\n"},
			{client: "ping"},
			{agent: ok},
		},
		"expect refused": {
			{client: "POST / HTTP/1.1\r\nHost: $HOST\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"},
			{agent: "HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n"},
			{client: "ping"},
			{client: get},
			{agent: ok},
		},
		"many interim": {
			{client: get},
			{agent: "HTTP/1.1 102 Processing\r\n\r\n"},
			{agent: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"},
			{agent: "HTTP/1.1 103 Early Hints\r\n\r\n"},
			{agent: ok},
			{client: get},
			{agent: ok},
		},
		"answer overtakes request": {
			{client: "POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 8\r\n\r\nping"},
			{agent: ok},
			{client: "ping"},
			{client: get},
			{agent: ok},
		},
		"pipelined": {{client: get + post + get}, {agent: ok + ok}, {agent: ok}},
		"trailers": {
			{client: "POST / HTTP/1.1\r\nHost: $HOST\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nping\r\n"},
			{client: "0\r\nA: b\r\n"},
			{client: "\r\n"},
			{agent: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
			{agent: "1;x\r\na\r\n0\r\nB: c\r\n\r\n"},
			{client: get},
			{agent: ok},
		},
		"blank lines before a request": {{client: "\r\n\r\n" + get}, {agent: ok}, {client: "\r\n" + get}, {agent: ok}},
		"blank line after an answer":   {{client: get}, {agent: ok + "\r\n"}, {client: get}, {agent: ok}},
		"upgrade": {
			{client: "GET / HTTP/1.1\r\nHost: $HOST\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"},
			{agent: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\nraw"},
			{client: "\x00\x01 not HTTP"},
			{agent: "HTTP? no"},
		},
		"upgrade declined": {
			{client: "GET / HTTP/1.1\r\nHost: $HOST\r\nUpgrade: h2c\r\n\r\n"}, {agent: ok}, {client: get}, {agent: ok},
		},
		"absolute target": {{client: "GET http://card.example/x HTTP/1.1\r\nHost: $HOST\r\n\r\n"}, {agent: ok}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			bothWires(t, func(t *testing.T, secure bool) { play(t, secure, steps) })
		})
	}
}

// play performs the steps, ends the agent's side, and wants a clean end of everything.
func play(t *testing.T, secure bool, steps []step) {
	w := newWire(t, secure, nil)
	client := w.client()
	var agent end
	for _, s := range steps {
		if s.client != "" {
			client.send(w.host(s.client))
			if agent.Conn == nil {
				agent = w.accept()
			}
			agent.receive(w.agentHost(s.client))
		} else {
			agent.tells(client, s.agent)
		}
	}
	agent.Close()
	client.receiveEnd()
	client.Close()
	if err := w.result(); err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// TestPipelinedAfterUpgrade sends a request behind one that asks for an upgrade. Until the agent has decided, the
// second request may or may not be HTTP.
func TestPipelinedAfterUpgrade(t *testing.T) {
	w := newWire(t, false, nil)
	client := w.client()
	upgrade := "GET / HTTP/1.1\r\nHost: $HOST\r\nUpgrade: h2c\r\n\r\n"
	client.send(w.host(upgrade + get))
	agent := w.accept()
	agent.receive(w.agentHost(upgrade))
	agent.send(ok)
	agent.receive(w.agentHost(get))
	agent.send(ok)
	client.receive(ok + ok)
}

// TestEagerUpgrade speaks the other protocol before the agent has taken the upgrade. A client may not, but what it
// says must not be taken for HTTP.
func TestEagerUpgrade(t *testing.T) {
	w := newWire(t, false, nil)
	client := w.client()
	upgrade := "GET / HTTP/1.1\r\nHost: $HOST\r\nUpgrade: echo\r\n\r\n"
	client.send(w.host(upgrade) + "\x00raw")
	agent := w.accept()
	agent.receive(w.agentHost(upgrade))
	agent.send("HTTP/1.1 101 Switching Protocols\r\n\r\n")
	agent.receive("\x00raw")
}

// TestUpgradeReported checks what an Observer gets of another protocol.
func TestUpgradeReported(t *testing.T) {
	w := newWire(t, false, nil)
	ask := "GET / HTTP/1.1\r\nHost: $HOST\r\nUpgrade: echo\r\n\r\n"
	take := "HTTP/1.1 101 Switching Protocols\r\n\r\n"
	client, agent := w.begin(ask)
	agent.tells(client, take+"hello")
	client.send("there")
	agent.receive("there")
	client.Close()
	agent.receiveEnd()
	agent.send("still here")
	agent.Close()
	got := w.ended(0)
	want := recorded{
		Request: w.host(ask), RequestEnd: true, Body: "there", Answer: take, Upgraded: true,
		AnswerBody: got.AnswerBody, AnswerEnd: got.AnswerEnd, Fault: got.Fault, Ended: true,
	}
	if diff := cmp.Diff(want, got); diff != "" || !strings.HasPrefix(got.AnswerBody, "hello") {
		t.Errorf("reported (-want +got):\n%s\nbody of the answer: %q", diff, got.AnswerBody)
	}
}

// TestHalfClose lets a client end its sending; the answer comes all the same.
func TestHalfClose(t *testing.T) {
	bothWires(t, func(t *testing.T, secure bool) {
		w := newWire(t, secure, nil)
		client := w.client()
		client.send(w.host(post))
		CloseWrite(client.Conn)
		agent := w.accept()
		agent.receive(w.agentHost(post))
		agent.receiveEnd()
		agent.tells(client, ok)
		client.receiveEnd()
		if err := w.result(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if e := w.ended(0); e.Fault != nil {
			t.Errorf("got fault %v, want none", e.Fault)
		}
	})
}

// TestAnswerEndsForClientThatLeft lets an agent end its stream in good form because the client has ended its sending, as
// net/http does: the end is not the agent's doing. A client that took the end of the stream had not left. A client that
// closes after the end is not a fault.
func TestAnswerEndsForClientThatLeft(t *testing.T) {
	const event = "f\r\ndata: hello 1\n\n\r\n"
	for name, head := range map[string]string{
		"chunked":     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
		"until close": "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
	} {
		for _, leaves := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, leaves %t", name, leaves), func(t *testing.T) {
				w := newWire(t, false, nil)
				client, agent := w.begin(get)
				agent.tells(client, head+event)
				if leaves {
					CloseWrite(client.Conn)
					agent.receiveEnd()
				}
				if name == "chunked" {
					agent.tells(client, "0\r\n\r\n")
				}
				agent.Close()
				client.receiveEnd()
				client.Close()
				e := w.ended(0)
				if leaves && (name != "chunked" || runtime.GOOS != "linux") {
					wantFault(t, e.Fault, KindClientLeft, SideClient)
				} else if e.Fault != nil {
					t.Errorf("got fault %v, want none", e.Fault)
				}
				if !e.AnswerEnd {
					t.Error("the answer did not end")
				}
			})
		}
	}
}

// TestIdleClose lets the agent close a connection between exchanges: the client sees it at once.
func TestIdleClose(t *testing.T) {
	t.Parallel()
	bothWires(t, func(t *testing.T, secure bool) {
		t.Parallel()
		w := newWire(t, secure, nil)
		client, agent := w.begin(get)
		agent.tells(client, ok)
		agent.Close()
		client.receiveEnd()
		if err := w.result(); err != nil { // although the client keeps its end open
			t.Errorf("Serve: %v", err)
		}
	})
}

// TestAgentClosesWhileAsked lets the agent answer and close before it has read the request. The client gets the whole
// answer, and may keep sending while the agent accepts data.
func TestAgentClosesWhileAsked(t *testing.T) {
	t.Parallel()
	w := newWire(t, false, nil)
	client := w.client()
	client.send(w.host("POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 8\r\n\r\nping"))
	agent := w.accept()
	agent.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\nno")
	CloseWrite(agent.Conn)
	client.receive("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\nno")
	client.receiveEnd()
	client.send("pong")
	agent.receive(w.agentHost("POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 8\r\n\r\npingpong"))
	agent.Close()
	if e := w.ended(0); e.Fault != nil || !e.RequestEnd || !e.AnswerEnd {
		t.Errorf("got %+v, want a complete exchange", e)
	}
	if err := w.result(); err != nil { // although the client keeps its end open
		t.Errorf("Serve: %v", err)
	}
}

// TestUnsolicited lets the agent speak without being asked. Its bytes pass, and are recorded.
func TestUnsolicited(t *testing.T) {
	w := newWire(t, false, nil)
	client, agent := w.begin(get)
	late := "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"
	agent.tells(client, ok)
	agent.tells(client, late)
	f := w.faultWithoutExchange()
	wantFault(t, &f, KindUnsolicited, SideAgent)
	expect.Equal(t, "", late, string(f.Bytes))
	agent.Close()
	client.receiveEnd()
	if e := w.ended(0); e.Fault != nil {
		t.Errorf("got fault %v for the exchange, want none", e.Fault)
	}
}

// TestHeadInPieces sends a request head byte by byte, so that its end falls between reads everywhere.
func TestHeadInPieces(t *testing.T) {
	w := newWire(t, false, nil)
	client := w.client()
	for _, b := range []byte(w.host(post)) {
		client.send(string(b))
	}
	agent := w.accept()
	agent.receive(w.agentHost(post))
	for _, b := range []byte(ok) {
		agent.send(string(b))
	}
	client.receive(ok)
	must.Get(io.WriteString(client, w.host(get)))(t)
	agent.receive(w.agentHost(get))
}
