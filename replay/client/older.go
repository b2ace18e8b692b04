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
		StatusUpdate
		ID       string `json:"id"`
		Artifact *struct {
			Artifact
			Append    bool `json:"append"`
			LastChunk bool `json:"lastChunk"`
		} `json:"artifact"`
	}
	if err := unmarshal(body, &w); err != nil {
		return Event{}, err
	}
	w.TaskID, w.ContextID, w.Raw = w.ID, in.session, body
	if a := w.Artifact; a != nil {
		return Event{Artifact: &ArtifactUpdate{
			TaskID: w.TaskID, ContextID: w.ContextID, Artifact: a.Artifact, Append: a.Append, LastChunk: a.LastChunk,
			Metadata: w.Metadata, Raw: body,
		}}, nil
	}
	return Event{Status: &w.StatusUpdate}, nil
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
