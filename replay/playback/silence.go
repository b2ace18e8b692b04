package playback

import (
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// silence is how the recorded agent fell silent before an answer was complete.
type silence uint8

const (
	noSilence silence = iota // it ended its answer
	stays                    // it kept its side open until its client left, or the recording ended
	breaks                   // it broke the connection
)

// silenceOf returns how the agent fell silent before any answer. Requests that the recorder refused, or could not
// deliver, do not count.
func silenceOf(x *capture.Exchange) silence {
	switch f := x.Fault; {
	case x.Response != nil || f == nil || !x.Request.Body.Complete:
	case f.Side == "client" && (f.Kind == "client-left" || f.Kind == "reset"):
		return stays
	case f.Side == "agent" && (f.Kind == "truncated" || f.Kind == "reset"):
		return breaks
	}
	return noSilence
}

// staysOpen reports whether the recorded agent kept a stream open after its last event. A stream whose client waits
// for nothing more counts as complete, on either side.
func (a *recorded) staysOpen() bool {
	res, fault := a.x.Response, a.x.Fault
	if !res.Stream || fault != nil && fault.Side == "agent" || a.toldAll() {
		return false
	}
	if !res.Body.Complete {
		return true
	}
	last := res.At
	if n := len(res.Events); n > 0 {
		last = res.Events[n-1].At
	}
	for _, e := range a.x.Ends { // an agent may end a stream in good form because its client has left
		if e.Side == "client" && e.How != capture.EndHalfClose && e.At >= last {
			return true
		}
	}
	return false
}

// toldAll reports whether clients expect nothing more after the last payload of a stream.
func (a *recorded) toldAll() bool {
	state, over := a2a.NoState, false
	for p := range a.payloads() {
		switch v := p.Value; p.Kind {
		case a2a.MessagePayload, a2a.ErrorPayload:
			over = true
		case a2a.TaskPayload:
			state = a2a.Task{Value: v}.State()
		case a2a.StatusPayload:
			u := a2a.StatusUpdate{Value: v}
			state, over = u.State(), over || u.Final()
		}
	}
	return over || state.Known() && !state.Active() && state != a2a.Unspecified
}

// endStream cuts a stream off where the recorded agent did, and keeps it open if the agent did.
func (a *responder) endStream() {
	if a.exchange.x.Streams() && a.exchange.staysOpen() {
		a.stay()
	}
	a.broken()
}
