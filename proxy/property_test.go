package proxy_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/hold"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// Whatever well-formed traffic passes a tap, what is recorded of it is what was sent, by both ends, and both ends get
// what the other has sent; also where a user could hold it, looks at all of it, or holds and lets go what can be held.
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
			agent := way{}.listen(t)
			playScript(t, agent, requests, answers)
			desk := hold.NewDesk()
			r := newRig(t,
				func(p *proxy.Options, o *recording.Options) {
					o.IfFull, o.QueueBytes = recording.Wait, 20_000
					if seed%4 > 0 {
						p.Hold = desk
					}
				},
				"http://"+agent.Addr().String())
			if seed%4 > 1 {
				desk.Set(&hold.Want{Requests: true, Answers: true, Match: func(*capture.Exchange) bool { return seed%4 == 3 }})
				letGoAll(t, desk)
			}
			conn := must.Get(net.Dial("tcp", r.tap(0).Addr()))(t)
			conn.SetDeadline(time.Now().Add(4 * must.Patience))
			exchangeMessages(t, conn, "POST / HTTP/1.1", r.tap(0).Addr(), requests, answers, random)
			conn.Close()
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
