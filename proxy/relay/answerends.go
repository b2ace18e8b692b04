package relay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"

	"a2atap/proxy/scheme"
)

// refuse replaces an answer that cannot be framed with 502 and breaks off. The answer's head is the first n bytes.
func (a *answers) refuse(x *exchange, n int, err error) {
	if scheme.IsTLSRecord(a.in.Unread()) {
		a.refuseTLS(x)
		return
	}
	a.obs.Answer(x.n, a.in.Unread()[:n])
	f := TransportError{Kind: KindRefused, Side: SideAgent, Detail: err.Error(), Status: 502}
	a.noteCause(x.n, f)
	a.fault(x, f)
	Reset(a.agent)
	a.writeFinal(OwnAnswer(a.cfg.Mark, f))
}

// refuseTLS replaces a TLS record, which is not an answer, with 502. The user learns what to do.
func (a *answers) refuseTLS(x *exchange) {
	f := SpeaksTLS()
	a.advise(f, a.authority) // for the user
	a.noteCause(x.n, f)
	a.fault(x, f)
	Reset(a.agent)
	a.writeFinal(OwnAnswer(a.cfg.Mark, f))
}

// unsolicited forwards bytes that answer no request, and reports whether an answer may follow. Blank lines between
// answers do no harm. After any other bytes, answers can no longer be assigned to requests.
func (a *answers) unsolicited() bool {
	b := a.in.Unread()
	blank := len(bytes.Trim(b, "\r\n")) == 0
	a.mu.Lock()
	if a.answersEnd || a.replaced() || a.due() != nil { // the relay's own answer was the last, or a request came meanwhile
		over := a.answersEnd || a.replaced()
		a.mu.Unlock()
		return !over
	}
	f := TransportError{Kind: KindUnsolicited, Side: SideAgent, Detail: "bytes that belong to no answer (RFC 9112 section 9.3)"}
	if !blank {
		a.agentUnsolicited = true
		a.setCause(-1, f)
	}
	a.mu.Unlock()
	f.Bytes = b[:min(len(b), maxFaultBytes)]
	a.obs.Fault(-1, f)
	if !a.send(b) {
		return false
	}
	a.in.Consume(len(b))
	if blank {
		return true
	}
	for a.fill() && a.send(a.in.Unread()) {
		a.in.Consume(len(a.in.Unread()))
	}
	return false
}

// readFailed handles the end of the agent's data.
func (a *answers) readFailed(err error) {
	if a.giveOurs() {
		return
	}
	if errors.Is(err, net.ErrClosed) {
		return // by the relay: the reason is known
	}
	if isAlert(err) && a.endRefusedSession(err) {
		return
	}
	a.mu.Lock()
	if err == io.EOF && a.agentReset {
		err = syscall.ECONNRESET
	}
	a.mu.Unlock()
	truncated := errors.Is(err, io.ErrUnexpectedEOF) // a TLS record that is not complete
	untilClose := a.x != nil && a.body.framing == framedClose
	if err == io.EOF && untilClose {
		a.endByClose()
		return
	}
	a.mu.Lock()
	if a.replaced() {
		a.mu.Unlock()
		return
	}
	a.agentEnds = true
	f := TransportError{Kind: KindTruncated, Side: SideAgent, Detail: a.where()}
	switch {
	case a.clientGone():
		f.Kind, f.Side, f.Detail = KindClientLeft, SideClient, leftEarly
	case err != io.EOF && !truncated:
		f.Kind, f.Detail = KindReset, Reason(err)
	}
	a.setCause(-1, f)
	a.mu.Unlock()
	a.sideEnded(SideAgent, endOfAgent(err != io.EOF && !truncated))
	a.passPartial()
	a.endAnswers()
	a.endUnfinished(false) // before the client can notice, and try again
	if err == io.EOF || truncated && !untilClose {
		endSending(a)
	} else {
		Reset(a.client)
	}
}

// where names the part that the agent broke off. The lock is held.
func (a *answers) where() string {
	switch {
	case a.x != nil:
		return "connection closed inside the body of the answer"
	case len(a.in.Unread()) > 0:
		return "connection closed inside the head of the answer"
	case a.due() == nil:
		return "connection closed before the request was complete"
	default:
		return "connection closed before the answer began"
	}
}

// endByClose ends an answer that lasts until the agent closes, or the agent's side of an upgrade.
func (a *answers) endByClose() {
	var out []byte
	switch {
	case a.held != nil:
		out = a.edited()
	case a.by != nil:
		out = a.unchanged()
	}
	a.trailer = nil
	a.complete()
	if !a.send(out) {
		return
	}
	a.mu.Lock()
	a.agentEnds = true
	a.mu.Unlock()
	endSending(a)
	a.written(a.x)
}

// passPartial forwards the part of a broken answer that has arrived.
func (a *answers) passPartial() {
	a.send(a.releaseHeld())
	if a.by != nil {
		a.send(a.unchanged())
	}
	b := a.in.Unread()
	if len(b) == 0 || a.x != nil {
		return
	}
	if x := a.front(); x != nil && a.takeTurn(x, false) {
		a.obs.Answer(x.n, b)
		a.send(b)
	}
}
