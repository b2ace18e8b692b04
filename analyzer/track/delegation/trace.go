package delegation

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/track/workflow"
)

// A DroppedTrace describes an agent that received a trace context, while none of its own calls carries one. It is the
// detail of a TraceDropped, whose exchange is the first of those calls.
type DroppedTrace struct {
	Received uint64 // the call that it was answering then, by its number; that one carries a traceparent
	Calls    int    // messages that it sent meanwhile
}

// TraceOf returns the trace that a TraceDropped is about.
func TraceOf(p *analysis.Pass) *DroppedTrace { return p.Detail.(*DroppedTrace) }

// An outbound has the trace contexts of one agent's calls.
type outbound struct {
	DroppedTrace
	first *analysis.Brief // without trace context, while the agent had some; nil if there was none
	keeps bool            // a call of the agent carries trace context
}

// traceKept records, once for each call, whether it carries the trace context that its client had to propagate. The
// client may be known only at the end of the call.
func (m *Memory) traceKept(x *analysis.Exchange) {
	if x.Anonymous || x.Link.Client == x.Link.Agent || m.traced.Of(x) {
		return
	}
	m.traced.Put(x, true)
	out, known := m.outbound.Get(x.Link.Client)
	if known && out.keeps {
		return
	}
	keeps := workflow.CarriesTrace(x)
	received, ok := uint64(0), false
	if !keeps && x.Call.Operation.Sends() && x.HeadersKept() {
		received, ok = m.workflow.TracedFor(x)
	}
	if !keeps && !ok {
		return
	}
	if !known {
		out = &outbound{}
		m.outbound.Put(x.Link.Client, out)
	}
	switch {
	case keeps:
		out.keeps = true
		return
	case out.first == nil:
		out.first, out.Received = x.Keep(), received
	}
	out.Calls++
}

// dropped observes the agents that have passed no trace context on.
func (m *Memory) dropped(p *analysis.Pass) {
	for _, out := range m.outbound.All() {
		if !out.keeps && out.first != nil {
			p.Observe(analysis.Observation{
				Kind: analysis.TraceDropped, Exchange: out.first.Exchange(), Dialects: out.first.Dialects,
				Place: out.first.RequestPlace(), Detail: &out.DroppedTrace,
			})
		}
	}
}
