package analysis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// A Brief is what is kept of an exchange that is over: which it was, between whom and on whose behalf, in little room.
type Brief struct {
	Seq       uint64
	ID        uuid.UUID
	Link      Link
	Conn      uint64       // the connection that carried it; 0 if not known
	Origin    string       // scheme and authority of the agent, never the tap's: "http://127.0.0.1:9001"
	Path      string       // escaped path of the request's target, without the query
	Address   string       // its URL, in the form in which addresses are compared
	Dialects  a2a.Dialects // of the request, narrowed by what cards and earlier traffic say of the endpoint
	Binding   a2a.Binding  // of the call; NoBinding for card fetches and notifications
	Operation a2a.Operation
	Kept      *Kept // what the capture shows of which fields were kept; nil if none was left out

	asked     string    // of a call in a batch: the pointer to it; empty for others
	answered  string    // the same for its response
	principal Principal // that Principal returns
}

// An Exchange is what the engine knows of one exchange while it passes. What a tracker knows of it stands in a Slot
// beside it.
type Exchange struct {
	Brief
	Opened         uint64            // arrival number of its opening
	Started        time.Time         // before any byte of it was passed on
	Request        capture.Head      // as the client sent it
	Body           []byte            // the request's body, content coding taken off
	Parsed         *a2a.Doc          // what Body was parsed to; nil if nobody has: see Doc
	NoneMatch      string            // its If-None-Match as the agent got it: a tap that rewrites cards has others
	Message        *grpc.Reading     // over gRPC: what the request's body holds; nil if it is not on record
	Answer         *grpc.Reading     // over gRPC: the answer of a call that has one; nil if there is none
	Trailer        capture.Fields    // of the answer, over gRPC
	Messages       int               // over gRPC: how many messages the answer has, readable or not
	Rewritten      []capture.Rewrite // what a tap changed in the body of the answer, which is recorded as sent; a few
	Call           a2a.Call          // what the request asks; Operation is NoOperation if it is not an A2A call
	Endpoint       *Endpoint         // the URL and binding that it was sent to; nil if it is not an A2A call
	Agent          string            // under which its tasks are kept; empty if it is not known which agent this is
	Tenant         string            // the same
	Response       capture.Head
	Answered       bool    // the answer's head is there
	Stream         *Stream // nil unless the answer is an event stream
	Asked          bool    // the whole request was seen
	Ended          bool    // the answer ended as its framing says
	Cut            bool    // something of it was not recorded
	Outcome        Outcome // of a call, as far as it is known
	Gather         bool    // a tracker wants the answer's body, although it is not A2A
	Sender         string  // of a notification: the agent that was given the address it came to; empty if that is not known
	Anonymous      bool    // the client has its name from its User-Agent, or for want of any: it may be anybody
	Unreleased     bool    // the client asks for a version after 1.0
	CallbackOrigin string  // our own, at which the notifications of its webhook come; empty if they do not

	viewer digest.Digest  // that Viewer returns; 0 until somebody asks
	sent   digest.Content // that Sent returns; zero until somebody asks
	slots  []any          // of the trackers, nil as long as all are empty

	tasks  taskKeys
	carded Traits // Carded and Offered, as far as they hold
}

// NewExchange begins an exchange, with the head of its request.
func NewExchange(b Brief, request capture.Head) *Exchange {
	b.principal = principalOf(&request)
	return &Exchange{Brief: b, Request: request}
}

// Judged reports whether the exchange is one that rules look at: a call, or a notification.
func (x *Exchange) Judged() bool {
	return x.Call.Operation != a2a.NoOperation || x.Call.Binding != a2a.NoBinding
}

// Doc returns what the request's body was parsed to, the zero Doc if there is none. It is parsed at most once.
func (x *Exchange) Doc() *a2a.Doc {
	if x.Parsed == nil {
		x.Parsed = &a2a.Doc{}
		if len(x.Body) > 0 {
			*x.Parsed = a2a.Parse(x.Body)
		}
	}
	return x.Parsed
}

// URL returns the agent's URL that was asked, without the query.
func (x *Brief) URL() string { return x.Origin + x.Path }

// RequestPlace returns the place of the exchange's request.
func (x *Brief) RequestPlace() Place { return Place{Exchange: x.Seq, member: x.asked} }

// ResponsePlace returns the place of the exchange's response.
func (x *Brief) ResponsePlace() Place {
	return Place{Exchange: x.Seq, Response: true, member: x.answered, messages: x.Binding == a2a.GRPC}
}

// InBatch reports whether this is one call of a JSON-RPC batch: it is observed beside the batch, as if it had been sent
// alone. Its heads are those of the batch.
func (x *Brief) InBatch() bool { return x.asked != "" }

// CallOfBatch returns an exchange for call i of the batch that the exchange sends, from 0, with nothing of the call
// itself yet.
func (x *Exchange) CallOfBatch(i int) *Exchange {
	one := *x
	one.asked = a2a.Ptr("", i)
	one.viewer, one.sent, one.slots, one.tasks, one.carded = 0, digest.Content{}, nil, taskKeys{}, 0
	return &one
}

// AnsweredAt says that the response to the call of a batch is element i of the answer, from 0.
func (x *Exchange) AnsweredAt(i int) { x.answered = a2a.Ptr("", i) }

// FoundCards takes which of Carded and Offered hold of a call. It is for the tracker of cards alone.
func (x *Exchange) FoundCards(t Traits) { x.carded = t & (Carded | Offered) }

// Began returns when the exchange began, for the comparison with others.
func (x *Exchange) Began() Moment { return Moment{x.Opened, x.Started} }

// BeganAfter reports whether the exchange surely began after the moment.
func (x *Exchange) BeganAfter(m Moment) bool {
	if m.Arrival == 0 || m.Arrival >= x.Opened {
		return false
	}
	return m.At.IsZero() || x.Started.IsZero() || m.At.Before(x.Started)
}

// References returns the ids of the tasks that the message of a send refers to, at most a few.
func (x *Exchange) References() []string {
	var ids []string
	for i, id := range x.Call.Message.Get("referenceTaskIds").Elems() {
		if i == maxReferences {
			break
		}
		ids = append(ids, id.Text())
	}
	return ids
}

// maxReferences bounds the task ids that a message refers to.
const maxReferences = 16

// Keep returns what is to be kept of the exchange.
func (x *Exchange) Keep() *Brief {
	kept := x.Brief
	kept.Binding, kept.Operation = x.Call.Binding, x.Call.Operation
	return &kept
}

// Exchange returns an exchange that says what was kept of it, for an observation that comes long after it.
func (b *Brief) Exchange() *Exchange {
	return &Exchange{Brief: *b, Call: a2a.Call{Binding: b.Binding, Operation: b.Operation, Dialects: b.Dialects}}
}

// WithoutBodies returns the exchange without its bodies, but with all that says what was asked and where.
func (x *Exchange) WithoutBodies() *Exchange {
	kept, call := *x, &x.Call
	kept.Body, kept.Parsed, kept.Stream = nil, nil, nil
	kept.Call = a2a.Call{
		Binding: call.Binding, Operation: call.Operation, Dialects: call.Dialects, Evidence: call.Evidence,
		Version: call.Version, Method: strings.Clone(call.Method), RPC: call.RPC, Prefix: call.Prefix, Route: call.Route,
	}
	return &kept
}

// Viewer tells apart who may be shown a task in a different way: the client, its credentials, the version that it
// speaks and the extensions that it activates. It is worked out once for an exchange.
func (x *Exchange) Viewer() digest.Digest {
	if x.viewer != 0 {
		return x.viewer
	}
	d := digest.Empty.Text(x.Link.Client).Byte(0).Number(uint64(x.Principal()))
	for _, name := range [...]string{"A2A-Extensions", "X-A2A-Extensions"} {
		values := slices.Clone(x.Request.Fields.Values(name))
		slices.Sort(values)
		for _, v := range values {
			d = d.Text(v).Byte(0)
		}
	}
	if x.Dialects.Has(a2a.V1_0) {
		d = d.Byte(1)
	}
	x.viewer = cmp.Or(d, 1)
	return x.viewer
}

// Sent returns what the message of the request holds. It is worked out once for an exchange.
func (x *Exchange) Sent() digest.Content {
	if x.sent == (digest.Content{}) {
		x.sent = digest.ContentOf(a2a.Message{Value: x.Call.Message}.Parts())
	}
	return x.sent
}

// Spoken returns the dialects that a call may be in by itself.
func (x *Exchange) Spoken() a2a.Dialects {
	if m := x.Call.Method; m != "" && m == x.Call.Operation.MethodName(a2a.V0_1) { // tasks/get is the same in 0.1
		return x.Call.Dialects.Union(a2a.Of(a2a.V0_1))
	}
	return x.Call.Dialects
}

// InterfaceURL returns the URL of the interface that a call went to: for HTTP+JSON without the route.
func (x *Exchange) InterfaceURL() string {
	switch {
	case x.Call.Binding == a2a.HTTPJSON, x.Call.Binding == a2a.GRPC:
		return x.Origin + strings.TrimSuffix(x.Call.Prefix, "/")
	case x.Call.Apart:
		return x.Origin + x.Call.Prefix + "/"
	}
	return x.URL()
}

// Interface is InterfaceURL in the form in which addresses are compared.
func (x *Exchange) Interface() string {
	if x.Call.Binding == a2a.HTTPJSON || x.Call.Binding == a2a.GRPC || x.Call.Apart {
		return address.Of(x.InterfaceURL())
	}
	return x.Address
}

// ResponsePlace returns the place of the exchange's response.
func (x *Exchange) ResponsePlace() Place {
	p := x.Brief.ResponsePlace()
	p.messages = p.messages || x.Call.Binding == a2a.GRPC
	return p
}

// GRPCStatus returns the status of a call over gRPC, and whether its answer has one. Other programs may list trailers among
// the fields of the head.
func (x *Exchange) GRPCStatus() (grpc.Status, bool) {
	messages := x.Messages
	if capture.Foreign(x.ID) {
		messages = 0
	}
	return capture.GRPCStatusIn(x.Trailer, x.Response.Fields, messages)
}

// GRPCPlace returns the place of a field that says how a call over gRPC came out: in the trailer, or in the head of an
// answer that has nothing else.
func (x *Exchange) GRPCPlace(name string) Place {
	if !x.Trailer.Has(name) && x.Response.Fields.Has(name) {
		return x.ResponsePlace().Header(name)
	}
	return x.ResponsePlace().Trailer(name)
}

// Principal returns who the request speaks for.
func (x *Brief) Principal() Principal { return x.principal }

// Bare reports whether a request carries nothing that could be a credential, and all of it is on record.
func (x *Brief) Bare() bool { return x.CredentialsKept() && x.Principal() == 0 }

// KnownPrincipal returns who the request speaks for; 0 also if what it carried may be missing in the record.
func (x *Brief) KnownPrincipal() Principal {
	if !x.CredentialsKept() {
		return 0
	}
	return x.Principal()
}

// Caller returns a number for the client of a request and for whom it comes. It holds within this process only.
func (x *Brief) Caller() uint64 {
	return uint64(x.KnownPrincipal()) ^ hashOf(x.Link.Client)
}

// SamePrincipal reports whether two exchanges come from the same client with the same credentials, and go to the same
// agent.
func (x *Brief) SamePrincipal(y *Brief) bool {
	return x.Link == y.Link && x.Principal() == y.Principal()
}

// An Endpoint is a URL and binding of an agent, and what is known of the dialects there.
type Endpoint struct {
	URL      string // as it was first asked
	Binding  a2a.Binding
	Declared a2a.Dialects // by cards; empty if no card names it
	Answered a2a.Dialects // in which calls succeeded here
	Early    bool         // what is spoken in 0.1 is that of before it was written down: see a2a.Call.Early
}

// Is reports whether a URL is that of the endpoint, as addresses are compared.
func (e *Endpoint) Is(url string) bool { return address.Of(e.URL) == address.Of(url) }

// A Stream is what the engine itself needs of an event stream, as seen before the observation at hand.
type Stream struct {
	Events   int          // how many events came
	Dialects a2a.Dialects // that the events show; empty while none shows any
	Gap      bool         // some of it was not recorded, or could not be read
	Over     bool         // an event has come after which no client waits for another one
	Rest     *Event       // what came after the last blank line, once the stream is over; clients discard it

	Bare      int    // JSON values in lines without a field name, which no reader of events finds
	ErrorData string // beginning of the data of an event of type "error" that is none of A2A's; empty if none came
}

// A StreamEnd says how a stream, or the answer of a call, ended.
type StreamEnd struct {
	Clean bool                    // the agent ended the answer as its framing says
	Open  bool                    // it had not ended when the capture did
	Fault *capture.TransportFault // what broke it, if something did
	At    time.Time               // when its body ended, or the last instant at which it was seen open; zero if not known

	ClientEnded bool // the client had ended its part before that, and the agent may have ended it for that
}

// ByAgent reports whether the agent's side broke it.
func (e *StreamEnd) ByAgent() bool { return e.Fault != nil && e.Fault.Side == "agent" }

// ByClient reports whether the client left, or had ended its sending before: then the end says nothing of the agent.
func (e *StreamEnd) ByClient() bool {
	return e.ClientEnded || e.Fault != nil && e.Fault.Side == "client"
}

// An Event is one event of a stream as a rule sees it.
type Event struct {
	K            int    // from 1
	Raw          []byte // its bytes, blank line included
	Fields       capture.EventFields
	Message      *grpc.Reading // over gRPC: what Raw holds, which Fields has as data
	Dropped      int64         // bytes of it that were not kept: its data cannot be judged
	Unterminated bool          // the stream ended before its blank line
}

// A Moment is when something had been delivered.
type Moment struct {
	Arrival uint64    // of the step that completed its delivery; 0 if it never was
	At      time.Time // when that happened; zero if not known
}

// Kept says what is kept of each request and answer by the programs that wrote the exchanges of a capture which are not
// ours. It is one for a capture: a program that keeps a credential once leaves none out, and one that lists what every
// client sends lists everything.
type Kept uint8

// What may be kept.
const (
	KeptCredentials Kept = 1 << iota
	KeptRequests         // the header fields of requests, maybe without credentials
	KeptAnswers          // the header fields of answers
	KeptAll         = KeptCredentials | KeptRequests | KeptAnswers
)

// HeadersKept reports whether what is not among the header fields of the request was not on the wire either, apart from
// credentials. The HARs of other programs may leave fields out: what is there shows whether they did. A head that is
// empty but for the host, which may be made of the URL, is taken for whole only where credentials were kept.
func (x *Exchange) HeadersKept() bool {
	return x.CredentialsKept() || x.kept(KeptRequests) && len(x.Request.Fields) > 1
}

// AnswerHeadersKept is the same for the header fields of the answer.
func (x *Exchange) AnswerHeadersKept() bool {
	return x.CredentialsKept() || x.kept(KeptAnswers) && len(x.Response.Fields) > 0
}

// CredentialsKept reports whether a credential that is not in the request was not on the wire either.
func (x *Brief) CredentialsKept() bool { return x.kept(KeptCredentials) }

func (x *Brief) kept(what Kept) bool { return x.Kept == nil || *x.Kept&what != 0 }

// TaskKey returns the key of the task with that id at the agent that the exchange belongs to.
func (x *Exchange) TaskKey(id string) TaskKey { return x.tasks.of(x.Agent, x.Tenant, id) }
