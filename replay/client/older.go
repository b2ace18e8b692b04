package client

import (
	stdjson "encoding/json"
	"slices"
	"strings"
)

// methods01 are the JSON-RPC methods of 0.1.
var methods01 = map[Operation]string{
	SendMessage:      "tasks/send",
	StreamMessage:    "tasks/sendSubscribe",
	GetTask:          "tasks/get",
	CancelTask:       "tasks/cancel",
	SubscribeToTask:  "tasks/resubscribe",
	CreatePushConfig: "tasks/pushNotification/set",
	GetPushConfig:    "tasks/pushNotification/get",
}

// sendParams writes the parameters of a send in the client's protocol.
func (c *Client) sendParams(m Message, o SendOptions, streams bool) (any, error) {
	params := c.plainParams(m, o, streams)
	if len(o.Patch) == 0 {
		return params, nil
	}
	return mergePatch(params, o.Patch)
}

func (c *Client) plainParams(m Message, o SendOptions, streams bool) any {
	p := c.endpoint.Protocol
	switch {
	case p.clientNamesTasks():
		return p.send01(m, o)
	case p == REST03 && c.http.opts.ProtoJSON, p == GRPC03:
		return p.send(m, o, streams).proto()
	}
	return p.send(m, o, streams)
}

// What the client writes in 0.1.
type (
	outSend01 struct {
		ID            string             `json:"id"`
		SessionID     string             `json:"sessionId,omitzero"`
		Message       outMessage01       `json:"message"`
		HistoryLength *int               `json:"historyLength,omitzero"`
		Push          *wireInnerConfig   `json:"pushNotification,omitzero"`
		Metadata      stdjson.RawMessage `json:"metadata,omitzero"`
	}
	outMessage01 struct {
		Role     string             `json:"role"`
		Parts    []outPart          `json:"parts"`
		Metadata stdjson.RawMessage `json:"metadata,omitzero"`
	}
)

// clientNamesTasks says whether clients make the ids of tasks, as up to 0.1 (A2A 0.1 §6.1).
func (p Protocol) clientNamesTasks() bool { return p == JSONRPC01 || p == Early }

// send01 writes the parameters of a send (A2A 0.1 §7.1).
func (p Protocol) send01(m Message, o SendOptions) outSend01 {
	out := outSend01{
		ID: m.TaskID, SessionID: m.ContextID, HistoryLength: o.HistoryLength, Metadata: o.Metadata,
		Message: outMessage01{Role: string(m.Role), Parts: []outPart{}, Metadata: m.Metadata},
	}
	for _, in := range m.Parts {
		part := in.encode03()
		part.Type, part.Kind = part.Kind, ""
		out.Message.Parts = append(out.Message.Parts, part)
	}
	if o.Push != nil {
		out.Push = p.push01(*o.Push)
	}
	return out
}

// push01 writes a config as A2A 0.1 §6.8, which knows no ids of configs, or as before.
func (p Protocol) push01(c PushConfig) *wireInnerConfig {
	w := c.encode03()
	w.ID = ""
	if p == Early {
		w.Authentication, w.Events = nil, c.Events
	}
	return w
}

// proto turns the parameters of a send into the proto JSON of 0.3.
func (s outSend) proto() outSend {
	m := &s.Message
	m.Kind, m.Role, m.References, m.Content = "", "ROLE_"+strings.ToUpper(m.Role), nil, []outPart{}
	for _, p := range m.Parts {
		part := outPart{Text: p.Text}
		if f := p.File; f != nil {
			part.File = &outFile{WithURI: f.URI, WithBytes: f.Bytes, MIMEType: f.MIMEType}
		}
		if p.Data != nil {
			part.Data = slices.Concat([]byte(`{"data":`), p.Data, []byte("}"))
		}
		m.Content = append(m.Content, part)
	}
	m.Parts = nil
	if c := s.Configuration; c != nil {
		if c.Blocking != nil && !*c.Blocking {
			c.Blocking = nil
		}
		c.PushProto, c.Push03 = c.Push03, nil
	}
	return s
}

// older turns a call over HTTP+JSON into one of 0.3 (A2A 0.3 §3.5.6): other paths, names in bodies.
func (c *Client) older(in call) call {
	in.path = "/v1" + in.path
	switch in.op {
	case GetExtendedCard:
		in.path = "/v1/card"
	case ListTasks:
		in.query = nil // 0.3 has no parameters for it
	case CancelTask, SubscribeToTask:
		in.body = struct {
			Name string `json:"name"`
		}{"tasks/" + in.params.(outID).ID}
	case CreatePushConfig:
		config := in.params.(wirePushConfig)
		if c.http.opts.ProtoJSON {
			config.TaskID = ""
			config.Name = "tasks/" + in.params.(wirePushConfig).TaskID + "/pushNotificationConfigs/" + config.Inner.ID
			in.body = config
			break
		}
		in.body = struct {
			Config wirePushConfig `json:"config"`
		}{config}
	}
	return in
}

// decodeSent reads what a send gives.
func (c *Client) decodeSent(body []byte) (*Result, error) {
	if !c.endpoint.Protocol.clientNamesTasks() {
		return decodeResult(body)
	}
	t, err := ReadTask(body)
	if err != nil {
		return nil, err
	}
	return &Result{Task: t, Raw: body}, nil
}

// decodeStreamed reads an event of a stream: up to 0.1 an update that names the task by its id. It does not say which
// session that is in, which who began the stream knows.
func (c *Client) decodeStreamed(in call, body []byte) (Event, error) {
	if !c.endpoint.Protocol.clientNamesTasks() {
		return decodeEvent(body)
	}
	var w struct {
		wireUpdate
		ID       string       `json:"id"`
		Artifact *wireChunk01 `json:"artifact"`
	}
	if err := unmarshal(body, &w); err != nil {
		return Event{}, err
	}
	w.TaskID, w.ContextID = w.ID, in.session
	if w.Artifact == nil {
		update, err := w.status()
		update.Raw = body
		return Event{Status: update}, err
	}
	w.wireUpdate.Artifact, w.Append, w.LastChunk = w.Artifact.wireArtifact, w.Artifact.Append, w.Artifact.LastChunk
	update, err := w.artifact()
	update.Raw = body
	return Event{Artifact: update}, err
}

// wireChunk01 is an artifact of 0.1, which says itself whether it is a chunk.
type wireChunk01 struct {
	wireArtifact
	Append    bool `json:"append"`
	LastChunk bool `json:"lastChunk"`
}

// decodePush reads a push config.
func (c *Client) decodePush(body []byte) (*PushConfig, error) {
	config, err := decodePushConfig(body)
	if err == nil && c.endpoint.Protocol.clientNamesTasks() {
		var outer struct {
			ID string `json:"id"`
		}
		err = unmarshal(body, &outer)
		config.TaskID = outer.ID
	}
	return config, err
}
