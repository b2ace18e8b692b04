package prompt

import (
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"a2atap/replay/client"
)

// An Answer is the agent's final answer.
type Answer struct {
	Mode    Mode // Send or Stream: the mode that was used
	Message *client.Message
	Task    *client.Task      // as it was last seen, or as the events of a stream make it
	Events  []json.RawMessage // of a stream, in order, without the envelope of JSON-RPC
	Raw     json.RawMessage   // the result of the send or of the last poll; of a stream the list of its events
}

// State returns the state of the task, or nothing if the answer is a message.
func (a *Answer) State() client.State {
	if a.Task == nil {
		return ""
	}
	return a.Task.Status.State
}

// TaskID returns the id of the task, or nothing.
func (a *Answer) TaskID() string {
	if a.Task == nil {
		return ""
	}
	return a.Task.ID
}

// ContextID returns the id of the context in which the conversation continues, or "".
func (a *Answer) ContextID() string {
	var ids []string
	if a.Message != nil {
		ids = append(ids, a.Message.ContextID)
	}
	if a.Task != nil {
		ids = append(ids, a.Task.ContextID)
		if m := a.Task.Status.Message; m != nil {
			ids = append(ids, m.ContextID)
		}
	}
	for _, id := range ids {
		if id != "" {
			return id
		}
	}
	return ""
}

// Text returns the answer as one text, its pieces joined by line feeds: the pieces of the message, else of the task's
// artifacts, else of its status, else of the agent's messages in its history, else the raw JSON. A piece is a text
// part, which may be empty, or a data part that is a string. If a task did not succeed, or waits, the status goes
// before the artifacts: it tells why.
func (a *Answer) Text() string {
	var from [][]string
	if a.Message != nil {
		from = append(from, texts(a.Message))
	}
	if a.Task != nil {
		from = append(from, taskTexts(a.Task)...)
	}
	for _, pieces := range from {
		if len(pieces) > 0 {
			return strings.Join(pieces, "\n")
		}
	}
	return string(a.Raw)
}

// taskTexts returns the texts of a task, those first that count most.
func taskTexts(t *client.Task) [][]string {
	var artifacts, said []string
	for _, artifact := range t.Artifacts {
		artifacts = appendTexts(artifacts, artifact.Parts)
	}
	for i := range t.History {
		if t.History[i].Role == client.Agent {
			said = append(said, texts(&t.History[i])...)
		}
	}
	for _, s := range t.Statuses {
		said = append(said, texts(s.Message)...)
	}
	status := texts(t.Status.Message)
	if settled(t.Status.State) && t.Status.State != client.Completed {
		return [][]string{status, artifacts, said}
	}
	return [][]string{artifacts, status, said}
}

// texts returns the texts of a message, which may be nil.
func texts(m *client.Message) []string {
	if m == nil {
		return nil
	}
	return appendTexts(nil, m.Parts)
}

func appendTexts(to []string, parts []client.Part) []string {
	for _, p := range parts {
		text := p.Text
		if text == "" && len(p.Data) > 0 && json.Unmarshal(p.Data, &text) != nil {
			continue
		}
		if text != "" || p.Bytes == nil && p.URL == "" && string(p.Data) != "null" {
			to = append(to, text)
		}
	}
	return to
}

// Metadata has the properties of an answer other than its text.
type Metadata struct {
	A2A struct {
		ContextID string            `json:"contextId,omitempty"`
		Events    []json.RawMessage `json:"events"`
		Mode      Mode              `json:"mode"`
		TaskID    string            `json:"taskId,omitempty"`
		TaskState string            `json:"taskState,omitempty"`
	} `json:"a2a"`
}

// Metadata returns the answer's metadata. The state is spelled as the agent does.
func (a *Answer) Metadata() Metadata {
	var m Metadata
	m.A2A.ContextID, m.A2A.Events, m.A2A.Mode = a.ContextID(), a.Events, a.Mode
	m.A2A.TaskID = a.TaskID()
	if a.Task != nil {
		var w struct {
			Status struct {
				State string `json:"state"`
			} `json:"status"`
		}
		json.Unmarshal(a.Task.Raw, &w) // it was read before
		m.A2A.TaskState = w.Status.State
	}
	if m.A2A.Events == nil {
		m.A2A.Events = []json.RawMessage{}
	}
	return m
}

// StableID returns an id for the message of a turn that is the same for the same text, place and additions, and
// different otherwise: an agent can recognize a repeated request.
func StableID(turn int, text, task, contextID string, additions []byte) string {
	what, _ := json.Marshal([]any{turn, text, task, contextID, string(additions)}) // these are JSON
	return uuid.NewSHA1(uuid.NameSpaceOID, what).String()
}
