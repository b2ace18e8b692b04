package refagent

// decode implements dialect (A2A 0.3 §6, §7).
func (d v03) decode(op operation, params object) (*request, *failure) {
	f, r := readFields(params), &request{op: op}
	switch op {
	case sendMessage, streamMessage:
		d.readSend(f, r)
	case getTask:
		r.taskID, r.history = f.required("id"), f.count("historyLength")
	case cancelTask:
		r.taskID, r.metadata = f.required("id"), f.free("metadata")
	case subscribeTask, listPushConfigs:
		r.taskID = f.required("id")
	case createPushConfig:
		r.taskID = f.required("taskId")
		c, ok := f.nested("pushNotificationConfig")
		if !ok {
			f.complain("pushNotificationConfig", "is required")
			break
		}
		r.push = d.readPushConfig(c)
	case getPushConfig:
		r.taskID, r.configID = f.required("id"), f.text("pushNotificationConfigId")
	case deletePushConfig:
		r.taskID, r.configID = f.required("id"), f.required("pushNotificationConfigId")
	}
	return r, f.failure()
}

func (d v03) readSend(f fields, r *request) {
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
		// Absent leaves the choice to the agent; this one waits, as 1.0 does by default.
		r.immediate = c.value("blocking") != nil && !c.boolean("blocking")
		if p, ok := c.nested("pushNotificationConfig"); ok {
			r.push = d.readPushConfig(p)
		}
	}
}

func (d v03) readMessage(f fields) message {
	m := message{
		id: f.required("messageId"), contextID: f.text("contextId"), taskID: f.text("taskId"),
		references: f.texts("referenceTaskIds"), extensions: f.texts("extensions"), metadata: f.free("metadata"),
	}
	if k := f.text("kind"); k != "" && k != "message" {
		f.complain("kind", `must be "message"`)
	}
	switch r := role(f.text("role")); r {
	case roleUser, roleAgent:
		m.role = r
	default:
		f.complain("role", `must be "user"`)
	}
	for p := range f.each("parts") {
		m.parts = append(m.parts, d.readPart(p))
	}
	if f.value("parts") == nil {
		f.complain("parts", "is required")
	}
	return m
}

func (d v03) readPart(f fields) part {
	p := part{metadata: f.free("metadata")}
	switch f.text("kind") {
	case "text":
		p.text = f.text("text")
		if f.value("text") == nil {
			f.complain("text", "is required")
		}
	case "data":
		p.kind, p.data = dataPart, f.value("data")
		if p.data == nil {
			f.complain("data", "is required")
		}
	case "file":
		d.readFile(f, &p)
	default:
		f.complain("kind", `must be "text", "file" or "data"`)
	}
	return p
}

// readFile reads a file, which holds either bytes or a uri.
func (d v03) readFile(f fields, p *part) {
	file, ok := f.nested("file")
	if !ok {
		f.complain("file", "is required")
		return
	}
	p.filename, p.mediaType = file.text("name"), file.text("mimeType")
	bytes, uri := file.value("bytes") != nil, file.value("uri") != nil
	switch {
	case bytes == uri:
		f.complain("file", "must hold either bytes or uri")
	case bytes:
		p.kind, p.raw = rawPart, file.bytes("bytes")
	default:
		p.kind, p.url = urlPart, file.text("uri")
	}
}

func (d v03) readPushConfig(f fields) *pushConfig {
	c := &pushConfig{id: f.text("id"), url: readWebhookURL(f), token: f.text("token"), dialect: d}
	if a, ok := f.nested("authentication"); ok {
		c.schemes, c.credentials = a.texts("schemes"), a.text("credentials")
	}
	return c
}
