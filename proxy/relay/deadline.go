package relay

import (
	"fmt"
	"time"
)

// setReadDeadline sets the time limit for the client's next read, and reports whether any time is left. A deadline is
// not moved with each exchange: it is checked when it passes, and ignored if an exchange is in flight.
func (r *requests) setReadDeadline() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answersEnd && (!r.inRequest || r.sendBlocked) && r.tunnel == nil {
		return false
	}
	now := time.Now()
	limit, from := r.cfg.IdleTimeout, r.idleSince
	if !r.since.IsZero() {
		limit = r.cfg.HeadTimeout
		if r.since.After(from) {
			from = r.since
		}
	}
	if len(r.unfinished) > 0 {
		from = now
	}
	var until time.Time
	if limit > 0 {
		if until = from.Add(limit); !until.After(now) {
			return false
		}
	}
	if h := r.held; h.limited() && (until.IsZero() || h.until.Before(until)) {
		until = h.until
	}
	r.client.SetReadDeadline(until)
	return true
}

// setReadDeadline sets the time limit for the agent's next read, and reports whether any time is left for the pending
// answer. Like the client's, the deadline is checked when it passes, not moved with each exchange.
func (a *answers) setReadDeadline() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	from := now
	if x := a.due(); x != nil && a.x == nil && x.requestDone && x.turn != turnOurs {
		from = x.doneAt
		if a.idleSince.After(from) { // an answer before this one has ended since
			from = a.idleSince
		}
	}
	until := from.Add(a.cfg.AnswerTimeout)
	if !until.After(now) {
		return false
	}
	a.agent.SetReadDeadline(until)
	return true
}

// tooLate puts 504 in the place of the answer that is due.
func (a *answers) tooLate() {
	x := a.front()
	if x == nil || !a.takeTurn(x, false) {
		return
	}
	f := TransportError{
		Kind: KindTimeout, Side: SideAgent, Status: 504,
		Detail: fmt.Sprintf("no head of an answer within %v (RFC 9110 section 15.6.5)", a.cfg.AnswerTimeout),
		advice: "check why the agent is slow, or allow more time",
	}
	if b := a.in.Unread(); len(b) > 0 {
		a.obs.Answer(x.n, b)
	}
	a.noteCause(x.n, f)
	a.fault(x, f)
	a.unanswered(x)
	Reset(a.agent)
	a.writeFinal(OwnAnswer(a.cfg.Mark, f))
}

// headBegun starts the time that a head may take.
func (r *requests) headBegun() {
	if r.since.IsZero() {
		r.since = time.Now()
		if r.cfg.HeadTimeout > 0 {
			r.setReadDeadline()
		}
	}
}

// headComplete stops it.
func (r *requests) headComplete() {
	if !r.since.IsZero() {
		r.since = time.Time{}
		if r.cfg.HeadTimeout > 0 {
			r.setReadDeadline()
		}
	}
}
