package h2

import (
	"bytes"
	"strconv"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/budget"
	"a2atap/proxy/relay"
)

// A body is the body of a message that is held or changed in transit, so the receiver's credit for its stream must not
// reach the sender. The lock of the credit of its direction guards it, except for the marked fields.
type body struct {
	stream   *stream
	receiver int64  // how much the receiver accepts on the stream
	sender   int64  // what the sender may send on the stream, by its own count
	queue    []byte // the data to send
	head     fieldList
	led      bool  // its head is sent
	bare     bool  // its head may end the stream; if DATA frames arrived, that would be another message, and gRPC for Go waits
	ahead    bool  // its head is not held with it
	late     int64 // credit of its sender for the answer, to be announced to the receiver after the head
	trailer  fieldList
	behind   []func(*outlet) // later frames to forward unmodified, such as the one that cancels the stream
	extra    int             // bytes of them
	broke    bool            // they replace its end
	waiting  bool            // it is held, and not sent yet
	held     int64           // held bytes
	ended    bool            // no more data will come
	gone     bool            // it is sent to its end, or dropped

	room   *budget.Share // for held data; nil if the body was never held
	hold   *hold         // it waits to be complete; of the half's goroutine
	broken *script       // it is broken on purpose; usually nil
	by     relay.Change  // the content is changed while it passes; of the half's goroutine
}

// A hold is the part of a held message that has arrived.
type hold struct {
	head    []byte // as the Editor sees it
	list    fieldList
	content []byte
	limit   int
	ahead   bool      // the head is forwarded at once: it does not depend on the content
	until   time.Time // when it is forwarded unmodified; zero means no limit
}

// mayHold reports whether a message with a body of up to limit bytes may be held; false if it is certainly too large.
func mayHold(list fieldList, limit int) bool {
	text, ok := list.get("content-length")
	length, err := strconv.ParseInt(text, 10, 64)
	return !ok || err != nil || length <= int64(limit)
}

// isMislabeled reports whether a message's declared length differs from its content (RFC 9113 section 8.1.1).
func (h *hold) isMislabeled() bool {
	text, ok := h.list.get("content-length")
	n, err := strconv.Atoi(text)
	return ok && (err != nil || n != len(h.content))
}

// take counts n bytes of DATA for a body on this half, if the stream has one; content is their number without padding.
func (k *credit) take(stream uint32, n, content int64) *body {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.bodies[stream]
	if b == nil {
		return nil
	}
	k.sender -= n
	k.pending += content
	b.sender -= n
	k.settle()
	return b
}

// allow gives the sender of a body as much credit as the receiver has beyond the queued data. While the body is held,
// the sender must be able to complete it: some receivers give credit only after they have seen the head. The lock is
// held.
func (k *credit) allow(b *body) {
	if b.ended || b.broken.waits() {
		return
	}
	due := b.receiver - int64(len(b.queue)) - b.held
	if b.waiting {
		due = max(due, initialCredit)
	}
	if n := due - b.sender; n > 0 {
		b.sender += n
		k.grant(b.stream.id, n)
	}
}

// isGone reports whether nothing of a body is left to send.
func (k *credit) isGone(b *body) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return b.gone
}

// keep counts n more held bytes of a body, and lets its sender continue.
func (k *credit) keep(b *body, n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b.held += int64(n)
	k.allow(b)
	k.settle()
}

// endRooms gives up the room of bodies that will never be complete.
func (k *credit) endRooms() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range k.bodies {
		b.room.Close()
	}
}

// unhold drops the held data of a body. The lock is held.
func (k *credit) unhold(b *body) {
	k.held--
	k.pending -= b.held
	b.held, b.waiting = 0, false
}

// replace replaces n pending bytes with other content to send.
func (k *credit) replace(b *body, n int, by []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pending += int64(len(by) - n)
	if b != nil {
		b.queue = append(b.queue, by...)
		k.allow(b)
	}
	k.settle()
}

// drop forgets the body of a stream that was given up.
func (k *credit) drop(id uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.bodies[id]
	if b == nil {
		return
	}
	delete(k.bodies, id)
	if b.waiting {
		k.unhold(b)
	}
	b.room.Close()
	b.gone = true
	k.changed.Broadcast()
	k.pending -= int64(len(b.queue)) + b.broken.stop()
	b.queue = nil
	k.settle()
}

// completes reports whether a stream has a body that has arrived completely and is not all sent. Then a client's reset
// follows the body.
func (k *credit) completes(id uint32, reset []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.bodies[id]
	if b == nil || !b.ended && (b.broken == nil || !b.broken.whole) {
		return false
	}
	if k.turns.kept {
		b.follow(reset)
	}
	return true
}

// follow forwards a frame unmodified after a body. The lock of the credit is held.
func (b *body) follow(p []byte) {
	p = bytes.Clone(p)
	b.extra += len(p)
	b.behind = append(b.behind, func(o *outlet) { o.bytes = append(o.bytes, p...) })
}

// send sends as much of a body's queue as the credit allows, then the frames that follow. The lock is held.
func (k *credit) send(o *outlet, b *body) {
	id := b.stream.id
	for len(b.queue) > 0 {
		n := int(min(int64(len(b.queue)), b.receiver, k.receiver, minFrameSize))
		if n <= 0 && b.broke { // the receiver learns at once that nothing more follows
			k.pending -= int64(len(b.queue))
			b.queue = nil
			break
		}
		if n <= 0 {
			return
		}
		var flags http2.Flags
		if b.gone = b.ended && n == len(b.queue) && len(b.trailer) == 0; b.gone {
			flags = http2.FlagDataEndStream
		}
		o.bytes = appendFrame(o.bytes, http2.FrameData, flags, id, b.queue[:n])
		b.queue = b.queue[n:]
		b.receiver -= int64(n)
		k.receiver -= int64(n)
		k.pending -= int64(n)
	}
	switch {
	case b.gone:
	case b.broken != nil && b.broken.reset != nil:
		o.bytes = appendReset(o.bytes, id, *b.broken.reset)
		b.gone = true
	case b.broke && !b.ended:
		b.gone = true
	case !b.ended:
	case len(b.trailer) > 0:
		o.fields(http2.FrameHeaders, http2.FlagHeadersEndStream, id, nil, 0, b.trailer)
		b.gone = true
	default:
		o.bytes = appendHead(o.bytes, http2.FrameData, http2.FlagDataEndStream, id, 0)
		b.gone = true
	}
}
