package analyzer

import (
	"strings"

	"a2atap/proxy/a2a"
)

// Waits reports whether a send surely asks for the outcome: it is one of 1.0, to be answered when the task has ended or
// waits for the client. The release candidate of 1.0 had another default under the same method name, so the version has to
// be named by the request or by a card.
func (s *Session) Waits(x *Exchange) bool {
	if x.Call.Operation != a2a.SendMessage || x.Dialects != a2a.Of(a2a.V1_0) {
		return false
	}
	configuration := x.Call.Params.Get("configuration")
	for _, name := range [...]string{"returnImmediately", "return_immediately"} {
		if v := configuration.Get(name); v.Exists() && !v.IsNull() {
			if atOnce, ok := v.Bool(); atOnce || !ok {
				return false
			}
		}
	}
	if configuration.Has("blocking") {
		return false
	}
	named := x.Call.Version != ""
	if named && !released(x.Call.Version) {
		return false
	}
	for _, v := range s.Versions(x) {
		if strings.Contains(v, "rc") {
			return false
		}
		named = named || released(v)
	}
	return named
}

// released reports whether a version is 1.0 or later, and no release candidate.
func released(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	return major != "" && major != "0" && !strings.Contains(version, "rc")
}

// asked remembers what is asked of a task. One that had ended and gets a message may be at work again, in dialects that
// allow it.
func (t *Task) asked(x *Exchange) {
	op := x.Call.Operation
	if op.Sends() {
		t.Reopened = t.Reopened || t.Terminal != nil || t.inflight != 0
		t.inflight = x.Seq
	}
	if op == a2a.CancelTask && x.TerminalBefore() != nil {
		t.Canceled = &Cancellation{Place: x.RequestPlace().Body(), began: Sighting{Arrival: x.Opened, At: x.Started}}
	}
	t.shared = t.shared || op.Streams() && len(t.Streams) > 0
}

// A Cancellation is the wish to cancel a task that was known to have ended.
type Cancellation struct {
	Place Place // of the request
	began Sighting
}

// CanceledLate returns the cancellation of the ended task that began before what is observed, or nil.
func (t *Task) CanceledLate(x *Exchange) *Cancellation {
	if c := t.Canceled; c != nil && (c.Place.Exchange == x.Seq || x.beganAfter(&c.began)) {
		return c
	}
	return nil
}

// NewIn reports whether the exchange was the first to show the task.
func (t *Task) NewIn(x *Exchange) bool { return t.debut == x.Seq }

// Blind reports whether a request was not recorded: nobody knows what it asked for.
func (s *Session) Blind() bool { return s.blind }
