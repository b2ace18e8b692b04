package replay

import (
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// An ending is how an answer ended.
type ending uint8

const (
	whole   ending = iota // complete according to HTTP
	left                  // the client went before the end
	unended               // the recording ended first, or lost the end
	broken                // cut off by the agent
	silent                // there is no answer at all
)

var endingNames = [...]string{"complete", "left by the client", "not recorded to its end", "cut off", "no answer"}

func (e ending) String() string { return endingNames[e] }

// A reply is the meaning of what an agent answered.
type reply struct {
	itemReader
	stream bool
	events int    // of a stream, that a client dispatched
	status int    // of HTTP
	media  string // what the answer says that it is, without parameters
	end    ending
	fault  *capture.Fault
}

// readReply reads the answer of an exchange, as far as it was kept.
func readReply(call *a2a.Call, x *capture.Exchange) *reply {
	r := &reply{itemReader: itemReader{call: call}, fault: x.Fault, end: endOf(x)}
	if x.Response == nil {
		return r
	}
	head := capture.ParseResponseHead(x.Response.Head)
	r.status, r.stream, r.media = head.Status, x.Response.Stream, head.Fields.MediaType()
	for i := range x.Response.Events {
		e := &x.Response.Events[i]
		if a, ok := readEvent(call, e); ok {
			r.events++
			r.add(e.K, a)
		}
	}
	if !r.stream && head.Status > 0 {
		body, _ := x.Response.Body.Decode(&head)
		r.add(0, a2a.DecodeAnswer(call, head.Status, head.Fields.MediaType(), body))
	}
	return r
}

// readEvent reads an event that a client would have dispatched.
func readEvent(call *a2a.Call, e *capture.Event) (a2a.Answer, bool) {
	if !dispatched(e) {
		return a2a.Answer{}, false
	}
	return a2a.DecodeEvent(call, e.Fields().Data), true
}

// dispatched reports whether a client would have dispatched the block, and its data was kept: comments and empty events
// keep connections open, and say nothing.
func dispatched(e *capture.Event) bool {
	return e.K > 0 && !e.Unterminated && e.Dropped == 0 && e.Fields().HasData
}

func endOf(x *capture.Exchange) ending {
	switch {
	case x.Fault != nil && x.Fault.Side == "client":
		return left
	case x.Fault != nil && x.Response == nil:
		return silent
	case x.Fault != nil && x.Fault.Side == "agent":
		return broken
	case x.State != capture.StateClosed || x.Fault != nil || x.Lost > 0:
		return unended
	case x.Response == nil:
		return silent
	case x.Response.Body.Dropped > 0 || !x.Response.Body.Complete:
		return unended // whoever ended it, the record does not say
	}
	return whole
}

// assumeLeft takes a recorded stream that ended before its task had ended for one that the client left: an agent
// notices the client's disconnect, and many then end the answer as if it were complete. An agent that ends a stream too
// early by itself breaks a rule, which the findings show.
func (r *reply) assumeLeft() {
	if !r.stream || r.end != whole || len(r.items) == 0 {
		return
	}
	state := a2a.NoState
	for _, it := range r.items {
		if it.err != nil || it.kind == a2a.MessagePayload {
			return
		}
		if it.state != a2a.NoState {
			state = it.state
		}
	}
	if !terminalOrInterrupted(state) {
		r.end = left
	}
}

// first returns the item that came first, or the zero item.
func (r *reply) first() item {
	if len(r.items) == 0 {
		return item{}
	}
	return r.items[0]
}

// failed reports whether the answer is an error.
func (r *reply) failed() bool { return len(r.items) == 0 || r.items[0].err != nil }

// readCall reads the request of an exchange. Known says what is spoken at its URL.
func readCall(x *capture.Exchange, known a2a.Known) (a2a.Call, capture.Head, []byte) {
	head := capture.ParseRequestHead(x.Request.Head)
	body, err := x.Request.Body.Decode(&head)
	call := a2a.DecodeRequest(a2a.Request{
		Method: head.Method, Target: head.Target, Header: head.Fields.Get,
		Body: body, HasBody: len(body) > 0, BodyKept: err == nil && x.Request.Body.Kept(),
	}, known)
	return call, head, body
}

// texts counts the texts in parts.
func (r *reply) texts() (n int) {
	for _, it := range r.items {
		for _, root := range it.roots() {
			n += textsIn(root.Value)
		}
	}
	return n
}

func textsIn(v a2a.Value) (n int) {
	for name, member := range v.Members() {
		if name != "parts" {
			n += textsIn(member)
			continue
		}
		for _, e := range member.Elems() {
			if _, is := e.Get("text").Str(); is {
				n++
			}
		}
	}
	for _, e := range v.Elems() {
		n += textsIn(e)
	}
	return n
}
