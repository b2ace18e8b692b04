package relay

import "time"

// hold keeps bytes of the body back, which was in that state before them. It returns what is to be sent now: the whole
// answer, edited, when it is complete, or as it came when it has grown too large.
func (a *answers) hold(before body, b []byte) []byte {
	if !a.held.add(before, b) {
		a.edit.tooLarge(a.x.n)
		return a.unlimited()
	}
	if a.body.done() {
		return a.edited()
	}
	if !a.edit.keep(a.x.n, a.held) {
		return a.unlimited()
	}
	return nil
}

// limitHold bounds the next read of the agent by the time in which an answer may be held, and reports whether it does.
func (a *answers) limitHold() bool {
	if a.held == nil || a.held.until.IsZero() {
		return false
	}
	a.agent.SetReadDeadline(a.held.until)
	return true
}

// endHold ends the holding of an answer that takes too long, and returns what is to be sent of it.
func (a *answers) endHold() []byte {
	a.edit.tooSlow(a.x.n, a.held)
	return a.unlimited()
}

// unlimited ends the holding of an answer and returns it as it came.
func (a *answers) unlimited() []byte {
	a.liftLimit()
	return a.releaseHeld()
}

// liftLimit ends the bound that limitHold has set.
func (a *answers) liftLimit() {
	switch {
	case a.held.until.IsZero():
	case a.cfg.AnswerTimeout > 0 && a.setReadDeadline():
	default:
		a.agent.SetReadDeadline(time.Time{})
	}
}

// edited ends the holding of a complete answer and returns what is to be sent of it.
func (a *answers) edited() []byte {
	a.liftLimit()
	if out := a.edit.answer(a.x.n, a.held); out != nil {
		a.held = nil
		return out
	}
	return a.releaseHeld()
}

// releaseHeld ends the holding of an answer and returns it as it came.
func (a *answers) releaseHeld() []byte {
	h := a.held
	if a.held = nil; h == nil {
		return nil
	}
	return h.wire
}
