package injection

import (
	"fmt"
	"sync"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/relay"
)

const (
	// maxHeld is how many bytes of a request are held, or examined, to find its operation.
	maxHeld = 1 << 20
	// maxDecoded bounds the decompressed size of a request.
	maxDecoded = 4 << 20
	// hangTime is the maximum time that a client waits for an answer that never comes.
	hangTime = 10 * time.Minute
)

// A Note reports a fault: its exchange, the change, and the replaced part of the agent's answer.
type Note func(x int, fact capture.Fact)

// A Notice tells the user that a fault does not apply to calls over some transport, and why. It may be called often.
type Notice func(text string)

// An Injector injects the faults of a plan into the exchanges of one client connection. Like a relay.Observer, it
// learns of the traffic before the relay forwards it. It wraps the connection to the agent.
type Injector struct {
	plan   *Plan
	note   Note
	notice Notice
	hang   time.Duration

	mu      sync.Mutex
	stream  uint32               // of the exchange that is about to begin; 0 over HTTP/1.1
	streams map[uint32]*exchange // of asked, over HTTP/2
	current *exchange
	asked   map[int]*exchange // that have not ended
	broken  *exchange         // the exchange in which the connection was broken off, or nil
	left    *exchange         // in which GOAWAY was sent to the client; may be nil
	last    uint32            // the last stream that the connection accepted then
}

// An exchange is one that the relay has begun. Its fields are guarded by the injector's lock, except those that only
// the goroutine of its side uses.
type exchange struct {
	x      int
	head   capture.Head // of the request
	body   []byte       // of the request, up to maxHeld
	long   bool         // there was more
	fault  *Fault       // nil for none
	known  bool         // whether it gets a fault
	whole  bool         // the request is complete
	passes bool         // a part of the request went to the agent, or must not be held
	queued bool         // it is in the queue of a connection
	held   []byte       // of the request's bytes
	marked bool         // the fault was reported
	stream uint32       // over HTTP/2
	breaks bool         // the stream is reset in it
	ended  bool         // it is over for the client, and its request was not yet kept from the agent
	kept   bool         // its request was kept from the agent, over HTTP/2
}

// New returns an injector. The plan may be shared; note is called with the fact to record, before the client can see
// the fault.
func New(plan *Plan, note Note, notice Notice) *Injector {
	return &Injector{
		plan: plan, note: note, notice: notice, hang: hangTime,
		asked: make(map[int]*exchange), streams: make(map[uint32]*exchange),
	}
}

// Stream, like relay.StreamObserver's, sets the HTTP/2 stream of the next exchange.
func (i *Injector) Stream(_ int, id uint32) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stream = id
}

// Request begins an exchange, like relay.Observer's.
func (i *Injector) Request(x int, head []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	e := &exchange{x: x, head: capture.ParseRequestHead(head), stream: i.stream}
	e.passes = !i.plan.keeps || e.head.Fields.Has("Expect")
	if e.head.Fields.Has("Upgrade") {
		e.known, e.passes = true, true
	}
	i.current, i.asked[x] = e, e
	if e.stream != 0 {
		i.streams[e.stream] = e
	}
	if i.broken != nil {
		i.spoil(e)
	}
}

// RequestBody adds a piece of the request's body.
func (i *Injector) RequestBody(x int, p []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	e := i.asked[x]
	switch {
	case e == nil || e.known || e.long:
	case len(e.body)+len(p) > maxHeld:
		e.body, e.long = nil, true
	default:
		e.body = append(e.body, p...)
	}
}

// RequestEnd is called when the request is complete. It chooses its fault.
func (i *Injector) RequestEnd(x int) {
	i.mu.Lock()
	e := i.asked[x]
	if e == nil {
		i.mu.Unlock()
		return
	}
	e.whole = true
	var mark bool
	var unfit []*Fault
	over := e.over()
	if !e.known {
		e.known = true
		if !e.long {
			e.fault, unfit = i.plan.choose(e.operation(), over)
		}
		e.body = nil
		if e.fault != nil && e.fault.Kind.keepsRequest() {
			if e.passes { // the agent has some of it
				e.fault = nil
			}
			mark = e.fault != nil
		}
	}
	i.mu.Unlock()
	if mark {
		i.mark(e, "", nil)
	}
	for _, f := range unfit {
		i.notice(fmt.Sprintf("--fault %s applies only to calls over %s; a client calls over %s", f, f.Kind.needs(), over))
	}
}

// over returns the transport of a request.
func (e *exchange) over() wire {
	switch {
	case e.stream == 0:
		return overHTTP1
	case grpc.IsMedia(e.head.Fields.Get("Content-Type")):
		return overGRPC
	}
	return overHTTP2
}

// Ended forgets an exchange. Over HTTP/2, a request that the agent must not get stays known until it was kept from the
// agent, since the client may leave before that.
func (i *Injector) Ended(x int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if e := i.asked[x]; e != nil {
		if e.ended = e.fault != nil && e.fault.Kind.keepsRequest() && !e.kept; !e.ended {
			delete(i.streams, e.stream)
		}
	}
	delete(i.asked, x)
}

// Fault returns the error to record for a broken exchange, which shows whether an injected fault was the cause.
func (i *Injector) Fault(x int, f relay.TransportError) relay.TransportError {
	i.mu.Lock()
	defer i.mu.Unlock()
	e, at := i.asked[x], i.broken
	why := "the connection was broken"
	switch {
	case f.Side != relay.SideAgent:
		return f
	case e != nil && e.breaks:
		at, why = e, "the stream was reset"
	case e != nil && i.left != nil && e.stream > i.last:
		i.spoil(e)
		at, why = i.left, "the stream was not observed"
	}
	if at == nil {
		return f
	}
	f.Kind, f.Side, f.Detail = capture.KindInjected, relay.SideProxy, why+": "+at.fault.String()
	if at.x != x {
		f.Detail = fmt.Sprintf("%s at another of its exchanges: %s", why, at.fault.String())
	}
	return f
}

// mark records, once, that an exchange has a fault.
func (i *Injector) mark(e *exchange, detail string, rewrites []capture.Rewrite) {
	if e.marked {
		return
	}
	e.marked = true
	text := capture.FaultMadeHere + e.fault.String()
	if detail != "" {
		text += ": " + detail
	}
	i.note(e.x, capture.Fact{Note: text, Rewrites: rewrites})
}

// breakOff records that the connection breaks in an exchange. All other exchanges on it break, too.
func (i *Injector) breakOff(e *exchange) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.broken != nil {
		return
	}
	i.broken = e
	for _, other := range i.asked {
		if other != e {
			i.spoil(other)
		}
	}
}

// spoil records that an exchange cannot be completed, because the connection was broken off in another. The lock is
// held.
func (i *Injector) spoil(e *exchange) {
	if !e.marked {
		e.marked = true
		by := i.left
		if i.broken != nil {
			by = i.broken
		}
		i.note(e.x, capture.Fact{Note: capture.FaultMadeHere + "connection broken by " + by.fault.String() +
			" in another of its exchanges"})
	}
}

// operation returns the operation of a complete request; NoOperation if it is not an A2A call, or several.
func (e *exchange) operation() a2a.Operation {
	body, err := capture.Decode(e.body, e.head.Fields.Codings(), maxDecoded)
	if err != nil {
		return a2a.NoOperation
	}
	doc := a2a.Parse(body)
	binding := a2a.HTTPJSON
	if doc.Err == nil && (doc.Root.Kind() == a2a.Array || doc.Root.Get("method").Exists()) {
		binding = a2a.JSONRPC
	}
	isGRPC := e.over() == overGRPC
	request := a2a.Request{
		Method: e.head.Method, Target: e.head.Target, Header: e.head.Fields.Get,
		Body: body, HasBody: len(body) > 0, BodyKept: !isGRPC, // whose path names the operation
	}
	if len(body) > 0 && !isGRPC {
		request.Doc = &doc
	}
	call := a2a.DecodeRequest(request, a2a.Known{Bindings: a2a.BindingsOf(binding)})
	if call.Batch != nil {
		return a2a.NoOperation
	}
	return call.Operation
}
