package refagent

import "encoding/base64"

// The JSON of A2A 0.1: tasks that clients name, in sessions; no messages for an answer.
type v01 struct{ v03 }

var v01Methods = map[string]operation{
	"tasks/send":                 sendMessage,
	"tasks/sendSubscribe":        streamMessage,
	"tasks/get":                  getTask,
	"tasks/cancel":               cancelTask,
	"tasks/resubscribe":          subscribeTask,
	"tasks/pushNotification/set": createPushConfig,
	"tasks/pushNotification/get": getPushConfig,
}

func (v01) operation(method string) (operation, bool) {
	op, ok := v01Methods[method]
	return op, ok
}

// decode implements dialect (A2A 0.1 §6, §7).
func (d v01) decode(op operation, params object) (*request, *failure) {
	f, r := readFields(params), &request{op: op, taskID: f01(params)}
	if r.taskID == "" {
		f.complain("id", "is required")
	}
	switch op {
	case sendMessage, streamMessage:
		d.readSend(f, r)
	case getTask, subscribeTask:
		r.history = f.count("historyLength")
	case cancelTask:
		r.metadata = f.free("metadata")
	case createPushConfig:
		if c, ok := f.nested("pushNotificationConfig"); ok {
			r.push = d.readPushConfig(c)
		} else {
			f.complain("pushNotificationConfig", "is required")
		}
	}
	return r, f.failure()
}

// f01 returns the task id that all parameters have.
func f01(params object) string { return readFields(params).text("id") }

func (d v01) readSend(f fields, r *request) {
	m, ok := f.nested("message")
	if !ok {
		f.complain("message", "is required")
		return
	}
	r.message = message{taskID: r.taskID, contextID: f.text("sessionId"), metadata: m.free("metadata")}
	switch role := role(m.text("role")); role {
	case roleUser, roleAgent:
		r.message.role = role
	default:
		m.complain("role", `must be "user"`)
	}
	for p := range m.each("parts") {
		r.message.parts = append(r.message.parts, d.readPart(p))
	}
	if len(r.message.parts) == 0 {
		m.complain("parts", "must hold at least one part")
	}
	r.history, r.metadata = f.count("historyLength"), f.free("metadata")
	if p, ok := f.nested("pushNotification"); ok {
		r.push = d.readPushConfig(p)
	}
}

// readPart reads a part as 0.3 does, under another name of the discriminator; without one it is text.
func (d v01) readPart(f fields) part {
	kind := f.text("type")
	if kind == "" {
		kind = "text"
	}
	f.object = f.object.with("kind", kind)
	return d.v03.readPart(f)
}

func (d v01) readPushConfig(f fields) *pushConfig {
	c := d.v03.readPushConfig(f)
	c.dialect, c.id, c.alone = d, "", true // configs have no ids
	return c
}

// result implements dialect (A2A 0.1 §7).
func (d v01) result(_ operation, r reply) any {
	switch {
	case r.config != nil:
		return d.pushConfig(*r.config)
	case r.task != nil:
		return d.task(*r.task)
	}
	return nil
}

// event writes updates only: 0.1 streams know nothing else, so a task shows as its status. The last event says so: at
// the beginning of a stream only a task that has ended is final.
func (d v01) event(e event) any {
	switch {
	case e.task != nil:
		return object{{"id", e.task.id}, {"status", d.status(e.task.status)}, {"final", e.task.status.state.terminal()}}
	case e.status != nil:
		return object{{"id", e.status.taskID}, {"status", d.status(e.status.status)}, {"final", e.endsStream()}}
	}
	a := d.artifact(e.artifact.artifact).(object).with("index", e.artifact.index).with("append", e.artifact.append).with(
		"lastChunk", e.artifact.last,
	)
	return object{{"id", e.artifact.taskID}, {"artifact", a}}
}

func (d v01) task(t task) any {
	var artifacts []any
	for i, a := range t.artifacts {
		artifacts = append(artifacts, d.artifact(a).(object).with("index", i))
	}
	return object{{"id", t.id}, {"sessionId", t.contextID}, {"status", d.status(t.status)}}.
		list("artifacts", artifacts).
		list("history", values(t.history, d.message)).
		nested("metadata", t.metadata)
}

func (d v01) status(s status) any {
	o := object{{"state", string(s.state)}}
	if s.message != nil {
		o = o.with("message", d.message(*s.message))
	}
	return o.with("timestamp", timestamp(s.at))
}

func (d v01) message(m message) any {
	return object{{"role", string(m.role)}, {"parts", values(m.parts, d.part)}}.nested("metadata", m.metadata)
}

func (d v01) artifact(a artifact) any {
	return object{}.optional("name", a.name).optional("description", a.description).with("parts", values(a.parts, d.part))
}

func (v01) part(p part) any {
	switch p.kind {
	case dataPart:
		return object{{"type", "data"}, {"data", p.data}}
	case rawPart, urlPart:
		file := object{}.optional("name", p.filename).optional("mimeType", p.mediaType)
		if p.kind == rawPart {
			file = append(file, member{"bytes", base64.StdEncoding.EncodeToString(p.raw)})
		} else {
			file = append(file, member{"uri", p.url})
		}
		return object{{"type", "file"}, {"file", file}}
	}
	return object{{"type", "text"}, {"text", p.text}}
}

// pushConfig writes a config without its secrets.
func (v01) pushConfig(c pushConfig) any {
	o := object{{"url", c.url}}
	if len(c.schemes) > 0 {
		o = append(o, member{"authentication", object{{"schemes", texts(c.schemes...)}}})
	}
	return object{{"id", c.taskID}, {"pushNotificationConfig", o}}
}

// notification implements dialect: the Task, when its status has changed.
func (d v01) notification(e event, t task) (any, string, bool) {
	return d.task(t), "application/json", e.status != nil
}
