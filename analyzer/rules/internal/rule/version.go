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

// StillEnded reports whether a task that had ended surely has not been taken up again, as versions before 0.2.4 allow.
func StillEnded(p *analysis.Pass, known *task.Task) bool {
	return RestartSeverity(p) == analysis.Error || !known.Reopened && !p.RequestMissed()
}

// CardBelongs reports whether a card is surely of one of the versions that look for it at a path.
func CardBelongs(card, path a2a.Dialects) bool { return !card.Empty() && card.Intersect(path) == card }

// Understood returns the dialects that are spoken where a call goes, by cards or else by earlier traffic; none if that
// or the dialect of the call is not known.
func Understood(x *analysis.Exchange) a2a.Dialects {
	switch {
	case x.Endpoint == nil || x.Call.Dialects.Empty() || x.Call.Batch != nil || x.Call.Binding == a2a.NoBinding:
		return 0
	case x.Endpoint.Declared.Empty():
		return x.Endpoint.Answered
	}
	return x.Endpoint.Declared
}

// Mismatched reports whether a call in one dialect was turned away where others are spoken.
func Mismatched(p *analysis.Pass) bool {
	x := p.Exchange
	known := Understood(x)
	return p.Answer != nil && !known.Empty() && x.Spoken().Intersect(known|x.Endpoint.Answered).Empty() && wasTurnedAway(p)
}

// wasTurnedAway reports whether the answer shows that the agent did not understand: it failed for that reason, or came
// in another dialect, which a card offers. Without a card, an agent that answers a call in another dialect has understood
// it, and gives the wrong answer.
func wasTurnedAway(p *analysis.Pass) bool {
	if p.Answer.Err == nil {
		got := p.Answer.Payload.Dialects
		return !p.Exchange.Endpoint.Declared.Empty() && !got.Empty() && got.Intersect(p.Exchange.Spoken()).Empty()
	}
	return reach.NotUnderstood(p.Observation)
}

// RefusesVersion reports whether an error is VersionNotSupportedError, in which an agent of 1.0 may answer a client
// that does not know it.
func RefusesVersion(failure *a2a.Error) bool {
	return failure.RefusesVersion()
}

// Reopens reports whether a later event at hand answers a message to a task that had ended. That it was not refused has
// been said.
func Reopens(p *analysis.Pass) bool {
	x := p.Exchange
	if !x.Call.Operation.Sends() || x.Stream == nil || x.Stream.Events == 0 || stream.Of(p).In(x).TaskID != x.Call.TaskID {
		return false
	}
	return task.Of(p).EndedBefore(x) != nil && !task.Of(p).Retry(x) && RestartSeverity(p) > analysis.Note
}

// RestartSeverity says how bad the restart of an ended task is. Versions before 0.2.4 allow it, so that it is a note;
// where nobody knows whether the agent is so old it is a warning: cards name their version since 0.2.5 only.
func RestartSeverity(p *analysis.Pass) analysis.Severity {
	switch {
	case p.Dialects.Has(a2a.V0_1):
		return analysis.Note
	case !p.Dialects.Has(a2a.V0_2):
		return analysis.Error
	}
	return SeveritySince(p, "0.2", "0.2.0", "0.2.1", "0.2.2", "0.2.3")
}

// SeveritySince says how bad it is to break a duty that came with a patch of 0.2, in a message that may be of 0.2: a
// note if a card names one of the versions before it, an error if cards name others only. Where none names any, it is a
// note in what is surely of 0.2, else a warning.
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

// Before0_2_6 reports whether every card says that the agent speaks a version from 0.2.0 to 0.2.5.
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

// OtherSpelling reports whether an object spells its role or its state as in another version than that of the message.
func OtherSpelling(p *analysis.Pass, v a2a.Value) bool {
	for _, word := range [...]a2a.Value{v.Get("role"), v.Get("state"), v.Get("status").Get("state")} {
		if in := a2a.SpellingDialects(word); !in.Empty() && in.Intersect(p.Dialects).Empty() {
			return true
		}
	}
	return false
}

// BeforeDrafts reports whether every card that names the call's address gives a version before 1.0 for it, and one does.
// Over gRPC nothing else tells: the drafts of 1.0 have the service of 0.3, and other messages.
func BeforeDrafts(p *analysis.Pass) bool {
	versions := card.Of(p).Versions(p.Exchange)
	return len(versions) > 0 && !slices.ContainsFunc(versions, isOf1)
}

func isOf1(version string) bool { return a2a.VersionDialects(version).Has(a2a.V1_0) }
