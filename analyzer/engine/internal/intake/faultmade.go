package intake

import (
	"strconv"
	"strings"
)

// A faultMade is a fault that the recorder injected into an answer on request. The record has the client's view; what
// it shows about the agent depends on the fault.
type faultMade struct {
	what   string // such as "cut-stream=2"; empty for none
	kind   string
	number int // of the affected event
}

// faultNamed parses the recorder's note about a fault.
func faultNamed(what string) faultMade {
	name, _, _ := strings.Cut(what, "@")
	name, _, _ = strings.Cut(name, ":")
	kind, value, _ := strings.Cut(name, "=")
	number, _ := strconv.Atoi(value)
	return faultMade{what, kind, number}
}

// is reports whether a fault was injected.
func (f *faultMade) is() bool { return f.what != "" }

// ends reports whether the recorder, not the agent, ended the stream.
func (f *faultMade) ends() bool {
	return f.kind == "cut-stream" || f.kind == "end-stream" || f.kind == "stall-stream"
}

// hides reports whether no part of the recorded answer counts as the agent's.
func (f *faultMade) hides() bool {
	switch f.kind {
	case "delay", "delay-events", "duplicate-event", "held":
		return false
	}
	return f.is() && !f.ends()
}

// event returns the number of a stream event without the fault; mine is false if the fault inserted the event.
func (f *faultMade) event(k int) (own int, mine bool) {
	switch {
	case f.kind != "duplicate-event" || k <= f.number:
		return k, true
	case k == f.number+1:
		return 0, false
	}
	return k - 1, true
}
