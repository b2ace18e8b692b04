package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// maxFaultBytes is how many bytes that belong to no exchange are kept for the record.
const maxFaultBytes = 64 << 10

// connect dials the agent for the first request, and reports whether this request may continue. If the agent cannot be
// reached, the client gets an error, and the request is still read and described.
func (r *requests) connect(ctx context.Context) bool {
	r.mu.Lock()
	agent, over := r.agent, r.answersEnd
	r.mu.Unlock()
	if agent != nil {
		if over {
			r.noteCause(r.x.n, TransportError{
				Kind: KindTruncated, Side: SideAgent, Detail: "connection closed before the request arrived",
			})
		}
		return !over
	}
	agent, err := r.dial(ctx)
	r.mu.Lock()
	if err == nil {
		r.agent = agent
	}
	shut := r.shutDown
	r.sendBlocked = err != nil
	r.mu.Unlock()
	switch {
	case shut, ctx.Err() != nil:
		r.noteCause(-1, stopped)
		return false
	case err == nil:
		a := &answers{pair: r.pair, agent: agent, authority: r.authority()}
		a.in.Watch(agent)
		r.reader.Go(a.run)
	default:
		f := r.dialFault(err).Advised(r.advise(err, r.authority()))
		r.fault(r.x, f)
		r.refusal = &f
	}
	return true
}

// dial connects to the agent that the current request goes to.
func (r *requests) dial(ctx context.Context) (net.Conn, error) {
	switch {
	case r.cfg.Forward != nil:
		return r.cfg.Forward.Dial(ctx, r.to.Target)
	case r.routed:
		return r.cfg.Route.Dial(ctx, r.to.Target)
	}
	return r.cfg.Dial(ctx)
}

// authority returns the name of that agent in messages; "" if the name is unknown.
func (r *requests) authority() string {
	if r.cfg.Forward != nil || r.routed {
		return r.to.Authority()
	}
	return r.cfg.Authority
}

// refuse answers a request that the agent must not receive with the relay's own answer, and records the data that
// follows. The first n unread bytes are the request's head, or the part that has arrived.
func (r *requests) refuse(n int, err error) {
	why := err.(*malformed)
	f := TransportError{Kind: KindRefused, Side: SideClient, Detail: why.detail, Status: why.status}
	x := -1
	switch why {
	case errNotHTTP, errPreface:
		f.Kind = KindNotHTTP
	case errHeadTimeout:
		f.Kind = KindTimeout
	}
	if f.Kind != KindNotHTTP {
		x = r.number()
		r.obs.Request(x, r.in.Unread()[:n])
		r.in.Consume(n)
	}
	if !r.mayReply() {
		f.Status = 0
	}
	if x >= 0 {
		r.mu.Lock()
		r.refusing = true
		r.mu.Unlock()
		r.endUnnumbered(x, f) // before the client can notice, and try again
	}
	r.reply(f)
	r.mu.Lock()
	r.refusing = false
	r.decided.Broadcast()
	r.mu.Unlock()
	if f.Bytes = r.drain(); x < 0 {
		r.endUnnumbered(x, f)
	}
}

// refused records a request that got no answer.
func (r *requests) refused(head []byte, f TransportError) {
	x := r.number()
	r.obs.Request(x, head)
	r.endUnnumbered(x, f)
}

// endUnnumbered records the end of an exchange that was never in the order of answers.
func (r *requests) endUnnumbered(x int, f TransportError) {
	r.mu.Lock()
	if r.firstFault == nil {
		f := f
		f.Bytes = nil
		r.firstFault = f
	}
	r.mu.Unlock()
	r.obs.Fault(x, f)
	if x >= 0 {
		r.obs.Ended(x)
	}
}

// number returns the number of the next exchange, and counts it.
func (p *pair) number() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.next
	p.next++
	return n
}

// mayReply reports whether the client can get one of the relay's own answers.
func (r *requests) mayReply() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.answersEnd && !r.agentUnsolicited
}

// unanswered reports the end of an exchange that gets only the relay's own answer.
func (p *pair) unanswered(x *exchange) {
	p.mu.Lock()
	over := !x.ended
	x.ended = true
	p.mu.Unlock()
	if over {
		p.obs.Ended(x.n)
	}
}

// reply sends the client the relay's own answer, after any pending answers. It returns false if the client cannot
// receive it.
func (r *requests) reply(f TransportError) bool {
	own := OwnAnswer(r.cfg.Mark, f)
	r.mu.Lock()
	switch {
	case r.answersEnd || r.agentUnsolicited:
		r.mu.Unlock()
		return false
	case r.agent != nil && r.due() != nil:
		r.unfinished = append(r.unfinished, &exchange{ownAnswer: own})
		r.mu.Unlock()
		return true
	}
	r.answersEnd = true
	agent := r.agent
	r.mu.Unlock()
	r.writeFinal(own)
	if agent != nil {
		agent.Close()
	}
	return true
}

// writeFinal writes the relay's own answer and ends the sending to the client.
func (p *pair) writeFinal(own []byte) {
	p.client.SetWriteDeadline(time.Now().Add(p.cfg.linger))
	p.client.Write(own)
	CloseWrite(p.client)
	p.endAnswers()
}

// drain reads the client's remaining data until its end or the linger time, and returns the beginning of it.
func (r *requests) drain() (first []byte) {
	r.find, r.since = headFinder{}, time.Time{}
	for {
		b := r.in.Unread()
		first = append(first, b[:min(len(b), maxFaultBytes-len(first))]...)
		r.in.Consume(len(b))
		r.mu.Lock()
		r.drained += int64(len(b))
		r.mu.Unlock()
		if !r.fill() {
			return first
		}
	}
}

// OwnAnswer returns a complete answer of the relay's own, with the status of the fault. It names its sender, the
// problem and the next step. An empty mark means "a2atap".
func OwnAnswer(mark string, f TransportError) []byte {
	mark = cmp.Or(mark, "a2atap")
	type problem struct {
		From    string `json:"from"`
		Reason  string `json:"reason"`
		Side    string `json:"side"`
		Message string `json:"message"`
	}
	body, err := json.Marshal(struct {
		Error problem `json:"error"`
	}{problem{mark, f.Kind, f.Side, Message(f)}})
	if err != nil { // strings always marshal
		body = []byte("{}")
	}
	challenge := ""
	if f.Status == http.StatusProxyAuthRequired { // RFC 9110 section 11.7.1, RFC 7617
		challenge = "Proxy-Authenticate: Basic realm=\"" + mark + "\", charset=\"UTF-8\"\r\n"
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nServer: %s\r\nX-A2atap: %s\r\n%sContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nConnection: close\r\n\r\n%s",
		f.Status, http.StatusText(f.Status), mark, f.Kind, challenge, len(body), body)
}

// Message describes in a sentence what happened and what to do.
func Message(f TransportError) string {
	switch {
	case f.advice != "" && strings.Contains(f.Detail, f.advice):
		return f.Detail
	case f.advice != "":
		return f.Detail + "; " + f.advice
	case f.Side == SideProxy:
		return f.Detail
	case f.Kind == KindNotHTTP:
		return f.Detail + "; the proxy did not forward it: use plain HTTP/1.1 with this listener"
	case f.Kind == KindTimeout && f.Side == SideClient:
		return f.Detail + "; send the head in one go"
	case f.Kind == KindUnreachable, f.Kind == KindTimeout:
		return f.Detail + "; make sure that the agent runs and listens there"
	case f.Kind == KindTLS:
		return f.Detail + "; make sure that the agent uses TLS there and its certificate can be verified"
	case f.Status == http.StatusMisdirectedRequest:
		return "the request was not forwarded: " + f.Detail
	case f.Status == http.StatusRequestHeaderFieldsTooLarge:
		return "the request was not forwarded: " + f.Detail + "; the agent may accept more, but only heads below 1 MiB are forwarded"
	case f.Side == SideAgent:
		return "the agent's answer was not forwarded: " + f.Detail + "; correct the agent"
	default:
		return "the request was not forwarded: " + f.Detail + "; correct the client"
	}
}

// dialFault is DialFault for the agent that the current request goes to.
func (r *requests) dialFault(err error) TransportError {
	f := DialFault(err, r.authority())
	if r.routed {
		f.Detail = strings.Replace(f.Detail, "connect to the agent", "connect to "+r.cfg.Route.Receiver, 1)
		f.advice = "make sure that it listens there"
	}
	return f
}

// advise returns the advice about an error of the connection to an agent.
func (p *pair) advise(err error, authority string) string {
	if p.cfg.Advise == nil {
		return ""
	}
	return p.cfg.Advise(err, authority)
}
