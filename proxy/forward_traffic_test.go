package proxy_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Whatever well-formed traffic passes, what is recorded of it is what was sent, and both ends get what the other has
// sent.
func TestForwardRecordedIsSent(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, w way) {
		for seed := range uint64(8) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 2))
				var requests, answers []message
				for range 12 {
					requests, answers = append(requests, newMessage(random)), append(answers, newMessage(random))
				}
				listener := w.listen(t)
				addr := listener.Addr().String()
				playScript(t, listener, requests, answers)
				f := newForwardRig(t, nil)
				conn, origin := w.dial(f, addr)
				line := "POST " + origin + "/ HTTP/1.1"
				exchangeMessages(t, conn, line, addr, requests, answers, random)
				conn.Close()
				record := f.record()
				if len(record) != len(requests) {
					t.Fatalf("%d exchanges are recorded, want %d", len(record), len(requests))
				}
				for i, x := range record {
					compareBody(t, i, "request", x.Request.Body, requests[i].body)
					compareBody(t, i, "answer", x.Response.Body, answers[i].body)
					if got, want := x.Request.Head, requests[i].head(line, addr); !bytes.Equal(got, want) {
						t.Errorf("request %d: head %q, want %q", i, got, want)
					}
					if x.Fault != nil || x.State != capture.StateClosed || x.Agent.Name != addr {
						t.Errorf("exchange %d: %v, %v, %v", i, x.Fault, x.State, x.Agent)
					}
				}
			})
		}
	})
}

// A client that goes from agent to agent over one connection reaches each, and the record tells them apart.
func TestForwardSeveralAgents(t *testing.T) {
	one := newAgent(t, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "one") })
	two := newAgent(t, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "two") })
	f := newForwardRig(t, nil, "booker="+two.URL+"/base")
	conn := f.dial()
	in := bufio.NewReader(conn)
	var want []string
	for n := range 6 {
		agent, text := one, "one"
		if n%3 == 1 {
			agent, text = two, "two"
		}
		write(t, conn, "GET "+agent.URL+"/ HTTP/1.1\r\nHost: "+agent.Listener.Addr().String()+"\r\n\r\n")
		answer := must.Get(http.ReadResponse(in, nil))(t)
		if body, err := io.ReadAll(answer.Body); string(body) != text || err != nil {
			t.Errorf("got %s, %v, want %s", body, err, text)
		}
		want = append(want,
			map[string]string{
				"one": one.Listener.Addr().String() + " " + one.URL,
				"two": "booker " + two.URL + "/base",
			}[text])
	}
	conn.Close()
	var got []string
	for _, x := range f.record() {
		got = append(got, x.Agent.Name+" "+x.Agent.URL)
	}
	expect.Same(t, "agents", want, got)
}

// An agent's 100 is not waited for longer than without the proxy, and after 101 the bytes belong to another protocol.
func TestForwardExpectAndUpgrade(t *testing.T) {
	bothWays(t, func(t *testing.T, w way) {
		listener := w.listen(t)
		f := newForwardRig(t, nil)
		addr := listener.Addr().String()
		conn, origin := w.dial(f, addr)
		agents := make(chan net.Conn, 1)
		go func() {
			agent, err := listener.Accept()
			expect.OK(t, err)
			agents <- agent
		}()
		write(t, conn, "POST "+origin+"/ HTTP/1.1\r\nHost: "+addr+
			"\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
		agent := <-agents
		defer agent.Close()
		agent.SetDeadline(time.Now().Add(must.Patience))
		receive(t, agent, "POST / HTTP/1.1\r\nHost: "+addr+"\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
		write(t, agent, "HTTP/1.1 100 Continue\r\n\r\n")
		receive(t, conn, "HTTP/1.1 100 Continue\r\n\r\n")
		write(t, conn, "hi")
		receive(t, agent, "hi")
		write(t, agent, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		receive(t, conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		write(t, conn, "GET "+origin+"/ HTTP/1.1\r\nHost: "+addr+"\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
		receive(t, agent, "GET / HTTP/1.1\r\nHost: "+addr+"\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
		write(t, agent, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n")
		receive(t, conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n")
		write(t, conn, "\x00ping")
		receive(t, agent, "\x00ping")
		write(t, agent, "\x00pong")
		receive(t, conn, "\x00pong")
	})
}

// playScript plays an agent that expects the requests, on one connection, and gives the answers.
func playScript(t *testing.T, listener net.Listener, requests, answers []message) {
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { listener.Close() })
	wg.Go(func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(4 * must.Patience))
		for i, request := range requests {
			want := request.wire("POST / HTTP/1.1", listener.Addr().String())
			got := make([]byte, len(want))
			if n, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("request %d: the agent got %d bytes, %v; equal: %v", i, n, err, bytes.Equal(got, want))
				return
			}
			if _, err := conn.Write(answers[i].wire("HTTP/1.1 200 OK", "")); err != nil {
				t.Errorf("answer %d: %v", i, err)
				return
			}
		}
	})
}

// exchangeMessages sends the requests in random pieces, pipelined, and expects the answers.
func exchangeMessages(t *testing.T, conn net.Conn, line, host string, requests, answers []message, random *rand.Rand) {
	t.Helper()
	var wire []byte
	for _, request := range requests {
		wire = append(wire, request.wire(line, host)...)
	}
	sent := make(chan error, 1)
	go func() {
		var err error
		for len(wire) > 0 {
			n := 1 + random.IntN(min(len(wire), 20_000))
			_, e := conn.Write(wire[:n])
			err = errors.Join(err, e)
			wire = wire[n:]
		}
		sent <- err
	}()
	for i, answer := range answers {
		want := answer.wire("HTTP/1.1 200 OK", "")
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("answer %d: the client got %v; equal: %v", i, err, bytes.Equal(got, want))
		}
	}
	expect.OK(t, <-sent)
}
