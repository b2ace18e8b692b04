// Package dialect has the dialects that reference agents speak: the JSON of each version of the protocol. They have no
// state, and each is written from the text of its version alone.
package dialect

import (
	"encoding/base64"
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// The JSON of A2A 1.0: ProtoJSON with the overrides of A2A 1.0 §5.5 to §5.7.
type V10 struct{}

// MediaTypeA2A is the media type of A2A 1.0 over HTTP+JSON (§11.1).
const MediaTypeA2A = "application/a2a+json"

// Operation implements [model.Dialect].
func (V10) Operation(method string) (model.Operation, bool) {
	switch op := model.Operation(method); op {
	case model.SendMessage, model.StreamMessage, model.GetTask, model.ListTasks, model.CancelTask, model.SubscribeTask,
		model.CreatePushConfig, model.GetPushConfig,
		model.ListPushConfigs, model.DeletePushConfig, model.GetExtendedCard:
		return op, true
	}
	return "", false
}

// Result implements dialect (A2A 1.0 §9.4, §11.4): only send wraps its result.
func (d V10) Result(op model.Operation, r model.Reply) any {
	switch {
	case r.Message != nil:
		return jsonvalue.Object{{"message", d.Message(*r.Message)}}
	case r.Page != nil:
		return jsonvalue.Object{
			{"tasks", jsonvalue.Values(r.Page.Tasks, d.task)},
			{"nextPageToken", r.Page.Next},
			{"pageSize", r.Page.Size},
			{"totalSize", r.Page.Total},
		}
	case r.Config != nil:
		return d.pushConfig(*r.Config)
	case r.Configs != nil:
		return jsonvalue.Object{{"configs", jsonvalue.Values(r.Configs, d.pushConfig)}, {"nextPageToken", ""}}
	case r.Card != nil:
		return r.Card
	case r.Task == nil:
		return jsonvalue.Object{}
	case op == model.SendMessage:
		return jsonvalue.Object{{"task", d.task(*r.Task)}}
	}
	return d.task(*r.Task)
}

// Event implements [model.Dialect].
func (d V10) Event(e model.Event) any {
	switch {
	case e.Task != nil:
		return wrapped(e, d.task(*e.Task))
	case e.Message != nil:
		return wrapped(e, d.Message(*e.Message))
	case e.Status != nil:
		return wrapped(e, statusUpdate(e.Status, d.Status(e.Status.Status)))
	}
	return wrapped(e, artifactUpdate(e.Artifact, d.Artifact(e.Artifact.Artifact)).
		Flag("append", e.Artifact.Append).Flag("lastChunk", e.Artifact.Last))
}

func (d V10) task(t model.Task) any {
	head := jsonvalue.Object{{"id", t.ID}}.Optional("contextId", t.ContextID).With("status", d.Status(t.Status))
	return contents(head, t, d.Artifact, d.Message)
}

// Status writes a status.
func (d V10) Status(s model.Status) any { return status(s, protoState(s.State), d.Message) }

// Message writes a message.
func (d V10) Message(m model.Message) any {
	return jsonvalue.Object{{"messageId", m.ID}}.
		Optional("contextId", m.ContextID).
		Optional("taskId", m.TaskID).
		With("role", protoRole(m.Role)).
		With("parts", jsonvalue.Values(m.Parts, d.part)).
		Nested("metadata", m.Metadata).
		List("extensions", jsonvalue.Texts(m.Extensions...)).
		List("referenceTaskIds", jsonvalue.Texts(m.References...))
}

// Artifact writes an artifact.
func (d V10) Artifact(a model.Artifact) any {
	return artifactHead(a).With("parts", jsonvalue.Values(a.Parts, d.part))
}

func (V10) part(p model.Part) any {
	var o jsonvalue.Object
	switch p.Kind {
	case model.TextPart:
		o = jsonvalue.Object{{"text", p.Text}}
	case model.RawPart:
		o = jsonvalue.Object{{"raw", base64.StdEncoding.EncodeToString(p.Raw)}}
	case model.URLPart:
		o = jsonvalue.Object{{"url", p.URL}}
	case model.DataPart:
		o = jsonvalue.Object{{"data", p.Data}}
	}
	return o.Nested("metadata", p.Metadata).Optional("filename", p.Filename).Optional("mediaType", p.MediaType)
}

// pushConfig writes a config without its secrets, which no client needs back.
func (V10) pushConfig(c model.PushConfig) any {
	o := jsonvalue.Object{{"id", c.ID}, {"taskId", c.TaskID}, {"url", c.URL}}.Optional("tenant", c.Tenant)
	if len(c.Schemes) > 0 {
		o = append(o, jsonvalue.Member{"authentication", jsonvalue.Object{{"scheme", c.Schemes[0]}}})
	}
	return o
}

// Code implements dialect.
func (V10) Code(f *model.Failure) int { return model.PublicCode(f) }

// Details implements dialect (A2A 1.0 §9.5, §11.6).
func (V10) Details(f *model.Failure) []any {
	var out []any
	if reason := model.ErrorKinds[f.Code].Reason; reason != "" {
		out = append(out, jsonvalue.Object{
			{"@type", "type.googleapis.com/google.rpc.ErrorInfo"},
			{"reason", reason},
			{"domain", "a2a-protocol.org"},
		})
	}
	if len(f.Violations) > 0 {
		out = append(out, jsonvalue.Object{
			{"@type", "type.googleapis.com/google.rpc.BadRequest"},
			{"fieldViolations", jsonvalue.Values(f.Violations, func(v model.Violation) any {
				return jsonvalue.Object{{"field", v.Field}, {"description", v.Description}}
			})},
		})
	}
	return out
}

// Notification implements dialect: every event is sent unchanged (A2A 1.0 §4.3.3).
func (d V10) Notification(e model.Event, _ model.Task) (any, string, bool) {
	return d.Event(e), MediaTypeA2A, true
}

// Authorization implements [model.Dialect].
func (V10) Authorization(c model.PushConfig) string {
	if len(c.Schemes) == 0 {
		return ""
	}
	return strings.TrimSpace(c.Schemes[0] + " " + c.Credentials)
}
