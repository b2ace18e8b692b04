package relay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"

	"a2atap/proxy/relay/internal/inflow"
)

// requests reads the client.
type requests struct {
	*pair
	in      inflow.Buffer
	find    headFinder
	since   time.Time // when the first byte of the current head came; zero before
	x       *exchange // the last one begun
	body    body
	trailer []byte
	held    *held // the request waits to be complete

	refusal *TransportError // the relay's own answer to it, because the agent cannot be reached

	to destination // of a forward proxy: where the current request goes
	at Target      // where the connection to the agent leads

	routed bool // the current request goes to a receiver of Config.Route
}

func newRequests(p *pair) *requests {
	r := &requests{pair: p}
	r.in.Watch(p.client)
	return r
}

// run relays requests until the client has ended its sending or the connection is broken.
func (r *requests) run(ctx context.Context) {
	defer r.in.Release()
	defer func() { r.held.end() }()
	if r.setReadDeadline() { // otherwise the relay itself took too long
		for n, ok := r.awaitHead(); ok && !r.stopping() && r.request(ctx, n); n, ok = r.awaitHead() {
		}
	}
	r.endRequests()
}

// stopping reports whether the relay was stopped and accepts no more requests.
func (r *requests) stopping() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shutDown
}

// endRequests declares that no more requests will follow, and ends the connection to the agent if no answers will
// follow either.
func (r *requests) endRequests() {
	r.mu.Lock()
	r.requestsEnd = true
	agent := r.agent
	idle := r.answersEnd || r.tunnel == nil && r.due() == nil
	r.mu.Unlock()
	if agent != nil && idle {
		agent.Close()
	}
}

// request relays one request with a head of n bytes, and reports whether another request may follow. It does not wait
// for the next request, so that an idle connection has a small stack.
func (r *requests) request(ctx context.Context, n int) bool {
	raw := r.in.Unread()[:n]
	h, err := scanRequest(raw, r.cfg.HeadLimit)
	switch {
	case r.cfg.Forward == nil && err == nil:
		var taken bool
		if taken, err = r.takeRoute(raw, &h); !taken {
			err = accept(r.cfg.Accept, raw, &h)
		}
	case r.cfg.Forward != nil && err == nil:
		if err = r.route(raw); err == errNotAbsolute {
			if _, absolute := targetAuthority(raw); absolute {
				err = errScheme
			} else {
				err = cmp.Or(accept(r.cfg.Accept, raw, &h), err)
			}
		}
	case r.cfg.Forward != nil && err == errConnect:
		err = errLateConnect
	}
	if err != nil {
		r.refuse(n, err)
		return false
	}
	if r.cfg.Forward != nil || r.at != r.to.Target {
		r.closeAgent()
	}
	n = r.number()
	r.obs.Request(n, raw) // so that an early answer counts as the answer to this request
	r.x, r.body, r.trailer = r.begin(n, h), h.body, nil
	if !r.connect(ctx) {
		return false
	}
	if !r.sendHead(raw, &h) {
		return false
	}
	if f := r.refusal; f != nil {
		r.refusal = nil
		r.reply(*f)
	}
	for !r.body.done() {
		if !r.fill() || !r.pass(nil, 0) {
			return false
		}
	}
	return r.endRequest()
}

// awaitHead waits for a complete head and returns its length.
func (r *requests) awaitHead() (n int, ok bool) {
	r.find, r.since = headFinder{}, time.Time{}
	for {
		if b := r.in.Unread(); len(b) > 0 {
			if r.upgraded() {
				r.relayRaw()
				return 0, false
			}
			if r.x == nil && r.cfg.HTTP2 != nil && bytes.HasPrefix(b, prefaceLine) {
				r.begun = bytes.Clone(b)
				return 0, false
			}
			n, err := r.find.within(b, r.cfg.HeadLimit)
			if n > 0 {
				r.headComplete()
				return n, true
			}
			if err == nil {
				err = r.find.earlyRequest(b)
			}
			if err != nil {
				r.refuse(len(b), err)
				return 0, false
			}
			r.headBegun()
		}
		if !r.fill() {
			r.endUpgrade()
			return 0, false
		}
	}
}

// upgraded reports whether the client's next bytes belong to another protocol. If an upgrade was requested and is
// undecided, it waits for the agent's decision: RFC 9110 section 7.8.
func (r *requests) upgraded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.x != nil && r.x.upgrade && !r.x.decided && !r.answersEnd {
		r.decided.Wait()
	}
	return r.tunnel != nil
}

// fill reads once, and reports whether new bytes arrived.
func (r *requests) fill() bool {
	for {
		err := r.in.Fill(r.client)
		if err == nil {
			return true
		}
		if isTimeout(err) {
			r.endHold()
			if r.setReadDeadline() {
				continue
			}
			if !r.since.IsZero() {
				r.refuse(len(r.in.Unread()), errHeadTimeout)
			}
			return false
		}
		r.readFailed(err)
		return false
	}
}

// readFailed handles the end of the client's data.
func (r *requests) readFailed(err error) {
	if errors.Is(err, net.ErrClosed) {
		return // by the relay: the reason is known
	}
	how := EndFIN
	switch {
	case err == io.EOF:
		r.clientEOF.Store(true)
	case errors.Is(err, io.ErrUnexpectedEOF): // of TLS, which cannot continue
		how = EndClose
	default:
		how = EndReset
	}
	r.sideEnded(SideClient, how)
	r.mu.Lock()
	agent, midway := r.agent, r.inRequest
	if err == io.EOF {
		if midway {
			r.setCause(r.x.n,
				TransportError{Kind: KindTruncated, Side: SideClient, Detail: "connection closed inside the request"})
		}
	} else {
		r.setCause(-1, TransportError{Kind: KindReset, Side: SideClient, Detail: Reason(err)})
	}
	r.mu.Unlock()
	if !midway {
		r.brokenHead()
	}
	switch {
	case agent == nil:
	case err == io.EOF:
		if r.held != nil {
			r.send(r.held.wire)
		}
		CloseWrite(agent)
	default:
		Reset(agent)
	}
}

// brokenHead records a head that will never be complete.
func (r *requests) brokenHead() {
	b := r.in.Unread()
	if len(b) <= r.find.lead { // blank lines at most
		return
	}
	if line, _ := r.find.startLine(b); !bytes.Contains(line, []byte(" ")) { // not even a method
		r.endUnnumbered(-1, TransportError{Kind: KindNotHTTP, Side: SideClient, Bytes: b, Detail: errNotHTTP.detail})
		return
	}
	r.refused(b, TransportError{Kind: KindTruncated, Side: SideClient, Detail: "connection closed inside the head of a request"})
}

// endUpgrade records that the client ended its side of an upgraded connection without sending any data of the other
// protocol.
func (r *requests) endUpgrade() {
	r.mu.Lock()
	x := r.tunnel
	if !r.clientEOF.Load() {
		x = nil
	}
	r.mu.Unlock()
	if x != nil {
		r.tunnelled(x)
	}
}

// relayRaw forwards the client's data after an upgrade.
func (r *requests) relayRaw() {
	r.x, r.body = r.tunnel, newBody(framedClose, 0, 0)
	for r.pass(nil, 0) && r.fill() {
		if r.sendBlocked {
			Reset(r.client)
			return
		}
	}
	r.tunnelled(r.x)
}

// sendHead sends a request head, with the part of its body that has arrived.
func (r *requests) sendHead(raw []byte, h *requestHead) bool {
	forward := r.cfg.Forward != nil
	rewrite := h.hasHost && r.cfg.Authority != "" && !forward
	if r.sendBlocked || !rewrite && !forward && !r.routed && !r.edit.On() {
		return r.pass(nil, len(raw))
	}
	out := inflow.Scratch(len(r.in.Unread()) + len(r.cfg.Authority) + len(r.to.authority) + len(r.to.rest))
	defer out.Release()
	head := out.Room()[:0]
	switch {
	case forward:
		head = r.to.appendForwarded(head, raw, h)
	case r.routed:
		head = r.to.appendRouted(head, raw, h)
	case rewrite:
		head = append(head, raw[:h.hostStart]...)
		head = append(head, r.cfg.Authority...)
		head = append(head, raw[h.hostTo:]...)
	default:
		head = append(head, raw...)
	}
	if r.edit.On() {
		edited := r.edit.Request(r.x.n, head)
		if len(edited) == 0 || &edited[0] != &head[0] {
			edited = slices.Clip(edited) // the bytes behind it are the editor's
		}
		head = edited
		r.holdRequest(head, r.in.Unread()[len(raw):], h)
	}
	return r.pass(head, len(raw))
}

// holdRequest starts holding a request, if required, given its edited head and the body bytes that have arrived.
func (r *requests) holdRequest(head, rest []byte, h *requestHead) {
	if h.body.framing == framedNone {
		return
	}
	begun, whole := r.body.begun(rest)
	limit, until := r.edit.HoldRequest(r.x.n, head, begun, whole)
	if limit <= 0 || h.expect {
		return
	}
	if r.held = newHeld(limit, head, h.body); r.held != nil {
		r.held.until = until
	}
	if r.held.limited() {
		r.setReadDeadline()
	}
}

// pass describes the part of the body that has arrived after skip bytes of raw head, and forwards it with head, or with
// the raw head if head is nil. It reports whether the request may continue.
func (r *requests) pass(head []byte, skip int) bool {
	unread := r.in.Unread()
	b := unread[skip:]
	before := r.body
	look := before
	n, err := look.skip(b)
	b = b[:n]
	r.trailer = describe(r.x.n, &r.body, b, r.trailer, r.obs.RequestBody)
	out := unread[:skip+n]
	switch {
	case r.held != nil:
		held := r.held
		if out = r.hold(before, b); r.held == nil {
			defer held.end() // once it is sent
		}
	case head != nil:
		out = append(head, b...)
	}
	if look.done() {
		r.complete()
	}
	r.send(out)
	if r.in.Consume(skip + n); err == nil {
		return true
	}
	r.refuseRest(err)
	return false
}

// complete reports that the request is complete, before the last bytes of it are written.
func (r *requests) complete() {
	r.obs.RequestEnd(r.x.n, r.trailer)
	switch {
	case !r.sendBlocked || r.lacksSession(r.x): // otherwise the request is not sent completely, so its exchange stays unfinished
		r.requestComplete(r.x)
	case r.refusal != nil: // it is complete before the relay's own answer can be read
		r.unanswered(r.x)
	}
}

// hold holds back bytes of the body; before is the state of the body before them. It returns the bytes to send now: the
// edited request when it is complete, or the unmodified request when it has grown too large or is not to be edited.
func (r *requests) hold(before body, b []byte) (out []byte) {
	within, done := r.held.add(before, b), r.body.done()
	if !within && len(r.held.body) <= r.held.limit {
		r.edit.RequestTooSlow(r.x.n)
	}
	switch {
	case within && done:
		out = r.edit.HeldRequest(r.x.n, r.held.head, r.held.body, r.held.trailer)
	case within && r.edit.KeepRequest(r.x.n, r.held.body):
		return nil
	}
	if out == nil {
		out = r.held.wire
	}
	limited := r.held.limited()
	if r.held = nil; limited {
		r.setReadDeadline()
	}
	return out
}

// endHold forwards the held part of a slow request unmodified.
func (r *requests) endHold() {
	if h := r.held; h.limited() && !time.Now().Before(h.until) {
		r.held = nil
		r.edit.RequestTooSlow(r.x.n)
		r.send(h.wire)
		h.end()
	}
}

// send writes to the agent. If the agent accepts no more, send still reads and records the rest, since its answer may
// still arrive.
func (r *requests) send(b []byte) {
	if len(b) == 0 || r.sendBlocked {
		return
	}
	if _, err := r.agent.Write(b); err != nil {
		r.sideEnded(SideAgent, endOfAgent(errors.Is(err, syscall.ECONNRESET)))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.setCause(-1, TransportError{Kind: KindReset, Side: SideAgent, Detail: "while the request was sent: " + Reason(err)})
		r.sendBlocked = true
		r.limitLinger()
		// A reset is reported only once: here, so the reader of the agent may see a mere end.
		if r.agentReset = errors.Is(err, syscall.ECONNRESET); r.agentReset && r.answersEnd {
			Reset(r.client)
		}
	}
}

// endRequest reports whether another request may follow a complete one.
func (r *requests) endRequest() bool {
	if r.sendBlocked {
		r.drain()
		return false
	}
	return true
}

// accept checks the hosts in a request with the function by, and returns the error that refuses the request, or nil. A
// nil by accepts all requests. A request of HTTP/1.0 need not name a host.
func accept(by func([]byte) error, head []byte, h *requestHead) error {
	if by == nil {
		return nil
	}
	if h.hasHost {
		if err := by(head[h.hostStart:h.hostTo]); err != nil {
			return &malformed{err.Error(), http.StatusMisdirectedRequest}
		}
	}
	if authority, ok := targetAuthority(head); ok {
		if err := by(authority); err != nil {
			return &malformed{err.Error() + "; the request target names it, and Host is ignored (RFC 9112 " +
				"section 3.2.2): a client that uses a proxy needs a forward proxy", http.StatusMisdirectedRequest}
		}
	}
	return nil
}

// targetAuthority returns the authority of a request target in absolute form, without user information, whatever its
// scheme. An origin server prefers it to Host (RFC 9112 section 3.2.2). It returns false for other forms.
func targetAuthority(head []byte) (authority []byte, ok bool) {
	line, _ := firstLine(head)
	_, target, _ := bytes.Cut(line, space)
	if len(target) == 0 || target[0] == '/' {
		return nil, false
	}
	target = target[:bytes.LastIndexByte(target, ' ')]
	_, rest, ok := bytes.Cut(target, schemeEnd)
	if !ok {
		return nil, false
	}
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest[bytes.LastIndexByte(rest, '@')+1:], true
}

var schemeEnd = []byte("://")
