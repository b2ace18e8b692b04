package refagent

import (
	"net/http"
	"strconv"
) // extendedCardToken is the bearer token that the extended card asks for.
const extendedCardToken = "agentbin-test-token"

// A binding is a way to put operations on HTTP.
type binding string

const (
	jsonRPC  binding = "JSONRPC"
	httpJSON binding = "HTTP+JSON"
)

// A call is one request on its way through the agent, as the hooks of a fault see it.
type call struct {
	binding   binding
	dialect   dialect
	mediaType string    // of complete answers
	op        operation // empty if the request could not be read that far
	request   *request  // nil as long as it is not decoded
	id        any       // the JSON-RPC id; nil on HTTP+JSON
	batch     []any     // the calls of a JSON-RPC batch
	failure   *failure  // what the answer will say, if it is an error
	envelope  func(result any) any

	// named and untilEnd are for streams before A2A 0.1: events have names, and go on while the agent waits for the
	// client.
	named, untilEnd bool
}

// An answer is a response about to be written: complete, or the head of a stream.
type answer struct {
	status   int
	header   http.Header
	body     any    // a JSON tree
	text     []byte // written in place of body if it is not nil
	stream   bool   // events follow; there is no body
	bodyless bool   // 304
}

func newAnswer(status int, mediaType string, body any) *answer {
	return &answer{status: status, header: http.Header{"Content-Type": {mediaType}}, body: body}
}

// write sends a complete answer. A client that has left is no concern of the agent.
func (a *answer) write(w http.ResponseWriter) {
	for name, v := range a.header {
		w.Header()[name] = v
	}
	if a.bodyless {
		w.WriteHeader(a.status)
		return
	}
	text := a.text
	if text == nil {
		text = appendJSON(nil, a.body)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(a.status)
	w.Write(text) // an error means that the client has left
}

// A frame is one event of a stream about to be written.
type frame struct {
	event event
	name  string // of the event; none if it is empty
	body  any
	text  []byte // written in place of the framed body if it is not nil
	last  bool   // the stream ends after it
}

// ends reports whether a stream ends after an event.
func (c *call) ends(e event) bool {
	if c.untilEnd {
		return e.terminal()
	}
	return e.endsStream()
}

// frameBody returns what an event looks like in this call's dialect and binding.
func (c *call) frameBody(e event) any { return c.envelope(c.dialect.event(e)) }

// rpcError returns the error object of a failure.
func (c *call) rpcError(f *failure) object {
	e := object{{"code", c.dialect.code(f)}, {"message", f.message}}
	if details := c.dialect.details(f); len(details) > 0 {
		e = append(e, member{"data", details})
	}
	return e
}

// hooks are the named points at which a fault may change what a faithful agent does. A nil hook changes nothing.
//
// Hooks of different requests run at the same time: those with a memory guard it themselves.
type hooks struct {
	// card edits the public card's answer.
	card func(out *answer)
	// admit refuses a request that a faithful agent would act on; nil lets it pass.
	admit func(c *call) *failure
	// join answers a message that names no task with a task that exists; ok false leaves the message its new task.
	join func(e *engine) (t turn, ok bool)
	// refuse replaces an error; if it gives nil, reply supplies the success in its place.
	refuse func(c *call, f *failure) *failure
	// reply edits what a success gives, before it is put into JSON.
	reply func(c *call, r *reply)
	// answer edits a complete answer, or the head of a stream, before it is written.
	answer func(c *call, out *answer)
	// events is called once for each stream; what it returns turns each event into the events to write in its place.
	events func(c *call) func(f *frame) []*frame
	// deliver edits a push notification.
	deliver func(d *delivery)
}
