package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// silentStream is the head of a stream whose events are yet to come.
const silentStream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// stream begins a stream and returns both ends when its head has arrived.
func (w *wire) stream() (client, agent end) {
	w.t.Helper()
	client, agent = w.begin(get)
	agent.tells(client, silentStream)
	return client, agent
}

// TestClientLeavesSilentStream closes the client in the middle of nothing: the agent must see it at once.
func TestClientLeavesSilentStream(t *testing.T) {
	bothWires(t, func(t *testing.T, secure bool) {
		w := newWire(t, secure, nil)
		client, agent := w.stream()
		client.Close()
		agent.receiveEnd()
		agent.Close()
		wantFault(t, w.ended(0).Fault, KindClientLeft, SideClient)
		expect.Error(t, "Serve returned no error for a broken exchange", w.result())
	})
}

// TestClientResets passes a reset on as one.
func TestClientResets(t *testing.T) {
	w := newWire(t, false, nil)
	client, agent := w.stream()
	Reset(client.Conn)
	expect.ErrorIs(t, "the agent", syscall.ECONNRESET, expect.Err(agent.rest()))
	wantFault(t, w.ended(0).Fault, KindReset, SideClient)
}

// TestClientLeavesBusyStream closes the client while the agent keeps writing: the relay must notice by its writes.
func TestClientLeavesBusyStream(t *testing.T) {
	bothWires(t, func(t *testing.T, secure bool) {
		w := newWire(t, secure, nil)
		client, agent := w.stream()
		client.Close()
		var err error
		for err == nil {
			_, err = io.WriteString(agent, "4\r\nbeat\r\n")
		}
		if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
			t.Errorf("the agent got %v, want a broken connection", err)
		}
		if f := w.ended(0).Fault; f == nil || f.Side != SideClient {
			t.Errorf("got fault %v, want one of the client", f)
		}
	})
}

// TestAgentResets passes a reset on as one.
func TestAgentResets(t *testing.T) {
	bothWires(t, func(t *testing.T, secure bool) {
		w := newWire(t, secure, nil)
		client, agent := w.stream()
		Reset(agent.Conn)
		expect.ErrorIs(t, "the client", syscall.ECONNRESET, expect.Err(client.rest()))
		wantFault(t, w.ended(0).Fault, KindReset, SideAgent)
	})
}

// TestAgentBreaksOff closes the agent's connection inside an answer. The client gets all that came, and no more.
func TestAgentBreaksOff(t *testing.T) {
	tests := map[string]string{
		"nothing":            "",
		"inside status line": "HTTP/1.",
		"inside head":        "HTTP/1.1 200 OK\r\nContent-",
		"inside length":      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
		"inside chunk":       silentStream + "5\r\nabc",
		"between chunks":     silentStream + "3\r\nabc\r\n",
		"inside trailer":     silentStream + "0\r\nA: b\r\n",
		"after interim":      "HTTP/1.1 103 Early Hints\r\n\r\n",
	}
	for name, said := range tests {
		t.Run(name, func(t *testing.T) {
			bothWires(t, func(t *testing.T, secure bool) {
				w := newWire(t, secure, nil)
				client, agent := w.begin(post)
				agent.send(said)
				agent.Close()
				client.receive(said)
				client.receiveEnd()
				e := w.ended(0) // at once, although the client keeps its end open
				client.Close()
				wantFault(t, e.Fault, KindTruncated, SideAgent)
				if e.AnswerEnd {
					t.Error("the answer was reported as complete")
				}
			})
		})
	}
}

// TestTLSTruncated cuts an answer that lasts until close inside a record of TLS: no client may take it for complete
// (RFC 9112 section 9.8).
func TestTLSTruncated(t *testing.T) {
	w := newWire(t, true, nil)
	client, agent := w.begin(get)
	agent.tells(client, "HTTP/1.1 200 OK\r\n\r\nhalf")
	below := base(agent.Conn)
	if _, err := below.Write([]byte{23, 3, 3, 0, 99, 1}); err != nil { // the beginning of a record of 99 bytes
		t.Fatal(err)
	}
	below.Close()
	expect.Error(t, "the client got a clean end, want a break", expect.Err(client.rest()))
	wantFault(t, w.ended(0).Fault, KindTruncated, SideAgent)
}

// TestClientBreaksOff ends the client's sending inside a request: the agent sees the same, and may still answer.
func TestClientBreaksOff(t *testing.T) {
	bothWires(t, func(t *testing.T, secure bool) {
		w := newWire(t, secure, nil)
		client := w.client()
		part := "POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 10\r\n\r\n123"
		client.send(w.host(part))
		CloseWrite(client.Conn)
		agent := w.accept()
		agent.receive(w.agentHost(part))
		agent.receiveEnd()
		bad := "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
		agent.tells(client, bad)
		client.receiveEnd()
		e := w.ended(0)
		wantFault(t, e.Fault, KindTruncated, SideClient)
		if !e.AnswerEnd || e.RequestEnd {
			t.Errorf("got %+v, want a complete answer to a part of a request", e)
		}
	})
}

// TestHeadBreaksOff ends the client's sending inside a head: it is recorded, and no agent is bothered.
func TestHeadBreaksOff(t *testing.T) {
	w := newWire(t, false, nil)
	client := w.client()
	client.send("GET / HTTP/1.1\r\nHo")
	CloseWrite(client.Conn)
	client.receiveEnd()
	e := w.ended(0)
	wantFault(t, e.Fault, KindTruncated, SideClient)
	expect.Equal(t, "request", "GET / HTTP/1.1\r\nHo", e.Request)
	if len(w.accepts) > 0 {
		t.Error("the agent was dialled")
	}
}

// TestPipelineBreaks breaks the connection at the first of three requests: all three are ended, each with a fault.
func TestPipelineBreaks(t *testing.T) {
	w := newWire(t, false, nil)
	client, agent := w.begin(get + get + get)
	agent.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
	agent.Close()
	client.receiveBreak()
	for x := range 3 {
		wantFault(t, w.ended(x).Fault, KindTruncated, SideAgent)
	}
}

// TestShutdown ends the context: what is in flight breaks visibly, what is idle closes, and Serve returns at once.
func TestShutdown(t *testing.T) {
	shutdown := func(t *testing.T, w *wire) {
		idle := w.client()
		client, agent := w.stream()
		w.stop()
		idle.receiveEnd()
		if _, err := client.rest(); err == nil && client.LocalAddr().Network() == "tcp" { // a pipe cannot be reset
			t.Error("the client of a stream got a clean end, want a break")
		}
		agent.receiveBreak()
		for range 2 {
			w.result()
		}
		wantFault(t, w.ended(0).Fault, KindShutdown, SideProxy)
	}
	bothWires(t, func(t *testing.T, secure bool) { shutdown(t, newWire(t, secure, nil)) })
	t.Run("by the clock", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			shutdown(t, newPipes(t, nil))
			if d := time.Since(begun); d > 0 {
				t.Errorf("shutdown waited for %v", d)
			}
		})
	})
}

// TestShutdownWhileDialling ends the context while the agent does not accept.
func TestShutdownWhileDialling(t *testing.T) {
	dialling := make(chan struct{})
	w := newWire(t, false, func(c *Config) {
		c.Dial = func(ctx context.Context) (net.Conn, error) {
			close(dialling)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	client := w.client()
	client.send(w.host(get))
	<-dialling
	w.stop()
	client.receiveBreak()
	w.result()
	wantFault(t, w.ended(0).Fault, KindShutdown, SideProxy)
}

// TestTimeouts lets a client be silent, and slow with its head, by a clock of the test's own.
func TestTimeouts(t *testing.T) {
	const short = 100 * time.Millisecond
	tests := map[string]struct {
		change func(*Config)
		test   func(t *testing.T, w *wire)
	}{
		"idle before the first request": {func(c *Config) { c.IdleTimeout = short }, func(_ *testing.T, w *wire) {
			w.client().receiveEnd()
		}},
		"idle between requests": {func(c *Config) { c.IdleTimeout = short }, func(t *testing.T, w *wire) {
			client, agent := w.begin(get)
			agent.tells(client, ok)
			client.receiveEnd()
			agent.receiveEnd()
			if f := w.ended(0).Fault; f != nil {
				t.Errorf("got fault %v, want none", f)
			}
		}},
		"slow head": {func(c *Config) { c.HeadTimeout = short }, func(t *testing.T, w *wire) {
			client := w.client()
			client.send("GET / HTTP/1.1\r\n")
			if got, _ := client.rest(); !strings.HasPrefix(got, "HTTP/1.1 408 ") {
				t.Errorf("got %q, want 408", got)
			}
			e := w.ended(0)
			wantFault(t, e.Fault, KindTimeout, SideClient)
			expect.Equal(t, "request", "GET / HTTP/1.1\r\n", e.Request)
		}},
		"quiet stream": {func(c *Config) { c.HeadTimeout, c.IdleTimeout = short, short }, quietStream},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test.test(t, newPipes(t, test.change)) })
		})
	}
}

// quietStream is silent for longer than clients may be idle, or slow with a head.
func quietStream(t *testing.T, w *wire) {
	client, agent := w.stream()
	quiet := func() {
		t.Helper()
		client.SetReadDeadline(time.Now().Add(time.Second))
		var ne net.Error
		if n, err := client.Read(make([]byte, 1)); !errors.As(err, &ne) || !ne.Timeout() {
			t.Fatalf("read %d bytes and %v while the stream was quiet, want silence", n, err)
		}
		client.SetReadDeadline(time.Now().Add(must.Patience))
	}
	quiet()
	next := w.host(get)
	client.send(next[:10]) // part of a head behind an exchange in flight
	quiet()
	client.send(next[10:])
	agent.receive(w.agentHost(get))
	client.send(next[:10])
	agent.send("0\r\n\r\n" + ok)
	client.receive("0\r\n\r\n" + ok + "HTTP/1.1 408 Request Timeout\r\n") // now the time runs
	wantFault(t, w.ended(2).Fault, KindTimeout, SideClient)
}

// TestPanics makes the callers' code panic: traffic continues, and Serve reports what happened.
func TestPanics(t *testing.T) {
	tests := map[string]func(*Config){
		"observer": func(c *Config) { c.Observer = panicker{} },
		"editor":   func(c *Config) { c.Editor = panickingEditor{} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, false, change)
			client, agent := w.begin(get + get)
			agent.tells(client, ok+ok)
			client.Close()
			expect.ErrorHas(t, "error", name+" panicked", w.result())
		})
	}
}

// panicker is an Observer that panics in one call.
type panicker struct{ Discard }

func (panicker) AnswerBody(int, []byte) { panic("no") }

// panickingEditor panics in every call.
type panickingEditor struct{}

func (panickingEditor) Request(int, []byte) []byte                { panic("no") }
func (panickingEditor) Hold(int, []byte) int                      { panic("no") }
func (panickingEditor) Answer(int, []byte, []byte, []byte) []byte { panic("no") }
func (panickingEditor) TooLarge(int)                              { panic("no") }

// TestFaultIsAnError keeps the text of a fault, which ends up in logs.
func TestFaultIsAnError(t *testing.T) {
	f := TransportError{Kind: KindReset, Side: SideAgent, Detail: "connection reset by peer"}
	expect.Equal(t, "", "agent reset: connection reset by peer", fmt.Sprint(f))
}
