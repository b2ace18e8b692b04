package analyzer

import (
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// An Ended is an exchange that is over, or that the end of the capture has found open, for those who count exchanges of
// their own choice, or show them as they end.
type Ended struct {
	Seq     uint64
	Link    Link
	Judged  bool // at least one rule applied
	Call    bool // it counts as a call
	Outcome Outcome

	Started time.Time     // UTC
	Took    time.Duration // from its first byte to its end; capture.NotKnown while it is open, or if nobody saw the end
	Asked   string        // what the request asks, for people: an operation, a method in quotes, "GET /path"
	Task    string        // id of the one task that it was about, as far as is known
	State   a2a.State     // that the task was seen in last
	Status  int           // of HTTP; 0 if no answer came
	Events  int           // of a stream; capture.NotKnown if the answer is none
	Unseen  bool          // what followed was not observed: another protocol, or a tunnel
	// what fault the recorder made in it because it was told to, such as "reset": it is no call then; empty for none
	FaultMade string
	Faulted   string // how the exchange broke off, such as "reset by agent"; empty if it did not
}

// OnEnded returns an option that calls f with each exchange that is over. Those that are open at the end of a capture
// come then; as long as the recording goes on, none of them is a call yet.
func OnEnded(f func(Ended)) EngineOption {
	return func(e *Engine) { e.onEnded = f }
}

// A PassedEvent is an event of a stream, for those who show events as they pass.
type PassedEvent struct {
	Seq   uint64 // of the exchange
	Link  Link
	K     int       // its number in the stream, from 1
	At    time.Time // UTC; zero if not known
	Kind  a2a.PayloadKind
	Task  string
	State a2a.State
	Err   string // name of the error that it holds
}

// OnEvent returns an option that calls f with each event of a stream that holds something of A2A.
func OnEvent(f func(PassedEvent)) EngineOption {
	return func(e *Engine) { e.onEvent = f }
}

// saw keeps what is shown of an exchange: the task that was seen, unless there were several.
func (in *intake) saw(task string, state a2a.State) {
	if in.x.Call.Operation == a2a.ListTasks {
		return
	}
	in.task = task
	if state != a2a.NoState {
		in.state = state
	}
}

// summary returns what is shown of an exchange that is over.
func (in *intake) summary(took time.Duration) Ended {
	x := in.x
	s := Ended{
		Seq: x.Seq, Link: x.Link, Judged: in.judged, Call: x.isCall() && !in.made.is(), Outcome: x.Outcome,
		Started: x.Started, Took: took, Asked: CallWords(&x.Call, x.Request.Method+" "+x.Request.Target),
		Task: in.task, State: in.state, Status: max(x.Response.Status, in.status), Events: capture.NotKnown,
		Unseen: in.unseen, FaultMade: in.made.what,
	}
	if s.Task == "" {
		s.Task = x.Call.TaskID
	}
	if x.Stream != nil {
		s.Events = x.Stream.Events
	}
	if in.fault != nil {
		s.Faulted = in.fault.Kind
		if in.fault.Side != "" {
			s.Faulted += " by " + in.fault.Side
		}
	}
	return s
}

// CallWords says what a request asks: an operation, the method that it names in quotes, or else the given words.
func CallWords(c *a2a.Call, otherwise string) string {
	switch {
	case c.Operation != a2a.NoOperation:
		return c.Operation.String()
	case c.Method != "":
		return QuoteText(c.Method)
	case c.Binding == a2a.JSONRPC && c.Doc.Err != nil:
		return "unreadable JSON"
	}
	return otherwise
}

// passed tells of an event.
func (e *Engine) passed(x *Exchange, o *Observation, in *intake) {
	if e.onEvent == nil || o.Answer == nil {
		return
	}
	p := PassedEvent{Seq: x.Seq, Link: x.Link, K: o.Event.K, At: o.At, Kind: o.Answer.Payload.Kind}
	switch v := o.Answer.Payload.Value; p.Kind {
	case a2a.TaskPayload:
		t := a2a.Task{Value: v}
		p.Task, p.State = t.ID(), t.State()
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: v}
		p.Task, p.State = u.TaskID(), u.State()
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: v}
		p.Task = u.TaskID()
	}
	if p.Task == "" {
		p.Task = in.task
	}
	if o.Answer.Err != nil {
		p.Err = o.Answer.Err.String()
	}
	e.onEvent(p)
}
