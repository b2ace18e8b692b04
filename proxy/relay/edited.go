package relay

import "time"

// Edited calls an Editor under Guard. Without an Editor, and after a panic, everything passes unmodified.
type Edited struct {
	Guard
	By Editor // nil without one
}

// On reports whether an Editor is active.
func (e *Edited) On() bool { return e.By != nil && !e.Broken() }

// Request returns the head to send instead of head.
func (e *Edited) Request(x int, head []byte) (edited []byte) {
	edited = head
	if e.On() {
		defer e.Recover("editor")
		edited = e.By.Request(x, head)
	}
	return edited
}

// HoldRequest returns how many bytes of a request's body may be held, and the deadline; the zero time means no
// deadline.
func (e *Edited) HoldRequest(x int, head, begun []byte, whole bool) (limit int, until time.Time) {
	by, ok := e.By.(RequestEditor)
	if !ok || !e.On() {
		return 0, time.Time{}
	}
	defer e.Recover("editor")
	limit, patience := by.HoldRequest(x, head, begun, whole)
	if patience > 0 && !whole {
		until = time.Now().Add(patience)
	}
	return limit, until
}

// KeepRequest reports whether to keep holding a request, given the body so far.
func (e *Edited) KeepRequest(x int, body []byte) (on bool) {
	if e.On() {
		defer e.Recover("editor")
		on = e.By.(RequestEditor).KeepRequest(x, body)
	}
	return on
}

// RequestTooSlow reports that a held request was not complete in time, or that there was no room for it.
func (e *Edited) RequestTooSlow(x int) {
	if e.On() {
		defer e.Recover("editor")
		e.By.(RequestEditor).RequestTooSlow(x)
	}
}

// HeldRequest returns the complete replacement for a held request, or nil to send it unmodified.
func (e *Edited) HeldRequest(x int, head, body, trailer []byte) (edited []byte) {
	if e.On() {
		defer e.Recover("editor")
		edited = e.By.(RequestEditor).HeldRequest(x, head, body, trailer)
	}
	return edited
}

// Hold says how many bytes of an answer's body to hold.
func (e *Edited) Hold(x int, head []byte) (limit int) {
	if e.On() {
		defer e.Recover("editor")
		limit = e.By.Hold(x, head)
	}
	return limit
}

// Answer returns the complete replacement for a held answer, or nil to send it unmodified.
func (e *Edited) Answer(x int, head, body, trailer []byte) (edited []byte) {
	if e.On() {
		defer e.Recover("editor")
		edited = e.By.Answer(x, head, body, trailer)
	}
	return edited
}

// Change returns what changes the content of an answer while it passes; nil for nothing.
func (e *Edited) Change(x int, head []byte) (by Change) {
	if editor, ok := e.By.(ContentEditor); ok && e.On() {
		defer e.Recover("editor")
		by = editor.Change(x, head)
	}
	return by
}

// Next returns the bytes to send instead of a piece of content.
func (e *Edited) Next(by Change, p []byte, last bool) (out []byte) {
	out = p
	if e.On() {
		defer e.Recover("editor")
		out = by.Next(p, last)
	}
	return out
}

// TooLarge reports that an answer outgrew the limit from Hold, or that there was no room for it.
func (e *Edited) TooLarge(x int) {
	if e.On() {
		defer e.Recover("editor")
		e.By.TooLarge(x)
	}
}

// Until returns the deadline for holding an answer; the zero time means no deadline.
func (e *Edited) Until(x int) (until time.Time) {
	by, ok := e.By.(DoubtfulEditor)
	if !ok || !e.On() {
		return time.Time{}
	}
	defer e.Recover("editor")
	if d := by.Patience(x); d > 0 {
		until = time.Now().Add(d)
	}
	return until
}

// Keep reports whether to keep holding an answer, given the body so far.
func (e *Edited) Keep(x int, body []byte) (on bool) {
	by, ok := e.By.(DoubtfulEditor)
	if !ok || !e.On() {
		return true
	}
	defer e.Recover("editor")
	return by.Keep(x, body)
}

// TooSlow reports that a held answer was not complete in time, with the body so far.
func (e *Edited) TooSlow(x int, body []byte) {
	if by, ok := e.By.(DoubtfulEditor); ok && e.On() {
		defer e.Recover("editor")
		by.TooSlow(x, body)
	}
}
