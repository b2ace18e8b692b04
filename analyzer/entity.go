package analyzer

import "a2atap/proxy/a2a"

// requestObjects observes the entities of a request.
func (e *Engine) requestObjects(in *intake, o *Observation) {
	e.part, e.partOf = *o, in
	e.walker.Request(&o.Exchange.Call)
	e.part, e.partOf = Observation{}, nil
}

// answerObjects observes the entities of an answer, an event or a notification.
func (e *Engine) answerObjects(in *intake, o *Observation, p *a2a.Payload) {
	e.part, e.partOf = *o, in
	if o.Exchange.maybe0_1(p) {
		e.part.Dialects = a2a.Of(a2a.V0_1, a2a.V0_2, a2a.V0_3)
	}
	e.walker.Payload(p, &o.Exchange.Call, e.part.Dialects)
	e.part, e.partOf = Observation{}, nil
}

// maybe0_1 reports whether a task that a client gets or cancels may be one of 0.1: that has the same methods, and
// nothing in the task or known of the URL says that a later version is spoken there.
func (x *Exchange) maybe0_1(p *a2a.Payload) bool {
	later := a2a.Of(a2a.V0_2, a2a.V0_3)
	switch {
	case x.Call.Binding != a2a.JSONRPC || p.Kind != a2a.TaskPayload || p.Wrapped || x.Dialects.Union(later) != later:
		return false
	case x.Call.Operation != a2a.GetTask && x.Call.Operation != a2a.CancelTask,
		p.Value.Has("kind"), p.Value.Has("contextId"):
		return false
	case !p.Dialects.Empty() && !p.Dialects.Has(a2a.V0_1):
		return false
	}
	return x.Endpoint == nil || x.Endpoint.Declared.Union(x.Endpoint.Answered).Intersect(later).Empty()
}

// visit observes one entity, and reports whether those in it are to be observed too.
func (e *Engine) visit(v *a2a.Entity) bool {
	if v.Type == a2a.MessageEntity && v.Echoed() && e.judgedBefore(v) {
		return false
	}
	o := &e.part
	o.Entity, o.Kind = v, FrameSeen
	if int(v.Type) < len(entityKinds) && entityKinds[v.Type] != 0 {
		o.Kind = entityKinds[v.Type]
	}
	e.observe(e.partOf, o)
	return true
}

// judgedBefore reports whether a message of a history was observed when the client sent it.
func (e *Engine) judgedBefore(v *a2a.Entity) bool {
	x, id := e.part.Exchange, v.Member("messageId")
	if x.Call.MessageID != "" && id.Is(x.Call.MessageID) {
		return true
	}
	return e.sent != nil && e.sent.WasSent(x, v.Owner.Get("id").Text(), id.Text())
}
