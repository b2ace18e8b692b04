package analyzer

import (
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A Stream is what the engine itself needs of an event stream, as seen before the observation at hand.
type Stream struct {
	Events    int          // how many events came
	Dialects  a2a.Dialects // that the events show; empty while none shows any
	Gap       bool         // some of it was not recorded, or could not be read
	Over      bool         // an event has come after which no client waits for another one
	ErrorData string       // beginning of the data of an event of type "error" that is none of A2A's; "" if none came
	Rest      *Event       // what came after the last blank line, once the stream is over; clients discard it
}

// add remembers one event.
func (s *Stream) add(o *Observation) {
	a := o.Answer
	s.Events++
	s.Dialects = dialectsOr(a.Payload.Dialects, s.Dialects)
	unread := a.Err == nil && (a.Payload.Kind == a2a.NoPayload || a.Payload.Kind == a2a.UnknownPayload)
	s.Gap = s.Gap || a.Doc.Err != nil || unread
	s.Over = s.Over || endsStream(&a.Payload)
}

// readInStream reads a flat artifact update in a stream of 1.0 as one that lacks its wrapper: unlike a status update it
// has no state whose spelling would tell, and what came before it does.
func (x *Exchange) readInStream(p *a2a.Payload) {
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

// A StreamEnd says how a stream, or the answer of a call, ended.
type StreamEnd struct {
	Clean bool           // the agent ended the answer as its framing says
	Open  bool           // it had not ended when the capture did
	Fault *capture.Fault // what broke it, if something did
	At    time.Time      // when its body ended, or the last instant at which it was seen open; zero if not known
}

// ByAgent reports whether the agent's side broke it.
func (e *StreamEnd) ByAgent() bool { return e.Fault != nil && e.Fault.Side == "agent" }

// ByClient reports whether the client left.
func (e *StreamEnd) ByClient() bool { return e.Fault != nil && e.Fault.Side == "client" }
