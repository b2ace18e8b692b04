package relay

// refuseRest ends a request with a malformed body of which the agent already has a part. If the agent has not begun to
// answer, the client gets the relay's own answer, after all earlier answers. Otherwise both connections are reset.
func (r *requests) refuseRest(err error) {
	if r.agent == nil { // the client has the error already, or gets it here
		if r.refusal != nil {
			r.reply(*r.refusal)
		}
		r.drain()
		return
	}
	f := TransportError{Kind: KindRefused, Side: SideClient, Detail: err.Error()}
	if !r.takeTurn(r.x) {
		r.noteCause(r.x.n, f)
		Reset(r.agent)
		Reset(r.client)
		return
	}
	f.Status = 400
	r.fault(r.x, f) // before the client can notice, and try again
	r.unanswered(r.x)
	r.mu.Lock()
	r.setCause(r.x.n, f)
	r.x.ownAnswer = OwnAnswer(r.cfg.Mark, f)
	r.inRequest, r.sendBlocked = false, true
	due := r.due() == r.x
	r.decided.Broadcast()
	r.mu.Unlock()
	if due {
		Reset(r.agent) // which wakes the reader of its answers, who gives ours
	}
	r.drain()
}

// takeTurn reports whether the answer to an exchange can be ours, and keeps the agent's away then.
func (p *pair) takeTurn(x *exchange) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for x.turn == turnInterim && !p.answersEnd {
		p.decided.Wait()
	}
	if x.turn != turnOpen || p.answersEnd || p.agentUnsolicited || p.sendBlocked {
		return false
	}
	x.turn = turnOurs
	return true
}

// takeTurn reports whether the agent's answer to an exchange, interim or final, may be passed on.
func (a *answers) takeTurn(x *exchange, interim bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case x.turn == turnOurs:
		return false
	case interim:
		x.turn = turnInterim
	default:
		x.turn = turnAgent
	}
	return true
}

// interimPassed notes that an interim answer was passed on.
func (a *answers) interimPassed(x *exchange) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x.turn = turnOpen
	a.decided.Broadcast()
}

// giveOurs gives our own answer to the exchange whose answer is due, if it is ours to answer.
func (a *answers) giveOurs() bool {
	a.mu.Lock()
	x := a.due()
	if x == nil || x.turn != turnOurs || a.replaced() {
		a.mu.Unlock()
		return false
	}
	for x.ownAnswer == nil {
		a.decided.Wait()
	}
	a.mu.Unlock()
	a.writeFinal(x.ownAnswer)
	Reset(a.agent)
	return true
}
