package analyzer

import (
	"strings"

	"a2atap/analyzer/digest"
	"a2atap/proxy/a2a"
)

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

// judgedBefore reports whether a message of a history was observed when the client sent it, and is told again as it was.
// What the agent has changed in a message that was right is the agent's.
func (e *Engine) judgedBefore(v *a2a.Entity) bool {
	x, id := e.part.Exchange, v.Member("messageId")
	var sent *SentMessage
	if x.Call.MessageID != "" && id.Is(x.Call.MessageID) {
		sent = SentMessageOf(x)
	} else if e.sent != nil {
		sent = e.sent.Sent(x, v.Owner.Get("id").Text(), id.Text())
	}
	if sent != nil && sent.changedIn(a2a.Message{Value: v.Value}) {
		v.WrittenBy(a2a.Agent)
		return false
	}
	return sent != nil
}

// A SentMessage is what is kept of a message that a client has sent.
type SentMessage struct {
	ID      string
	role    string
	right   bool // nothing in it is wrong that an agent could have handed on
	content digest.Content
}

// SentMessageOf returns what is to be kept of the message that an exchange sends.
func SentMessageOf(x *Exchange) *SentMessage {
	m := a2a.Message{Value: x.Call.Message}
	s := &SentMessage{ID: x.Call.MessageID, role: m.RoleText(), content: digest.ContentOf(m.Parts())}
	modern := x.Dialects == a2a.Of(a2a.V1_0)
	s.right = m.Role() == a2a.UserRole && modern == strings.HasPrefix(s.role, "ROLE_") && m.Parts().Len() > 0
	for _, part := range m.Parts().All() {
		s.right = s.right && part.PartKind() != a2a.UnknownPart && !(modern && (part.Has("kind") || part.Has("type")))
	}
	return s
}

// changedIn reports whether a message that was right is told again as another one.
func (s *SentMessage) changedIn(m a2a.Message) bool {
	return s.right && (s.role != m.RoleText() || s.content != digest.ContentOf(m.Parts()))
}
