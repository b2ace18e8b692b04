package a2a

import (
	"iter"
	"strings"

	"a2atap/proxy/grpc"
)

// A Request is an HTTP request, the input of DecodeRequest.
type Request struct {
	Method   string                   // as on the wire
	Target   string                   // in origin or absolute form
	Header   func(name string) string // the first value of a header, "" if missing; nil means no headers
	Body     []byte                   // without content coding; for gRPC the message on the wire, or its JSON
	HasBody  bool                     // there was a body, kept or not
	BodyKept bool                     // Body is complete
	Doc      *Doc                     // the parsed Body; nil if it was not parsed

	// ForWebhook means that the request's address was made for the notifications of one agent, and no other program
	// knows it. More requests then count as notifications: see IsNotification.
	ForWebhook bool
}

// header returns the first value of a header; "" if it is missing.
func (r *Request) header(name string) string {
	if r.Header == nil {
		return ""
	}
	return r.Header(name)
}

// Evidence is how certain a dialect is.
type Evidence uint8

// The strengths of evidence.
const (
	NoEvidence Evidence = iota
	Hint                // never overrides anything
	Strong              // holds unless decisive evidence contradicts it
	Decisive
)

// String returns "none", "hint", "strong" or "decisive".
func (e Evidence) String() string {
	switch e {
	case Hint:
		return "hint"
	case Strong:
		return "strong"
	case Decisive:
		return "decisive"
	}
	return "none"
}

// A Call is a decoded request. The zero Call is not A2A: NoBinding and NoOperation. A call with a binding and
// NoOperation went to a known interface, or is certainly addressed to one, but asks for an operation that no dialect
// has.
type Call struct {
	Binding   Binding   // NoBinding for card fetches and notifications
	Operation Operation //
	Streams   bool      // its answer should be an event stream
	Apart     bool      // JSON-RPC: it went to a separate address below the interface's, which is Prefix
	Early     bool      // it is Apart, and a stream in the form used before 0.1
	Dialects  Dialects  // possible dialects according to the request, or if it has no evidence, those known for the URL
	Evidence  Evidence  // for Dialects
	Version   string    // the A2A-Version header or parameter, trimmed; "" if missing

	Doc    Doc    // the body; the zero Doc if missing
	Batch  []Call // the calls of a JSON-RPC batch, at most the first 100; nil if it is not a batch
	Method string // of JSON-RPC or gRPC, as written
	ID     Value  // of JSON-RPC
	Params Value  // for JSON-RPC; the body for HTTP+JSON, the message for gRPC

	RPC grpc.Method // GRPC: the called method

	Prefix string // HTTP+JSON, gRPC, or Apart: escaped path of the interface, without a trailing slash
	Route  string // HTTP+JSON: escaped path from the route on, such as "tasks/t1:cancel"
	Query  string // as on the wire, without the question mark

	Tenant           string
	TaskID           string // the requested task, or the one that the message continues; in 0.1 also a new one
	ContextID        string // from the message, or requested
	MessageID        string
	ConfigID         string // of a push config
	PageToken        string
	HistoryLength    int64
	HasHistoryLength bool       // its value is an integer
	Message          Value      // the message sent
	PushConfig       PushConfig // the configuration set, separately or with a message

	surely1_0 bool // HTTP+JSON: the client's version, or else the card, is 1.0, and nothing contradicts it
}

// QueryValue returns the first value of a query parameter, and whether there is one.
func (c *Call) QueryValue(name string) (string, bool) { return queryValue(c.Query, name) }

// QueryValues yields the query parameters in order, unescaped. Parameters with invalid escapes are yielded unchanged.
func (c *Call) QueryValues() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for pair := range strings.SplitSeq(c.Query, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if pair != "" && !yield(unescapeQuery(name), unescapeQuery(value)) {
				return
			}
		}
	}
}

// A2A reports whether the request is an A2A call, a card fetch or a notification.
func (c *Call) A2A() bool { return c.Binding != NoBinding || c.Operation != NoOperation }
