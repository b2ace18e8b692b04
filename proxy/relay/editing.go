package relay

import (
	"bytes"
	"time"
)

// editing calls an Editor under guard. Without one, and after a panic, everything passes as it came.
type editing struct {
	guard
	by Editor // nil without one
}

func (e *editing) on() bool { return e.by != nil && !e.broken.Load() }

// request returns the head to send in place of head.
func (e *editing) request(x int, head []byte) (edited []byte) {
	edited = head
	if e.on() {
		defer e.recoverPanic("editor")
		edited = e.by.Request(x, head)
	}
	return edited
}

// holdRequest begins to hold a request, given its edited head and what there is of its body, if it is to be held.
func (e *editing) holdRequest(x int, head, begun []byte, whole bool, h *requestHead) (request *held) {
	by, ok := e.by.(RequestEditor)
	if !ok || !e.on() || h.body.framing == framedNone {
		return nil
	}
	defer e.recoverPanic("editor")
	limit, patience := by.HoldRequest(x, head, begun, whole)
	if limit <= 0 || h.expect {
		return nil
	}
	if request = newHeld(limit, head, h.body); request != nil && patience > 0 && !whole {
		request.until = time.Now().Add(patience)
	}
	return request
}

// keepRequest reports whether a held request is to be held on, given what there is of it.
func (e *editing) keepRequest(x int, h *held) (on bool) {
	if e.on() {
		defer e.recoverPanic("editor")
		on = e.by.(RequestEditor).KeepRequest(x, h.body)
	}
	return on
}

// requestTooSlow says that a held request was not complete in time.
func (e *editing) requestTooSlow(x int) {
	if e.on() {
		defer e.recoverPanic("editor")
		e.by.(RequestEditor).RequestTooSlow(x)
	}
}

// heldRequest returns all bytes to send in place of a held request.
func (e *editing) heldRequest(x int, h *held) (edited []byte) {
	if e.on() {
		defer e.recoverPanic("editor")
		edited = e.by.(RequestEditor).HeldRequest(x, h.head, h.body, h.trailer)
	}
	return edited
}

// hold says how many bytes of an answer body to hold.
func (e *editing) hold(x int, head []byte) (limit int) {
	if e.on() {
		defer e.recoverPanic("editor")
		limit = e.by.Hold(x, head)
	}
	return limit
}

// answer returns all bytes to send in place of a held answer.
func (e *editing) answer(x int, h *held) (edited []byte) {
	if e.on() {
		defer e.recoverPanic("editor")
		edited = e.by.Answer(x, h.head, h.body, h.trailer)
	}
	return edited
}

// change returns what changes the content of an answer while it passes; nil for nothing.
func (e *editing) change(x int, head []byte) (by Change) {
	if editor, ok := e.by.(ContentEditor); ok && e.on() {
		defer e.recoverPanic("editor")
		by = editor.Change(x, head)
	}
	return by
}

// changed returns what to send in place of a piece of content.
func (e *editing) changed(by Change, p []byte, last bool) (out []byte) {
	out = p
	if e.on() {
		defer e.recoverPanic("editor")
		out = by.Next(p, last)
	}
	return out
}

// tooLarge says that an answer outgrew what hold allowed.
func (e *editing) tooLarge(x int) {
	if e.on() {
		defer e.recoverPanic("editor")
		e.by.TooLarge(x)
	}
}

// patience says until when an answer may be held, from now on; the zero time is forever.
func (e *editing) patience(x int) (until time.Time) {
	by, ok := e.by.(DoubtfulEditor)
	if !ok || !e.on() {
		return time.Time{}
	}
	defer e.recoverPanic("editor")
	if d := by.Patience(x); d > 0 {
		until = time.Now().Add(d)
	}
	return until
}

// keep reports whether a held answer is to be held on, given what there is of it.
func (e *editing) keep(x int, h *held) (on bool) {
	by, ok := e.by.(DoubtfulEditor)
	if !ok || !e.on() {
		return true
	}
	defer e.recoverPanic("editor")
	return by.Keep(x, h.body)
}

// tooSlow says that a held answer was not complete in time.
func (e *editing) tooSlow(x int, h *held) {
	if by, ok := e.by.(DoubtfulEditor); ok && e.on() {
		defer e.recoverPanic("editor")
		by.TooSlow(x, h.body)
	}
}

// held is a message that waits to be complete.
type held struct {
	limit   int    // bytes of body that may be held
	head    []byte // as it would be sent
	wire    []byte // head and body as they would be sent
	body    []byte // without framing
	trailer []byte
	until   time.Time // when it goes on as it came; zero if it may take as long as it does
}

// limited reports whether a message is held for a bounded time; false for nil.
func (h *held) limited() bool { return h != nil && !h.until.IsZero() }

// newHeld begins to hold a message. It returns nil if it is known to be too large: limit is at least 1.
func newHeld(limit int, head []byte, b body) *held {
	if b.framing == framedLength && b.left > int64(limit) {
		return nil
	}
	head = bytes.Clone(head)
	return &held{limit: limit, head: head, wire: head[:len(head):len(head)]}
}

// add takes bytes of the body, whose state is a copy, and reports whether the message is still within its limit.
func (h *held) add(b body, p []byte) bool {
	h.wire = append(h.wire, p...)
	for len(p) > 0 {
		n, kind, err := b.next(p)
		switch {
		case err != nil || n == 0:
			return true
		case kind == pieceData:
			h.body = append(h.body, p[:n]...)
		case kind == pieceTrailer:
			h.trailer = append(h.trailer, p[:n]...)
		}
		p = p[n:]
	}
	// Framing may outweigh the data, but not without bound.
	return len(h.body) <= h.limit && len(h.wire) <= len(h.head)+8*h.limit+maxChunkLine
}
