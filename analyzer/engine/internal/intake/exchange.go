package intake

import (
	"cmp"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/neighbor"
)

// An openExchange gathers the steps of an open exchange until something can be observed.
type openExchange struct {
	dispatch.Case
	request  capture.Body
	response capture.Body
	held     []capture.Step        // of the answer, which overtook its request
	endedAt  time.Time             // when it did; zero if not known
	gap      bool                  // it counts as lost
	size     int                   // bytes of it that count as held
	lastK    int                   // number of the last event of the stream
	task     string                // the last one seen in it
	gathered gathering             // its summary
	head     capture.Head          // of the answer, if not parsed before
	parsed   capture.Parsed        // the same, for its step
	ending   analysis.StreamEnd    // how it ended
	client   capture.SideEnd       // how its client ended its request before the end of the answer; zero if not
	headAt   time.Duration         // when the head of the answer came
	toldAt   time.Duration         // when the answer first showed the outcome of the call
	overAt   time.Duration         // when a stream had sent all that its client waits for
	seeking  bool                  // it is not a call, and its answer may be a card
	found    *capture.Head         // of an answer that may be a card; nil without one
	unseen   bool                  // data after the answer's head was not observed: an upgrade, or a tunnel
	made     faultMade             // a fault that the recorder injected on request
	only     *grpc.Reading         // over gRPC: the message of an answer that has one
	onlyK    int                   // number of the message in only, if it is not the first one
	unread   [2]capture.Unreadable // over gRPC: why a message of the request, and one of the answer, was withheld
	notified bool                  // it is a notification that was observed
	unheard  bool                  // it configures a webhook whose notifications go past the recorder
	noSign   bool                  // its bodies were omitted, since nothing shows that it is A2A
	near     *neighbor.Reader      // for a call that is not A2A; otherwise nil
	asks     digest.Digest         // for such a call, what it asks for; 0 if not recorded
	stream   *session              // whose results it carries; otherwise nil
	result   result                // on the stream of another exchange
	missing  string                // why it cannot be checked completely; empty if it can
	spoken   a2a.Dialects          // the dialects of an answer or event
	batch    []*analysis.Exchange  // the calls of a batch that are checked separately
	members  []summary.Member      // their outcomes
}

// cut records that a part of the exchange is missing from here on.
func (in *openExchange) cut() {
	in.X.Cut = true
	if in.X.Stream != nil {
		in.X.Stream.Gap = true
	}
}

// parsedHead parses the head of the answer. An exchange has one head, unless its record is wrong.
func (in *openExchange) parsedHead(raw []byte) *capture.Parsed {
	if in.parsed.Head == nil {
		in.head = capture.ParseResponseHead(raw)
		in.parsed.Head = &in.head
		return &in.parsed
	}
	other := capture.ParseResponseHead(raw) // a waiting step may refer to the first one
	return &capture.Parsed{Head: &other}
}

// lack records which part of the exchange cannot be read, and why; without a reason it does nothing. The first reason
// stays.
func (in *openExchange) lack(what, why string) {
	if in.missing == "" && why != "" {
		in.missing = what + " " + why
	}
}

// saw stores the task that was seen, unless there were several.
func (in *openExchange) saw(task string) {
	if in.X.Call.Operation != a2a.ListTasks {
		in.task = task
	}
}

// summary returns the current summary of an exchange.
func (in *openExchange) summary() summary.Summary {
	x, s := in.X, in.gathered.Summary
	s.Link, s.Judged, s.Call, s.Outcome = x.Link, in.Judged, isCall(x) && !in.made.is(), x.Outcome
	if in.near != nil {
		s.Neighbor, s.Cause, s.Asks = in.near.Brief(), x.Cause, uint64(in.asks)
		s.Asked = cmp.Or(s.Neighbor.Title(), s.Asked)
		s.Text = cmp.Or(s.Text, summary.OneLine(in.near.Text()))
	}
	s.Task, s.Unseen, s.FaultMade = cmp.Or(in.task, x.Call.TaskID), in.unseen, in.made.what
	if s.Asked == "" {
		s.Asked = cmp.Or(summary.CallWords(&x.Call), s.Method+" "+s.Target)
	}
	s.Cut, s.InPart, s.CardSum = s.Cut || in.gap, in.gap, uint64(in.Card)
	s.Missing, s.NotHeard, s.Batch = in.whatIsMissing(), in.unheard, in.members
	if s.Batch == nil && !x.Outcome.Succeeded {
		s.Batch = membersAlike(x, &s)
	}
	return s
}

// whatIsMissing returns why the exchange cannot be checked completely; empty if it can.
func (in *openExchange) whatIsMissing() string {
	switch x := in.X; {
	case in.noSign && !in.gap, in.near != nil && in.unopened() == "":
		return ""
	case in.missing != "":
		return in.missing
	case in.unopened() != "":
		return in.unopened()
	case in.gap:
		return "a part of it was not recorded"
	case in.halfAsked():
		return "its request was incomplete"
	case x.Unreleased:
		return "version " + analysis.QuoteText(x.Call.Version) + " of the protocol is unknown"
	case isCall(x) && !decided(x.Dialects) && !decided(in.spoken):
		return "its dialect is undecided"
	}
	return ""
}

// halfAsked reports whether a request is incomplete for another reason than a missing receiver.
func (in *openExchange) halfAsked() bool {
	g := &in.gathered
	return g.Life == capture.StateClosed && g.Method != "" && !g.whole.request && !in.X.Asked &&
		(g.Status > 0 || g.Fault != nil && g.Fault.Side == "client")
}

// decided reports whether rules check messages in a set of dialects: dialects before 1.0 are similar enough.
func decided(d a2a.Dialects) bool { return !d.Empty() && (d == a2a.Of(a2a.V1_0) || !d.Has(a2a.V1_0)) }

// unopened returns why a connection was not decrypted or parsed, or a request not forwarded; empty if neither applies.
func (in *openExchange) unopened() string {
	for _, note := range in.gathered.Notes {
		if why, ok := strings.CutPrefix(note, capture.Tunnelled); ok {
			if strings.HasPrefix(why, capture.HTTP2) {
				return capture.HTTP2
			}
			return "tunnelled, " + why
		}
		if why, ok := strings.CutPrefix(note, capture.NotObserved); ok {
			return why
		}
	}
	switch f := in.gathered.Fault; {
	case in.unseen:
		return "traffic after an upgrade or in a tunnel on its connection was not observed"
	case in.X.Request.Method == "PRI": // of a preface: RFC 9113 section 3.4
		return capture.HTTP2
	case f != nil && notPassedOn(f):
		why, _, _ := strings.Cut(f.Detail, "; ") // advice follows
		return "not forwarded: " + why
	}
	return ""
}

// notPassedOn reports whether a recorder refused the client's request.
func notPassedOn(f *capture.TransportFault) bool {
	return f.Side == "client" && (f.Kind == "refused" || f.Kind == "not-http")
}

// isCall reports whether an exchange counts as a call.
func isCall(x *analysis.Exchange) bool {
	return x.Call.Binding != a2a.NoBinding && !isNotification(x)
}

// isNotification reports whether an exchange is a JSON-RPC request that wants no answer.
func isNotification(x *analysis.Exchange) bool {
	c := &x.Call
	return c.Binding == a2a.JSONRPC && c.Batch == nil && c.Method != "" && !c.ID.Exists()
}

// answerDialects returns the possible dialects of an answer that shows none: those of the request. If the endpoint does
// not speak these, its own dialects are added; then only rules that hold in both apply.
func answerDialects(x *analysis.Exchange) a2a.Dialects {
	if x.Endpoint == nil {
		return x.Dialects
	}
	spoken := x.Endpoint.Declared | x.Endpoint.Answered
	if spoken.Empty() || x.Call.Dialects.Empty() || !x.Spoken().Intersect(spoken).Empty() {
		return x.Dialects
	}
	return x.Dialects | spoken
}

// maybe0_1 reports whether a task that a client gets or cancels may be a 0.1 task. 0.1 has the same methods, so the
// task may be one unless it, or the known facts about the URL, show a later version.
func maybe0_1(x *analysis.Exchange, p *a2a.Payload) bool {
	later := a2a.Of(a2a.V0_2, a2a.V0_3)
	switch {
	case x.Call.Binding != a2a.JSONRPC || p.Kind != a2a.TaskPayload || p.Wrapped || x.Dialects.Union(later) != later:
		return false
	case x.Call.Operation != a2a.GetTask && x.Call.Operation != a2a.CancelTask,
		p.Value.Has("kind"), p.Value.Has("contextId"):
		return false
	case !p.Dialects.Empty() && !p.Dialects.Has(a2a.V0_1):
		return false
	}
	return x.Endpoint == nil || x.Endpoint.Declared.Union(x.Endpoint.Answered).Intersect(later).Empty()
}

// addEvent records one event of a stream, and reports whether the stream has sent everything that its client waits for.
func addEvent(s *analysis.Stream, o *analysis.Observation) bool {
	a := o.Answer
	s.Events++
	s.Dialects = a.Payload.Dialects.NarrowedBy(s.Dialects)
	unread := a.Err == nil && (a.Payload.Kind == a2a.NoPayload || a.Payload.Kind == a2a.UnknownPayload)
	s.Gap = s.Gap || a.Doc.Err != nil || unread
	s.Over = s.Over || endsStream(&a.Payload)
	return s.Over
}

// readInStream treats a flat artifact update in a 1.0 stream as an update without its wrapper. Unlike a status update,
// it has no state whose spelling shows the dialect, but the earlier events do.
func readInStream(x *analysis.Exchange, p *a2a.Payload) {
	modern := a2a.Of(a2a.V1_0)
	if p.Kind == a2a.ArtifactPayload && !p.Wrapped && x.Call.Binding == a2a.JSONRPC && x.Call.Dialects == modern &&
		x.Stream.Dialects == modern {
		p.Dialects, p.Contrary = modern, a2a.Mark{}
	}
}

// endsStream reports whether an event is the last one that a client waits for: a Message, an update marked as final, or
// a task that has ended or waits.
func endsStream(p *a2a.Payload) bool {
	state := a2a.NoState
	switch p.Kind {
	case a2a.MessagePayload:
		return true
	case a2a.TaskPayload:
		state = a2a.Task{Value: p.Value}.State()
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: p.Value}
		if u.Final() {
			return true
		}
		state = u.State()
	}
	return state.Known() && !state.Active() && state != a2a.Unspecified
}

// at returns the instant of a step, or the zero time if it was not measured.
func at(x *analysis.Exchange, s capture.Step) time.Time {
	if x.Started.IsZero() || s.Offset < 0 {
		return time.Time{}
	}
	return x.Started.Add(s.Offset)
}
