package refagent

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// The JSON of A2A 0.3 over HTTP+JSON as its proto definition gives it: no discriminators, "content" for parts, enums by
// their names, defaults left out.
type v03proto struct{ v03 }

// decode implements dialect.
func (d v03proto) decode(op operation, params object) (*request, *failure) {
	switch op {
	case sendMessage, streamMessage:
	case createPushConfig:
		params = unwrapConfig(params)
		fallthrough
	default:
		return d.v03.decode(op, params)
	}
	f, r := readFields(params), &request{op: op}
	m, ok := f.nested("message")
	if !ok {
		m, ok = f.nested("request") // 0.2
	}
	if ok {
		r.message = d.readMessage(m)
	} else {
		f.complain("message", "is required")
	}
	r.metadata = f.free("metadata")
	if c, ok := f.nested("configuration"); ok {
		r.accepts = c.texts("acceptedOutputModes")
		if n := c.count("historyLength"); n != nil && *n > 0 {
			r.history = n
		}
		r.immediate = !c.boolean("blocking") // false is left out
		if p, ok := c.nested("pushNotification"); ok {
			r.push = d.readPushConfig(p)
		}
	}
	return r, f.failure()
}

func (d v03proto) readMessage(f fields) message {
	m := message{
		id: f.required("messageId"), contextID: f.text("contextId"), taskID: f.text("taskId"),
		extensions: f.texts("extensions"), metadata: f.free("metadata"),
	}
	switch f.value("role") {
	case "ROLE_USER", json.Number("1"):
		m.role = roleUser
	case "ROLE_AGENT", json.Number("2"):
		m.role = roleAgent
	default:
		f.complain("role", "must be ROLE_USER")
	}
	for p := range f.each("content") {
		m.parts = append(m.parts, d.readPart(p))
	}
	return m
}

func (v03proto) readPart(f fields) part {
	p := part{metadata: f.free("metadata")}
	if f.value("text") != nil {
		p.text = f.text("text")
		return p
	}
	if d, ok := f.nested("data"); ok {
		p.kind, p.data = dataPart, d.value("data")
		return p
	}
	file, ok := f.nested("file")
	if !ok {
		*f.bad = append(*f.bad, violation{f.path, "must hold one of text, file and data"})
		return p
	}
	p.mediaType = file.text("mimeType")
	if file.value("fileWithBytes") != nil {
		p.kind, p.raw = rawPart, file.bytes("fileWithBytes")
	} else {
		p.kind, p.url = urlPart, file.text("fileWithUri")
	}
	return p
}

// result implements dialect.
func (d v03proto) result(op operation, r reply) any {
	switch {
	case r.message != nil:
		return object{{"message", d.message(*r.message)}}
	case r.task != nil && op == sendMessage:
		return object{{"task", d.task(*r.task)}}
	case r.task != nil:
		return d.task(*r.task)
	case r.config != nil:
		return d.pushConfig(*r.config)
	case r.configs != nil:
		return object{}.list("configs", values(r.configs, d.pushConfig))
	case r.card != nil:
		return r.card
	}
	return object{}
}

func (d v03proto) event(e event) any {
	switch {
	case e.task != nil:
		return object{{"task", d.task(*e.task)}}
	case e.message != nil:
		return object{{"message", d.message(*e.message)}}
	case e.status != nil:
		return object{{"statusUpdate", object{
			{"taskId", e.status.taskID}, {"contextId", e.status.contextID}, {"status", d.status(e.status.status)},
		}.flag("final", e.endsStream())}}
	}
	return object{{"artifactUpdate", object{
		{"taskId", e.artifact.taskID}, {"contextId", e.artifact.contextID}, {"artifact", d.artifact(e.artifact.artifact)},
	}.flag("append", e.artifact.append).flag("lastChunk", e.artifact.last)}}
}

func (d v03proto) task(t task) any {
	return object{{"id", t.id}, {"contextId", t.contextID}, {"status", d.status(t.status)}}.
		list("artifacts", values(t.artifacts, d.artifact)).
		list("history", values(t.history, func(m message) any { return d.message(m) })).
		nested("metadata", t.metadata)
}

func (d v03proto) status(s status) any {
	o := object{{"state", d.state(s.state)}}
	if s.message != nil {
		o = o.with("message", d.message(*s.message))
	}
	return o.with("timestamp", timestamp(s.at))
}

// state spells a state as the proto definition of 0.3 does, which writes CANCELLED.
func (v03proto) state(s state) string {
	if s == canceled {
		return "TASK_STATE_CANCELLED"
	}
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}

func (d v03proto) message(m message) any {
	return object{{"messageId", m.id}}.
		optional("contextId", m.contextID).
		optional("taskId", m.taskID).
		with("role", "ROLE_"+strings.ToUpper(string(m.role))).
		list("content", values(m.parts, d.part)).
		nested("metadata", m.metadata).
		list("extensions", texts(m.extensions...))
}

func (d v03proto) artifact(a artifact) any {
	return object{{"artifactId", a.id}}.
		optional("name", a.name).
		optional("description", a.description).
		list("parts", values(a.parts, d.part))
}

func (v03proto) part(p part) any {
	switch p.kind {
	case dataPart:
		return object{{"data", object{{"data", p.data}}}}
	case rawPart:
		return object{
			{"file", object{{"fileWithBytes", base64.StdEncoding.EncodeToString(p.raw)}}.optional("mimeType", p.mediaType)},
		}
	case urlPart:
		return object{{"file", object{{"fileWithUri", p.url}}.optional("mimeType", p.mediaType)}}
	}
	return object{{"text", p.text}}
}

// pushConfig writes a config without its secrets; its name says whose it is.
func (v03proto) pushConfig(c pushConfig) any {
	o := object{{"id", c.id}, {"url", c.url}}
	if len(c.schemes) > 0 {
		o = append(o, member{"authentication", object{{"schemes", texts(c.schemes...)}}})
	}
	return object{{"name", "tasks/" + c.taskID + "/pushNotificationConfigs/" + c.id}, {"pushNotificationConfig", o}}
}

// notification implements dialect: the Task, when its status has changed (A2A 0.3 §9.5).
func (d v03proto) notification(e event, t task) (any, string, bool) {
	return d.task(t), "application/json", e.status != nil
}
