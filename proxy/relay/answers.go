package relay

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"time"

	"a2atap/proxy/relay/internal/inflow"
)

// answers reads the agent.
type answers struct {
	*pair
	agent     net.Conn // its own: the pair's may be the next one already
	authority string   // the name for messages; "" if unknown
	in        inflow.Buffer
	find      headFinder
	x         *exchange // the one being answered, nil between answers
	body      body
	trailer   []byte
	held      *held       // the answer waits to be complete
	released  *held       // the answer does not wait any more, and is not sent yet
	by        Change      // the content is changed while it passes; nil if it is not
	unproven  []*exchange // whose answer was complete after the client had ended its sending
	taking    Taking      // Refused or TakenThenReset once the client accepts no more, else TakingUnknown
	sentWhole bool        // the client has received data that was written after it stopped sending
	sentAt    time.Time   // when that was
	mark      Mark        // of that
	alerted   bool        // a closing alert followed before the result was known
}

// run relays answers until the agent has ended its sending or the connection is broken.
func (a *answers) run() {
	defer a.in.Release()
	defer func() { a.held.end(); a.released.end() }()
	if a.cfg.AnswerTimeout > 0 && !a.setReadDeadline() {
		a.tooLate()
	} else {
		for x, n := a.awaitHead(); x != nil && a.answer(x, n); x, n = a.awaitHead() {
		}
	}
	a.mu.Lock()
	left := a.replaced()
	a.mu.Unlock()
	if left {
		a.proveAll(false)
		return
	}
	a.endAnswers()
	a.endUnfinished(false)
	a.proveAll(true)
}

// answer relays one answer, interim or final, with a head of n bytes, and reports whether another answer may follow.
func (a *answers) answer(x *exchange, n int) bool {
	raw := a.in.Unread()[:n]
	status, b, err := scanAnswer(raw, x.method, a.cfg.HeadLimit)
	interim := err == nil && status < 200 && status != 101
	if !a.takeTurn(x, interim) {
		a.giveOurs()
		return false
	}
	switch {
	case err != nil:
		a.refuse(x, n, err)
		return false
	case status == 101:
		return a.upgrade(x, n)
	case interim:
		a.obs.Informational(x.n, raw)
		if !a.send(raw) {
			return false
		}
		a.interimPassed(x)
		a.in.Consume(n)
		return true
	}
	a.decide(x, false)
	a.x, a.body, a.trailer = x, b, nil
	x.openEnded = b.framing == framedChunked || b.framing == framedClose
	a.by = nil
	if limit := a.edit.Hold(x.n, raw); limit > 0 {
		if a.held = newHeld(limit, raw, b); a.held == nil {
			a.edit.TooLarge(x.n)
		} else {
			a.held.until = a.edit.Until(x.n)
		}
	} else if b.framing == framedChunked || b.framing == framedClose {
		a.by = a.edit.Change(x.n, raw)
	}
	return a.pass(n) && a.rest() && a.endAnswer()
}

// rest relays what follows a head.
func (a *answers) rest() bool {
	for !a.body.done() {
		if !a.fill() || !a.pass(0) {
			return false
		}
	}
	return true
}

// awaitHead waits for a complete head and returns its exchange and length, or nil if no head will arrive.
func (a *answers) awaitHead() (x *exchange, n int) {
	a.find = headFinder{}
	for {
		if b := a.in.Unread(); len(b) > 0 {
			if x = a.front(); x == nil {
				if !a.unsolicited() {
					return nil, 0
				}
				continue
			}
			n, err := a.find.within(b, a.cfg.HeadLimit)
			if n > 0 {
				return x, n
			}
			if err == nil {
				err = a.find.earlyAnswer(b)
			}
			if err != nil {
				if a.takeTurn(x, false) {
					a.refuse(x, len(b), err)
				} else {
					a.giveOurs()
				}
				return nil, 0
			}
		}
		if !a.fill() {
			return nil, 0
		}
	}
}

// fill reads once, and reports whether new bytes arrived.
func (a *answers) fill() bool {
	for {
		limited := a.limitHold()
		err := a.in.Fill(a.agent)
		switch {
		case err == nil:
			return true
		case limited && isTimeout(err):
			if !a.send(a.endHold()) {
				return false
			}
		case !isTimeout(err) || a.cfg.AnswerTimeout == 0:
			a.readFailed(err)
			return false
		case !a.setReadDeadline():
			a.tooLate()
			return false
		}
	}
}

// pass describes and forwards the bytes of the answer read so far; the first head bytes are its head. It reports
// whether the answer may continue.
func (a *answers) pass(head int) bool {
	a.lookAtClient()
	unread := a.in.Unread()
	b := unread[head:]
	before := a.body
	look := before
	n, err := look.skip(b)
	b = b[:n]
	if head > 0 {
		a.obs.Answer(a.x.n, unread[:head])
	}
	a.trailer = describe(a.x.n, &a.body, b, a.trailer, a.obs.AnswerBody)
	out := unread[:head+n]
	switch {
	case a.held != nil:
		out = a.hold(before, b)
	case a.by != nil:
		out = a.changed(unread[:head], before, b)
	}
	if look.done() {
		a.complete() // before the client can see the end, after which it may leave
	}
	if !a.send(out) {
		return false
	}
	if a.in.Consume(head + n); err == nil {
		return true
	}
	a.noteCause(a.x.n, TransportError{Kind: KindRefused, Side: SideAgent, Detail: err.Error()})
	a.send(a.releaseHeld())
	if a.by != nil {
		a.send(a.unchanged())
	}
	CloseWrite(a.client)
	Reset(a.agent)
	return false
}

// complete reports that the answer is complete, before the last bytes of it are written.
func (a *answers) complete() {
	a.obs.AnswerEnd(a.x.n, a.trailer)
	if !a.endedBefore(a.x) {
		a.answerReported(a.x)
	}
}

// endAnswer records that the answer is complete and written, and reports whether another answer may follow.
func (a *answers) endAnswer() bool {
	x := a.x
	a.x = nil
	a.written(x)
	a.mu.Lock()
	next, over := a.due(), a.requestsEnd
	a.mu.Unlock()
	switch {
	case next != nil && next.ownAnswer != nil:
		a.writeFinal(next.ownAnswer)
		a.agent.Close()
		return false
	case next == nil && over:
		a.agent.Close()
		return false
	}
	return true
}

// send writes to the client.
func (a *answers) send(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if a.clientEOF.Load() {
		a.sentAfterEnd.Store(true)
	}
	_, err := a.client.Write(b)
	a.released.end()
	a.released = nil
	if err == nil {
		if a.sentAfterEnd.Load() {
			a.sentAt, a.sentWhole, a.mark = time.Now(), false, MarkOf(a.client)
			a.lookAtClient()
		}
		return true
	}
	f := TransportError{Kind: KindReset, Side: SideClient, Detail: "while the answer was sent: " + Reason(err)}
	how := EndReset
	if a.clientEOF.Load() || errors.Is(err, syscall.EPIPE) {
		f.Kind, how = KindClientLeft, EndClose
	}
	a.taking = Refused
	a.halfClosed.Store(false)
	a.sideEnded(SideClient, how)
	a.mu.Lock()
	a.setCause(-1, f)
	a.mu.Unlock()
	Reset(a.agent)
	Reset(a.client)
	return false
}

// decide notes the decision about an upgrade, before the client can learn of it.
func (a *answers) decide(x *exchange, taken bool) {
	if !x.upgrade && !taken {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	x.decided = true
	if taken {
		x.upgrade = true
		x.requestDone = false // until the client has ended its sending
		a.tunnel = x
	}
	a.decided.Broadcast()
}

// upgrade relays the agent's data after an accepted upgrade. It reports the upgrade before it forwards it, so that
// later data from the client is reported later.
func (a *answers) upgrade(x *exchange, head int) bool {
	raw := a.in.Unread()[:head]
	a.obs.Answer(x.n, raw)
	a.obs.Upgraded(x.n)
	a.decide(x, true)
	a.x, a.body = x, newBody(framedClose, 0, 0)
	if !a.send(raw) {
		return false
	}
	a.in.Consume(head)
	for a.pass(0) && a.fill() {
	}
	return false
}

// hold holds back bytes of the body; before is the state of the body before them. It returns the bytes to send now: the
// edited answer when it is complete, or the unmodified answer when it has grown too large.
func (a *answers) hold(before body, b []byte) []byte {
	if !a.held.add(before, b) {
		a.edit.TooLarge(a.x.n)
		return a.unlimited()
	}
	if a.body.done() {
		return a.edited()
	}
	if !a.edit.Keep(a.x.n, a.held.body) {
		return a.unlimited()
	}
	return nil
}

// limitHold limits the agent's next read to the time for which an answer may be held, and reports whether such a limit
// applies.
func (a *answers) limitHold() bool {
	if !a.held.limited() {
		return false
	}
	a.agent.SetReadDeadline(a.held.until)
	return true
}

// endHold ends the holding of an answer that takes too long, and returns the bytes to send.
func (a *answers) endHold() []byte {
	a.edit.TooSlow(a.x.n, a.held.body)
	return a.unlimited()
}

// unlimited removes the time limit, stops holding the answer, and returns it unmodified.
func (a *answers) unlimited() []byte {
	a.liftLimit()
	return a.releaseHeld()
}

// liftLimit removes the limit that limitHold has set.
func (a *answers) liftLimit() {
	switch {
	case !a.held.limited():
	case a.cfg.AnswerTimeout > 0 && a.setReadDeadline():
	default:
		a.agent.SetReadDeadline(time.Time{})
	}
}

// edited ends the holding of a complete answer and returns the bytes to send.
func (a *answers) edited() []byte {
	a.liftLimit()
	if out := a.edit.Answer(a.x.n, a.held.head, a.held.body, a.held.trailer); out != nil {
		a.released, a.held = a.held, nil
		return out
	}
	return a.releaseHeld()
}

// releaseHeld stops holding an answer and returns it unmodified.
func (a *answers) releaseHeld() []byte {
	h := a.held
	if a.held = nil; h == nil {
		return nil
	}
	a.released = h
	return h.wire
}

// changed returns the bytes to send for an answer whose content is changed in transit: its head, if that has just
// arrived, and the Change's result for the bytes b of its body. before is the state of the body before b.
func (a *answers) changed(head []byte, before body, b []byte) []byte {
	out := append([]byte(nil), head...)
	for len(b) > 0 {
		n, kind, err := before.next(b)
		if n == 0 || err != nil {
			break
		}
		if kind == pieceData {
			out = a.framed(out, a.edit.Next(a.by, b[:n], false))
		}
		b = b[n:]
	}
	if before.framing != framedChunked || !before.done() {
		return out
	}
	out = append(out, a.unchanged()...)
	out = append(out, "0\r\n"...)
	out = append(out, a.trailer...)
	return append(out, "\r\n"...)
}

// framed appends a piece of content to out in the framing of the answer.
func (a *answers) framed(out, p []byte) []byte {
	if len(p) == 0 {
		return out
	}
	if a.body.framing != framedChunked {
		return append(out, p...)
	}
	out = strconv.AppendInt(out, int64(len(p)), 16)
	out = append(out, "\r\n"...)
	out = append(out, p...)
	return append(out, "\r\n"...)
}

// unchanged ends the changing of an answer and returns the bytes that were held back, framed.
func (a *answers) unchanged() []byte {
	by := a.by
	a.by = nil
	return a.framed(nil, a.edit.Next(by, nil, true))
}
