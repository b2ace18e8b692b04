package dialect

import (
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// Decode implements dialect (A2A 1.0 §3.1, §4.1).
func (d V10) Decode(op model.Operation, params jsonvalue.Object) (*model.Request, *model.Failure) {
	f, r := model.ReadFields(params), &model.Request{Op: op}
	r.Tenant = f.Text("tenant")
	switch op {
	case model.SendMessage, model.StreamMessage:
		d.readSend(f, r)
	case model.GetTask:
		r.TaskID, r.History = f.Required("id"), f.Count("historyLength")
	case model.CancelTask:
		r.TaskID, r.Metadata = f.Required("id"), f.Free("metadata")
	case model.SubscribeTask:
		r.TaskID = f.Required("id")
	case model.ListTasks:
		r.List = d.readListing(f)
	case model.CreatePushConfig:
		r.TaskID, r.Push = f.Required("taskId"), d.readPushConfig(f)
	case model.GetPushConfig, model.DeletePushConfig:
		r.TaskID, r.ConfigID = f.Required("taskId"), f.Required("id")
	case model.ListPushConfigs:
		r.TaskID = f.Required("taskId")
	}
	return r, f.Failure()
}

func (d V10) readSend(f model.Fields, r *model.Request) {
	m, ok := f.Nested("message")
	if !ok && f.Value("message") == nil {
		f.Complain("message", "is required")
	}
	if ok {
		r.Message = d.ReadMessage(m)
	}
	r.Metadata = f.Free("metadata")
	if c, ok := f.Nested("configuration"); ok {
		r.Accepts = c.Texts("acceptedOutputModes")
		r.History = c.Count("historyLength")
		r.Immediate = c.Boolean("returnImmediately")
		if p, ok := c.Nested("taskPushNotificationConfig"); ok {
			r.Push = d.readPushConfig(p)
		}
	}
}

// ReadMessage reads a message.
func (d V10) ReadMessage(f model.Fields) model.Message {
	m := model.Message{
		ID: f.Required("messageId"), ContextID: f.Text("contextId"), TaskID: f.Text("taskId"),
		References: f.Texts("referenceTaskIds"), Extensions: f.Texts("extensions"), Metadata: f.Free("metadata"),
	}
	m.Role = readProtoRole(f)
	for p := range f.Each("parts") {
		m.Parts = append(m.Parts, d.ReadPart(p))
	}
	if a, _ := f.Value("parts").([]any); len(a) == 0 {
		f.Complain("parts", "must hold at least one part") // A2A 1.0 §5.7
	}
	return m
}

// ReadPart reads a part, which holds exactly one of four members.
func (d V10) ReadPart(f model.Fields) model.Part {
	p := model.Part{MediaType: f.Text("mediaType"), Filename: f.Text("filename"), Metadata: f.Free("metadata")}
	n := 0
	if f.Value("text") != nil {
		p.Kind, p.Text = model.TextPart, f.Text("text")
		n++
	}
	if f.Value("raw") != nil {
		p.Kind, p.Raw = model.RawPart, f.Bytes("raw")
		n++
	}
	if f.Value("url") != nil {
		p.Kind, p.URL = model.URLPart, f.Text("url")
		n++
	}
	if f.Has("data") {
		p.Kind, p.Data = model.DataPart, f.Value("data")
		n++
	}
	if n != 1 {
		f.Reject("must hold exactly one of text, raw, url and data")
	}
	return p
}

func (d V10) readListing(f model.Fields) model.Listing {
	l := model.Listing{
		ContextID: f.Text("contextId"), Since: f.Time("statusTimestampAfter"),
		History: f.Count("historyLength"), Artifacts: f.Boolean("includeArtifacts"), PageSize: 50,
	}
	if n := f.Integer("pageSize"); n != nil {
		l.PageSize = *n
		if *n < 1 || *n > 100 {
			f.Complain("pageSize", "must be between 1 and 100")
		}
	}
	if s := f.Text("status"); s != "" && s != "TASK_STATE_UNSPECIFIED" {
		l.State = d.ReadState(s)
		if l.State == "" {
			f.Complain("status", "must be a task state such as TASK_STATE_WORKING")
		}
	}
	if token := f.Text("pageToken"); token != "" {
		var err error
		if l.After, err = model.ParsePosition(token); err != nil {
			f.Complain("pageToken", "was not issued by this agent")
		}
	}
	return l
}

// ReadState returns the state of that 1.0 spelling, or nothing.
func (d V10) ReadState(s string) model.State {
	for _, known := range model.States {
		if protoState(known) == s {
			return known
		}
	}
	return ""
}

func (d V10) readPushConfig(f model.Fields) *model.PushConfig {
	c := &model.PushConfig{ID: f.Text("id"), URL: model.ReadWebhookURL(f), Token: f.Text("token"), Dialect: d}
	if a, ok := f.Nested("authentication"); ok {
		c.Schemes, c.Credentials = []string{a.Required("scheme")}, strings.TrimSpace(a.Text("credentials"))
	}
	return c
}
