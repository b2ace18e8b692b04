package rule

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/reach"
	"a2atap/analyzer/track/stream"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// StillEnded reports whether a task that had ended certainly has not been taken up again, as versions before 0.2.4
// allow.
func StillEnded(p *analysis.Pass, known *task.Task) bool {
	return RestartSeverity(p) == analysis.Error || !known.Reopened && !p.RequestMissed()
}

// CardBelongs reports whether a card is certainly of one of the versions whose clients look for it at a path.
func CardBelongs(card, path a2a.Dialects) bool { return !card.Empty() && card.Intersect(path) == card }

// Understood returns the dialects in use at the address of a call, according to cards or else to earlier traffic; the
// empty set if they or the dialect of the call are unknown.
func Understood(x *analysis.Exchange) a2a.Dialects {
	switch {
	case x.Endpoint == nil || x.Call.Dialects.Empty() || x.Call.Batch != nil || x.Call.Binding == a2a.NoBinding:
		return 0
	case x.Endpoint.Declared.Empty():
		return x.Endpoint.Answered
	}
	return x.Endpoint.Declared
}

// Mismatched reports whether a call in one dialect was rejected at an address that uses other dialects.
func Mismatched(p *analysis.Pass) bool {
	x := p.Exchange
	known := Understood(x)
	return p.Answer != nil && !known.Empty() && x.Spoken().Intersect(known|x.Endpoint.Answered).Empty() && wasTurnedAway(p)
}

// wasTurnedAway reports whether the answer shows that the agent did not understand: it refused for that reason, or
// answered in another dialect that a card offers. Without a card, an agent that answers in another dialect has
// understood the call, and gives the wrong answer.
func wasTurnedAway(p *analysis.Pass) bool {
	if p.Answer.Err == nil {
		got := p.Answer.Payload.Dialects
		return !p.Exchange.Endpoint.Declared.Empty() && !got.Empty() && got.Intersect(p.Exchange.Spoken()).Empty()
	}
	return reach.NotUnderstood(p.Observation)
}

// RefusesVersion reports whether an error is VersionNotSupportedError, which an agent of 1.0 may send even to a client
// that does not know it.
func RefusesVersion(failure *a2a.Error) bool {
	return failure.RefusesVersion()
}

// Reopens reports whether the current event is a later answer to a message to a task that had ended. The lack of a
// refusal was reported before.
func Reopens(p *analysis.Pass) bool {
	x := p.Exchange
	if !x.Call.Operation.Sends() || x.Stream == nil || x.Stream.Events == 0 || stream.Of(p).In(x).TaskID != x.Call.TaskID {
		return false
	}
	return task.Of(p).EndedBefore(x) != nil && !task.Of(p).Retry(x) && RestartSeverity(p) > analysis.Note
}

// RestartSeverity returns the severity of restarting an ended task. Versions before 0.2.4 allow it, so for them it is a
// note. If the agent may be that old, it is a warning: cards have had a version only since 0.2.5.
func RestartSeverity(p *analysis.Pass) analysis.Severity {
	switch {
	case p.Dialects.Has(a2a.V0_1):
		return analysis.Note
	case !p.Dialects.Has(a2a.V0_2):
		return analysis.Error
	}
	return SeveritySince(p, "0.2", "0.2.0", "0.2.1", "0.2.2", "0.2.3")
}

// SeveritySince returns the severity of breaking a requirement that a patch of 0.2 introduced, in a message that may be
// of 0.2: a note if a card names one of the versions before it, an error if cards name only other versions. If no card
// names a version, it is a note in messages that are certainly of 0.2, otherwise a warning.
func SeveritySince(p *analysis.Pass, before ...string) analysis.Severity {
	versions := card.Of(p).Versions(p.Exchange)
	switch {
	case slices.ContainsFunc(versions, func(v string) bool { return slices.Contains(before, v) }):
		return analysis.Note
	case len(versions) > 0:
		return analysis.Error
	case p.Dialects == a2a.Of(a2a.V0_2):
		return analysis.Note
	}
	return analysis.Warning
}

// Before0_2_6 reports whether every card declares a version from 0.2.0 to 0.2.5.
func Before0_2_6(p *analysis.Pass) bool {
	versions := card.Of(p).Versions(p.Exchange)
	for _, v := range versions {
		patch, ok := strings.CutPrefix(v, "0.2.")
		if !ok || len(patch) != 1 || patch < "0" || patch > "5" {
			return false
		}
	}
	return len(versions) > 0
}

// OtherSpelling reports whether an object's role or state is spelled as in a version other than the message's.
func OtherSpelling(p *analysis.Pass, v a2a.Value) bool {
	for _, word := range [...]a2a.Value{v.Get("role"), v.Get("state"), v.Get("status").Get("state")} {
		if in := a2a.SpellingDialects(word); !in.Empty() && in.Intersect(p.Dialects).Empty() {
			return true
		}
	}
	return false
}

// BeforeDrafts reports whether every card that names the call's address gives a version before 1.0 for it, and at least
// one does. Over gRPC nothing else distinguishes them: the drafts of 1.0 have the service of 0.3, and other messages.
func BeforeDrafts(p *analysis.Pass) bool {
	versions := card.Of(p).Versions(p.Exchange)
	return len(versions) > 0 && !slices.ContainsFunc(versions, isOf1)
}

func isOf1(version string) bool { return a2a.VersionDialects(version).Has(a2a.V1_0) }
