package h2

import (
	"bytes"
	"slices"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/relay"
)

// A Breaker is an Editor that also breaks exchanges on purpose. A stream that it breaks off is canceled at the agent,
// with CANCEL; all other streams of the connection continue. Its methods are called from the goroutine of the broken
// side, with the stream number (RFC 9113 section 5.1.1).
type Breaker interface {
	relay.Editor
	// Instead is called when a request is complete; a request with a body only if the body was held (see
	// relay.RequestEditor). Nil forwards the request to the agent.
	Instead(stream uint32) *Instead
	// Break is called when the head of a final answer has arrived; whole reports whether the head is the whole answer.
	// Nil forwards the answer unmodified.
	Break(stream uint32, head []byte, whole bool) *Break
}

// An Instead replaces forwarding a request to the agent.
type Instead struct {
	// Head, as an Observer gets it, and Content are the answer. An empty Head means silence until the client cancels
	// the stream, or until the stream is reset with CANCEL after Silence.
	Head, Content []byte
	Silence       time.Duration
}

// A Break describes how an answer is broken.
type Break struct {
	Reset *http2.ErrCode // the stream is reset instead of answered
	Head  []byte         // replaces the original head, in the same form; nil keeps it
	Wait  time.Duration  // before any of it is sent

	// Leave is called with the last stream that the client has begun. It returns the code of the GOAWAY that tells the
	// client not to open more streams on this connection (RFC 9113 section 6.8). Open streams continue. Nil sends no
	// GOAWAY.
	Leave func(last uint32) http2.ErrCode

	// Content returns the replacement for the next piece of the content, and how the answer ends after it, or nil if
	// the answer continues. It is called without content before the first piece, and with last set after the last one.
	// If Content is nil, the content passes.
	Content func(p []byte, last bool) ([]Piece, *Ending)
}

// A Piece is content that is sent some time after the previous piece.
type Piece struct {
	Wait  time.Duration
	Bytes []byte
}

// An Ending describes how an answer ends early: with a reset, in silence, or else as a complete answer.
type Ending struct {
	Reset   *http2.ErrCode
	Silence time.Duration // no more data comes, and the stream is reset with CANCEL after that time
	Trailer []byte        // field lines; none for an end without a trailer
}

// A script is the remainder of a broken answer, as steps. It is guarded like its body, except for the marked fields.
type script struct {
	h     *half
	b     *body
	how   *Break
	over  bool // the agent's data no longer belongs to it; owned by the half's goroutine
	whole bool // its end is among the steps
	steps []step
	timer *time.Timer // that the first step waits for; nil for none
	reset *http2.ErrCode
}

// A step is done some time after the one before it.
type step struct {
	wait    time.Duration
	head    fieldList
	content []byte
	end     bool // the answer is complete
	trailer fieldList
	reset   *http2.ErrCode
}

// keepBack asks the Breaker about a complete request, and reports whether to withhold the request from the agent. The
// lock of the stream is held.
func (r *requests) keepBack(s *stream) bool {
	by, ok := r.edited.By.(Breaker)
	if !ok || !r.edited.On() {
		return false
	}
	in := r.instead(by, s.id)
	if in == nil {
		return false
	}
	s.ours = true
	if s.asked {
		r.end(s, nil)
	}
	r.remember(s)
	if in.Head == nil {
		s.late = time.AfterFunc(in.Silence, func() { r.say(s.id, http2.ErrCodeCancel) })
		return true
	}
	list := fieldList{{Name: ":status", Value: "200"}}.edited(in.Head)
	r.client.out.post(func(o *outlet) { r.answer(o, s.id, list, in.Content) })
	return true
}

func (r *requests) instead(by Breaker, id uint32) (in *Instead) {
	defer r.edited.Recover("breaker")
	return by.Instead(id)
}

// kept implements direction.
func (r *requests) kept(s *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.keepBack(s)
}

// kept implements direction: answers are not kept from clients.
func (*answers) kept(*stream) bool { return false }

// leaveConnection tells the client to open no more streams. Streams that it opens anyway are dropped.
func (c *conn) leaveConnection(codeAt func(last uint32) http2.ErrCode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left {
		return
	}
	c.left, c.leftAfter = true, c.lastID
	last, code := c.lastID, codeAt(c.lastID)
	c.client.out.post(func(o *outlet) { o.bytes = appendGoAway(o.bytes, last, code, "") })
}

// isLeft reports whether the client began a stream after it received GOAWAY.
func (c *conn) isLeft(id uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left && id > c.leftAfter
}

// ignore drops all further data of a stream. Its lock is held.
func (c *conn) ignore(s *stream) {
	s.ours = true
	c.end(s, nil)
	c.remember(s)
}

// say resets a stream at the client.
func (c *conn) say(id uint32, code http2.ErrCode) {
	c.client.out.post(func(o *outlet) { o.bytes = appendReset(o.bytes, id, code) })
}

// remember notes, for a while, that nothing more must be sent to the agent on a stream.
func (c *conn) remember(s *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused++
	if c.silent = append(c.silent, s.id); len(c.silent) > maxRefused {
		delete(c.streams, c.silent[0])
		c.silent = slices.Delete(c.silent, 0, 1)
		c.refused--
	}
}

// breaks asks the Breaker about an answer whose head has arrived. It reports whether the answer must not be forwarded
// unmodified now.
func (a *answers) breaks(s *stream, b *block) bool {
	by, ok := a.edited.By.(Breaker)
	if !ok || !a.edited.On() {
		return false
	}
	whole := b.endsStream()
	how := a.howBroken(by, s.id, whole)
	switch {
	case how == nil:
		return false
	case how.Leave != nil:
		a.leaveConnection(how.Leave)
	case how.Reset != nil:
		a.say(s.id, *how.Reset)
		a.leaveStream(s, !whole)
		return true
	case how.Head != nil:
		b.list = b.list.edited(how.Head)
	}
	if how.Wait == 0 && how.Content == nil {
		return false
	}
	k := &a.credit
	k.mu.Lock()
	own := k.newBody(s, whole)
	own.broken = &script{h: a.half, b: own, how: how}
	k.bodies[s.id] = own
	k.mu.Unlock()
	own.broken.play(step{wait: how.Wait, head: slices.Clone(b.list), end: whole})
	if !whole {
		own.broken.next(nil, false)
	}
	return true
}

func (a *answers) howBroken(by Breaker, id uint32, whole bool) (how *Break) {
	defer a.edited.Recover("breaker")
	return by.Break(id, a.head, whole)
}

// leaveStream drops all further data of the agent on a stream.
func (a *answers) leaveStream(s *stream, tell bool) {
	if tell {
		a.giveUp(s, http2.ErrCodeCancel)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a.ignore(s)
}

// next plays the result for a piece of the content, or for its end.
func (s *script) next(p []byte, last bool) {
	if s.over {
		return
	}
	pieces, ending := s.content(p, last)
	var steps []step
	for _, piece := range pieces {
		steps = append(steps, step{wait: piece.Wait, content: piece.Bytes})
	}
	s.over = ending != nil
	switch {
	case ending == nil:
	case ending.Silence > 0:
		steps = append(steps, step{wait: ending.Silence, reset: new(http2.ErrCodeCancel)})
	case ending.Reset != nil:
		steps = append(steps, step{reset: ending.Reset})
	default:
		steps = append(steps, step{end: true, trailer: fieldList{}.edited(append([]byte("\r\n"), ending.Trailer...))})
	}
	s.play(steps...)
	if s.over && ending.Silence == 0 {
		s.h.does.(*answers).leaveStream(s.b.stream, !last)
	}
}

// content returns what to send instead of a piece, and how the answer ends after that.
func (s *script) content(p []byte, last bool) (pieces []Piece, ending *Ending) {
	pieces = []Piece{{Bytes: bytes.Clone(p)}}
	if edited := &s.h.edited; s.how.Content != nil && edited.On() {
		defer edited.Recover("breaker")
		pieces, ending = s.how.Content(p, last)
	}
	return pieces, ending
}

// end reports that the agent's answer is complete.
func (s *script) end(trailer fieldList) {
	s.next(nil, true)
	if !s.over {
		s.over = true
		s.play(step{end: true, trailer: trailer})
	}
}

// play adds steps to do.
func (s *script) play(steps ...step) {
	k := &s.h.credit
	k.mu.Lock()
	defer k.mu.Unlock()
	if !s.b.gone {
		for _, step := range steps {
			k.pending += int64(len(step.content))
			s.whole = s.whole || step.end
		}
		s.steps = append(s.steps, steps...)
		s.advance()
	}
	k.settle()
}

// advance runs the steps that are due. The lock of the credit is held.
func (s *script) advance() {
	for len(s.steps) > 0 && s.timer == nil {
		step := s.steps[0]
		if step.wait > 0 {
			s.timer = time.AfterFunc(step.wait, s.goOn)
			break
		}
		s.steps = s.steps[1:]
		if step.head != nil {
			s.b.head = step.head
		}
		s.b.queue = append(s.b.queue, step.content...)
		s.b.ended, s.b.trailer = s.b.ended || step.end, step.trailer
		s.reset = step.reset
	}
	s.h.flushLater()
}

// goOn does the first step, which is due.
func (s *script) goOn() {
	k := &s.h.credit
	k.mu.Lock()
	defer k.mu.Unlock()
	if s.timer = nil; !s.b.gone && len(s.steps) > 0 {
		s.steps[0].wait = 0
		s.advance()
	}
}

// waits reports whether the queue of the script's body still has data to send.
func (s *script) waits() bool { return s != nil && (len(s.steps) > 0 || s.reset != nil) }

// stop ends a script, and returns how many bytes were still to be sent.
func (s *script) stop() (n int64) {
	if s == nil {
		return 0
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	for _, step := range s.steps {
		n += int64(len(step.content))
	}
	s.steps = nil
	return n
}
