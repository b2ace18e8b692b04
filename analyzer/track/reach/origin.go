package reach

import (
	"cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
)

// waysOf returns the way of an exchange among all of its client's, and among those of its operation.
func waysOf(x *analysis.Exchange) (any, same way) {
	any = way{client: x.Link.Client, origin: address.Origin(x.Address)}
	same = any
	same.operation = x.Call.Operation
	return any, same
}

// A Gone is an agent that refused connections from some exchange on. It is the detail of an AgentGone.
type Gone struct {
	Since    analysis.Place // the first attempt that failed
	Attempts int
	Why      string // the last one failed
	Never    bool   // no connection to the agent was made before either
}

// GoneOf returns what an AgentGone is about.
func GoneOf(p *analysis.Pass) *Gone { return p.Detail.(*Gone) }

// Kept returns the name of what kept an exchange from the agent; "" if nothing did. A connection that breaks inside an
// answer did not keep it from there.
func Kept(p *analysis.Pass) string { return kept(p.Observation) }

func kept(o *analysis.Observation) string {
	x := o.Exchange
	isHTTP := x.Answered && x.Response.Status != 0
	if !o.End.ByAgent() || isHTTP || x.Ended {
		return ""
	}
	return analysis.FaultName(o.End.Fault)
}

// Repeats reports whether a client's exchange got no answer for the same reason as the one before it on its way, which
// was reported: the client's last exchange with the agent, or its last call of that operation where an agent that works
// for others breaks its connections.
func (m *Memory) Repeats(p *analysis.Pass) bool {
	why := Kept(p)
	if why == "" {
		return false
	}
	any, same := waysOf(p.Exchange)
	before, _ := m.ways.Get(any)
	if before != why && why != analysis.Unreachable && why != analysis.Untrusted && why != analysis.TooLate {
		before, _ = m.ways.Get(same)
	}
	return before == why
}

// ended remembers why an exchange got no answer.
func (m *Memory) ended(o *analysis.Observation) {
	any, same := waysOf(o.Exchange)
	why := kept(o)
	m.ways.Put(any, why)
	if same != any {
		m.ways.Put(same, why)
	}
}

// looked remembers that somebody takes an origin for an agent.
func (m *Memory) looked(o *analysis.Observation) { m.at(o.Exchange).agent = true }

// done remembers whether an exchange has reached its agent.
func (m *Memory) done(o *analysis.Observation) {
	x := o.Exchange
	at := m.at(x)
	switch why := kept(o); {
	case x.Answered:
		*at = origin{answered: o.Moment(), met: true, agent: at.agent}
		if x.Response.Status >= 500 {
			at.broken, at.first = true, x.RequestPlace()
		}
	case why == "":
	case at.answered.Arrival != 0 && !x.BeganAfter(at.answered):
	case why == analysis.Unreachable:
		if at.attempts == 0 && !at.broken {
			at.first = x.RequestPlace()
		}
		at.attempts++
		if at.why = cmp.Or(o.End.Fault.Detail, o.End.Fault.Kind); analysis.ProvesAbsence(o.End.Fault) {
			at.last = x.WithoutBodies()
		}
	case why == analysis.Untrusted: // who answers the handshake is there
		*at = origin{answered: at.answered, met: true, agent: at.agent}
	default: // a program accepted the connection, and the request may have crashed it
		met := at.met || why != analysis.TooLate
		there := at.answered
		if why != analysis.TooLate {
			there = o.Moment()
		}
		*at = origin{answered: there, met: met, agent: at.agent, attempts: 1, first: x.RequestPlace()}
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
		if !o.agent || o.last == nil || o.attempts == 1 && !o.broken {
			continue
		}
		p.Observe(analysis.Observation{
			Kind: analysis.AgentGone, Exchange: o.last, Dialects: orAll(o.last.Dialects), Place: o.last.RequestPlace().Line(),
			Detail: &Gone{Since: o.first, Attempts: o.attempts, Why: o.why, Never: !o.met},
		})
	}
}
