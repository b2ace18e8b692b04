package reach

import (
	"cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
)

func wayOf(x *analysis.Exchange) way { return way{x.Link.Client, address.Origin(x.Address)} }

// A Gone is an agent that could not be reached from some exchange on. It is the detail of an AgentGone.
type Gone struct {
	Since    analysis.Place // the first attempt that failed
	Attempts int
	Why      string // the last one failed
}

// GoneOf returns what an AgentGone is about.
func GoneOf(p *analysis.Pass) *Gone { return p.Detail.(*Gone) }

// Kept returns the name of what kept an exchange from the agent; "" if nothing did. A connection that breaks inside an
// answer did not keep it from there.
func Kept(p *analysis.Pass) string { return kept(p.Observation) }

func kept(o *analysis.Observation) string {
	x := o.Exchange
	if !o.End.ByAgent() || x.Answered || x.Ended {
		return ""
	}
	return analysis.FaultName(o.End.Fault)
}

// Repeats reports whether the client's exchange before has failed to reach the same agent for the same reason, and so
// that was reported.
func (m *Memory) Repeats(p *analysis.Pass) bool {
	before, ok := m.ways.Get(wayOf(p.Exchange))
	return ok && before != "" && before == Kept(p)
}

// looked remembers that somebody takes an origin for an agent.
func (m *Memory) looked(o *analysis.Observation) { m.at(o.Exchange).agent = true }

// done remembers whether an exchange has reached its agent.
func (m *Memory) done(o *analysis.Observation) {
	x := o.Exchange
	at := m.at(x)
	switch {
	case x.Answered:
		*at = origin{answered: o.Moment(), agent: at.agent}
		if x.Response.Status >= 500 {
			at.broken = x.ResponsePlace().Status().String()
			at.first = x.RequestPlace()
		}
	case kept(o) == "", kept(o) == analysis.Untrusted: // who shows a certificate is there
	case at.answered.Arrival != 0 && !x.BeganAfter(at.answered):
	default:
		if at.attempts == 0 && at.broken == "" {
			at.first = x.RequestPlace()
		}
		at.attempts++
		at.last, at.why = x.WithoutBodies(), cmp.Or(o.End.Fault.Detail, o.End.Fault.Kind)
	}
}

func (m *Memory) at(x *analysis.Exchange) *origin {
	key := address.Origin(x.Address)
	o, ok := m.origins.Get(key)
	if !ok {
		o = &origin{}
		m.origins.Put(key, o)
	}
	return o
}

// gone observes, at the end of a capture, the agents that could not be reached any more: two attempts have failed, or
// one after the server had failed.
func (m *Memory) gone(p *analysis.Pass) {
	for _, o := range m.origins.All() {
		if !o.agent || o.last == nil || o.attempts == 1 && o.broken == "" {
			continue
		}
		p.Observe(analysis.Observation{
			Kind: analysis.AgentGone, Exchange: o.last, Dialects: orAll(o.last.Dialects), Place: o.last.RequestPlace().Line(),
			Detail: &Gone{Since: o.first, Attempts: o.attempts, Why: o.why},
		})
	}
}
