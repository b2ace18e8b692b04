package analysis

import (
	"iter"

	"a2atap/proxy/a2a"
)

// A Pass is one observation on its way through one rule, or to one tracker. It is valid only during that call.
type Pass struct {
	*Observation

	session  Session
	runner   *Runner
	rule     int // its number among the runner's; behind the last one on the way to a tracker
	applied  bool
	findings []Finding
}

// State returns the state of a tracker that the rule names among its needs; of another one it panics. The packages of
// trackers have an accessor of the right type around it. For rules: trackers ask their Setup.
func (p *Pass) State(t *Tracker) State { return p.runner.needs[p.rule].of(t) }

// Observe gives an observation that a tracker has made to the rules and the other trackers, when all trackers have
// taken the one at hand. For trackers.
func (p *Pass) Observe(o Observation) { p.session.Made(o) }

// RequestMissed reports whether a request was not recorded, or could not be read: nobody knows what it asked for.
func (p *Pass) RequestMissed() bool { return p.session.RequestMissed() }

// AnswerMissed reports whether what the agent of the exchange has answered before is not all known, since the recorder
// made faults in it.
func (p *Pass) AnswerMissed() bool { return p.session.AnswerMissed(p.Exchange.Link.Agent) }

// Lost returns how many exchanges were not recorded, or only in part.
func (p *Pass) Lost() int64 { return p.session.Lost() }

// Open yields the exchanges that have begun and are not over, in any order.
func (p *Pass) Open() iter.Seq[*Exchange] { return p.session.Open() }

// Applied says that the rule had something to judge here, whatever comes of it. Report implies it.
func (p *Pass) Applied() { p.applied = true }

// Here returns the place of the entity at hand, or of a member of it, by names that need no escapes.
func (p *Pass) Here(names ...string) Place { return p.Place.At(p.Entity.Pointer()).In(names...) }

// Report reports the rule broken at the place. Seen says what was on the wire, values in quotes; expected says what the
// protocol asks for instead. Both are phrases of one sentence: lower case, no final period. A rule that both sides can
// break is broken by the side that wrote the entity at hand, if there is one. Where the client asks for a version after
// 1.0, whose text nobody has read yet, the finding is a note unless the rule says otherwise; and so it is inside a
// message that the agent only tells again, where it is the agent's, which wrote it down.
func (p *Pass) Report(at Place, seen, expected string, options ...Option) {
	p.applied = true
	if at.member != "" && at.Part != "body" {
		return // the heads are those of the batch, and are judged with it
	}
	rule := p.runner.rules[p.rule]
	f := Finding{
		Rule:     rule,
		Severity: rule.Severity(),
		Side:     rule.Side,
		Dialects: p.Dialects,
		Place:    at.whole(),
		Seen:     seen,
		Expected: expected,
	}
	f.about(&p.Exchange.Brief)
	f.Binding, f.Operation = p.Exchange.Call.Binding, p.Exchange.Call.Operation
	if p.Entity != nil && rule.Either {
		if f.Side = p.Entity.Author; p.Entity.Echoed() {
			f.Side = a2a.Agent // which may have changed it: only the request would show what the client wrote
		}
	}
	for _, option := range options {
		option(&f)
	}
	if p.Exchange.Unreleased && !rule.Future || p.Entity != nil && p.Entity.Echoed() {
		f.Severity = Note
	}
	p.findings = append(p.findings, f)
}

func (f *Finding) about(x *Brief) {
	f.Link, f.ExchangeID = x.Link, x.ID
	f.Binding, f.Operation = x.Binding, x.Operation
}

// An Option changes one finding.
type Option func(*Finding)

// AtMost lowers the finding's severity to s; it never raises it.
func AtMost(s Severity) Option {
	return func(f *Finding) { f.Severity = min(f.Severity, s) }
}

// AtMostIf is AtMost if a condition holds, and changes nothing otherwise.
func AtMostIf(holds bool, s Severity) Option {
	if holds {
		return AtMost(s)
	}
	return func(*Finding) {}
}

// By says who broke the rule this time.
func By(side a2a.Side) Option {
	return func(f *Finding) { f.Side = side }
}

// Within says in which dialects the finding is to be reported once, where those of the request are only a guess.
func Within(in a2a.Dialects) Option {
	return func(f *Finding) { f.Within = in }
}

// For says which mistake is behind the finding.
func For(cause Cause) Option {
	return func(f *Finding) { f.Cause = cause }
}

// ForIf is For if a condition holds, and changes nothing otherwise.
func ForIf(holds bool, cause Cause) Option {
	if holds {
		return For(cause)
	}
	return func(*Finding) {}
}

// Revising says that the finding takes the place of what the rule has reported on the link before.
func Revising() Option {
	return func(f *Finding) { f.Revises = true }
}

// Of says which exchange the finding is about, where that is not the observation's.
func Of(x *Brief) Option {
	return func(f *Finding) { f.about(x) }
}
