package intake

import (
	"cmp"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// An openExchange gathers the steps of an exchange that is not over until there is something to observe.
type openExchange struct {
	dispatch.Case
	request  capture.Body
	response capture.Body
	held     []capture.Step        // of the answer, which overtook its request
	endedAt  time.Time             // when it did; zero if not known
	gap      bool                  // it is counted as lost
	size     int                   // bytes of it that count as held
	lastK    int                   // number of the last event of the stream
	task     string                // seen last in it
	gathered gathering             // what is shown of it
	head     capture.Head          // of the answer, where nobody had parsed it
	parsed   capture.Parsed        // the same, for its step
	ending   analysis.StreamEnd    // how it ended
	client   capture.SideEnd       // how its client ended its part before the answer was complete; zero if it did not
	headAt   time.Duration         // when the head of the answer came
	toldAt   time.Duration         // when the answer first told how the call came out
	overAt   time.Duration         // when a stream had told all that its client waits for
	seeking  bool                  // it is not a call, and its answer may be a card
	found    *capture.Head         // of an answer that may be one; nil if none has come
	unseen   bool                  // what followed the answer's head was not observed: an upgrade, or a tunnel
	made     faultMade             // by the recorder, because it was told to
	only     *grpc.Reading         // over gRPC: the message of an answer that has one
	unread   [2]capture.Unreadable // over gRPC: why a message of the request, and one of the answer, was withheld
	notified bool                  // it is a notification that was observed
	unheard  bool                  // it configures a webhook whose notifications go past the recorder
	noSign   bool                  // its bodies were left out, since nothing shows that it is A2A
	missing  string                // why it cannot be judged as a whole; empty if it can
	spoken   a2a.Dialects          // that an answer or an event is in
	batch    []*analysis.Exchange  // the calls of a batch that are judged each on its own
	members  []summary.Member      // how they came out
	sending  analysis.Link         // on which its message waits for an answer; zero if it has none, or is over
}

// cut says that something of the exchange is missing from here on.
func (in *openExchange) cut() {
	in.X.Cut = true
	if in.X.Stream != nil {
		in.X.Stream.Gap = true
	}
}

// parsedHead parses the head of the answer. One exchange has one, unless its record is wrong.
func (in *openExchange) parsedHead(raw []byte) *capture.Parsed {
	if in.parsed.Head == nil {
		in.head = capture.ParseResponseHead(raw)
		in.parsed.Head = &in.head
		return &in.parsed
	}
	other := capture.ParseResponseHead(raw) // a step that waits may refer to the first one
	return &capture.Parsed{Head: &other}
}

// lack notes what of the exchange cannot be read, and why; nothing if there is no reason. The first reason stays.
func (in *openExchange) lack(what, why string) {
	if in.missing == "" && why != "" {
		in.missing = what + " " + why
	}
}

// saw keeps the task that was seen, unless there were several.
func (in *openExchange) saw(task string) {
	if in.X.Call.Operation != a2a.ListTasks {
		in.task = task
	}
}

// summary returns the summary of an exchange as it is now.
func (in *openExchange) summary() summary.Summary {
	x, s := in.X, in.gathered.Summary
	s.Link, s.Judged, s.Call, s.Outcome = x.Link, in.Judged, isCall(x) && !in.made.is(), x.Outcome
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

// whatIsMissing returns why the exchange cannot be judged as a whole; empty if it can.
func (in *openExchange) whatIsMissing() string {
	switch x := in.X; {
	case in.noSign && !in.gap:
		return ""
	case in.missing != "":
		return in.missing
	case in.unopened() != "":
		return in.unopened()
	case in.gap:
		return "a part of it was not recorded"
	case in.halfAsked():
		return "its request did not come whole"
	case x.Unreleased:
		return "version " + analysis.QuoteText(x.Call.Version) + " of the protocol is not known here"
	case isCall(x) && !decided(x.Dialects) && !decided(in.spoken):
		return "its dialect is not decided"
	}
	return ""
}

// halfAsked reports whether a request did not come whole for another reason than that nobody was there to take it.
func (in *openExchange) halfAsked() bool {
	g := &in.gathered
	return g.Life == capture.StateClosed && g.Method != "" && !g.whole.request && !in.X.Asked &&
		(g.Status > 0 || g.Fault != nil && g.Fault.Side == "client")
}

// decided reports whether a set of dialects is one that rules judge: dialects before 1.0 are alike enough.
func decided(d a2a.Dialects) bool { return !d.Empty() && (d == a2a.Of(a2a.V1_0) || !d.Has(a2a.V1_0)) }

// unopened returns why a connection was not looked into, or a request not passed on; empty if neither is so.
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
		return "what followed on its connection, an upgrade or a tunnel, was not observed"
	case in.X.Request.Method == "PRI": // of a preface: RFC 9113 section 3.4
		return capture.HTTP2
	case f != nil && notPassedOn(f):
		why, _, _ := strings.Cut(f.Detail, "; ") // advice follows
		return "not passed on: " + why
	}
	return ""
}

// notPassedOn reports whether a recorder has refused what a client sent.
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

// answerDialects returns the dialects that an answer which shows none may be in: those of the request, and where it was
// asked in one that is not spoken there, those that are as well. Then only rules that hold in both are judged.
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

// maybe0_1 reports whether a task that a client gets or cancels may be one of 0.1: that has the same methods, and
// nothing in the task or known of the URL says that a later version is spoken there.
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

// addEvent remembers one event of a stream, and reports whether the stream has told all that its client waits for.
func addEvent(s *analysis.Stream, o *analysis.Observation) bool {
	a := o.Answer
	s.Events++
	s.Dialects = a.Payload.Dialects.NarrowedBy(s.Dialects)
	unread := a.Err == nil && (a.Payload.Kind == a2a.NoPayload || a.Payload.Kind == a2a.UnknownPayload)
	s.Gap = s.Gap || a.Doc.Err != nil || unread
	s.Over = s.Over || endsStream(&a.Payload)
	return s.Over
}

// readInStream reads a flat artifact update in a stream of 1.0 as one that lacks its wrapper: unlike a status update it
// has no state whose spelling would tell, and what came before it does.
func readInStream(x *analysis.Exchange, p *a2a.Payload) {
	modern := a2a.Of(a2a.V1_0)
	if p.Kind == a2a.ArtifactPayload && !p.Wrapped && x.Call.Binding == a2a.JSONRPC && x.Call.Dialects == modern &&
		x.Stream.Dialects == modern {
		p.Dialects, p.Contrary = modern, a2a.Mark{}
	}
}

// endsStream reports whether what an event holds is the last that a client waits for: a Message, an update that says
// so, or a task that has ended or waits.
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
