package intake

import (
	"a2atap/analyzer"
	"a2atap/proxy/a2a"
)

// requestObjects observes the entities of a request.
func (ob *observer) requestObjects(in *openExchange, o *analyzer.Observation) {
	ob.part, ob.partOf = *o, in
	ob.walker.Request(&o.Exchange.Call)
	ob.part, ob.partOf = analyzer.Observation{}, nil
}

// answerObjects observes the entities of an answer, an event or a notification.
func (ob *observer) answerObjects(in *openExchange, o *analyzer.Observation, p *a2a.Payload) {
	ob.part, ob.partOf = *o, in
	if maybe0_1(o.Exchange, p) {
		ob.part.Dialects = a2a.Of(a2a.V0_1, a2a.V0_2, a2a.V0_3)
	}
	ob.walker.Payload(p, &o.Exchange.Call, ob.part.Dialects)
	ob.part, ob.partOf = analyzer.Observation{}, nil
}

// visit observes one entity, and reports whether those in it are to be observed too.
func (ob *observer) visit(v *a2a.Entity) bool {
	if v.Type == a2a.MessageEntity && v.Echoed() && ob.judgedBefore(v) {
		return false
	}
	o := &ob.part
	o.Entity, o.Kind = v, analyzer.FrameSeen
	if int(v.Type) < len(entityKinds) && entityKinds[v.Type] != 0 {
		o.Kind = entityKinds[v.Type]
	}
	ob.observe(ob.partOf, o)
	return true
}

// judgedBefore reports whether a message of a history was observed when the client sent it.
func (ob *observer) judgedBefore(v *a2a.Entity) bool {
	x, id := ob.part.Exchange, v.Member("messageId")
	if x.Call.MessageID != "" && id.Is(x.Call.MessageID) {
		return true
	}
	return ob.dispatcher.WasSent(x, v.Owner.Get("id").Text(), id.Text())
}

// entityKinds says with which kind an entity is observed; FrameSeen for types that are not in it.
var entityKinds = [...]analyzer.Kinds{
	a2a.TaskEntity:           analyzer.SnapshotSeen,
	a2a.StatusEntity:         analyzer.StatusSeen,
	a2a.MessageEntity:        analyzer.MessageSeen,
	a2a.PartEntity:           analyzer.PartSeen,
	a2a.ArtifactEntity:       analyzer.ArtifactSeen,
	a2a.StatusUpdateEntity:   analyzer.UpdateSeen,
	a2a.ArtifactUpdateEntity: analyzer.UpdateSeen,
	a2a.PushContainerEntity:  analyzer.PushConfigSeen,
	a2a.PushConfigEntity:     analyzer.PushConfigSeen,
	a2a.AuthenticationEntity: analyzer.PushConfigSeen,
	a2a.PushConfigListEntity: analyzer.FrameSeen,
}
