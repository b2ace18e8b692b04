package compare

import (
	"cmp"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// An Ending is how an answer ended.
type Ending uint8

// The endings.
const (
	Whole   Ending = iota // complete according to HTTP
	Left                  // the client left before the end
	Unended               // the recording ended before the answer, or lost its end
	Broken                // cut off by the agent
	Silent                // no answer arrived
)

var endingNames = [...]string{"complete", "left by the client", "not recorded completely", "cut off", "no answer"}

// String returns a description of the ending.
func (e Ending) String() string { return endingNames[e] }

// A Reply is the meaning of an agent's answer.
type Reply struct {
	ItemReader
	Stream bool
	Events int    // of a stream, as dispatched by a client
	Status int    // of HTTP; 0 if there was no answer
	Media  string // declared media type of the answer, without parameters
	End    Ending
	Fault  *capture.TransportFault
	fields capture.Fields
	took   time.Duration         // until its last byte; capture.NotKnown if not measured
	times  map[int]time.Duration // when events arrived, by their number
}

// ReadReply reads the kept part of an exchange's answer. The call is its request.
func ReadReply(call *a2a.Call, x *capture.Exchange) *Reply {
	r := &Reply{ItemReader: ItemReader{Call: call}, Fault: x.Fault, End: endOf(x), took: capture.NotKnown}
	if x.Response == nil {
		return r
	}
	head := capture.ParseResponseHead(x.Response.Head)
	r.Status, r.Stream, r.Media = head.Status, x.Response.Stream, head.Fields.MediaType()
	r.fields, r.took, r.times = head.Fields, x.Response.Body.At, map[int]time.Duration{}
	if call.Binding == a2a.GRPC {
		r.readGRPC(call, x)
		return r
	}
	for i := range x.Response.Events {
		e := &x.Response.Events[i]
		if a, ok := ReadEvent(call, e); ok {
			r.Events++
			r.times[e.K] = e.At
			r.Add(e.K, a)
		}
	}
	if !r.Stream && head.Status > 0 {
		body, _ := x.Response.Body.Decode(&head)
		r.Add(0, a2a.DecodeAnswer(call, head.Status, head.Fields.MediaType(), body))
	}
	return r
}

// readGRPC reads an answer over gRPC: a message if the method returns one, else its events; and its error, if any.
func (r *Reply) readGRPC(call *a2a.Call, x *capture.Exchange) {
	r.Stream = call.RPC.Streams
	for i := range x.Response.Events {
		e := &x.Response.Events[i]
		a, ok := ReadEvent(call, e)
		switch {
		case !ok:
		case r.Stream:
			r.Events++
			r.times[e.K] = e.At
			r.Add(e.K, a)
		default:
			r.Add(0, a2a.DecodeAnswer(call, r.Status, r.Media, e.Fields().Data))
		}
	}
	trailer, _ := capture.ParseFields(x.Response.Trailer)
	status, ok := grpc.StatusOf(func(name string) string { return cmp.Or(trailer.Get(name), r.fields.Get(name)) })
	switch {
	case !ok || status.Code == grpc.OK:
	case len(r.Items) == 0: // no stream has begun
		r.Stream = false
		r.Add(0, a2a.ReadStatus(call, &status))
	default:
		r.Add(len(x.Response.Events)+1, a2a.ReadStatus(call, &status))
	}
}

// ReadEvent reads an event that a client would have dispatched; it reports false for others.
func ReadEvent(call *a2a.Call, e *capture.Event) (a2a.Answer, bool) {
	if !Dispatched(e) {
		return a2a.Answer{}, false
	}
	return a2a.DecodeEvent(call, e.Fields().Data), true
}

// Dispatched reports whether a client would have dispatched the block, and its data was kept. Comments and empty events
// only keep connections open.
func Dispatched(e *capture.Event) bool {
	return e.K > 0 && !e.Unterminated && e.Dropped == 0 && e.Fields().HasData
}

func endOf(x *capture.Exchange) Ending {
	switch {
	case x.Fault != nil && x.Fault.Side == "client":
		return Left
	case x.Fault != nil && x.Response == nil:
		return Silent
	case x.Fault != nil && x.Fault.Side == "agent":
		return Broken
	case x.State != capture.StateClosed || x.Fault != nil || x.Lost > 0:
		return Unended
	case x.Response == nil:
		return Silent
	case x.Response.Body.Dropped > 0 || !x.Response.Body.Complete:
		return Unended // the record does not tell who ended it
	}
	return Whole
}

// AssumeLeft takes a recorded stream that ended before its task had ended for one that the client left: an agent
// notices the client's disconnect, and many then end the answer as if it were complete. An agent that ends a stream too
// early by itself breaks a rule, which the findings show.
func (r *Reply) AssumeLeft() {
	if !r.Stream || r.End != Whole || len(r.Items) == 0 {
		return
	}
	state := a2a.NoState
	for _, it := range r.Items {
		if it.Err != nil || it.Kind == a2a.MessagePayload {
			return
		}
		if it.State != a2a.NoState {
			state = it.State
		}
	}
	if !terminalOrInterrupted(state) {
		r.End = Left
	}
}

// First returns the item that came first, or the zero item.
func (r *Reply) First() Item {
	if len(r.Items) == 0 {
		return Item{}
	}
	return r.Items[0]
}

// Failed reports whether the answer is an error, or nothing.
func (r *Reply) Failed() bool { return len(r.Items) == 0 || r.Items[0].Err != nil }

// ReadCall decodes the request of an exchange, and also returns its head and its decoded body. Known has the facts
// about its URL.
func ReadCall(x *capture.Exchange, known a2a.Known) (a2a.Call, capture.Head, []byte) {
	head := capture.ParseRequestHead(x.Request.Head)
	body, err := x.Request.Body.Decode(&head)
	call := a2a.DecodeRequest(a2a.Request{
		Method: head.Method, Target: head.Target, Header: head.Fields.Get,
		Body: body, HasBody: len(body) > 0, BodyKept: err == nil && x.Request.Body.Kept(),
	}, known)
	return call, head, body
}

// Texts counts the texts in parts.
func (r *Reply) Texts() (n int) {
	for _, it := range r.Items {
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
