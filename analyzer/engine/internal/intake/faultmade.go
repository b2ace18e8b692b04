package intake

import (
	"strconv"
	"strings"
)

// A faultMade is what the recorder did to an answer because it was told to. The record has what the client saw; what
// that says of the agent depends on the fault.
type faultMade struct {
	what   string // such as "cut-stream=2"; empty for none
	kind   string
	number int // of the event that it is about
}

// faultNamed returns the fault that the recorder notes so.
func faultNamed(what string) faultMade {
	name, _, _ := strings.Cut(what, "@")
	name, _, _ = strings.Cut(name, ":")
	kind, value, _ := strings.Cut(name, "=")
	number, _ := strconv.Atoi(value)
	return faultMade{what, kind, number}
}

// is reports whether a fault was made.
func (f *faultMade) is() bool { return f.what != "" }

// ends reports whether the end of a stream was not the agent's.
func (f *faultMade) ends() bool {
	return f.kind == "cut-stream" || f.kind == "end-stream" || f.kind == "stall-stream"
}

// hides reports whether nothing of what is recorded as the answer is taken for the agent's.
func (f *faultMade) hides() bool {
	switch f.kind {
	case "delay", "delay-events", "duplicate-event", "held":
		return false
	}
	return f.is() && !f.ends()
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
