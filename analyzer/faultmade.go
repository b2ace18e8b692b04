package analyzer

import (
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer/recent"
	"a2atap/proxy/a2a"
)

// A faultMade is what the recorder did to an answer because it was told to. The record has what the client saw; what
// that says of the agent depends on the fault.
type faultMade struct {
	what   string // such as "cut-stream=2"; empty for none
	kind   string
	number int // of the event that it is about
}

// maxFaulted bounds the exchanges with faults that are remembered.
const maxFaulted = 10_000

// faultMade notes that the recorder made a fault in an answer.
func (e *Engine) faultMade(in *intake, what string) {
	if in.made.is() {
		return
	}
	e.counts.Made++
	if e.faulted == nil {
		e.faulted = recent.New[uint64, struct{}](maxFaulted)
	}
	e.faulted.Put(in.x.Seq, struct{}{})
	in.made.what = what
	name, _, _ := strings.Cut(what, "@")
	name, _, _ = strings.Cut(name, ":")
	kind, value, _ := strings.Cut(name, "=")
	in.made.kind = kind
	in.made.number, _ = strconv.Atoi(value)
	if in.made.hides() || in.made.ends() {
		if e.unsure == nil {
			e.unsure = make(map[string]bool)
		}
		e.unsure[in.x.Link.Agent] = true
		e.requestMissed = true // whether the agent has got it is not known, or of no use
	}
}

// is reports whether a fault was made.
func (f *faultMade) is() bool { return f.what != "" }

// ends reports whether the end of a stream was not the agent's.
func (f *faultMade) ends() bool {
	return f.kind == "cut-stream" || f.kind == "end-stream" || f.kind == "stall-stream"
}

// hides reports whether nothing of what is recorded as the answer is taken for the agent's.
func (f *faultMade) hides() bool {
	return f.is() && !f.ends() && f.kind != "delay" && f.kind != "delay-events" && f.kind != "duplicate-event"
}

// event returns the number that an event of a stream has without the fault; mine is false where the fault has put it in.
func (f *faultMade) event(k int) (own int, mine bool) {
	switch {
	case f.kind != "duplicate-event" || k <= f.number:
		return k, true
	case k == f.number+1:
		return 0, false
	}
	return k - 1, true
}

// mayBlame drops findings of the check at hand that may be about a fault that was made here, and reports whether the
// check counts: it does not where all that it has found was dropped. An agent is not blamed for an answer with a fault,
// nor for what shows only from earlier traffic once an answer of its own is not known. Clients are judged by what they
// have seen.
func (e *Engine) mayBlame(in *intake) bool {
	if e.faulted == nil || len(e.pass.findings) == 0 {
		return true
	}
	e.pass.findings = slices.DeleteFunc(e.pass.findings, func(f Finding) bool {
		if f.Side != a2a.Agent {
			return false
		}
		_, faulted := e.faulted.Get(f.Place.Exchange)
		return faulted || in.made.is() || e.unsure[f.Link.Agent] && len(f.Rule.Needs) > 0
	})
	return len(e.pass.findings) > 0
}
