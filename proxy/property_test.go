package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/recording"
)

// Whatever well-formed traffic passes a tap, what is recorded of it is what was sent, by both ends, and both ends get
// what the other has sent.
func TestRecordedIsSent(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			var requests, answers []message
			for range 12 {
				requests = append(requests, newMessage(random))
				answers = append(answers, newMessage(random))
			}
			agent := newScriptedAgent(t, requests, answers)
			r := newRig(t,
				func(_ *proxy.Options, o *recording.Options) { o.IfFull = recording.Wait; o.QueueBytes = 20_000 },
				"http://"+agent)
			converse(t, r.tap(0).Addr(), requests, answers, random)
			record := r.record()
			if len(record) != len(requests) {
				t.Fatalf("%d exchanges are recorded, want %d", len(record), len(requests))
			}
			for i, x := range record {
				compareBody(t, i, "request", x.Request.Body, requests[i].body)
				compareBody(t, i, "answer", x.Response.Body, answers[i].body)
				if got, want := x.Response.Head, answers[i].head("HTTP/1.1 200 OK", ""); !bytes.Equal(got, want) {
					t.Errorf("answer %d: head %q, want %q", i, got, want)
				}
				if got, want := x.Request.Head, requests[i].head("POST / HTTP/1.1", r.tap(0).Addr()); !bytes.Equal(got,
					want) {
					t.Errorf("request %d: head %q, want %q", i, got, want)
				}
				if x.Fault != nil || x.State != capture.StateClosed {
					t.Errorf("exchange %d: %v, %v", i, x.Fault, x.State)
				}
			}
		})
	}
}

func compareBody(t *testing.T, i int, side string, got capture.Body, want []byte) {
	t.Helper()
	if !bytes.Equal(got.Data, want) || got.Size != int64(len(want)) || got.Dropped != 0 || !got.Complete {
		t.Errorf("%s %d: %d bytes recorded, size %d, %d dropped; want %d", side, i, len(got.Data), got.Size,
			got.Dropped, len(want))
	}
}

// A message is a body and the way it is framed.
type message struct {
	body   []byte
	chunks []int // sizes of the chunks; nil if it is sent with its length
}

func newMessage(random *rand.Rand) message {
	sizes := []int{0, 1, 10, 1000, 5000, 70_000}
	m := message{body: make([]byte, random.IntN(sizes[random.IntN(len(sizes))]+1))}
	for i := range m.body {
		m.body[i] = byte(random.Uint32())
	}
	if random.IntN(2) == 0 {
		m.chunks = []int{}
		for left := len(m.body); left > 0; {
			n := 1 + random.IntN(min(left, 1+random.IntN(9000)))
			m.chunks = append(m.chunks, n)
			left -= n
		}
	}
	return m
}

func (m message) head(line, host string) []byte {
	head := []byte(line + "\r\n")
	if host != "" {
		head = fmt.Appendf(head, "Host: %s\r\n", host)
	}
	if m.chunks != nil {
		return append(head, "transfer-encoding:chunked\r\n\r\n"...)
	}
	return fmt.Appendf(head, "Content-Length:  %d\r\n\r\n", len(m.body))
}

// wire returns the message with its framing.
func (m message) wire(line, host string) []byte {
	out := m.head(line, host)
	if m.chunks == nil {
		return append(out, m.body...)
	}
	rest := m.body
	for _, n := range m.chunks {
		out = fmt.Appendf(out, "%X;x=y\r\n%s\r\n", n, rest[:n])
		rest = rest[n:]
	}
	return append(out, "0\r\n\r\n"...)
}

// newScriptedAgent starts an agent that expects the requests, on one connection, and gives the answers.
func newScriptedAgent(t *testing.T, requests, answers []message) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { listener.Close() })
	wg.Go(func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(4 * testTimeout))
		for i, request := range requests {
			want := request.wire("POST / HTTP/1.1", addr)
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
	return addr
}

// converse sends the requests in random pieces, pipelined, and expects the answers.
func converse(t *testing.T, addr string, requests, answers []message, random *rand.Rand) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(4 * testTimeout))
	var wire []byte
	for _, request := range requests {
		wire = append(wire, request.wire("POST / HTTP/1.1", addr)...)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for len(wire) > 0 {
			n := 1 + random.IntN(min(len(wire), 20_000))
			if _, err := conn.Write(wire[:n]); err != nil {
				t.Error(err)
				return
			}
			wire = wire[n:]
		}
	})
	in := bufio.NewReader(conn)
	for i, answer := range answers {
		want := answer.wire("HTTP/1.1 200 OK", "")
		got := make([]byte, len(want))
		if _, err := io.ReadFull(in, got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("answer %d: the client got %v; equal: %v", i, err, bytes.Equal(got, want))
			return
		}
	}
}
