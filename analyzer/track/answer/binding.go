package answer

import (
	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// A Refusal is an error of A2A that an operation on a task was answered with over one binding.
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

// A refusalKey says what was refused.
type refusalKey struct {
	analysis.TaskKey
	operation a2a.Operation
	config    string
	binding   a2a.Binding
}

// An EndedTask is what GetTask said of an ended task over one binding.
type EndedTask struct {
	Binding a2a.Binding
	Place   analysis.Place // of the task

	digest   a2a.TaskDigest
	changed  bool // it said something else before
	exchange *analysis.Brief
	dialects a2a.Dialects
	limit    int64 // of the history that was asked for
	over     analysis.Moment
}

// bindings are those that operations of one task are compared between.
var bindings = [...]a2a.Binding{a2a.JSONRPC, a2a.HTTPJSON, a2a.GRPC}

// mayCompare reports whether two calls were made by one client with the same credentials, in one version, and the first
// was over before the second began.
func mayCompare(x *analysis.Exchange, earlier *analysis.Brief, over analysis.Moment, in, before a2a.Dialects) bool {
	return in == before && x.BeganAfter(over) && x.Link.Client == earlier.Link.Client &&
		x.CredentialsKept() && earlier.CredentialsKept() && x.Principal() == earlier.Principal()
}

// RefusedElsewhere returns how another binding refused what the observation's exchange asks before; nil if it did not,
// or if that cannot be compared.
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

// refused remembers how an operation on a task was refused.
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

// ShownElsewhere returns what another binding said before of the ended task that the observation's answer shows, and
// the part of it that differs: "" if none does. It is nil if nothing can be compared.
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

// differs returns the part of a task that another answer tells differently. How much of a history an agent tells
// unasked is left to it.
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

// An endedKey says what was shown, and over which binding.
type endedKey struct {
	analysis.TaskKey
	binding a2a.Binding
}

func endedKeyOf(x *analysis.Exchange, b a2a.Binding) endedKey {
	return endedKey{x.TaskKey(x.Call.TaskID), b}
}

// historyLimit returns how much history a call asks for; -1 if it does not say.
func historyLimit(x *analysis.Exchange) int64 {
	if !x.Call.HasHistoryLength {
		return -1
	}
	return x.Call.HistoryLength
}

// endedTask returns the ended task that answers GetTask, if that is what was observed.
func endedTask(o *analysis.Observation) (a2a.Task, bool) {
	x := o.Exchange
	if x.Call.Operation != a2a.GetTask || x.Call.TaskID == "" ||
		o.Answer.Err != nil || o.Answer.Payload.Kind != a2a.TaskPayload {
		return a2a.Task{}, false
	}
	t := a2a.Task{Value: o.Answer.Payload.Value}
	return t, t.ID() == x.Call.TaskID && t.State().Terminal()
}

// showed remembers what an answer says of an ended task. An agent that says different things over one binding changes
// the task itself, and nothing is known of bindings.
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
