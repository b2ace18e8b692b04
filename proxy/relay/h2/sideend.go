package h2

import (
	"time"

	"a2atap/proxy/relay"
)

// leftEarly describes a client that leaves, for messages.
const leftEarly = "connection closed before the answer was complete"

// left is the fault of streams whose client has ended its connection.
var left = relay.TransportError{Kind: relay.KindClientLeft, Side: relay.SideClient, Detail: leftEarly}

// provePause is how long after an answer the relay checks the client's side again.
const provePause = 50 * time.Millisecond

// sideEnded reports that a side has ended its part in all streams with an incomplete answer.
func (c *conn) sideEnded(side, how string) {
	for _, s := range c.all(0) {
		s.mu.Lock()
		c.streamEnded(s, side, how)
		s.mu.Unlock()
	}
}

// streamEnded reports that a side has ended its part in a stream, unless the answer is complete. The lock of the stream
// is held.
func (c *conn) streamEnded(s *stream, side, how string) {
	if s.ended || s.answerDone && !s.unproven {
		return
	}
	s.clientEnded = s.clientEnded || side == relay.SideClient
	c.obs.SideEnded(s.x, side, how)
}

// written implements direction.
func (r *requests) written() {}

// written implements direction: it ends streams once it is known whether their client had left.
func (a *answers) written() { a.prove(false) }

// prove ends streams that wait to learn whether the client had left: all of them if last is set, otherwise those for
// which it is known.
func (a *answers) prove(last bool) {
	if len(a.unproven) == 0 {
		return
	}
	t := relay.Refused
	if !a.refused {
		t = relay.TakingOf(a.client.Conn)
	}
	if t <= relay.Sent && !last && time.Now().Before(a.proveUntil) {
		a.wakeAt(time.Now().Add(provePause))
		return
	}
	for _, s := range a.unproven {
		s.mu.Lock()
		var f *relay.TransportError
		switch t {
		case relay.Refused:
			f = &left
			a.streamEnded(s, relay.SideClient, relay.EndClose)
		case relay.Taken, relay.TakenThenReset:
			a.streamEnded(s, relay.SideClient, relay.EndHalfClose)
		case relay.TakingUnknown, relay.Sent:
		}
		a.end(s, f)
		s.mu.Unlock()
	}
	a.unproven = a.unproven[:0]
}

// waitToProve keeps a stream with a complete answer until it is known whether its client had left. The lock of the
// stream is held.
func (a *answers) waitToProve(s *stream) {
	s.unproven = true
	a.unproven = append(a.unproven, s)
	a.proveUntil = time.Now().Add(relay.LingerTime)
}

// stopCause returns the fault of streams that are unfinished when the context of Serve ends. A client that had ended
// its connection had left its streams: without a connection, it cannot grant credit for the rest of an answer.
func (c *conn) stopCause() relay.TransportError {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clientEOF {
		return left
	}
	return relay.TransportError{Kind: relay.KindShutdown, Side: relay.SideProxy, Detail: "the proxy was stopped"}
}
