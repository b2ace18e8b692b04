package client

// clientNamesTasks reports whether clients make the ids of tasks, as up to 0.1 (A2A 0.1 §6.1).
func (p Protocol) clientNamesTasks() bool { return p == JSONRPC01 || p == Early }

// decodeSent reads the result of a send.
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

// decodeStreamed reads an event of a stream: up to 0.1 an update that names the task by its id. The event does not name
// the task's session, which the stream's caller knows.
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

// wireChunk01 is an artifact of 0.1, which has a flag for chunks.
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
