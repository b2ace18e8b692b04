package analyzer

import (
	"maps"
	"slices"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// OnEnded returns an option that calls f with each exchange that is over. Those that are open at the end of a capture
// come then; as long as the recording goes on, none of them is a call yet. Several such options are all heard.
func OnEnded(f func(Summary)) EngineOption {
	return func(e *Engine) { e.onEnded = append(e.onEnded, f) }
}

// OnLate returns an option that calls f with each fact about an exchange that is over.
func OnLate(f func(seq uint64, fact capture.Fact)) EngineOption {
	return func(e *Engine) { e.onLate = f }
}

// Late takes a fact that came after the end of the exchange.
func (s *Summary) Late(f capture.Fact) {
	g := gathering{Summary: *s}
	g.fact(&f)
	*s = g.Summary
}

// Open calls f with each exchange that is not over and wanted by its number, as far as it has come, in order. It may be
// called between two steps.
func (e *Engine) Open(wanted func(seq uint64) bool, f func(Summary)) {
	for _, seq := range slices.Sorted(maps.Keys(e.open)) {
		if wanted(seq) {
			f(e.open[seq].summary())
		}
	}
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

// saw keeps the task that was seen, unless there were several.
func (in *intake) saw(task string) {
	if in.x.Call.Operation != a2a.ListTasks {
		in.task = task
	}
}

// CallWords says what a request asks: an operation, or the method that it names in quotes; empty if it shows neither.
func CallWords(c *a2a.Call) string {
	switch {
	case c.Operation != a2a.NoOperation:
		return c.Operation.String()
	case c.Method != "":
		return QuoteText(c.Method)
	case c.Binding == a2a.JSONRPC && c.Doc.Err != nil:
		return "unreadable JSON"
	}
	return ""
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
