package answer

import (
	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// A Refusal is an A2A error in the answer to an operation on a task over one binding.
type Refusal struct {
	Name     a2a.ErrorName
	Binding  a2a.Binding
	Place    analysis.Place // of the error
	Terminal bool           // the task was known to have ended before the call began
	Unseen   bool           // the task had never been seen

	exchange *analysis.Brief
	dialects a2a.Dialects
	over     analysis.Moment
}

// A refusalKey identifies a refused operation.
type refusalKey struct {
	analysis.TaskKey
	operation a2a.Operation
	config    string
	binding   a2a.Binding
}

// An EndedTask is an ended task as GetTask showed it over one binding.
type EndedTask struct {
	Binding a2a.Binding
	Place   analysis.Place // of the task

	digest   a2a.TaskDigest
	changed  bool // it said something else before
	exchange *analysis.Brief
	dialects a2a.Dialects
	limit    int64 // of the requested history
	over     analysis.Moment
}

// bindings are the bindings between which operations of one task are compared.
var bindings = [...]a2a.Binding{a2a.JSONRPC, a2a.HTTPJSON, a2a.GRPC}

// mayCompare reports whether two calls were made by one client with the same credentials, in one version, and the first
// had ended before the second began.
func mayCompare(x *analysis.Exchange, earlier *analysis.Brief, over analysis.Moment, in, before a2a.Dialects) bool {
	return in == before && x.BeganAfter(over) && x.Link.Client == earlier.Link.Client &&
		x.CredentialsKept() && earlier.CredentialsKept() && x.Principal() == earlier.Principal()
}

// RefusedElsewhere returns how another binding refused the same request before; nil if it did not, or if the two cannot
// be compared.
func (m *Memory) RefusedElsewhere(o *analysis.Observation) *Refusal {
	x := o.Exchange
	for _, b := range bindings {
		if b == x.Call.Binding {
			continue
		}
		r, ok := m.refusals.Get(refusalKeyOf(x, b))
		if ok && mayCompare(x, r.exchange, r.over, o.Dialects, r.dialects) {
			return r
		}
	}
	return nil
}

func refusalKeyOf(x *analysis.Exchange, b a2a.Binding) refusalKey {
	return refusalKey{x.TaskKey(x.Call.TaskID), x.Call.Operation, x.Call.ConfigID, b}
}

// refused records the refusal of an operation on a task.
func (m *Memory) refused(o *analysis.Observation) {
	x, err := o.Exchange, o.Answer.Err
	if !err.Name.A2A() || x.Call.TaskID == "" || x.Call.Operation.Sends() {
		return
	}
	m.refusals.Put(refusalKeyOf(x, x.Call.Binding), &Refusal{
		Name: err.Name, Binding: x.Call.Binding, Place: o.Place.At(err.Pointer),
		Terminal: m.tasks.EndedBefore(x) != nil, Unseen: m.tasks.Named(x) == nil,
		exchange: x.Keep(), dialects: o.Dialects, over: o.Moment(),
	})
}

// ShownElsewhere returns how another binding showed the ended task in the observation's answer before, and the part
// that differs: "" if none does. It returns nil if nothing can be compared.
func (m *Memory) ShownElsewhere(o *analysis.Observation) (earlier *EndedTask, part string) {
	t, ok := endedTask(o)
	if !ok {
		return nil, ""
	}
	x := o.Exchange
	if here, ok := m.ended.Get(endedKeyOf(x, x.Call.Binding)); ok && here.changed {
		return nil, ""
	}
	for _, b := range bindings {
		if b == x.Call.Binding {
			continue
		}
		e, ok := m.ended.Get(endedKeyOf(x, b))
		if ok && !e.changed && mayCompare(x, e.exchange, e.over, o.Dialects, e.dialects) && historyLimit(x) == e.limit {
			return e, e.differs(m.digester.Task(t), x.Call.HasHistoryLength)
		}
	}
	return nil, ""
}

// differs returns the part of a task that differs in another answer. Agents may choose how much history to send
// unasked.
func (e *EndedTask) differs(d a2a.TaskDigest, history bool) string {
	switch {
	case e.digest.Context != d.Context:
		return "contextId"
	case e.digest.Status != d.Status:
		return "status"
	case e.digest.Artifacts != d.Artifacts:
		return "artifacts"
	case history && e.digest.History != d.History:
		return "history"
	}
	return ""
}

// An endedKey identifies an ended task and a binding.
type endedKey struct {
	analysis.TaskKey
	binding a2a.Binding
}

func endedKeyOf(x *analysis.Exchange, b a2a.Binding) endedKey {
	return endedKey{x.TaskKey(x.Call.TaskID), b}
}

// historyLimit returns how much history a call requests; -1 if unspecified.
func historyLimit(x *analysis.Exchange) int64 {
	if !x.Call.HasHistoryLength {
		return -1
	}
	return x.Call.HistoryLength
}

// endedTask returns the ended task in an answer to GetTask, if the observation is one.
func endedTask(o *analysis.Observation) (a2a.Task, bool) {
	x := o.Exchange
	if x.Call.Operation != a2a.GetTask || x.Call.TaskID == "" ||
		o.Answer.Err != nil || o.Answer.Payload.Kind != a2a.TaskPayload {
		return a2a.Task{}, false
	}
	t := a2a.Task{Value: o.Answer.Payload.Value}
	return t, t.ID() == x.Call.TaskID && t.State().Terminal()
}

// showed records how an answer shows an ended task. If an agent's answers over one binding differ, the task itself
// changes, and bindings cannot be compared.
func (m *Memory) showed(o *analysis.Observation) {
	t, ok := endedTask(o)
	if !ok {
		return
	}
	x := o.Exchange
	now := &EndedTask{
		Binding: x.Call.Binding, Place: o.Place.At(o.Answer.Payload.Pointer), digest: m.digester.Task(t),
		exchange: x.Keep(), dialects: o.Dialects, limit: historyLimit(x), over: o.Moment(),
	}
	key := endedKeyOf(x, x.Call.Binding)
	if old, ok := m.ended.Get(key); ok {
		now.changed = old.changed || old.differs(now.digest, old.limit == now.limit && now.limit >= 0) != ""
	}
	m.ended.Put(key, now)
}
