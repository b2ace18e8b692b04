package analyzer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/digest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
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
	asked     string    // of a call in a batch: the pointer to it; empty for others
	answered  string    // the same for its response
	principal Principal // that Principal returns
	evidence  *evidence // what the capture shows of what was kept; nil if nothing was left out
}

// An Exchange is what the engine knows of one exchange while it passes. What a tracker knows of it stands in a Slot
// beside it.
type Exchange struct {
	Brief
	Opened    uint64       // arrival number of its opening
	Started   time.Time    // before any byte of it was passed on
	Request   capture.Head // as the client sent it
	Body      []byte       // the request's body, content coding taken off
	doc       *a2a.Doc     // what Body was parsed to; nil if nobody has
	NoneMatch string       // its If-None-Match as the agent got it: a tap that rewrites cards has others
	Call      a2a.Call     // what the request asks; Operation is NoOperation if it is no A2A call
	Endpoint  *Endpoint    // the URL and binding that it was sent to; nil if it is no A2A call
	Agent     string       // under which its tasks are kept; empty if it is not known which agent this is
	Tenant    string       // the same
	Response  capture.Head
	Answered  bool    // the answer's head is there
	Stream    *Stream // nil unless the answer is an event stream
	Asked     bool    // the whole request was seen
	Ended     bool    // the answer ended as its framing says
	Cut       bool    // something of it was not recorded
	Outcome   Outcome // of a call, as far as it is known
	Gather    bool    // a tracker wants the answer's body, although it is no A2A
	Sender    string  // of a notification: the agent that was given the address it came to; empty if that is not known
	Diverted  string  // where the notifications of the webhook come that it configures: our own origin; "" if not

	viewer     digest.Digest // that Viewer returns; 0 until somebody asks
	unreleased bool          // the client asks for a version after 1.0
	card       digest.Digest // of the card that is the answer; 0 if it is none
	slots      []any         // of the trackers, nil as long as all are empty
}

// Judged reports whether the exchange is one that rules look at: a call, or a notification.
func (x *Exchange) Judged() bool {
	return x.Call.Operation != a2a.NoOperation || x.Call.Binding != a2a.NoBinding
}

// Doc returns what the request's body was parsed to, the zero Doc if there is none. It is parsed at most once.
func (x *Exchange) Doc() *a2a.Doc {
	if x.doc == nil {
		x.doc = parsed(x.Body)
	}
	return x.doc
}

// URL returns the agent's URL that was asked, without the query.
func (x *Brief) URL() string { return x.Origin + x.Path }

// RequestPlace returns the place of the exchange's request.
func (x *Brief) RequestPlace() Place { return Place{Exchange: x.Seq, member: x.asked} }

// ResponsePlace returns the place of the exchange's response.
func (x *Brief) ResponsePlace() Place {
	return Place{Exchange: x.Seq, Response: true, member: x.answered}
}

// InBatch reports whether this is one call of a JSON-RPC batch: it is observed beside the batch, as if it had been sent
// alone. Its heads are those of the batch.
func (x *Brief) InBatch() bool { return x.asked != "" }

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
	kept.Body, kept.doc, kept.Stream = nil, nil, nil
	kept.Call = a2a.Call{
		Binding: call.Binding, Operation: call.Operation, Dialects: call.Dialects, Evidence: call.Evidence,
		Version: call.Version, Method: strings.Clone(call.Method), Prefix: call.Prefix, Route: call.Route,
	}
	return &kept
}

// at returns the instant of a step, or the zero time if it was not measured.
func (x *Exchange) at(s capture.Step) time.Time {
	if x.Started.IsZero() || s.Offset < 0 {
		return time.Time{}
	}
	return x.Started.Add(s.Offset)
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
