package refagent

import (
	"encoding/base64"
	"strings"
)

// The JSON of A2A 0.3, as its JSON-RPC binding writes it: flat objects that name their kind.
type v03 struct{}

var v03Methods = map[string]operation{
	"message/send":                        sendMessage,
	"message/stream":                      streamMessage,
	"tasks/get":                           getTask,
	"tasks/cancel":                        cancelTask,
	"tasks/resubscribe":                   subscribeTask,
	"tasks/pushNotificationConfig/set":    createPushConfig,
	"tasks/pushNotificationConfig/get":    getPushConfig,
	"tasks/pushNotificationConfig/list":   listPushConfigs,
	"tasks/pushNotificationConfig/delete": deletePushConfig,
	"agent/getAuthenticatedExtendedCard":  getExtendedCard,
}

func (v03) operation(method string) (operation, bool) {
	op, ok := v03Methods[method]
	return op, ok
}

// result implements dialect (A2A 0.3 §7).
func (d v03) result(_ operation, r reply) any {
	switch {
	case r.message != nil:
		return d.message(*r.message)
	case r.config != nil:
		return d.pushConfig(*r.config)
	case r.configs != nil:
		return values(r.configs, d.pushConfig)
	case r.card != nil:
		return r.card
	case r.task != nil:
		return d.task(*r.task)
	}
	return nil // tasks/pushNotificationConfig/delete, A2A 0.3 §7.8
}

func (d v03) event(e event) any {
	switch {
	case e.task != nil:
		return d.task(*e.task)
	case e.message != nil:
		return d.message(*e.message)
	case e.status != nil:
		return object{
			{"kind", "status-update"},
			{"taskId", e.status.taskID},
			{"contextId", e.status.contextID},
			{"status", d.status(e.status.status)},
			{"final", e.endsStream()}, // the stream ends here, A2A 0.3 §7.2.2
		}
	}
	return object{
		{"kind", "artifact-update"},
		{"taskId", e.artifact.taskID},
		{"contextId", e.artifact.contextID},
		{"artifact", d.artifact(e.artifact.artifact)},
		{"append", e.artifact.append},
		{"lastChunk", e.artifact.last},
	}
}

func (d v03) task(t task) any {
	return object{{"kind", "task"}, {"id", t.id}, {"contextId", t.contextID}, {"status", d.status(t.status)}}.
		list("artifacts", values(t.artifacts, d.artifact)).
		list("history", values(t.history, func(m message) any { return d.message(m) })).
		nested("metadata", t.metadata)
}

func (d v03) status(s status) any {
	o := object{{"state", string(s.state)}}
	if s.message != nil {
		o = o.with("message", d.message(*s.message))
	}
	return o.with("timestamp", timestamp(s.at))
}

func (d v03) message(m message) any {
	return object{{"kind", "message"}, {"messageId", m.id}}.
		optional("contextId", m.contextID).
		optional("taskId", m.taskID).
		with("role", string(m.role)).
		with("parts", values(m.parts, d.part)).
		nested("metadata", m.metadata).
		list("extensions", texts(m.extensions...)).
		list("referenceTaskIds", texts(m.references...))
}

func (d v03) artifact(a artifact) any {
	return object{{"artifactId", a.id}}.
		optional("name", a.name).
		optional("description", a.description).
		with("parts", values(a.parts, d.part))
}

func (v03) part(p part) any {
	var o object
	switch p.kind {
	case textPart:
		o = object{{"kind", "text"}, {"text", p.text}}
	case dataPart:
		o = object{{"kind", "data"}, {"data", p.data}}
	case rawPart, urlPart:
		file := object{}.optional("name", p.filename).optional("mimeType", p.mediaType)
		if p.kind == rawPart {
			file = append(file, member{"bytes", base64.StdEncoding.EncodeToString(p.raw)})
		} else {
			file = append(file, member{"uri", p.url})
		}
		o = object{{"kind", "file"}, {"file", file}}
	}
	return o.nested("metadata", p.metadata)
}

// pushConfig writes a config without its secrets, as A2A 0.3 §7.5 lets agents do.
func (v03) pushConfig(c pushConfig) any {
	o := object{{"id", c.id}, {"url", c.url}}
	if len(c.schemes) > 0 {
		o = append(o, member{"authentication", object{{"schemes", texts(c.schemes...)}}})
	}
	return object{{"taskId", c.taskID}, {"pushNotificationConfig", o}}
}

// code implements dialect.
func (v03) code(f *failure) int { return publicCode(f) }

// details implements dialect: 0.3 defines no details.
func (v03) details(*failure) []any { return nil }

// notification implements dialect: the Task, when its status has changed (A2A 0.3 §9.5).
func (d v03) notification(e event, t task) (any, string, bool) {
	return d.task(t), "application/json", e.status != nil
}

func (v03) authorization(c pushConfig) string {
	if len(c.schemes) == 0 || c.credentials == "" {
		return ""
	}
	return strings.TrimSpace(c.schemes[0] + " " + c.credentials)
}
