package h2

import (
	"bytes"
	"strconv"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/budget"
	"a2atap/proxy/relay"
)

// A body is the body of a message that is held, or changed on the way, so that the receiver's credit for its stream is
// not for the sender. The lock of the credit of its direction guards it, except for the marked fields.
type body struct {
	stream   *stream
	receiver int64  // how much the receiver accepts on the stream
	sender   int64  // what the sender believes that it may send on the stream
	queue    []byte // the data to send
	head     fieldList
	led      bool  // its head is sent
	bare     bool  // its head may end the stream. Where DATA came, that would be another message: gRPC for Go waits then
	ahead    bool  // its head is not held with it
	late     int64 // what its sender takes of the answer, of which the receiver is to hear after the head
	trailer  fieldList
	behind   []func(*outlet) // frames that follow it as they came, such as the one with which its sender has given the stream up
	extra    int             // bytes of them
	broke    bool            // they replace its end
	waiting  bool            // it is held, and not sent yet
	held     int64           // bytes that are held
	ended    bool            // no more data will come
	gone     bool            // it is sent to its end, or dropped

	room   *budget.Share // for what is held; nil if it never was
	hold   *hold         // it waits to be complete; of the half's goroutine
	broken *script       // it is broken on purpose; usually nil
	by     relay.Change  // the content is changed while it passes; of the half's goroutine
}

// A hold is the part that has arrived of a message that waits to be complete.
type hold struct {
	head    []byte // as the Editor sees it
	list    fieldList
	content []byte
	limit   int
	ahead   bool      // the head is forwarded at once: it does not depend on the content
	until   time.Time // when it is forwarded as it came; zero means no limit
}

// mayHold reports whether a message may be held whose body may have limit bytes: false if it is certainly too large.
func mayHold(list fieldList, limit int) bool {
	text, ok := list.get("content-length")
	length, err := strconv.ParseInt(text, 10, 64)
	return !ok || err != nil || length <= int64(limit)
}

// isMislabeled reports whether a message declares another length than its content has (RFC 9113 section 8.1.1).
func (h *hold) isMislabeled() bool {
	text, ok := h.list.get("content-length")
	n, err := strconv.Atoi(text)
	return ok && (err != nil || n != len(h.content))
}

// take notes that DATA comes for a body, if the stream has one here: n bytes, of which so many are content.
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

// allow lets the sender of a body have as much credit as the receiver has for what does not wait to be sent. While the
// body is held the sender must be able to complete it: receivers may give credit only when they have seen the head. The
// lock is held.
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

// isGone reports whether nothing more of a body has to be sent.
func (k *credit) isGone(b *body) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return b.gone
}

// keep notes that n more bytes of a body are held, and lets its sender continue.
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

// unhold forgets what is held of a body. The lock is held.
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

// follow has a frame follow a body as it came. The lock of the credit is held.
func (b *body) follow(p []byte) {
	p = bytes.Clone(p)
	b.extra += len(p)
	b.behind = append(b.behind, func(o *outlet) { o.bytes = append(o.bytes, p...) })
}

// send adds what a body may send of its queue, and what follows it. The lock is held.
func (k *credit) send(o *outlet, b *body) {
	id := b.stream.id
	for len(b.queue) > 0 {
		n := int(min(int64(len(b.queue)), b.receiver, k.receiver, minFrameSize))
		if n <= 0 && b.broke { // the receiver hears at once that nothing more comes
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
