package reach

import (
	"cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
)

// A Gone is an agent that refused connections until the end. It is the detail of an AgentGone, whose exchange is the
// first failed attempt.
type Gone struct {
	Attempts int
	Why      string // the last one failed
	Never    bool   // no connection to the agent was made before either
}

// GoneOf returns the subject of an AgentGone.
func GoneOf(p *analysis.Pass) *Gone { return p.Detail.(*Gone) }

// Kept returns the name of the failure that prevented an exchange from reaching the agent; "" without one. A connection
// that breaks inside an answer had reached the agent.
func Kept(p *analysis.Pass) string { return kept(p.Observation) }

func kept(o *analysis.Observation) string {
	x := o.Exchange
	isHTTP := x.Answered && x.Response.Status != 0
	if !o.End.ByAgent() || isHTTP || x.Ended {
		return ""
	}
	return analysis.FaultName(o.End.Fault)
}

// looked records that a client takes an origin for an agent.
func (m *Memory) looked(o *analysis.Observation) { m.at(o.Exchange).agent = true }

// done records whether an exchange has reached its agent.
func (m *Memory) done(o *analysis.Observation) {
	x := o.Exchange
	at := m.at(x)
	switch why := kept(o); {
	case x.Answered:
		*at = origin{answered: o.Moment(), met: true, agent: at.agent}
		switch {
		case o.End.ByAgent() && !x.Ended:
			at.attempts, at.first = 1, x.WithoutBodies()
		case x.Response.Status >= 500:
			at.broken, at.first = true, x.WithoutBodies()
		}
	case why == "":
	case at.answered.Arrival != 0 && !x.BeganAfter(at.answered):
	case why == analysis.Unreachable:
		if at.attempts == 0 && !at.broken {
			at.first = x.WithoutBodies()
		}
		at.attempts++
		if at.why = cmp.Or(o.End.Fault.Detail, o.End.Fault.Kind); analysis.ProvesAbsence(o.End.Fault) {
			at.refused = true
		}
	case why == analysis.Untrusted: // the TLS handshake was answered
		*at = origin{answered: at.answered, met: true, agent: at.agent}
	default: // a program accepted the connection, and the request may have crashed it
		met := at.met || why != analysis.TooLate
		there := at.answered
		if why != analysis.TooLate {
			there = o.Moment()
		}
		now := origin{answered: there, met: met, agent: at.agent, attempts: 1, first: x.WithoutBodies()}
		if at.attempts == 1 { // the next connection to a program that is about to end
			now.attempts, now.first = 2, at.first
		}
		*at = now
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

// gone observes, at the end of a capture, the agents whose host refused the last connection: two attempts have failed,
// or one after the server had failed.
func (m *Memory) gone(p *analysis.Pass) {
	for _, o := range m.origins.All() {
		if !o.agent || !o.refused || o.attempts == 1 && !o.broken {
			continue
		}
		p.Observe(analysis.Observation{
			Kind: analysis.AgentGone, Exchange: o.first, Dialects: orAll(o.first.Dialects), Place: o.first.RequestPlace().Line(),
			Detail: &Gone{Attempts: o.attempts, Why: o.why, Never: !o.met},
		})
	}
}
