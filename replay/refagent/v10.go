package refagent

import (
	"encoding/base64"
	"strings"
)

// The JSON of A2A 1.0: ProtoJSON with the overrides of A2A 1.0 §5.5 to §5.7.
type v10 struct{}

const mediaTypeA2A = "application/a2a+json"

func (v10) operation(method string) (operation, bool) {
	switch op := operation(method); op {
	case sendMessage, streamMessage, getTask, listTasks, cancelTask, subscribeTask, createPushConfig, getPushConfig,
		listPushConfigs, deletePushConfig, getExtendedCard:
		return op, true
	}
	return "", false
}

// result implements dialect (A2A 1.0 §9.4, §11.4): only send wraps what it gives.
func (d v10) result(op operation, r reply) any {
	switch {
	case r.message != nil:
		return object{{"message", d.message(*r.message)}}
	case r.page != nil:
		return object{
			{"tasks", values(r.page.tasks, d.task)},
			{"nextPageToken", r.page.next},
			{"pageSize", r.page.size},
			{"totalSize", r.page.total},
		}
	case r.config != nil:
		return d.pushConfig(*r.config)
	case r.configs != nil:
		return object{{"configs", values(r.configs, d.pushConfig)}, {"nextPageToken", ""}}
	case r.card != nil:
		return r.card
	case r.task == nil:
		return object{}
	case op == sendMessage:
		return object{{"task", d.task(*r.task)}}
	}
	return d.task(*r.task)
}

func (d v10) event(e event) any {
	switch {
	case e.task != nil:
		return object{{"task", d.task(*e.task)}}
	case e.message != nil:
		return object{{"message", d.message(*e.message)}}
	case e.status != nil:
		return object{{"statusUpdate", object{
			{"taskId", e.status.taskID},
			{"contextId", e.status.contextID},
			{"status", d.status(e.status.status)},
		}}}
	}
	u := object{
		{"taskId", e.artifact.taskID},
		{"contextId", e.artifact.contextID},
		{"artifact", d.artifact(e.artifact.artifact)},
	}
	return object{{"artifactUpdate", u.flag("append", e.artifact.append).flag("lastChunk", e.artifact.last)}}
}

func (d v10) task(t task) any {
	return object{{"id", t.id}}.
		optional("contextId", t.contextID).
		with("status", d.status(t.status)).
		list("artifacts", values(t.artifacts, d.artifact)).
		list("history", values(t.history, func(m message) any { return d.message(m) })).
		nested("metadata", t.metadata)
}

func (d v10) status(s status) any {
	o := object{{"state", d.state(s.state)}}
	if s.message != nil {
		o = o.with("message", d.message(*s.message))
	}
	return o.with("timestamp", timestamp(s.at))
}

// state spells a state as A2A 1.0 §4.1.3.
func (v10) state(s state) string {
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}

func (d v10) message(m message) any {
	return object{{"messageId", m.id}}.
		optional("contextId", m.contextID).
		optional("taskId", m.taskID).
		with("role", "ROLE_"+strings.ToUpper(string(m.role))).
		with("parts", values(m.parts, d.part)).
		nested("metadata", m.metadata).
		list("extensions", texts(m.extensions...)).
		list("referenceTaskIds", texts(m.references...))
}

func (d v10) artifact(a artifact) any {
	return object{{"artifactId", a.id}}.
		optional("name", a.name).
		optional("description", a.description).
		with("parts", values(a.parts, d.part))
}

func (v10) part(p part) any {
	var o object
	switch p.kind {
	case textPart:
		o = object{{"text", p.text}}
	case rawPart:
		o = object{{"raw", base64.StdEncoding.EncodeToString(p.raw)}}
	case urlPart:
		o = object{{"url", p.url}}
	case dataPart:
		o = object{{"data", p.data}}
	}
	return o.nested("metadata", p.metadata).optional("filename", p.filename).optional("mediaType", p.mediaType)
}

// pushConfig writes a config without its secrets: nobody needs them back.
func (v10) pushConfig(c pushConfig) any {
	o := object{{"id", c.id}, {"taskId", c.taskID}, {"url", c.url}}.optional("tenant", c.tenant)
	if len(c.schemes) > 0 {
		o = append(o, member{"authentication", object{{"scheme", c.schemes[0]}}})
	}
	return o
}

// code implements dialect.
func (v10) code(f *failure) int { return publicCode(f) }

// details implements dialect (A2A 1.0 §9.5, §11.6).
func (v10) details(f *failure) []any {
	var out []any
	if reason := errorKinds[f.code].reason; reason != "" {
		out = append(out, object{
			{"@type", "type.googleapis.com/google.rpc.ErrorInfo"},
			{"reason", reason},
			{"domain", "a2a-protocol.org"},
		})
	}
	if len(f.violations) > 0 {
		out = append(out, object{
			{"@type", "type.googleapis.com/google.rpc.BadRequest"},
			{"fieldViolations", values(f.violations, func(v violation) any {
				return object{{"field", v.field}, {"description", v.description}}
			})},
		})
	}
	return out
}

// notification implements dialect: every event is sent as it stands (A2A 1.0 §4.3.3).
func (d v10) notification(e event, _ task) (any, string, bool) { return d.event(e), mediaTypeA2A, true }

func (v10) authorization(c pushConfig) string {
	if len(c.schemes) == 0 {
		return ""
	}
	return strings.TrimSpace(c.schemes[0] + " " + c.credentials)
}
