package h2

import (
	"errors"
	"io"
	"net/http"
	"syscall"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/relay"
)

// answers reads the agent.
type answers struct {
	*half
	head []byte // scratch: the head of an answer as the Observer gets it

	unproven   []*stream // whose answer was complete after the client had ended its sending
	proveUntil time.Time // that the last of them waits
	refused    bool      // the client accepts no more data
}

// fields implements direction.
func (a *answers) fields(b *block) {
	s := a.streamOf(b.head.StreamID)
	switch {
	case s == nil:
		if why := a.strays.strayStream(b.head.StreamID); why != "" {
			letGo(a.half)
			a.strays.report(appendHead(nil, b.head.Type, b.head.Flags, b.head.StreamID, int(b.head.Length)), why)
		}
		a.forward(b)
	case s.isOurs(): // the client already has another answer
	case b.tooLong, !a.hasRoom(s, b):
		a.refuse(s, "the head of the answer is longer than this proxy accepts (RFC 9113 section 10.5.1)")
	default:
		a.message(s, b)
		if cap(a.head) > maxHeadRoom {
			a.head = nil
		}
	}
}

// hasRoom reports whether there is room for a header block of an answer.
func (a *answers) hasRoom(s *stream, b *block) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return a.keepHead(s, b)
}

// message deals with a head or a trailer of an answer.
func (a *answers) message(s *stream, b *block) {
	s.mu.Lock()
	status := b.list.status()
	stray := s.answered && !b.endsStream()
	interim := status >= 100 && status < 200 && !b.endsStream() && !stray
	head := !s.answered && !interim
	switch {
	case s.ended:
	case stray:
		a.strays.report(nil, "fields after the head of an answer that do not end it (RFC 9113 section 8.1)")
	case interim:
		a.head = b.list.appendAnswer(a.head[:0])
		a.obs.Informational(s.x, a.head)
	case head:
		a.head = b.list.appendAnswer(a.head[:0])
		s.answered = true
		if s.late != nil {
			s.late.Stop()
		}
		a.obs.Answer(s.x, a.head)
		if s.connect && status >= 200 && status < 300 {
			a.obs.Upgraded(s.x)
		}
	}
	x, tunnel := s.x, s.connect
	s.mu.Unlock()
	own := a.credit.bodyOf(s.id)
	withheld := head && a.edited.On() && !tunnel && (a.breaks(s, b) || a.hold(s, x, b))
	if own != nil && b.endsStream() && !a.credit.isOver(own) {
		a.endBody(own, b.list)
		withheld = true
	} else if own != nil {
		withheld = a.fieldsBehind(own, b)
	}
	if b.endsStream() {
		s.mu.Lock()
		if !s.ended {
			var trailer []byte
			if !head {
				trailer = b.list.appendTrailer(nil)
			}
			a.ended(s, trailer)
		}
		s.mu.Unlock()
	}
	if !withheld {
		a.forward(b)
	}
}

// hold handles an answer as the Editor requests, and reports whether the answer must not be forwarded unmodified now.
func (a *answers) hold(s *stream, x int, b *block) bool {
	limit := a.edited.Hold(x, a.head)
	if b.list.isMalformed() || b.resized {
		if limit > 0 {
			a.edited.TooLarge(x)
		}
		return false
	}
	if limit > 0 {
		switch {
		case b.endsStream():
			if edited := a.edited.Answer(x, a.head, nil, nil); edited != nil {
				b.list = b.list.edited(edited)
			}
			return false
		case mayHold(b.list, limit):
			a.withhold(s, &hold{head: a.head, limit: limit, until: a.edited.Until(x)}, nil, b.list)
			return true
		}
		a.edited.TooLarge(x)
		return false
	}
	if _, declared := b.list.get("content-length"); declared || b.endsStream() {
		return false
	}
	if by := a.edited.Change(x, a.head); by != nil {
		a.withhold(s, nil, by, b.list)
		return true
	}
	return false
}

// refuse replaces an unacceptable answer with 502, or breaks it off if it has begun.
func (a *answers) refuse(s *stream, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := relay.TransportError{Kind: relay.KindRefused, Side: relay.SideAgent, Detail: why}
	a.giveUp(s, http2.ErrCodeCancel)
	if s.answered {
		a.client.out.post(func(o *outlet) { o.bytes = appendReset(o.bytes, s.id, http2.ErrCodeInternal) })
		s.ours = true
		a.endBroken(s, f)
		return
	}
	f.Status = http.StatusBadGateway
	a.answerOurs(s, f)
}

// observe implements direction.
func (a *answers) observe(s *stream, p []byte) {
	if !s.answered || s.answerDone {
		a.strays.report(nil, "DATA before or after an answer (RFC 9113 section 8.1)")
		return
	}
	a.obs.AnswerBody(s.x, p)
}

// ended implements direction.
func (a *answers) ended(s *stream, trailer []byte) {
	if s.answerDone {
		return
	}
	s.answerDone = true
	a.obs.AnswerEnd(s.x, trailer)
	if s.clientEnded && s.asked && !s.ours {
		a.waitToProve(s)
		return
	}
	a.endIfDone(s)
}

// keep implements direction.
func (a *answers) keep(s *stream, content []byte) bool { return a.edited.Keep(s.x, content) }

// edit implements direction.
func (a *answers) edit(s *stream, head, content, trailer []byte) []byte {
	return a.edited.Answer(s.x, head, content, trailer)
}

// tooLarge implements direction.
func (a *answers) tooLarge(s *stream) { a.edited.TooLarge(s.x) }

// noRoom implements direction.
func (a *answers) noRoom(s *stream) { a.edited.TooLarge(s.x) }

// tooSlow implements direction.
func (a *answers) tooSlow(s *stream, content []byte) { a.edited.TooSlow(s.x, content) }

// woken implements direction.
func (a *answers) woken(time.Time) bool {
	a.prove(false)
	_, idle := a.idle()
	a.mu.Lock()
	defer a.mu.Unlock()
	return !idle || !a.clientEOF
}

// unsent implements direction.
func (a *answers) unsent(err error) bool {
	f := relay.TransportError{
		Kind: relay.KindReset, Side: relay.SideClient, Detail: "while the answer was sent: " + relay.Reason(err),
	}
	how := relay.EndReset
	a.refused = true
	a.mu.Lock()
	if a.clientEOF || errors.Is(err, syscall.EPIPE) {
		f.Kind, how = relay.KindClientLeft, relay.EndClose
	}
	a.mu.Unlock()
	a.sideEnded(relay.SideClient, how)
	a.setCause(f)
	a.endAll(a.reason(f))
	relay.Reset(a.agent.Conn)
	relay.Reset(a.client.Conn)
	return false
}

// failed implements direction.
func (a *answers) failed(err error) {
	if isOurs(err) {
		return
	}
	f := relay.TransportError{
		Kind: relay.KindTruncated, Side: relay.SideAgent, Detail: "connection closed before the answer was complete",
	}
	inOrder, how := errors.Is(err, io.EOF), relay.EndFIN
	if !inOrder {
		f.Kind, f.Detail, how = relay.KindReset, relay.Reason(err), relay.EndReset
	}
	a.sideEnded(relay.SideAgent, how)
	a.endAll(a.reason(f)) // before the client can notice, and try again
	a.stopWaiting()
	if !inOrder {
		relay.Reset(a.client.Conn)
		return
	}
	letGoAtEnd(a.half) // write what other goroutines have posted
	a.linger()
}
