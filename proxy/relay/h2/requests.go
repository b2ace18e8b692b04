package h2

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/relay"
)

// requests reads the client.
type requests struct {
	*half
	head []byte // scratch: the head of a request as the Observer gets it

	unreachable *relay.TransportError // why the agent is missing, the answer to each request; usually nil
	told        bool                  // the client has learned that the connection ends for that reason
}

// awaitPreface waits for the whole preface, and reports whether it is valid. Other bytes are dropped.
func (r *requests) awaitPreface() bool {
	var until time.Time
	if r.cfg.HeadTimeout > 0 {
		until = time.Now().Add(r.cfg.HeadTimeout)
	}
	r.client.SetReadDeadline(until)
	for {
		b := r.in.Unread()
		if n := min(len(b), len(preface)); string(b[:n]) != preface[:n] {
			r.obs.Fault(-1, relay.TransportError{
				Kind: relay.KindNotHTTP, Side: relay.SideClient, Bytes: b,
				Detail: "begins like an HTTP/2 preface, but is not one (RFC 9113 section 3.4)",
			})
			return false
		}
		if len(b) >= len(preface) {
			break
		}
		if r.in.Fill(r.client.Conn) != nil {
			return false
		}
	}
	r.rewake()
	return r.wakeIdle() // a busy machine may have taken as long for the preface
}

// forwardPreface begins the connection to the agent.
func (r *requests) forwardPreface() {
	r.to.out.take()
	r.to.out.bytes = append(r.to.out.bytes, preface...)
	r.in.Consume(len(preface))
	r.to.out.give()
}

// withoutAgent answers the first requests of a client whose agent could not be dialed, and ends the connection.
func (r *requests) withoutAgent(err error) {
	f := relay.DialFault(err, r.cfg.Authority)
	if r.cfg.Advise != nil {
		f = f.Advised(r.cfg.Advise(err, r.cfg.Authority))
	}
	r.unreachable, r.alone = &f, true
	r.in.Consume(len(preface))
	r.client.out.post(func(o *outlet) { o.bytes = appendFrame(o.bytes, http2.FrameSettings, 0, 0, nil) })
	r.client.out.speak()
	r.run()
}

// sayGoodbye tells the client of a missing agent to open a new connection for the next request, for which the agent is
// dialed again.
func (r *requests) sayGoodbye() {
	if r.unreachable == nil || r.told {
		return
	}
	r.told = true
	r.client.out.post(func(o *outlet) { o.bytes = appendGoAway(o.bytes, r.lastAsked(), http2.ErrCodeNo, "") })
	r.wakeAt(time.Now().Add(relay.LingerTime))
}

// fields implements direction.
func (r *requests) fields(b *block) {
	r.blockSince = time.Time{}
	id := b.head.StreamID
	if s := r.streamOf(id); s != nil {
		r.trailer(s, b)
		return
	}
	if !r.begins(id) { // the agent decides how to react
		letGo(r.half)
		if why := r.strays.strayStream(id); why != "" {
			r.strays.report(appendHead(nil, b.head.Type, b.head.Flags, id, int(b.head.Length)), why)
		}
		r.forward(b)
		return
	}
	s := r.open(id)
	list := b.list
	r.head = list.appendRequest(r.head[:0])
	defer s.mu.Unlock()
	defer r.forgetHead()
	r.obs.Stream(s.x, id)
	r.obs.Request(s.x, r.head)
	method, _ := list.get(":method")
	s.connect = method == http.MethodConnect
	if b.endsStream() {
		r.ended(s, nil)
	}
	s.isGRPC = isGRPC(list)
	if f := r.refusal(s, b); f != nil {
		r.answerOurs(s, *f)
		r.sayGoodbye()
		return
	}
	if target, taken := r.route(); taken {
		r.deliver(s, b, target)
		return
	}
	r.readdress(list)
	switch {
	case r.isLeft(id):
		r.ignore(s)
	case b.endsStream() && r.keepBack(s):
	case !r.edited.On():
		r.sendInTurn(s, b)
	default:
		r.forwardEdited(s, b)
	}
}

// forgetHead releases the room of a long head.
func (r *requests) forgetHead() {
	if cap(r.head) > maxHeadRoom {
		r.head = nil
	}
}

// maxHeadRoom is how many bytes of room are kept from one head to the next.
const maxHeadRoom = 64 << 10

// refusal returns why the agent must not see a request; nil if it may. The lock of the stream is held.
func (r *requests) refusal(s *stream, b *block) *relay.TransportError {
	refused := func(status int, detail string) *relay.TransportError {
		return &relay.TransportError{Kind: relay.KindRefused, Side: relay.SideClient, Detail: detail, Status: status}
	}
	r.mu.Lock()
	open := len(r.streams)
	r.mu.Unlock()
	switch {
	case b.tooLong:
		return refused(http.StatusRequestHeaderFieldsTooLarge, "head is longer than this proxy accepts (RFC 6585 section 5)")
	case !r.keepHead(s, b):
		return refused(http.StatusRequestHeaderFieldsTooLarge, "the heads of the open streams are together longer than "+
			"this proxy accepts (RFC 9113 section 10.5.1)")
	case open > maxStreams:
		return refused(http.StatusServiceUnavailable, "more streams are open than this proxy accepts (RFC 9113 section 10.5)")
	}
	if _, taken := r.route(); taken {
		return nil
	}
	if r.cfg.Accept != nil {
		if err := b.list.hosts(r.cfg.Accept); err != nil {
			return refused(http.StatusMisdirectedRequest, err.Error())
		}
	}
	return r.unreachable
}

// readdress rewrites a request for the agent.
func (r *requests) readdress(list fieldList) {
	if r.cfg.Authority != "" {
		list.set(":authority", r.cfg.Authority)
		list.set("host", r.cfg.Authority)
	}
	if scheme, _ := list.get(":scheme"); scheme == "http" && isTLS(r.agent.Conn) {
		list.set(":scheme", "https")
	}
}

// isTLS reports whether a connection uses TLS.
func isTLS(c net.Conn) bool {
	_, ok := c.(*tls.Conn)
	return ok
}

// forwardEdited forwards a request as the Editor returned it. The lock of the stream is held.
func (r *requests) forwardEdited(s *stream, b *block) {
	r.head = b.list.appendRequest(r.head[:0])
	s.mu.Unlock()
	defer s.mu.Lock()
	head := r.edited.Request(s.x, r.head)
	if b.list.isMalformed() || b.resized {
		if limit, _ := r.edited.HoldRequest(s.x, head, nil, false); limit > 0 && !b.endsStream() {
			r.edited.RequestTooSlow(s.x)
		}
		r.sendInTurn(s, b)
		return
	}
	if !bytes.Equal(head, r.head) {
		b.list = b.list.edited(head)
	}
	if !b.endsStream() {
		_, expects := b.list.get("expect")
		if limit, until := r.edited.HoldRequest(s.x, head, nil, false); limit > 0 && !expects && mayHold(b.list, limit) {
			_, sized := b.list.get("content-length")
			_, mayKeep := r.edited.By.(Breaker)
			ahead := s.isGRPC && !sized && !mayKeep
			r.withhold(s, &hold{head: head, limit: limit, ahead: ahead, until: until}, nil, b.list)
			return
		}
	}
	r.sendInTurn(s, b)
}

// trailer handles a header block that is not the first one of its stream.
func (r *requests) trailer(s *stream, b *block) {
	own := r.credit.bodyOf(s.id)
	if own != nil && b.endsStream() && !r.credit.isOver(own) {
		r.endBody(own, b.list)
	} else if own != nil {
		r.fieldsBehind(own, b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
	case s.asked || !b.endsStream():
		r.strays.report(nil, "fields after the head of a request that do not end it (RFC 9113 section 8.1)")
	default:
		r.ended(s, b.list.appendTrailer(nil))
	}
	if own == nil && !s.ours {
		r.forward(b)
	}
}

// observe implements direction. Bytes after the end of the request are not observed.
func (r *requests) observe(s *stream, p []byte) {
	if s.asked {
		r.strays.report(nil, "DATA after the end of a request (RFC 9113 section 5.1)")
		return
	}
	if s.isGRPC {
		s.message.add(p)
	}
	r.obs.RequestBody(s.x, p)
}

// ended implements direction.
func (r *requests) ended(s *stream, trailer []byte) {
	if s.asked {
		return
	}
	s.asked = true
	if s.delivery != nil {
		s.delivery.body.end()
	}
	r.obs.RequestEnd(s.x, trailer)
	r.endIfDone(s)
	if limit := r.cfg.AnswerTimeout; limit > 0 && !s.answered && !s.ended && !s.ours {
		s.late = time.AfterFunc(limit, func() { r.tooLate(s) })
	}
}

// keep implements direction.
func (r *requests) keep(s *stream, content []byte) bool { return r.edited.KeepRequest(s.x, content) }

// edit implements direction.
func (r *requests) edit(s *stream, head, content, trailer []byte) []byte {
	return r.edited.HeldRequest(s.x, head, content, trailer)
}

// tooLarge implements direction: the Editor does not learn of requests that are too large.
func (r *requests) tooLarge(*stream) {}

// noRoom implements direction.
func (r *requests) noRoom(s *stream) { r.edited.RequestTooSlow(s.x) }

// tooSlow implements direction.
func (r *requests) tooSlow(s *stream, _ []byte) { r.edited.RequestTooSlow(s.x) }

// woken implements direction.
func (r *requests) woken(now time.Time) bool {
	if r.isLingering() || r.told {
		return false
	}
	if r.blocks.under() {
		if until := r.blockSince.Add(r.cfg.HeadTimeout); until.After(now) {
			r.wakeAt(until)
		} else {
			r.abandon("a header block was not complete in time")
			return false
		}
	}
	return r.wakeIdle()
}

// wakeIdle limits the time without a stream. It returns false if that time is over.
func (r *requests) wakeIdle() bool {
	limit := r.cfg.IdleTimeout
	if limit <= 0 {
		return true
	}
	now := time.Now()
	since, idle := r.idle()
	if !idle {
		since = now
	}
	if !since.Add(limit).After(now) {
		r.setCause(relay.TransportError{
			Kind: relay.KindTimeout, Side: relay.SideClient, Detail: "no stream was open for " + limit.String(),
		})
		r.breakIdle()
		return false
	}
	r.wakeAt(since.Add(limit))
	return true
}

// breakIdle ends a connection without open streams.
func (c *conn) breakIdle() {
	c.client.out.sayFinally(c.lastAsked(), http2.ErrCodeNo, "")
	if c.agent.Conn != nil {
		c.agent.Close()
	}
}

// unsent implements direction: an agent that accepts no more data may still send some.
func (r *requests) unsent(error) bool { return true }

// failed implements direction.
func (r *requests) failed(err error) {
	r.stopWaiting()
	agent := r.agent.Conn
	switch {
	case errors.Is(err, io.EOF):
		r.mu.Lock()
		r.clientEOF = true
		r.mu.Unlock()
		letGoAtEnd(r.half)
		r.sideEnded(relay.SideClient, relay.EndFIN)
		if agent != nil {
			relay.CloseWrite(agent)
			if _, idle := r.idle(); idle {
				agent.SetReadDeadline(time.Now().Add(relay.LingerTime))
			}
		}
		return
	case isOurs(err):
		return
	}
	f := relay.TransportError{Kind: relay.KindReset, Side: relay.SideClient, Detail: relay.Reason(err)}
	r.sideEnded(relay.SideClient, relay.EndReset)
	r.setCause(f)
	r.endAll(f)
	if agent != nil {
		relay.Reset(agent)
	}
}
