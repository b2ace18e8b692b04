package injection

import (
	"fmt"
	"sync"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

const (
	// maxHeld is how many bytes of a request are held, or looked at, to find out what it asks.
	maxHeld = 1 << 20
	// maxDecoded bounds what a compressed one may come to.
	maxDecoded = 4 << 20
	// hangTime is how long a client waits at most for what never comes.
	hangTime = 10 * time.Minute
)

// A Note tells of a fault: the exchange that it is made in, what is done, and what of the agent's answer was replaced.
type Note func(x int, fact capture.Fact)

// An Injector makes the faults of a plan in the exchanges of one client connection. It is told what passes as a
// relay.Observer is, before the relay sends it on, and wraps the connection to the agent.
type Injector struct {
	plan *Plan
	note Note
	hang time.Duration

	mu      sync.Mutex
	current *exchange
	asked   map[int]*exchange // that have not ended
	broken  *exchange         // in which the connection was broken off; nil if it was not
}

// An exchange is one that the relay has begun. Its fields are guarded by the injector's lock, but for what only the
// goroutine of its side uses.
type exchange struct {
	x      int
	head   capture.Head // of the request
	body   []byte       // of the request, up to maxHeld
	long   bool         // there was more
	fault  *Fault       // nil for none
	known  bool         // whether there is a fault
	whole  bool         // the request is complete
	passes bool         // a part of the request went to the agent, or must not be held
	queued bool         // it is in the queue of a connection
	held   []byte       // of the request's bytes
	marked bool         // the fault was told
}

// New returns an injector. The plan may be shared; note is called with what is to be recorded, before the client can
// see it.
func New(plan *Plan, note Note) *Injector {
	return &Injector{plan: plan, note: note, hang: hangTime, asked: make(map[int]*exchange)}
}

// Request begins an exchange, like relay.Observer's.
func (i *Injector) Request(x int, head []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	e := &exchange{x: x, head: capture.ParseRequestHead(head)}
	e.passes = !i.plan.keeps || e.head.Fields.Has("Expect")
	if e.head.Fields.Has("Upgrade") {
		e.known, e.passes = true, true
	}
	i.current, i.asked[x] = e, e
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

// RequestEnd says that the request is complete. It decides about its fault.
func (i *Injector) RequestEnd(x int) {
	i.mu.Lock()
	e := i.asked[x]
	if e == nil {
		i.mu.Unlock()
		return
	}
	e.whole = true
	var mark bool
	if !e.known {
		e.known = true
		if !e.long {
			e.fault = i.plan.choose(e.operation())
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
}

// Ended forgets an exchange.
func (i *Injector) Ended(x int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.asked, x)
}

// Fault returns what is to be recorded of how an exchange broke: that it was by a fault made here, if it was.
func (i *Injector) Fault(x int, f relay.Fault) relay.Fault {
	i.mu.Lock()
	e := i.broken
	i.mu.Unlock()
	if e == nil || f.Side != relay.SideAgent {
		return f
	}
	f.Kind, f.Side, f.Detail = capture.KindInjected, relay.SideProxy, "the connection was broken off: "+e.fault.String()
	if e.x != x {
		f.Detail = fmt.Sprintf("the connection was broken off at another of its exchanges: %s", e.fault.String())
	}
	return f
}

// mark tells, once, that an exchange has a fault.
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

// breakOff notes that the connection breaks in an exchange. All others on it break, too.
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

// spoil tells that an exchange cannot come to its end, since the connection was broken off in another. The lock is
// held.
func (i *Injector) spoil(e *exchange) {
	if !e.marked {
		e.marked = true
		i.note(e.x, capture.Fact{Note: capture.FaultMadeHere + "connection broken off by " + i.broken.fault.String() +
			" in another exchange of it"})
	}
}

// operation returns what a complete request asks; NoOperation if that is not a call of A2A, or several.
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
	request := a2a.Request{
		Method: e.head.Method, Target: e.head.Target, Header: e.head.Fields.Get,
		Body: body, HasBody: len(body) > 0, BodyKept: true,
	}
	if len(body) > 0 {
		request.Doc = &doc
	}
	call := a2a.DecodeRequest(request, a2a.Known{Bindings: a2a.BindingsOf(binding)})
	if call.Batch != nil {
		return a2a.NoOperation
	}
	return call.Operation
}
