package answer

import (
	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// Cancels reports whether the agent of an exchange had canceled a task for a client before the exchange began.
func (m *Memory) Cancels(x *analysis.Exchange) bool {
	over, known := m.canceling.Get(x.Link.Agent)
	return known && x.BeganAfter(over)
}

// canceled records that an agent cancels tasks; the first time counts.
func (m *Memory) canceled(o *analysis.Observation) {
	x := o.Exchange
	if x.Call.Operation != a2a.CancelTask || o.Answer == nil || o.Answer.Payload.Kind != a2a.TaskPayload ||
		(a2a.Task{Value: o.Answer.Payload.Value}).State() != a2a.Canceled {
		return
	}
	if _, known := m.canceling.Get(x.Link.Agent); !known {
		m.canceling.Put(x.Link.Agent, o.Moment())
	}
}
