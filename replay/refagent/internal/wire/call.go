// Package wire has what passes through a reference agent on its way between HTTP and the engine, and the [Hooks] at
// which a fault may change it.
package wire

import (
	"maps"
	"net/http"
	"strconv"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// ExtendedCardToken is the bearer token that the extended card asks for.
const ExtendedCardToken = "agentbin-test-token"

// A Binding is a way to put operations on HTTP, as cards spell it.
type Binding string

const (
	JSONRPC  Binding = "JSONRPC"
	HTTPJSON Binding = "HTTP+JSON"
	GRPC     Binding = "GRPC"
)

// A Call is one request on its way through the agent, as the hooks of a fault see it.
type Call struct {
	Binding   Binding
	Dialect   model.Dialect
	MediaType string          // of complete answers
	Op        model.Operation // empty if the request could not be read that far
	Request   *model.Request  // nil until decoded
	ID        any             // the JSON-RPC id; nil in the other bindings
	Batch     []any           // the calls of a JSON-RPC batch
	Failure   *model.Failure  // the error that the answer will have, if any
	Envelope  func(result any) any

	// Named and UntilEnd are for streams before A2A 0.1: events have names, and the stream continues while the agent
	// waits for the client.
	Named, UntilEnd bool
}

// An Answer is a response about to be written: complete, or the head of a stream.
type Answer struct {
	Status   int
	Header   http.Header
	Body     any    // a JSON tree; over gRPC of the message, or as HTTP+JSON has errors
	Text     []byte // written instead of body if not nil
	Stream   bool   // events follow; there is no body
	Bodyless bool   // 304

	Trailerless bool   // of gRPC: the call ends without a status
	Ends        int    // of gRPC: the status of a result or a stream, by its number
	More        []byte // of gRPC: is written behind the message, and is a part of it
}

// NewAnswer returns an answer whose body is a JSON tree.
func NewAnswer(status int, mediaType string, body any) *Answer {
	return &Answer{Status: status, Header: http.Header{"Content-Type": {mediaType}}, Body: body}
}

// Write sends a complete answer. A client that has left is not a concern of the agent.
func (a *Answer) Write(w http.ResponseWriter) {
	if a.Bodyless {
		a.WriteHead(w)
		return
	}
	text := a.Text
	if text == nil {
		text = jsonvalue.Append(nil, a.Body)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	a.WriteHead(w)
	w.Write(text) // an error means that the client has left
}

// WriteHead sends the head of an answer.
func (a *Answer) WriteHead(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
}

// A Frame is one event of a stream about to be written.
type Frame struct {
	Event model.Event
	Name  string // of the event; none if it is empty
	Body  any
	Text  []byte // written instead of the framed body if not nil
	Last  bool   // the stream ends after it
}

// Ends reports whether a stream ends after an event.
func (c *Call) Ends(e model.Event) bool {
	if c.UntilEnd {
		return e.Terminal()
	}
	return e.EndsStream()
}

// FrameBody returns an event in this call's dialect and binding.
func (c *Call) FrameBody(e model.Event) any { return c.Envelope(c.Dialect.Event(e)) }

// RPCError returns the error object of a failure.
func (c *Call) RPCError(f *model.Failure) jsonvalue.Object {
	e := jsonvalue.Object{{"code", c.Dialect.Code(f)}, {"message", f.Message}}
	if details := c.Dialect.Details(f); len(details) > 0 {
		e = append(e, jsonvalue.Member{"data", details})
	}
	return e
}

// Hooks are the named points at which a fault may change a correct agent's behavior. A nil hook changes nothing.
//
// Hooks of different requests run at the same time: those with a memory guard it themselves.
type Hooks struct {
	// Card edits the public card's answer.
	Card func(out *Answer)
	// Admit refuses a request that a faithful agent would act on; nil lets it pass.
	Admit func(c *Call) *model.Failure
	// Join answers a message that names no task with a task that exists; ok false leaves the message its new task.
	Join func(e *engine.Engine) (t engine.Turn, ok bool)
	// Refuse replaces an error; if it gives nil, reply supplies the success in its place.
	Refuse func(c *Call, f *model.Failure) *model.Failure
	// Reply edits a successful result before it is encoded as JSON.
	Reply func(c *Call, r *model.Reply)
	// Answer edits a complete answer, or the head of a stream, before it is written.
	Answer func(c *Call, out *Answer)
	// Events is called once for each stream; the returned function maps each event to the events to write instead.
	Events func(c *Call) func(f *Frame) []*Frame
	// Left is called when the client of a stream has left; first is the stream's first event.
	Left func(e *engine.Engine, first model.Event)
	// Deliver edits a push notification.
	Deliver func(d *engine.Delivery)
}
