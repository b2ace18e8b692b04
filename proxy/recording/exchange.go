package recording

import (
	"sync/atomic"
	"time"

	"a2atap/proxy/capture"
)

// An exchange is one exchange on its way into the capture. The first group of fields belongs to the producers and is
// guarded by the queue's lock. The second group belongs to the recording goroutine.
type exchange struct {
	conn     *Conn
	agent    capture.Peer // the agent that receives it
	on       uint32       // its stream of HTTP/2; 0 of others
	client   string       // its client's name, or "" to take it from the head
	request  flow
	answer   flow
	upgraded bool   // what passes now is counted, and not recorded
	protocol string // that the answer's head has changed to; "" if it has not
	skipped  bool   // its beginning did not fit into the queue: it is not recorded
	lost     int64  // bytes that did not fit
	delivers bool   // it is a notification, and its client is the agent that was given the webhook's address

	late atomic.Pointer[capture.TransportFault] // that came after its end; for both sides

	progress
}

// A flow is the body of one side.
type flow struct {
	size     int64       // bytes that passed
	dropped  int64       // of those, not in the queue
	cut      bool        // some did not fit, so the rest is omitted, too: a truncated body is better than one with a gap
	headless bool        // its head did not fit
	endless  bool        // it looks like an event stream, to which the limit of bodies does not apply
	full     atomic.Bool // set by the recording goroutine: the limit is reached, send no more
}

// body queues a piece of a body, or counts it as dropped. After an upgrade the bytes are not bodies: they are counted.
func (e *exchange) body(f *flow, kind pieceKind, p []byte) {
	if !e.skipped && !f.endless { // data that is not recorded must not use up space
		room := max(0, e.conn.r.opts.MaxBody-f.size)
		if beyond := int64(len(p)) - room; beyond > 0 {
			f.size += beyond
			f.dropped += beyond
			p = p[:room]
		}
	}
	n := int64(len(p))
	f.size += n
	switch {
	case e.skipped:
		e.lost += n
	case n == 0:
	case e.upgraded, f.full.Load():
		f.dropped += n
	case f.cut:
		f.dropped += n
		e.lost += n
	case !e.conn.r.q.add(piece{kind: kind, x: e}, p, false):
		f.cut = true
		f.dropped += n
		e.lost += n
		e.conn.r.behind()
	}
}

// note queues a piece that is not part of a body.
func (e *exchange) note(p piece, data []byte, must bool) bool {
	if e.skipped {
		e.lost += int64(len(data))
		return false
	}
	p.x = e
	if e.conn.r.q.add(p, data, must) {
		return true
	}
	e.lost += int64(len(data))
	e.conn.r.behind()
	return false
}

// A progress is the recording goroutine's state of an exchange.
type progress struct {
	seq        uint64
	started    time.Duration // since the queue's base
	last       time.Duration // offset of the last piece
	kept       [2]int64      // bytes recorded of the request's and of the answer's body
	stream     *stream       // of an answer that is an event stream
	fault      *capture.TransportFault
	ends       []capture.SideEnd
	taken      taken        // by a client that half-closed
	peer       capture.Peer // the client, as it was recorded last
	product    capture.Peer // the client from its User-Agent, if it was unseen
	unrecorded bool         // the sink refused its beginning: it is not in the capture
	truncated  bool         // the sink refused a part of it: no more of its bodies is recorded
	missing    int64        // bytes the sink refused

	relation relation
	seeker   // while that is undecided
}
