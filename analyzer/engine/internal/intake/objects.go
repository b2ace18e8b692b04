package intake

import (
	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// requestObjects observes the entities of a request.
func (ob *observer) requestObjects(in *openExchange, o *analysis.Observation) {
	ob.part, ob.partOf, ob.visits = *o, in, 0
	ob.walker.Request(&o.Exchange.Call)
	ob.part, ob.partOf = analysis.Observation{}, nil
}

// answerObjects observes the entities of an answer, an event or a notification.
func (ob *observer) answerObjects(in *openExchange, o *analysis.Observation, p *a2a.Payload) {
	ob.part, ob.partOf, ob.visits = *o, in, 0
	if maybe0_1(o.Exchange, p) {
		ob.part.Dialects = a2a.Of(a2a.V0_1, a2a.V0_2, a2a.V0_3)
	}
	ob.walker.Payload(p, &o.Exchange.Call, ob.part.Dialects)
	ob.part, ob.partOf = analysis.Observation{}, nil
}

// manyObjects is how many objects of a text are observed even if time is short.
const manyObjects = 4 << 10

// visit observes one entity, and reports whether to descend into its children.
func (ob *observer) visit(v *a2a.Entity) bool {
	if ob.visits++; ob.visits >= manyObjects && ob.outOfTime() {
		ob.partOf.lack("its text", noTime)
		ob.partOf.cut()
		return false
	}
	if v.Type == a2a.MessageEntity && v.Echoed() && ob.judgedBefore(v) {
		return false
	}
	o := &ob.part
	o.Entity, o.Kind = v, analysis.FrameSeen
	if int(v.Type) < len(entityKinds) && entityKinds[v.Type] != 0 {
		o.Kind = entityKinds[v.Type]
	}
	ob.observe(ob.partOf, o)
	return true
}

// judgedBefore reports whether a message of a history was observed when the client sent it, and is repeated unchanged.
// If the agent changed a correct message, the change is the agent's.
func (ob *observer) judgedBefore(v *a2a.Entity) bool {
	x, id := ob.part.Exchange, v.Member("messageId")
	var sent *analysis.SentMessage
	if x.Call.MessageID != "" && id.Is(x.Call.MessageID) {
		sent = analysis.SentMessageOf(x)
	} else {
		sent = ob.dispatcher.Sent(x, v.Owner.Get("id").Text(), id.Text())
	}
	if sent != nil && sent.ChangedIn(a2a.Message{Value: v.Value}) {
		v.WrittenBy(a2a.Agent)
		return false
	}
	return sent != nil
}

// entityKinds maps types to the kinds of their observations; other types are FrameSeen.
var entityKinds = [...]analysis.Kinds{
	a2a.TaskEntity:           analysis.SnapshotSeen,
	a2a.StatusEntity:         analysis.StatusSeen,
	a2a.MessageEntity:        analysis.MessageSeen,
	a2a.PartEntity:           analysis.PartSeen,
	a2a.ArtifactEntity:       analysis.ArtifactSeen,
	a2a.StatusUpdateEntity:   analysis.UpdateSeen,
	a2a.ArtifactUpdateEntity: analysis.UpdateSeen,
	a2a.PushContainerEntity:  analysis.PushConfigSeen,
	a2a.PushConfigEntity:     analysis.PushConfigSeen,
	a2a.AuthenticationEntity: analysis.PushConfigSeen,
	a2a.PushConfigListEntity: analysis.FrameSeen,
}
