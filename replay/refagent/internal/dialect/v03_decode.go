package dialect

import (
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// Decode implements dialect (A2A 0.3 §6, §7).
func (d V03) Decode(op model.Operation, params jsonvalue.Object) (*model.Request, *model.Failure) {
	f, r := model.ReadFields(params), &model.Request{Op: op}
	switch op {
	case model.SendMessage, model.StreamMessage:
		d.readSend(f, r)
	case model.GetTask:
		r.TaskID, r.History = f.Required("id"), f.Count("historyLength")
	case model.CancelTask:
		r.TaskID, r.Metadata = f.Required("id"), f.Free("metadata")
	case model.SubscribeTask, model.ListPushConfigs:
		r.TaskID = f.Required("id")
	case model.CreatePushConfig:
		r.TaskID = f.Required("taskId")
		c, ok := f.Nested("pushNotificationConfig")
		if !ok {
			f.Complain("pushNotificationConfig", "is required")
			break
		}
		r.Push = d.readPushConfig(c)
	case model.GetPushConfig:
		r.TaskID, r.ConfigID = f.Required("id"), f.Text("pushNotificationConfigId")
	case model.DeletePushConfig:
		r.TaskID, r.ConfigID = f.Required("id"), f.Required("pushNotificationConfigId")
	}
	return r, f.Failure()
}

func (d V03) readSend(f model.Fields, r *model.Request) {
	m, ok := f.Nested("message")
	if !ok && f.Value("message") == nil {
		f.Complain("message", "is required")
	}
	if ok {
		r.Message = d.readMessage(m)
	}
	r.Metadata = f.Free("metadata")
	if c, ok := f.Nested("configuration"); ok {
		r.Accepts = c.Texts("acceptedOutputModes")
		r.History = c.Count("historyLength")
		// Absent leaves the choice to the agent; this one waits, as 1.0 does by default.
		r.Immediate = c.Value("blocking") != nil && !c.Boolean("blocking")
		if p, ok := c.Nested("pushNotificationConfig"); ok {
			r.Push = d.readPushConfig(p)
		}
	}
}

func (d V03) readMessage(f model.Fields) model.Message {
	m := model.Message{
		ID: f.Required("messageId"), ContextID: f.Text("contextId"), TaskID: f.Text("taskId"),
		References: f.Texts("referenceTaskIds"), Extensions: f.Texts("extensions"), Metadata: f.Free("metadata"),
	}
	if k := f.Text("kind"); k != "" && k != "message" {
		f.Complain("kind", `must be "message"`)
	}
	m.Role = readRole(f)
	for p := range f.Each("parts") {
		m.Parts = append(m.Parts, d.readPart(p))
	}
	if f.Value("parts") == nil {
		f.Complain("parts", "is required")
	}
	return m
}

func (d V03) readPart(f model.Fields) model.Part {
	p := model.Part{Metadata: f.Free("metadata")}
	switch f.Text("kind") {
	case "text":
		p.Text = f.Text("text")
		if f.Value("text") == nil {
			f.Complain("text", "is required")
		}
	case "data":
		p.Kind, p.Data = model.DataPart, f.Value("data")
		if p.Data == nil {
			f.Complain("data", "is required")
		}
	case "file":
		d.readFile(f, &p)
	default:
		f.Complain("kind", `must be "text", "file" or "data"`)
	}
	return p
}

// readFile reads a file, which holds either bytes or a uri.
func (d V03) readFile(f model.Fields, p *model.Part) {
	file, ok := f.Nested("file")
	if !ok {
		f.Complain("file", "is required")
		return
	}
	p.Filename, p.MediaType = file.Text("name"), file.Text("mimeType")
	bytes, uri := file.Value("bytes") != nil, file.Value("uri") != nil
	switch {
	case bytes == uri:
		f.Complain("file", "must hold either bytes or uri")
	case bytes:
		p.Kind, p.Raw = model.RawPart, file.Bytes("bytes")
	default:
		p.Kind, p.URL = model.URLPart, file.Text("uri")
	}
}

func (d V03) readPushConfig(f model.Fields) *model.PushConfig {
	c := &model.PushConfig{ID: f.Text("id"), URL: model.ReadWebhookURL(f), Token: f.Text("token"), Dialect: d}
	if a, ok := f.Nested("authentication"); ok {
		c.Schemes, c.Credentials = a.Texts("schemes"), a.Text("credentials")
	}
	return c
}
