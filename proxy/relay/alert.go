package relay

// endRefusedSession answers with 502 if the agent ends the TLS session before it has sent anything. In TLS 1.3, an
// agent that requires another client certificate reports this only after the client has completed the handshake (RFC
// 8446 section 4.4.2.4). The exchange stays open until the request is complete, so that the whole request is recorded.
// endRefusedSession returns false if a part of an answer has passed.
func (a *answers) endRefusedSession(err error) bool {
	x := a.front()
	if x == nil || a.x != nil || len(a.in.Unread()) > 0 || !a.takeTurn(x, false) {
		return false
	}
	f := DialFault(err, a.authority).Advised(a.advise(err, a.authority))
	a.noteCause(x.n, f)
	a.fault(x, f)
	a.sessionRefused(x)
	Reset(a.agent)
	a.writeFinal(OwnAnswer(a.cfg.Mark, f))
	return true
}

// sessionRefused marks an exchange whose only answer is the relay's own, and reports its end if its request is
// complete.
func (p *pair) sessionRefused(x *exchange) {
	p.mu.Lock()
	x.refused = true
	p.mu.Unlock()
	p.answerReported(x)
}

// lacksSession reports whether sessionRefused was called for an exchange.
func (p *pair) lacksSession(x *exchange) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return x.refused
}
