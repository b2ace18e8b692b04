package dialect

import (
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// The JSON of A2A 0.3, as its JSON-RPC binding writes it: flat objects that name their kind.
type V03 struct{}

var v03Methods = map[string]model.Operation{
	"message/send":                        model.SendMessage,
	"message/stream":                      model.StreamMessage,
	"tasks/get":                           model.GetTask,
	"tasks/cancel":                        model.CancelTask,
	"tasks/resubscribe":                   model.SubscribeTask,
	"tasks/pushNotificationConfig/set":    model.CreatePushConfig,
	"tasks/pushNotificationConfig/get":    model.GetPushConfig,
	"tasks/pushNotificationConfig/list":   model.ListPushConfigs,
	"tasks/pushNotificationConfig/delete": model.DeletePushConfig,
	"agent/getAuthenticatedExtendedCard":  model.GetExtendedCard,
}

// Operation implements [model.Dialect].
func (V03) Operation(method string) (model.Operation, bool) {
	op, ok := v03Methods[method]
	return op, ok
}

// Result implements dialect (A2A 0.3 §7).
func (d V03) Result(_ model.Operation, r model.Reply) any {
	switch {
	case r.Message != nil:
		return d.message(*r.Message)
	case r.Config != nil:
		return d.pushConfig(*r.Config)
	case r.Configs != nil:
		return jsonvalue.Values(r.Configs, d.pushConfig)
	case r.Card != nil:
		return r.Card
	case r.Task != nil:
		return d.task(*r.Task)
	}
	return nil // tasks/pushNotificationConfig/delete, A2A 0.3 §7.8
}

// Event implements [model.Dialect].
func (d V03) Event(e model.Event) any {
	switch {
	case e.Task != nil:
		return d.task(*e.Task)
	case e.Message != nil:
		return d.message(*e.Message)
	case e.Status != nil:
		return jsonvalue.Object{
			{"kind", "status-update"},
			{"taskId", e.Status.TaskID},
			{"contextId", e.Status.ContextID},
			{"status", d.status(e.Status.Status)},
			{"final", e.EndsStream()}, // the stream ends here, A2A 0.3 §7.2.2
		}
	}
	return jsonvalue.Object{
		{"kind", "artifact-update"},
		{"taskId", e.Artifact.TaskID},
		{"contextId", e.Artifact.ContextID},
		{"artifact", d.artifact(e.Artifact.Artifact)},
		{"append", e.Artifact.Append},
		{"lastChunk", e.Artifact.Last},
	}
}

func (d V03) task(t model.Task) any {
	head := jsonvalue.Object{
		{"kind", "task"}, {"id", t.ID}, {"contextId", t.ContextID}, {"status", d.status(t.Status)},
	}
	return contents(head, t, d.artifact, d.message)
}

func (d V03) status(s model.Status) any { return status(s, string(s.State), d.message) }

func (d V03) message(m model.Message) any {
	return jsonvalue.Object{{"kind", "message"}, {"messageId", m.ID}}.
		Optional("contextId", m.ContextID).
		Optional("taskId", m.TaskID).
		With("role", string(m.Role)).
		With("parts", jsonvalue.Values(m.Parts, d.part)).
		Nested("metadata", m.Metadata).
		List("extensions", jsonvalue.Texts(m.Extensions...)).
		List("referenceTaskIds", jsonvalue.Texts(m.References...))
}

func (d V03) artifact(a model.Artifact) any {
	return artifactHead(a).With("parts", jsonvalue.Values(a.Parts, d.part))
}

func (V03) part(p model.Part) any {
	var o jsonvalue.Object
	switch p.Kind {
	case model.TextPart:
		o = jsonvalue.Object{{"kind", "text"}, {"text", p.Text}}
	case model.DataPart:
		o = jsonvalue.Object{{"kind", "data"}, {"data", p.Data}}
	case model.RawPart, model.URLPart:
		o = jsonvalue.Object{{"kind", "file"}, {"file", file(p)}}
	}
	return o.Nested("metadata", p.Metadata)
}

// pushConfig writes a config without its secrets, as A2A 0.3 §7.5 lets agents do.
func (V03) pushConfig(c model.PushConfig) any {
	o := authenticated(jsonvalue.Object{{"id", c.ID}, {"url", c.URL}}, c)
	return jsonvalue.Object{{"taskId", c.TaskID}, {"pushNotificationConfig", o}}
}

// Code implements dialect.
func (V03) Code(f *model.Failure) int { return model.PublicCode(f) }

// Details implements dialect: 0.3 defines no details.
func (V03) Details(*model.Failure) []any { return nil }

// Notification implements dialect: the Task, when its status has changed (A2A 0.3 §9.5).
func (d V03) Notification(e model.Event, t model.Task) (any, string, bool) {
	return d.task(t), "application/json", e.Status != nil
}

// Authorization implements [model.Dialect].
func (V03) Authorization(c model.PushConfig) string {
	if len(c.Schemes) == 0 || c.Credentials == "" {
		return ""
	}
	return strings.TrimSpace(c.Schemes[0] + " " + c.Credentials)
}

// The JSON of A2A 0.2, which equals 0.3's except for the extended card, for which 0.2 has no method.
type V02 struct{ V03 }

// Operation implements [model.Dialect].
func (d V02) Operation(method string) (model.Operation, bool) {
	op, ok := d.V03.Operation(method)
	return op, ok && op != model.GetExtendedCard
}
