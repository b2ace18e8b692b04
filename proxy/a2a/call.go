package a2a

import (
	"iter"
	"strings"

	"a2atap/proxy/grpc"
)

// A Request is an HTTP request as DecodeRequest takes it.
type Request struct {
	Method   string                   // as on the wire
	Target   string                   // in origin or absolute form
	Header   func(name string) string // the first value of a header, "" for none; nil stands for no headers
	Body     []byte                   // without content coding; of gRPC the message on the wire, or its JSON
	HasBody  bool                     // there was one, kept or not
	BodyKept bool                     // Body is the whole of it
	Doc      *Doc                     // what Body was parsed to, if somebody has; nil if not

	// ForWebhook says that it came to an address that was made for the notifications of one agent, and that no other
	// program knows. Then it is a notification in more cases: see IsNotification.
	ForWebhook bool
}

// header returns the first value of a header; "" if there is none.
func (r *Request) header(name string) string {
	if r.Header == nil {
		return ""
	}
	return r.Header(name)
}

// Evidence is how sure a dialect is.
type Evidence uint8

// The strengths of evidence.
const (
	NoEvidence Evidence = iota
	Hint                // never overrules anything
	Strong              // holds unless something decisive says otherwise
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

// A Call is what a request asks. The zero Call is not A2A: NoBinding and NoOperation. One with a binding and
// NoOperation went to a known interface, or is surely meant for one, but asks what no dialect has.
type Call struct {
	Binding   Binding   // NoBinding for card fetches and notifications
	Operation Operation //
	Streams   bool      // it is to be answered with an event stream
	Apart     bool      // JSON-RPC: it went to an address of its own beneath that of the interface, which is Prefix
	Early     bool      // it is Apart, and a stream as there were before 0.1
	Dialects  Dialects  // that the request alone may be in; where nothing in it tells, those known of the URL
	Evidence  Evidence  // of Dialects
	Version   string    // of the A2A-Version header or parameter, without space around it; "" if there is none

	Doc    Doc    // the body; the zero Doc if there is none
	Batch  []Call // the calls of a JSON-RPC batch, at most the first 100; not nil if it is one
	Method string // of JSON-RPC or gRPC, as written
	ID     Value  // of JSON-RPC
	Params Value  // of JSON-RPC; for HTTP+JSON the body, for gRPC the message

	RPC grpc.Method // GRPC: what is called

	Prefix string // HTTP+JSON, gRPC, or Apart: escaped path of the interface, without a slash at its end
	Route  string // HTTP+JSON: escaped path from the route on, such as "tasks/t1:cancel"
	Query  string // as on the wire, without the question mark

	Tenant           string
	TaskID           string // of the task asked for, or that the message continues; in 0.1 also of a new one
	ContextID        string // of the message, or asked for
	MessageID        string
	ConfigID         string // of a push config
	PageToken        string
	HistoryLength    int64
	HasHistoryLength bool       // there is an integer for it
	Message          Value      // that is sent
	PushConfig       PushConfig // that is set, on its own or along with a message

	surely1_0 bool // HTTP+JSON: the version that the client names says 1.0, or else the card, and nothing overrules it
}

// QueryValue returns the first value of a query parameter, and whether there is one.
func (c *Call) QueryValue(name string) (string, bool) { return queryValue(c.Query, name) }

// QueryValues yields the query parameters in their order, without escapes. Those that are not properly escaped are
// taken as they stand.
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
