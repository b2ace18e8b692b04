package analysis

import (
	"iter"

	"a2atap/proxy/a2a"
)

// A Pass is one observation as given to one rule or tracker. It is valid only during that call.
type Pass struct {
	*Observation

	session  Session
	runner   *Runner
	rule     int // its number among the runner's; one past the last for a tracker
	applied  bool
	findings []Finding
}

// State returns the state of a tracker that the rule names among its needs; it panics for any other tracker. The
// packages of trackers wrap it in an accessor of the right type. It is for rules: trackers use their Setup.
func (p *Pass) State(t *Tracker) State { return p.runner.needs[p.rule].of(t) }

// Observe passes a tracker's observation to the rules and the other trackers, after all trackers have received the
// current one. It is for trackers.
func (p *Pass) Observe(o Observation) { p.session.Made(o) }

// RequestMissed reports whether a request was not recorded, or could not be read, so that its meaning is unknown.
func (p *Pass) RequestMissed() bool { return p.session.RequestMissed() }

// AnswerMissed reports whether some of the agent's earlier answers are unknown because the recorder injected faults.
func (p *Pass) AnswerMissed() bool { return p.session.AnswerMissed(p.Exchange.Link.Agent) }

// Lost returns how many exchanges were not recorded, or only partly.
func (p *Pass) Lost() int64 { return p.session.Lost() }

// Open yields the open exchanges, in any order.
func (p *Pass) Open() iter.Seq[*Exchange] { return p.session.Open() }

// Applied records that the rule had something to check here. Report implies it.
func (p *Pass) Applied() { p.applied = true }

// Here returns the place of the current entity, or of a member of it, by names that need no escapes.
func (p *Pass) Here(names ...string) Place { return p.Place.At(p.Entity.Pointer()).In(names...) }

// Report reports that the rule is broken at the place. seen is what was on the wire, with values in quotes; expected is
// what the protocol requires instead. Both are phrases of one sentence: lower case, no final period. If both sides can
// break the rule, the finding blames the side that wrote the current entity, if any. The finding is a note, unless the
// rule says otherwise, if the client requests a version after 1.0, whose specification is not known yet. It is also a
// note inside a message that the agent only repeats; the agent is blamed there, since it wrote the copy.
func (p *Pass) Report(at Place, seen, expected string, options ...Option) {
	p.applied = true
	if at.member != "" && at.Part != "body" {
		return // the heads belong to the batch, and are checked with it
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
			f.Side = a2a.Agent // which may have changed it: only the request would show the client's version
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

// By sets the side that broke the rule this time.
func By(side a2a.Side) Option {
	return func(f *Finding) { f.Side = side }
}

// Within sets the dialects in which the finding is reported once, if the request's dialects are only a guess.
func Within(in a2a.Dialects) Option {
	return func(f *Finding) { f.Within = in }
}

// For sets the cause of the finding.
func For(cause Cause) Option {
	return func(f *Finding) { f.Cause = cause }
}

// ForIf is For if a condition holds; otherwise it changes nothing.
func ForIf(holds bool, cause Cause) Option {
	if holds {
		return For(cause)
	}
	return func(*Finding) {}
}

// Revising makes the finding replace the rule's earlier findings on the link.
func Revising() Option {
	return func(f *Finding) { f.Revises = true }
}

// Revised allows another rule to revise the finding at the end of the capture.
func Revised() Option {
	return func(f *Finding) { f.Unsettled = true }
}

// Of sets the exchange of the finding, if it is not the observation's.
func Of(x *Brief) Option {
	return func(f *Finding) { f.about(x) }
}
