package refagent

import (
	"encoding/json"
	"strings"
)

// decode implements dialect (A2A 1.0 §3.1, §4.1).
func (d v10) decode(op operation, params object) (*request, *failure) {
	f, r := readFields(params), &request{op: op}
	r.tenant = f.text("tenant")
	switch op {
	case sendMessage, streamMessage:
		d.readSend(f, r)
	case getTask:
		r.taskID, r.history = f.required("id"), f.count("historyLength")
	case cancelTask:
		r.taskID, r.metadata = f.required("id"), f.free("metadata")
	case subscribeTask:
		r.taskID = f.required("id")
	case listTasks:
		r.list = d.readListing(f)
	case createPushConfig:
		r.taskID, r.push = f.required("taskId"), d.readPushConfig(f)
	case getPushConfig, deletePushConfig:
		r.taskID, r.configID = f.required("taskId"), f.required("id")
	case listPushConfigs:
		r.taskID = f.required("taskId")
	}
	return r, f.failure()
}

func (d v10) readSend(f fields, r *request) {
	m, ok := f.nested("message")
	if !ok && f.value("message") == nil {
		f.complain("message", "is required")
	}
	if ok {
		r.message = d.readMessage(m)
	}
	r.metadata = f.free("metadata")
	if c, ok := f.nested("configuration"); ok {
		r.accepts = c.texts("acceptedOutputModes")
		r.history = c.count("historyLength")
		r.immediate = c.boolean("returnImmediately")
		if p, ok := c.nested("taskPushNotificationConfig"); ok {
			r.push = d.readPushConfig(p)
		}
	}
}

func (d v10) readMessage(f fields) message {
	m := message{
		id: f.required("messageId"), contextID: f.text("contextId"), taskID: f.text("taskId"),
		references: f.texts("referenceTaskIds"), extensions: f.texts("extensions"), metadata: f.free("metadata"),
	}
	switch f.value("role") {
	case "ROLE_USER", json.Number("1"):
		m.role = roleUser
	case "ROLE_AGENT", json.Number("2"):
		m.role = roleAgent
	default:
		f.complain("role", "must be ROLE_USER")
	}
	for p := range f.each("parts") {
		m.parts = append(m.parts, d.readPart(p))
	}
	if a, _ := f.value("parts").([]any); len(a) == 0 {
		f.complain("parts", "must hold at least one part") // A2A 1.0 §5.7
	}
	return m
}

// readPart reads a part, which holds exactly one of four members.
func (d v10) readPart(f fields) part {
	p := part{mediaType: f.text("mediaType"), filename: f.text("filename"), metadata: f.free("metadata")}
	n := 0
	if f.value("text") != nil {
		p.kind, p.text = textPart, f.text("text")
		n++
	}
	if f.value("raw") != nil {
		p.kind, p.raw = rawPart, f.bytes("raw")
		n++
	}
	if f.value("url") != nil {
		p.kind, p.url = urlPart, f.text("url")
		n++
	}
	if f.has("data") {
		p.kind, p.data = dataPart, f.value("data")
		n++
	}
	if n != 1 {
		*f.bad = append(*f.bad, violation{f.path, "must hold exactly one of text, raw, url and data"})
	}
	return p
}

func (d v10) readListing(f fields) listing {
	l := listing{
		contextID: f.text("contextId"), since: f.time("statusTimestampAfter"),
		history: f.count("historyLength"), artifacts: f.boolean("includeArtifacts"), pageSize: 50,
	}
	if n := f.integer("pageSize"); n != nil {
		l.pageSize = *n
		if *n < 1 || *n > 100 {
			f.complain("pageSize", "must be between 1 and 100")
		}
	}
	if s := f.text("status"); s != "" && s != "TASK_STATE_UNSPECIFIED" {
		l.state = d.readState(s)
		if l.state == "" {
			f.complain("status", "must be a task state such as TASK_STATE_WORKING")
		}
	}
	if token := f.text("pageToken"); token != "" {
		var err error
		if l.after, err = parsePosition(token); err != nil {
			f.complain("pageToken", "was not issued by this agent")
		}
	}
	return l
}

// readState returns the state of that 1.0 spelling, or nothing.
func (d v10) readState(s string) state {
	for _, known := range states {
		if d.state(known) == s {
			return known
		}
	}
	return ""
}

func (d v10) readPushConfig(f fields) *pushConfig {
	c := &pushConfig{id: f.text("id"), url: readWebhookURL(f), token: f.text("token"), dialect: d}
	if a, ok := f.nested("authentication"); ok {
		c.schemes, c.credentials = []string{a.required("scheme")}, strings.TrimSpace(a.text("credentials"))
	}
	return c
}
