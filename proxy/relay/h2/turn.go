package h2

import (
	"slices"

	"golang.org/x/net/http2"
)

// turns is the order in which held request heads are forwarded. A stream that begins closes all idle streams with lower
// numbers (RFC 9113 section 5.1.1), so no head may overtake another. It is guarded by the lock of the credit.
type turns struct {
	kept bool     // the order matters; it does not for answers
	next []uint32 // streams that the receiver has not seen, in forwarding order
}

// waits reports whether a head forwarded now would overtake another.
func (k *credit) waits() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.turns.next) > 0
}

// lead sends the heads whose turn has come. Heads behind one that waits for its body wait, too. The lock is held.
func (k *credit) lead(o *outlet) {
	next := k.turns.next
	for len(next) > 0 {
		if b := k.bodies[next[0]]; b != nil {
			if b.waiting && !b.ahead {
				break
			}
			b.lead(o)
		}
		next = next[1:]
	}
	k.turns.next = next
}

// lead sends the head of a body, and the frames that waited for it. The lock of the credit is held.
func (b *body) lead(o *outlet) {
	var flags http2.Flags
	if b.gone = b.bare && b.ended && !b.waiting && len(b.queue) == 0 && len(b.trailer) == 0; b.gone {
		flags = http2.FlagHeadersEndStream
	}
	o.fields(http2.FrameHeaders, flags, b.stream.id, nil, 0, b.head)
	b.head, b.led = nil, true
	if b.late > 0 {
		o.bytes = appendCredit(o.bytes, b.stream.id, b.late)
	}
}

// lateCredit records that the client accepts n more bytes on a stream. It reports whether the agent must be told later:
// if the agent has not seen the stream yet, the frame would be an error (RFC 9113 section 5.1).
func (k *credit) lateCredit(id uint32, n int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.bodies[id]
	if b == nil || b.led || !k.turns.kept {
		return false
	}
	b.late += n
	return true
}

// unseen reports whether the receiver has not seen a stream yet.
func (k *credit) unseen(id uint32) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.bodies[id]
	return b != nil && !b.led && k.turns.kept
}

// sendInTurn forwards a request, after the requests that are held here.
func (r *requests) sendInTurn(s *stream, b *block) {
	if !r.credit.waits() {
		r.forward(b)
		return
	}
	if !b.endsStream() {
		r.withhold(s, nil, nil, b.list)
		return
	}
	k := &r.credit
	k.mu.Lock()
	own := k.newBody(s, true)
	own.head, own.ended = slices.Clone(b.list), true
	k.bodies[s.id] = own
	k.turns.next = append(k.turns.next, s.id)
	k.mu.Unlock()
	r.flushSoon()
}
