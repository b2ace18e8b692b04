package analyzer

import "a2atap/analyzer/a2a"

// sent observes the entities of a request.
func (e *Engine) sent(in *intake, o *Observation) {
	e.part, e.whole = *o, in
	e.walker.Request(&o.Exchange.Call)
	e.part, e.whole = Observation{}, nil
}

// told observes the entities of an answer, an event or a notification.
func (e *Engine) told(in *intake, o *Observation, p *a2a.Payload) {
	e.part, e.whole = *o, in
	e.walker.Payload(p, &o.Exchange.Call, o.Dialects)
	e.part, e.whole = Observation{}, nil
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
	e.observe(e.whole, o)
	return true
}

// judgedBefore reports whether a message of a history was seen when the client sent it.
func (e *Engine) judgedBefore(v *a2a.Entity) bool {
	x, id := e.part.Exchange, v.Get("messageId")
	if x.Call.MessageID != "" && id.Is(x.Call.MessageID) {
		return true
	}
	t := e.session.TaskOf(x, v.Owner.Get("id").Text())
	return t != nil && t.WasSent(id.Text())
}
