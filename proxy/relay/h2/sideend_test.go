package h2_test

import (
	"io"
	"net"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/net/http2"

	"a2atap/proxy/expect"
	"a2atap/proxy/relay"
)

func isSettings(f http2.Frame) bool { _, ok := f.(*http2.SettingsFrame); return ok }

// TestSideEnds lets each side end its part in each way, before the head of the answer and in the stream. If an agent
// still answers a client that has closed, the answer reaches no one.
func TestSideEnds(t *testing.T) {
	closes := func(c net.Conn) { c.Close() }
	resets := func(c net.Conn) { relay.Reset(c) }
	halfCloses := func(c net.Conn) { relay.CloseWrite(c) }
	reads := func(c net.Conn) { io.Copy(io.Discard, c) } //nolint:errcheck // until it ends
	for name, test := range map[string]struct {
		client, agent func(*wire)
		answers       bool // the agent answers after that
		stays         bool // the connection is still open then
		sides         []string
		kind, side    string
	}{
		"the client closes": {
			client: func(w *wire) { closes(w.Conn) }, answers: true,
			sides: []string{"client fin", "client close"}, kind: relay.KindClientLeft, side: relay.SideClient,
		},
		"the client half-closes": {
			client: func(w *wire) { halfCloses(w.Conn) }, answers: true, sides: []string{"client fin", "client half-close"},
		},
		"the client resets": {
			client: func(w *wire) { resets(w.Conn) },
			sides:  []string{"client reset"}, kind: relay.KindReset, side: relay.SideClient,
		},
		"the client cancels": {
			client: func(w *wire) { w.WriteRSTStream(1, http2.ErrCodeCancel) },
			sides:  []string{"client reset"}, kind: relay.KindClientLeft, side: relay.SideClient,
		},
		"the client goes away, and waits": {
			client: func(w *wire) { w.WriteGoAway(0, http2.ErrCodeNo, nil) }, answers: true, stays: true,
		},
		"the client goes away, and closes": {
			client: func(w *wire) {
				w.WriteGoAway(0, http2.ErrCodeNo, nil)
				closes(w.Conn)
			}, answers: true,
			sides: []string{"client fin", "client close"}, kind: relay.KindClientLeft, side: relay.SideClient,
		},
		"the client resets the stream for its own fault": {
			client: func(w *wire) { w.WriteRSTStream(1, http2.ErrCodeInternal) },
			sides:  []string{"client reset"}, kind: relay.KindReset, side: relay.SideClient,
		},
		"the client resets the stream for flow control": {
			client: func(w *wire) { w.WriteRSTStream(1, http2.ErrCodeFlowControl) },
			sides:  []string{"client reset"}, kind: relay.KindReset, side: relay.SideClient,
		},
		"the client resets the stream without an error": {
			client: func(w *wire) { w.WriteRSTStream(1, http2.ErrCodeNo) },
			sides:  []string{"client reset"}, kind: relay.KindClientLeft, side: relay.SideClient,
		},
		"the agent goes away, and closes": {
			agent: func(w *wire) {
				w.WriteGoAway(1, http2.ErrCodeNo, nil)
				closes(w.Conn)
			},
			sides: []string{"agent fin"}, kind: relay.KindTruncated, side: relay.SideAgent,
		},
		"the agent refuses the stream": {
			agent: func(w *wire) { w.WriteRSTStream(1, http2.ErrCodeRefusedStream) },
			sides: []string{"agent reset"}, kind: relay.KindReset, side: relay.SideAgent,
		},
		"the agent cancels the stream": {
			agent: func(w *wire) { w.WriteRSTStream(1, http2.ErrCodeCancel) },
			sides: []string{"agent reset"}, kind: relay.KindReset, side: relay.SideAgent,
		},
		"the agent closes": {
			agent: func(w *wire) { closes(w.Conn) },
			sides: []string{"agent fin"}, kind: relay.KindTruncated, side: relay.SideAgent,
		},
		"the agent resets": {
			agent: func(w *wire) { resets(w.Conn) },
			sides: []string{"agent reset"}, kind: relay.KindReset, side: relay.SideAgent,
		},
		"the agent resets the stream": {
			agent: func(w *wire) { w.WriteRSTStream(1, http2.ErrCodeInternal) },
			sides: []string{"agent reset"}, kind: relay.KindReset, side: relay.SideAgent,
		},
	} {
		for _, begun := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s := newSession(t, nil)
				s.client.get(1, "/")
				s.asked()
				s.client.next(isSettings) // what lies unread resets a connection that is closed
				if begun {
					s.answer(1, false)
					s.client.next(isHeaders)
				}
				if test.client != nil {
					test.client(s.client)
				} else {
					test.agent(s.agent)
				}
				if test.answers {
					if !test.stays {
						reads(s.agent.Conn)
					}
					if begun {
						s.agent.WriteData(1, true, []byte("hello"))
					} else {
						s.answer(1, true)
					}
				}
				e := s.seen.ended(1)[0]
				s.client.Conn.Close()
				s.agent.Conn.Close()
				if test.answers && runtime.GOOS != "linux" {
					return // nothing tells there whether the client took it
				}
				if !slices.Equal(test.sides, e.Sides) {
					t.Errorf("begun %t: reported of the sides: %q, want %q", begun, e.Sides, test.sides)
				}
				if test.kind == "" {
					expect.Equal(t, "fault", nil, e.Fault)
				} else if e.Fault == nil || e.Fault.Kind != test.kind || e.Fault.Side != test.side {
					t.Errorf("begun %t: fault %v, want %s by %s", begun, e.Fault, test.kind, test.side)
				}
			})
		}
	}
}
