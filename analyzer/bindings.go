package analyzer

import (
	"a2atap/proxy/a2a"
)

// A Refusal is an error of A2A that an operation on a task was answered with over one binding.
type Refusal struct {
	Name     a2a.ErrorName
	Binding  a2a.Binding
	Place    Place // of the error
	Terminal bool  // the task was known to have ended before the call began
	Unseen   bool  // the task had never been seen

	exchange *Exchange // without its bodies
	dialects a2a.Dialects
	over     Moment
}

// A refusalKey says what was refused.
type refusalKey struct {
	taskKey
	operation a2a.Operation
	config    string
	binding   a2a.Binding
}

// A Showing is what GetTask said of an ended task over one binding.
type Showing struct {
	Binding a2a.Binding
	Place   Place // of the task

	digest   a2a.TaskDigest
	changed  bool      // it said something else before
	exchange *Exchange // without its bodies
	dialects a2a.Dialects
	limit    int64 // of the history that was asked for
	over     Moment
}

// bindings are those that operations of one task are compared between.
var bindings = [...]a2a.Binding{a2a.JSONRPC, a2a.HTTPJSON}

// comparesTo reports whether two calls were made by one client with the same credentials, in one version, and the first was
// over before the second began.
func (x *Exchange) comparesTo(earlier *Exchange, over Moment, in, before a2a.Dialects) bool {
	return in == before && x.BeganAfter(over) && x.Link.Client == earlier.Link.Client && x.HeadersKept() && earlier.HeadersKept() &&
		x.Principal() == earlier.Principal()
}

// RefusedElsewhere returns how another binding refused what the observation's exchange asks before; nil if it did not, or if
// that cannot be compared.
func (s *Session) RefusedElsewhere(o *Observation) *Refusal {
	x := o.Exchange
	for _, b := range bindings {
		if b == x.Call.Binding {
			continue
		}
		r, ok := s.refusals.get(x.refusalKey(b))
		if ok && x.comparesTo(r.exchange, r.over, o.Dialects, r.dialects) {
			return r
		}
	}
	return nil
}

func (x *Exchange) refusalKey(b a2a.Binding) refusalKey {
	return refusalKey{taskKey{x.agent, x.tenant, x.Call.TaskID}, x.Call.Operation, x.Call.ConfigID, b}
}

// turnedDown remembers how an operation on a task was refused.
func (s *Session) turnedDown(o *Observation) {
	x, err := o.Exchange, o.Answer.Err
	if err == nil || !err.Name.A2A() || x.Call.TaskID == "" || x.Call.Operation.Sends() {
		return
	}
	s.refusals.put(x.refusalKey(x.Call.Binding), &Refusal{
		Name: err.Name, Binding: x.Call.Binding, Place: o.Place.At(err.Pointer), Terminal: x.TerminalBefore() != nil, Unseen: x.Known == nil,
		exchange: x.bare(), dialects: o.Dialects, over: o.moment(),
	})
}

// ShownElsewhere returns what another binding said before of the ended task that the observation's answer shows, and the part of
// it that differs: "" if none does. It is nil if nothing can be compared.
func (s *Session) ShownElsewhere(o *Observation) (earlier *Showing, part string) {
	t, ok := endedTask(o)
	if !ok {
		return nil, ""
	}
	x := o.Exchange
	if here, ok := s.shown.get(x.showingKey(x.Call.Binding)); ok && here.changed {
		return nil, ""
	}
	for _, b := range bindings {
		if b == x.Call.Binding {
			continue
		}
		e, ok := s.shown.get(x.showingKey(b))
		if ok && !e.changed && x.comparesTo(e.exchange, e.over, o.Dialects, e.dialects) && x.limit() == e.limit {
			return e, e.differs(s.digester.Task(t), x.Call.HasHistoryLength)
		}
	}
	return nil, ""
}

// differs returns the part of a task that another showing tells differently. How much of a history an agent tells unasked is
// left to it.
func (e *Showing) differs(d a2a.TaskDigest, history bool) string {
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

// A showingKey says what was shown, and over which binding.
type showingKey struct {
	taskKey
	binding a2a.Binding
}

func (x *Exchange) showingKey(b a2a.Binding) showingKey {
	return showingKey{taskKey{x.agent, x.tenant, x.Call.TaskID}, b}
}

// limit returns how much history a call asks for; -1 if it does not say.
func (x *Exchange) limit() int64 {
	if !x.Call.HasHistoryLength {
		return -1
	}
	return x.Call.HistoryLength
}

// endedTask returns the ended task that answers GetTask, if that is what was observed.
func endedTask(o *Observation) (a2a.Task, bool) {
	x := o.Exchange
	if x.Call.Operation != a2a.GetTask || x.Call.TaskID == "" || o.Answer.Err != nil || o.Answer.Payload.Kind != a2a.TaskPayload {
		return a2a.Task{}, false
	}
	t := a2a.Task{Value: o.Answer.Payload.Value}
	return t, t.ID() == x.Call.TaskID && t.State().Terminal()
}

// showed remembers what an answer says of an ended task. An agent that says different things over one binding changes the task
// itself, and nothing is known of bindings.
func (s *Session) showed(o *Observation) {
	t, ok := endedTask(o)
	if !ok {
		return
	}
	x := o.Exchange
	now := &Showing{
		Binding: x.Call.Binding, Place: o.Place.At(o.Answer.Payload.Pointer), digest: s.digester.Task(t),
		exchange: x.bare(), dialects: o.Dialects, limit: x.limit(), over: o.moment(),
	}
	key := x.showingKey(x.Call.Binding)
	if old, ok := s.shown.get(key); ok {
		now.changed = old.changed || old.differs(now.digest, old.limit == now.limit && now.limit >= 0) != ""
	}
	s.shown.put(key, now)
}
