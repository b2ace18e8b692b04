package dialect

import (
	"cmp"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// The JSON of A2A 0.1: tasks that clients name, in sessions; no messages for an answer.
type V01 struct{ V03 }

var v01Methods = map[string]model.Operation{
	"tasks/send":                 model.SendMessage,
	"tasks/sendSubscribe":        model.StreamMessage,
	"tasks/get":                  model.GetTask,
	"tasks/cancel":               model.CancelTask,
	"tasks/resubscribe":          model.SubscribeTask,
	"tasks/pushNotification/set": model.CreatePushConfig,
	"tasks/pushNotification/get": model.GetPushConfig,
}

// Operation implements [model.Dialect].
func (V01) Operation(method string) (model.Operation, bool) {
	op, ok := v01Methods[method]
	return op, ok
}

// Decode implements dialect (A2A 0.1 §6, §7).
func (d V01) Decode(op model.Operation, params jsonvalue.Object) (*model.Request, *model.Failure) {
	f, r := model.ReadFields(params), &model.Request{Op: op, TaskID: f01(params)}
	if r.TaskID == "" {
		f.Complain("id", "is required")
	}
	switch op {
	case model.SendMessage, model.StreamMessage:
		d.readSend(f, r)
	case model.GetTask, model.SubscribeTask:
		r.History = f.Count("historyLength")
	case model.CancelTask:
		r.Metadata = f.Free("metadata")
	case model.CreatePushConfig:
		if c, ok := f.Nested("pushNotificationConfig"); ok {
			r.Push = d.readPushConfig(c)
		} else {
			f.Complain("pushNotificationConfig", "is required")
		}
	}
	return r, f.Failure()
}

// f01 returns the task id that all parameters have.
func f01(params jsonvalue.Object) string { return model.ReadFields(params).Text("id") }

func (d V01) readSend(f model.Fields, r *model.Request) {
	m, ok := f.Nested("message")
	if !ok {
		f.Complain("message", "is required")
		return
	}
	r.Message = model.Message{TaskID: r.TaskID, ContextID: f.Text("sessionId"), Metadata: m.Free("metadata")}
	r.Message.Role = readRole(m)
	for p := range m.Each("parts") {
		r.Message.Parts = append(r.Message.Parts, d.readPart(p))
	}
	if len(r.Message.Parts) == 0 {
		m.Complain("parts", "must hold at least one part")
	}
	r.History, r.Metadata = f.Count("historyLength"), f.Free("metadata")
	if p, ok := f.Nested("pushNotification"); ok {
		r.Push = d.readPushConfig(p)
	}
}

// readPart reads a part as 0.3 does, under another name of the discriminator; without one it is text.
func (d V01) readPart(f model.Fields) model.Part {
	f.Object = f.Object.With("kind", cmp.Or(f.Text("type"), "text"))
	return d.V03.readPart(f)
}

func (d V01) readPushConfig(f model.Fields) *model.PushConfig {
	c := d.V03.readPushConfig(f)
	c.Dialect, c.ID, c.Alone = d, "", true // configs have no ids
	return c
}

// Result implements dialect (A2A 0.1 §7).
func (d V01) Result(_ model.Operation, r model.Reply) any {
	switch {
	case r.Config != nil:
		return d.pushConfig(*r.Config)
	case r.Task != nil:
		return d.task(*r.Task)
	}
	return nil
}

// Event writes updates only: 0.1 streams have nothing else, so a task becomes its status. The last event is marked
// final: at the beginning of a stream, only an ended task is final.
func (d V01) Event(e model.Event) any {
	switch {
	case e.Task != nil:
		return jsonvalue.Object{
			{"id", e.Task.ID},
			{"status", d.status(e.Task.Status)},
			{"final", e.Task.Status.State.Terminal()},
		}
	case e.Status != nil:
		return jsonvalue.Object{{"id", e.Status.TaskID}, {"status", d.status(e.Status.Status)}, {"final", e.EndsStream()}}
	}
	a := d.artifact(e.Artifact.Artifact).(jsonvalue.Object).With("index", e.Artifact.Index).With("append",
		e.Artifact.Append).With(
		"lastChunk", e.Artifact.Last,
	)
	return jsonvalue.Object{{"id", e.Artifact.TaskID}, {"artifact", a}}
}

func (d V01) task(t model.Task) any {
	var artifacts []any
	for i, a := range t.Artifacts {
		artifacts = append(artifacts, d.artifact(a).(jsonvalue.Object).With("index", i))
	}
	return jsonvalue.Object{{"id", t.ID}, {"sessionId", t.ContextID}, {"status", d.status(t.Status)}}.
		List("artifacts", artifacts).
		List("history", jsonvalue.Values(t.History, d.message)).
		Nested("metadata", t.Metadata)
}

func (d V01) status(s model.Status) any { return status(s, string(s.State), d.message) }

func (d V01) message(m model.Message) any {
	return jsonvalue.Object{{"role", string(m.Role)}, {"parts", jsonvalue.Values(m.Parts, d.part)}}.Nested("metadata",
		m.Metadata)
}

func (d V01) artifact(a model.Artifact) any {
	return jsonvalue.Object{}.Optional("name", a.Name).Optional("description", a.Description).With("parts",
		jsonvalue.Values(a.Parts, d.part))
}

func (V01) part(p model.Part) any {
	switch p.Kind {
	case model.DataPart:
		return jsonvalue.Object{{"type", "data"}, {"data", p.Data}}
	case model.RawPart, model.URLPart:
		return jsonvalue.Object{{"type", "file"}, {"file", file(p)}}
	}
	return jsonvalue.Object{{"type", "text"}, {"text", p.Text}}
}

// pushConfig writes a config without its secrets.
func (V01) pushConfig(c model.PushConfig) any {
	o := authenticated(jsonvalue.Object{{"url", c.URL}}, c)
	return jsonvalue.Object{{"id", c.TaskID}, {"pushNotificationConfig", o}}
}

// Notification implements dialect: the Task, when its status has changed.
func (d V01) Notification(e model.Event, t model.Task) (any, string, bool) {
	return d.task(t), "application/json", e.Status != nil
}
