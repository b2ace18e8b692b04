package client

import (
	"encoding/json"
	"strings"
)

// A State is a task state in the spelling of A2A 0.3 §6.3: "completed", "input-required". A state that the client
// does not know keeps the agent's spelling.
type State string

// The states of A2A 1.0 §4.1.3.
const (
	Submitted     State = "submitted"
	Working       State = "working"
	Completed     State = "completed"
	Failed        State = "failed"
	Canceled      State = "canceled"
	InputRequired State = "input-required"
	Rejected      State = "rejected"
	AuthRequired  State = "auth-required"
)

// Terminal reports whether a task in this state has ended for good.
func (s State) Terminal() bool {
	return s == Completed || s == Failed || s == Canceled || s == Rejected
}

// Interrupted reports whether the agent waits for its client.
func (s State) Interrupted() bool { return s == InputRequired || s == AuthRequired }

// A Role is the sender of a message.
type Role string

// The two roles.
const (
	User  Role = "user"
	Agent Role = "agent"
)

// A Part is one piece of content. One of Text, Bytes, URL and Data is set; an empty text part has none of them.
type Part struct {
	Text      string
	Bytes     []byte          // an inline file
	URL       string          // a file by reference
	Data      json.RawMessage // any JSON value, as it was on the wire
	MediaType string
	Filename  string
	Metadata  json.RawMessage
}

// A Message is one contribution to a conversation.
type Message struct {
	ID         string          `json:"messageId"` // made by Send and Stream if empty
	ContextID  string          `json:"contextId,omitzero"`
	TaskID     string          `json:"taskId,omitzero"` // the task to continue; empty for a new one
	Role       Role            `json:"role"`            // User if empty
	Parts      []Part          `json:"parts"`
	References []string        `json:"referenceTaskIds,omitzero"` // ids of other tasks
	Extensions []string        `json:"extensions,omitzero"`       // URIs
	Metadata   json.RawMessage `json:"metadata,omitzero"`
	Raw        []byte          `json:"-"` // as received
}

// Text returns a message of one text part.
func Text(s string) Message { return Message{Parts: []Part{{Text: s}}} }

// Text returns the text of the message's parts, one line each.
func (m *Message) Text() string { return partsText(m.Parts) }

func partsText(parts []Part) string {
	var lines []string
	for _, p := range parts {
		if p.Text != "" {
			lines = append(lines, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// A Status is the state of a task and the agent's message about it.
type Status struct {
	State     State    `json:"state"`
	Message   *Message `json:"message"`   // nil if the agent sent no message
	Timestamp string   `json:"timestamp"` // as received
}

// An Artifact is a result of a task.
type Artifact struct {
	ID          string          `json:"artifactId"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parts       []Part          `json:"parts"`
	Metadata    json.RawMessage `json:"metadata"`
}

// Text returns the text of the artifact's parts, one line each.
func (a *Artifact) Text() string { return partsText(a.Parts) }

// A Task is a snapshot of a task.
type Task struct {
	ID        string          `json:"id"`
	ContextID string          `json:"contextId"`
	Status    Status          `json:"status"`
	Artifacts []Artifact      `json:"artifacts"`
	History   []Message       `json:"-"` // nil if the agent sent none
	Statuses  []Status        `json:"-"` // the history before A2A 0.1, the oldest first; nil if the agent sent none
	Metadata  json.RawMessage `json:"metadata"`
	Raw       []byte          `json:"-"` // as received
}

// A Result is the result of a send: exactly one of Task and Message is set.
type Result struct {
	Task    *Task
	Message *Message
	Raw     []byte // the result as received, wrapper included
}

// An Event is one event of a stream: exactly one of Task, Message, Status and Artifact is set.
type Event struct {
	Task     *Task
	Message  *Message
	Status   *StatusUpdate
	Artifact *ArtifactUpdate
	Name     string // of the server-sent event, which is status or artifact before A2A 0.1; otherwise usually empty
	Raw      []byte // the data of the server-sent event, envelope included
	Result   []byte // the same without the envelope of JSON-RPC
}

// State returns the task state that the event shows, or nothing.
func (e Event) State() State {
	switch {
	case e.Task != nil:
		return e.Task.Status.State
	case e.Status != nil:
		return e.Status.Status.State
	}
	return ""
}

// A StatusUpdate reports a change of a task's state.
type StatusUpdate struct {
	TaskID    string          `json:"taskId"`
	ContextID string          `json:"contextId"`
	Status    Status          `json:"status"`
	Final     bool            `json:"final"` // 1.0 does not have it
	Metadata  json.RawMessage `json:"metadata"`
	Raw       []byte          `json:"-"` // as received
}

// An ArtifactUpdate delivers an artifact or a chunk of one.
type ArtifactUpdate struct {
	TaskID    string          `json:"taskId"`
	ContextID string          `json:"contextId"`
	Artifact  Artifact        `json:"artifact"`
	Append    bool            `json:"append"` // the parts follow those already sent
	LastChunk bool            `json:"lastChunk"`
	Metadata  json.RawMessage `json:"metadata"`
	Raw       []byte          `json:"-"` // as received
}

// A Page is one page of ListTasks (A2A 1.0 §3.1.4).
type Page struct {
	Tasks         []Task `json:"-"`
	NextPageToken string `json:"nextPageToken"` // empty on the last page
	PageSize      int    `json:"pageSize"`
	TotalSize     int    `json:"totalSize"`
	Raw           []byte `json:"-"`
}

// A PushConfig tells an agent where to send notifications about a task.
type PushConfig struct {
	ID          string // the agent assigns one if it is empty
	TaskID      string
	URL         string
	Token       string
	Scheme      string // HTTP authentication scheme, such as Bearer; empty for none; not before A2A 0.1
	Credentials string
	Events      []string // before A2A 0.1: which to report, status or artifact; empty for all
	Raw         []byte   // as received
}

// A Card is an agent card of any dialect, as far as a client needs it.
type Card struct {
	URL         string // its address; empty for an extended card
	Name        string
	Description string
	Version     string
	Interfaces  []Interface // in the card's order of preference
	Possible    []Interface // other possible meanings: cards up to 0.2 may omit their version
	Streaming   bool
	Push        bool
	Extended    bool // an extended card can be asked for
	Skills      []Skill
	Raw         []byte
}

// An Interface is an endpoint of an agent.
type Interface struct {
	URL      string
	Protocol Protocol
	Tenant   string // sent with every request if it is not empty (A2A 1.0 §8.3.2)
}

// A Skill is a skill that an agent's card declares.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples"`
}
