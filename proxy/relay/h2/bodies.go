package h2

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"a2atap/proxy/budget"
	"a2atap/proxy/relay"
)

// withhold starts a body on this half: a held one if h is not nil, one changed by by, or one that waits for its turn.
func (h *half) withhold(s *stream, held *hold, by relay.Change, list fieldList) {
	k := &h.credit
	k.mu.Lock()
	b := k.newBody(s, !k.turns.kept)
	b.hold, b.by = held, by
	b.waiting, b.ahead = held != nil, held != nil && held.ahead
	if held != nil {
		b.room = budget.HeldRoom.Share()
		held.head, held.list = bytes.Clone(held.head), slices.Clone(list)
		k.held++
	}
	goesOn := held == nil || b.ahead
	if goesOn {
		b.head = slices.Clone(list)
	}
	k.bodies[s.id] = b
	if k.turns.kept {
		k.turns.next = append(k.turns.next, s.id)
	}
	k.allow(b)
	k.mu.Unlock()
	if goesOn {
		h.flushSoon()
	}
	if held != nil && !held.until.IsZero() {
		h.holding = append(h.holding, b)
		h.wakeAt(held.until)
	}
}

// addContent adds content to a body.
func (h *half) addContent(b *body, p []byte) {
	k := &h.credit
	switch {
	case k.isGone(b):
		k.replace(nil, len(p), nil)
	case b.hold != nil:
		held := b.hold
		var room bool
		if held.content, room = b.room.Append(held.content, p); !room {
			held.content = append(held.content, p...)
		}
		k.keep(b, len(p))
		switch {
		case len(held.content) > held.limit:
			h.does.tooLarge(b.stream)
			h.release(b, nil)
		case !room:
			for _, older := range k.olderHeld() {
				h.does.noRoom(older.stream)
				h.release(older, nil)
			}
		case !h.does.keep(b.stream, held.content):
			h.release(b, nil)
		}
		return
	case b.broken != nil:
		b.broken.next(p, false)
		k.replace(nil, len(p), nil)
	case b.by != nil:
		k.replace(b, len(p), h.edited.Next(b.by, p, false))
	default:
		k.replace(b, len(p), p)
	}
	h.flushSoon()
}

// olderHeld returns the older half of the held messages, to be released when there is no room. Younger messages cannot
// overtake them and would keep their room.
func (k *credit) olderHeld() []*body {
	held := k.allHeld()
	return held[:(len(held)+1)/2]
}

// allHeld returns the held messages, the oldest first.
func (k *credit) allHeld() []*body {
	k.mu.Lock()
	defer k.mu.Unlock()
	var held []*body
	for _, b := range k.bodies {
		if b.waiting {
			held = append(held, b)
		}
	}
	slices.SortFunc(held, func(a, b *body) int { return cmp.Compare(a.stream.id, b.stream.id) })
	return held
}

// release stops holding a message and sends edited instead, head and content, or the unmodified message if edited is
// nil.
func (h *half) release(b *body, edited []byte) {
	held := b.hold
	b.hold = nil
	h.holding = slices.DeleteFunc(h.holding, func(other *body) bool { return other == b })
	list, content := held.list, held.content
	if edited != nil {
		end := bytes.Index(edited, []byte("\r\n\r\n")) + len("\r\n\r\n")
		list, content = list.edited(edited[:end]), edited[end:]
	}
	k := &h.credit
	k.mu.Lock()
	if !b.gone {
		k.unhold(b)
		if b.queue = content; !b.ahead {
			b.head = list
		}
		k.pending += int64(len(content))
	}
	k.mu.Unlock()
	h.flushSoon()
}

// releaseLate stops holding messages that take too long. It returns true.
func (h *half) releaseLate(now time.Time) bool {
	for _, b := range slices.Clone(h.holding) {
		switch {
		case b.hold.until.After(now):
			h.wakeAt(b.hold.until)
		case h.credit.isGone(b):
			h.release(b, nil)
		default:
			h.does.tooSlow(b.stream, b.hold.content)
			h.release(b, nil)
		}
	}
	return true
}

// endBody marks a body as complete, followed by its trailer.
func (h *half) endBody(b *body, trailer fieldList) {
	if b.broken != nil {
		b.broken.end(slices.Clone(trailer))
		return
	}
	k := &h.credit
	if b.hold != nil && b.hold.isMislabeled() {
		h.does.noRoom(b.stream)
		h.release(b, nil)
	}
	k.mu.Lock()
	b.ended, b.trailer = true, slices.Clone(trailer)
	k.mu.Unlock()
	switch held := b.hold; {
	case held != nil && h.does.kept(b.stream):
		h.holding = slices.DeleteFunc(h.holding, func(other *body) bool { return other == b })
		k.drop(b.stream.id)
	case held != nil:
		h.release(b, h.does.edit(b.stream, held.head, held.content, trailer.appendTrailer(nil)))
	case b.by != nil:
		k.replace(b, 0, h.edited.Next(b.by, nil, true))
	}
	h.flushSoon()
}

// isOver reports whether the content of a body is complete.
func (k *credit) isOver(b *body) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return b.ended
}

// breakBody stops handling a body whose sender violates the protocol. It releases the content now and forwards the
// offending frames unmodified after it, so that the receiver notices the error. It returns false if the body is not for
// the receiver.
func (h *half) breakBody(b *body, follow func()) bool {
	if _, breaks := h.edited.By.(Breaker); breaks || b.broken != nil {
		return false
	}
	if b.hold != nil {
		h.release(b, nil)
	}
	k := &h.credit
	k.mu.Lock()
	b.broke = true
	follow()
	much := b.extra > maxBehind
	k.mu.Unlock()
	if much {
		h.abandon("too much data after the end of a stream (RFC 9113 section 5.1)")
	}
	h.flushSoon()
	return true
}

// letGo releases all messages held here unmodified, before a malformed frame is forwarded, since the receiver's
// reaction to the frame may end them. The caller has the turn of the receiver.
func letGo(h *half) {
	if _, breaks := h.edited.By.(Breaker); breaks {
		return
	}
	for _, b := range h.credit.allHeld() {
		h.does.noRoom(b.stream)
		h.release(b, nil)
	}
	h.flush(&h.to.out)
}

// letGoAtEnd releases the parts that have arrived of all messages held here, because their sender ends.
func letGoAtEnd(h *half) {
	h.to.out.take()
	letGo(h)
	h.to.out.give() //nolint:errcheck // its sender has ended
}

// maxBehind bounds the bytes that wait behind a body that has ended.
const maxBehind = 64 << 10

// bodyOf returns the body of a stream on this half, or nil.
func (k *credit) bodyOf(id uint32) *body {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bodies[id]
}

// bodyAllowed records that the receiver accepts n more bytes of a stream. It reports whether the relay keeps that
// credit instead of passing it to the sender.
func (h *half) bodyAllowed(id uint32, n int64) bool {
	k := &h.credit
	k.mu.Lock()
	b := k.bodies[id]
	if b != nil && (n == 0 || b.receiver+n > maxWindow) { // which is an error: RFC 9113 section 6.9
		k.mu.Unlock()
		return false
	}
	if b != nil {
		b.receiver += n
		k.allow(b)
	}
	k.mu.Unlock()
	if b != nil {
		h.flushSoon()
	} else if s := h.streamOf(id); s != nil {
		s.early.Add(n)
	}
	return b != nil
}

// flushSoon schedules flush, unless it is scheduled already.
func (h *half) flushSoon() {
	h.credit.mu.Lock()
	defer h.credit.mu.Unlock()
	h.flushLater()
}

// flushLater is flushSoon for callers that hold the lock of the credit.
func (h *half) flushLater() {
	if k := &h.credit; len(k.bodies) > 0 && !k.flushing {
		k.flushing = true
		h.to.out.post(h.flush)
	}
}

// flush adds the data that bodies may send now.
func (h *half) flush(o *outlet) {
	k := &h.credit
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flushing = false
	k.lead(o)
	for id, b := range k.bodies {
		switch {
		case !b.led && k.turns.kept:
			continue
		case b.head != nil:
			b.lead(o)
		case b.waiting:
			continue
		}
		k.send(o, b)
		k.changed.Broadcast()
		if !b.waiting && len(b.queue) == 0 {
			b.room.Close()
		}
		if b.gone {
			for _, follow := range b.behind {
				follow(o)
			}
			delete(k.bodies, id)
		} else {
			k.allow(b)
		}
	}
	k.settle()
}
