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
	"a2atap/proxy/neighbor"
)

// A Brief is the compact stored form of an exchange that has ended: its identity, its two sides, and its principal.
type Brief struct {
	Seq       uint64
	ID        uuid.UUID
	Link      Link
	Conn      uint64       // the connection that carried it; 0 if not known
	Origin    string       // scheme and authority of the agent, never the tap's: "http://127.0.0.1:9001"
	Path      string       // escaped path of the request's target, without the query
	Address   string       // its URL, in the form in which addresses are compared
	Dialects  a2a.Dialects // of the request, narrowed by cards and earlier traffic of the endpoint
	Binding   a2a.Binding  // of the call; NoBinding for card fetches and notifications
	Operation a2a.Operation
	Kept      *Kept // which fields the capture shows to have been stored; nil if none was left out

	asked     string    // of a call in a batch: the pointer to it; empty for others
	answered  string    // the same for its response
	principal Principal // the result of Principal
}

// An Exchange has the engine's facts about one exchange while it is processed. Trackers keep their facts in a Slot.
type Exchange struct {
	Brief
	Opened         uint64            // arrival number of its opening
	Started        time.Time         // before any byte of it was passed on
	Request        capture.Head      // as the client sent it
	Body           []byte            // the request's body, content coding taken off
	Parsed         *a2a.Doc          // the parsed Body; nil if not parsed yet: see Doc
	NoneMatch      string            // its If-None-Match as the agent received it; a tap that rewrites cards changes it
	Message        *grpc.Reading     // over gRPC: the message in the request's body; nil if it is not on record
	Answer         *grpc.Reading     // over gRPC: the answer of a unary call; may be nil
	Trailer        capture.Fields    // of the answer, over gRPC
	Messages       int               // over gRPC: how many messages the answer has, readable or not
	Rewritten      []capture.Rewrite // the tap's few changes to the body of the answer, which is recorded as sent
	Call           a2a.Call          // the decoded call; Operation is NoOperation if it is not an A2A call
	Neighbor       *neighbor.Call    // a recognized call that is not A2A; otherwise nil
	Cause          uint64            // for such a call, the A2A exchange that caused it, if a tracker knows it; otherwise 0
	Endpoint       *Endpoint         // the URL and binding that it was sent to; nil if it is not an A2A call
	Agent          string            // under which its tasks are stored; empty if the agent is unknown
	Tenant         string            // the same
	Response       capture.Head
	Answered       bool    // the answer's head was received
	Stream         *Stream // nil unless the answer is an event stream
	Asked          bool    // the whole request was seen
	Ended          bool    // the answer ended as its framing declared
	Cut            bool    // something of it was not recorded
	Outcome        Outcome // of a call, as far as known
	Gather         bool    // a tracker wants the response body although it is not A2A
	Sender         string  // of a notification: the agent that was given the receiving address; empty if unknown
	Anonymous      bool    // the client is known only by its User-Agent, or not at all: it may be any program
	Unreleased     bool    // the client asks for a version after 1.0
	CallbackOrigin string  // the recorder's own, for notifications to its webhook; empty without one

	viewer digest.Digest  // cached result of Viewer; 0 if not computed
	sent   digest.Content // cached result of Sent; zero if not computed
	slots  []any          // of the trackers; nil while all are empty

	tasks  taskKeys
	carded Traits // Carded and Offered, as far as they hold
}

// NewExchange returns a new exchange with the head of its request.
func NewExchange(b Brief, request capture.Head) *Exchange {
	b.principal = principalOf(&request)
	return &Exchange{Brief: b, Request: request}
}

// Judged reports whether rules check the exchange: a call, or a notification.
func (x *Exchange) Judged() bool {
	return x.Call.Operation != a2a.NoOperation || x.Call.Binding != a2a.NoBinding
}

// Doc returns the parsed body of the request, the zero Doc without one. It parses at most once.
func (x *Exchange) Doc() *a2a.Doc {
	if x.Parsed == nil {
		x.Parsed = &a2a.Doc{}
		if len(x.Body) > 0 {
			*x.Parsed = a2a.Parse(x.Body)
		}
	}
	return x.Parsed
}

// URL returns the agent's requested URL, without the query.
func (x *Brief) URL() string { return x.Origin + x.Path }

// RequestPlace returns the place of the exchange's request.
func (x *Brief) RequestPlace() Place { return Place{Exchange: x.Seq, member: x.asked} }

// ResponsePlace returns the place of the exchange's response.
func (x *Brief) ResponsePlace() Place {
	return Place{Exchange: x.Seq, Response: true, member: x.answered, messages: x.Binding == a2a.GRPC}
}

// InBatch reports whether this is one call of a JSON-RPC batch. Such a call is observed in addition to the batch, as if
// it had been sent alone, with the batch's heads.
func (x *Brief) InBatch() bool { return x.asked != "" }

// CallOfBatch returns an exchange for call i, from 0, of the exchange's batch, without any data of the call itself.
func (x *Exchange) CallOfBatch(i int) *Exchange {
	one := *x
	one.asked = a2a.Ptr("", i)
	one.viewer, one.sent, one.slots, one.tasks, one.carded = 0, digest.Content{}, nil, taskKeys{}, 0
	return &one
}

// AnsweredAt sets element i of the answer, from 0, as the response to the batch's call.
func (x *Exchange) AnsweredAt(i int) { x.answered = a2a.Ptr("", i) }

// FoundCards sets which of Carded and Offered hold for a call. Only the tracker of cards may call it.
func (x *Exchange) FoundCards(t Traits) { x.carded = t & (Carded | Offered) }

// Began returns when the exchange began, for the comparison with others.
func (x *Exchange) Began() Moment { return Moment{x.Opened, x.Started} }

// BeganAfter reports whether the exchange certainly began after the moment.
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

// Keep returns the stored form of the exchange.
func (x *Exchange) Keep() *Brief {
	kept := x.Brief
	kept.Binding, kept.Operation = x.Call.Binding, x.Call.Operation
	return &kept
}

// Exchange returns an exchange with the stored facts, for an observation long after the exchange.
func (b *Brief) Exchange() *Exchange {
	return &Exchange{Brief: *b, Call: a2a.Call{Binding: b.Binding, Operation: b.Operation, Dialects: b.Dialects}}
}

// WithoutBodies returns the exchange without its bodies, but with everything that identifies the call and its address.
func (x *Exchange) WithoutBodies() *Exchange {
	kept, call := *x, &x.Call
	kept.Body, kept.Parsed, kept.Stream = nil, nil, nil
	kept.Call = a2a.Call{
		Binding: call.Binding, Operation: call.Operation, Dialects: call.Dialects, Evidence: call.Evidence,
		Version: call.Version, Method: strings.Clone(call.Method), RPC: call.RPC, Prefix: call.Prefix, Route: call.Route,
	}
	return &kept
}

// Viewer identifies a viewer who may be shown a task differently: the client, its credentials, its version and the
// extensions that it activates. It is computed once per exchange.
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

// Sent returns the contents of the request's message. It is computed once for an exchange.
func (x *Exchange) Sent() digest.Content {
	if x.sent == (digest.Content{}) {
		x.sent = digest.ContentOf(a2a.Message{Value: x.Call.Message}.Parts())
	}
	return x.sent
}

// Spoken returns the possible dialects of a call by its own evidence.
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

// GRPCPlace returns the place of a status field of a gRPC call: in the trailer, or in the head of a trailers-only
// answer.
func (x *Exchange) GRPCPlace(name string) Place {
	if !x.Trailer.Has(name) && x.Response.Fields.Has(name) {
		return x.ResponsePlace().Header(name)
	}
	return x.ResponsePlace().Trailer(name)
}

// Principal returns the principal of the request.
func (x *Brief) Principal() Principal { return x.principal }

// Bare reports whether a complete request is on record and contains nothing that could be a credential.
func (x *Brief) Bare() bool { return x.CredentialsKept() && x.Principal() == 0 }

// KnownPrincipal returns the principal of the request; 0 also if the record may lack its credentials.
func (x *Brief) KnownPrincipal() Principal {
	if !x.CredentialsKept() {
		return 0
	}
	return x.Principal()
}

// Caller returns a number for the client of a request and its principal. It is valid only within this process.
func (x *Brief) Caller() uint64 {
	return uint64(x.KnownPrincipal()) ^ hashOf(x.Link.Client)
}

// SamePrincipal reports whether two exchanges come from the same client with the same credentials, and go to the same
// agent.
func (x *Brief) SamePrincipal(y *Brief) bool {
	return x.Link == y.Link && x.Principal() == y.Principal()
}

// An Endpoint is a URL and binding of an agent, with the known dialects there.
type Endpoint struct {
	URL      string // as first requested
	Binding  a2a.Binding
	Declared a2a.Dialects // by cards; empty if no card names it
	Answered a2a.Dialects // in which calls succeeded here
	Early    bool         // its 0.1 has the form used before 0.1 was specified: see a2a.Call.Early
}

// Is reports whether a URL is the endpoint's, compared as addresses.
func (e *Endpoint) Is(url string) bool { return address.Of(e.URL) == address.Of(url) }

// A Stream has the engine's own facts about an event stream, as seen before the current observation.
type Stream struct {
	Events   int          // number of events so far
	Dialects a2a.Dialects // that the events show; empty while none shows any
	Gap      bool         // some of it was not recorded, or could not be read
	Over     bool         // an event has come after which no client waits for more
	Rest     *Event       // the bytes after the last blank line, once the stream is over; clients discard them

	Bare      int    // JSON values in lines without a field name, which event parsers skip
	ErrorData string // beginning of the data of an event of type "error" that is not A2A, or empty
}

// A StreamEnd is the end of a stream, or of the answer of a call.
type StreamEnd struct {
	Clean bool                    // the agent ended the answer as its framing declared
	Open  bool                    // it had not ended when the capture did
	Fault *capture.TransportFault // that broke it, if any
	At    time.Time               // when its body ended, or when it was last seen open; zero if not known

	ClientEnded bool // the client had ended its request before, so the agent may have ended the answer for that reason
}

// ByAgent reports whether the agent's side broke the stream.
func (e *StreamEnd) ByAgent() bool { return e.Fault != nil && e.Fault.Side == "agent" }

// ByClient reports whether the client left, or had ended its sending before; the end then proves nothing about the
// agent.
func (e *StreamEnd) ByClient() bool {
	return e.ClientEnded || e.Fault != nil && e.Fault.Side == "client"
}

// An Event is one event of a stream as a rule sees it.
type Event struct {
	K            int    // from 1
	Raw          []byte // its bytes, blank line included
	Fields       capture.EventFields
	Message      *grpc.Reading // over gRPC: the message in Raw, which Fields has as data
	Dropped      int64         // bytes that were not stored: its data cannot be checked
	Unterminated bool          // the stream ended before its blank line
}

// A Moment is the time of a delivery.
type Moment struct {
	Arrival uint64    // of the step that completed the delivery; 0 if it was never completed
	At      time.Time // when that happened; zero if not known
}

// Kept is the set of data that other programs stored of the requests and answers that they recorded. It holds for a
// whole capture: a program that stores one credential stores all, and one that lists headers of every client lists all
// headers.
type Kept uint8

// The data that may be stored.
const (
	KeptCredentials Kept = 1 << iota
	KeptRequests         // the header fields of requests, maybe without credentials
	KeptAnswers          // the header fields of answers
	KeptAll         = KeptCredentials | KeptRequests | KeptAnswers
)

// HeadersKept reports whether the request has all header fields that were on the wire, apart from credentials. The HAR
// files of other programs may omit fields; the recorded fields show whether they did. A head with no field but the
// host, which may be derived from the URL, counts as complete only if credentials were stored.
func (x *Exchange) HeadersKept() bool {
	return x.CredentialsKept() || x.kept(KeptRequests) && len(x.Request.Fields) > 1
}

// AnswerHeadersKept is the same for the header fields of the answer.
func (x *Exchange) AnswerHeadersKept() bool {
	return x.CredentialsKept() || x.kept(KeptAnswers) && len(x.Response.Fields) > 0
}

// CredentialsKept reports whether the request has all credentials that were on the wire.
func (x *Brief) CredentialsKept() bool { return x.kept(KeptCredentials) }

func (x *Brief) kept(what Kept) bool { return x.Kept == nil || *x.Kept&what != 0 }

// TaskKey returns the key of the task with that id at the agent that the exchange belongs to.
func (x *Exchange) TaskKey(id string) TaskKey { return x.tasks.of(x.Agent, x.Tenant, id) }
