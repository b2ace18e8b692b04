package dialect

import (
	"encoding/base64"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// The JSON of A2A 0.3 over HTTP+JSON as its proto definition gives it: no discriminators, "content" for parts, enums by
// their names, defaults left out.
type V03proto struct{ V03 }

// Decode implements dialect.
func (d V03proto) Decode(op model.Operation, params jsonvalue.Object) (*model.Request, *model.Failure) {
	switch op {
	case model.SendMessage, model.StreamMessage:
	case model.CreatePushConfig:
		params = unwrapConfig(params)
		fallthrough
	default:
		return d.V03.Decode(op, params)
	}
	f, r := model.ReadFields(params), &model.Request{Op: op}
	m, ok := f.Nested("message")
	if !ok {
		m, ok = f.Nested("request") // 0.2
	}
	if ok {
		r.Message = d.readMessage(m)
	} else {
		f.Complain("message", "is required")
	}
	r.Metadata = f.Free("metadata")
	if c, ok := f.Nested("configuration"); ok {
		r.Accepts = c.Texts("acceptedOutputModes")
		if n := c.Count("historyLength"); n != nil && *n > 0 {
			r.History = n
		}
		r.Immediate = !c.Boolean("blocking") // false is left out
		if p, ok := c.Nested("pushNotification"); ok {
			r.Push = d.readPushConfig(p)
		}
	}
	return r, f.Failure()
}

func (d V03proto) readMessage(f model.Fields) model.Message {
	m := model.Message{
		ID: f.Required("messageId"), ContextID: f.Text("contextId"), TaskID: f.Text("taskId"),
		Extensions: f.Texts("extensions"), Metadata: f.Free("metadata"),
	}
	m.Role = readProtoRole(f)
	for p := range f.Each("content") {
		m.Parts = append(m.Parts, d.readPart(p))
	}
	return m
}

func (V03proto) readPart(f model.Fields) model.Part {
	p := model.Part{Metadata: f.Free("metadata")}
	if f.Value("text") != nil {
		p.Text = f.Text("text")
		return p
	}
	if d, ok := f.Nested("data"); ok {
		p.Kind, p.Data = model.DataPart, d.Value("data")
		return p
	}
	file, ok := f.Nested("file")
	if !ok {
		f.Reject("must hold one of text, file and data")
		return p
	}
	p.MediaType = file.Text("mimeType")
	if file.Value("fileWithBytes") != nil {
		p.Kind, p.Raw = model.RawPart, file.Bytes("fileWithBytes")
	} else {
		p.Kind, p.URL = model.URLPart, file.Text("fileWithUri")
	}
	return p
}

// Result implements dialect.
func (d V03proto) Result(op model.Operation, r model.Reply) any {
	switch {
	case r.Message != nil:
		return jsonvalue.Object{{"message", d.message(*r.Message)}}
	case r.Task != nil && op == model.SendMessage:
		return jsonvalue.Object{{"task", d.task(*r.Task)}}
	case r.Task != nil:
		return d.task(*r.Task)
	case r.Config != nil:
		return d.pushConfig(*r.Config)
	case r.Configs != nil:
		return jsonvalue.Object{}.List("configs", jsonvalue.Values(r.Configs, d.pushConfig))
	case r.Card != nil:
		return r.Card
	}
	return jsonvalue.Object{}
}

// Event implements [model.Dialect].
func (d V03proto) Event(e model.Event) any {
	switch {
	case e.Task != nil:
		return wrapped(e, d.task(*e.Task))
	case e.Message != nil:
		return wrapped(e, d.message(*e.Message))
	case e.Status != nil:
		return wrapped(e, statusUpdate(e.Status, d.status(e.Status.Status)).Flag("final", e.EndsStream()))
	}
	return wrapped(e, artifactUpdate(e.Artifact, d.artifact(e.Artifact.Artifact)).
		Flag("append", e.Artifact.Append).Flag("lastChunk", e.Artifact.Last))
}

func (d V03proto) task(t model.Task) any {
	head := jsonvalue.Object{{"id", t.ID}, {"contextId", t.ContextID}, {"status", d.status(t.Status)}}
	return contents(head, t, d.artifact, d.message)
}

func (d V03proto) status(s model.Status) any { return status(s, d.state(s.State), d.message) }

// state returns a state in the spelling of 0.3's proto definition, which has a double L in the canceled state.
func (V03proto) state(s model.State) string {
	if s == model.Canceled {
		return "TASK_STATE_CANCELLED"
	}
	return protoState(s)
}

func (d V03proto) message(m model.Message) any {
	return jsonvalue.Object{{"messageId", m.ID}}.
		Optional("contextId", m.ContextID).
		Optional("taskId", m.TaskID).
		With("role", protoRole(m.Role)).
		List("content", jsonvalue.Values(m.Parts, d.part)).
		Nested("metadata", m.Metadata).
		List("extensions", jsonvalue.Texts(m.Extensions...))
}

func (d V03proto) artifact(a model.Artifact) any {
	return artifactHead(a).List("parts", jsonvalue.Values(a.Parts, d.part))
}

func (V03proto) part(p model.Part) any {
	switch p.Kind {
	case model.DataPart:
		return jsonvalue.Object{{"data", jsonvalue.Object{{"data", p.Data}}}}
	case model.RawPart:
		return jsonvalue.Object{
			{"file", jsonvalue.Object{{"fileWithBytes", base64.StdEncoding.EncodeToString(p.Raw)}}.Optional("mimeType",
				p.MediaType)},
		}
	case model.URLPart:
		return jsonvalue.Object{{"file", jsonvalue.Object{{"fileWithUri", p.URL}}.Optional("mimeType", p.MediaType)}}
	}
	return jsonvalue.Object{{"text", p.Text}}
}

// pushConfig writes a config without its secrets; its name has the task.
func (V03proto) pushConfig(c model.PushConfig) any {
	return jsonvalue.Object{
		{"name", "tasks/" + c.TaskID + "/pushNotificationConfigs/" + c.ID},
		{"pushNotificationConfig", authenticated(jsonvalue.Object{{"id", c.ID}, {"url", c.URL}}, c)},
	}
}

// Notification implements dialect: the Task, when its status has changed (A2A 0.3 §9.5).
func (d V03proto) Notification(e model.Event, t model.Task) (any, string, bool) {
	return d.task(t), "application/json", e.Status != nil
}
