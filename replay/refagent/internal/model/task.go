// Package model has the protocol's objects free of dialect and binding: tasks, messages, events, push notification
// configs, operations and their failures. A [Dialect] turns them into JSON and back; [Fields] reads what comes.
package model

import (
	"slices"
	"strings"
	"time"

	"a2atap/replay/refagent/internal/jsonvalue"
)

// A State is a task state, spelled as A2A 0.3 §6.3 does. A2A 1.0 §4.1.3 spells it TASK_STATE_ in front.
type State string

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

// States are all of them.
var States = []State{Submitted, Working, Completed, Failed, Canceled, InputRequired, Rejected, AuthRequired}

// Terminal reports whether a task in this state has ended for good (A2A 1.0 §4.1.3).
func (s State) Terminal() bool {
	return s == Completed || s == Failed || s == Canceled || s == Rejected
}

// Interrupted reports whether the agent waits for the client.
func (s State) Interrupted() bool { return s == InputRequired || s == AuthRequired }

// TerminalOrInterrupted reports whether a blocking send may answer and a stream may close.
func (s State) TerminalOrInterrupted() bool { return s.Terminal() || s.Interrupted() }

// A Role names the sender of a message.
type Role string

const (
	RoleUser  Role = "user"
	RoleAgent Role = "agent"
)

// A partKind is the kind of a part's content.
type partKind int

const (
	TextPart partKind = iota
	RawPart           // inline bytes
	URLPart           // a file by reference
	DataPart          // any JSON value
)

// A Part is one piece of content. Only the field that kind names is used.
type Part struct {
	Kind      partKind
	Text      string
	Raw       []byte
	URL       string
	Data      any
	MediaType string
	Filename  string
	Metadata  jsonvalue.Object
}

// Text returns the parts of a text.
func Text(s string) []Part { return []Part{{Kind: TextPart, Text: s}} }

// A Message is a message of a client or the agent (A2A 1.0 §4.1.4).
type Message struct {
	ID, ContextID, TaskID string
	Role                  Role
	Parts                 []Part
	References            []string // task ids
	Extensions            []string // URIs
	Metadata              jsonvalue.Object
}

// Text returns the text parts of m, one per line.
func (m *Message) Text() string {
	var lines []string
	for _, p := range m.Parts {
		if p.Kind == TextPart {
			lines = append(lines, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// An Artifact is a result of a task (A2A 1.0 §4.1.7).
type Artifact struct {
	ID, Name, Description string
	Parts                 []Part
}

// A Status is the state of a task at a time (A2A 1.0 §4.1.2).
type Status struct {
	State   State
	Message *Message // nil if the agent sent no message
	At      time.Time
}

// A Task is one snapshot. Once it has left the engine nothing changes it.
type Task struct {
	ID, ContextID string
	Status        Status
	Artifacts     []Artifact
	History       []Message // oldest first, the user's message first
	Statuses      []Status  // oldest first, the present one last: the history before A2A 0.1
	Metadata      jsonvalue.Object
}

// Tail returns t with at most n entries of history, the newest; nil leaves all of them (A2A 1.0 §3.2.4).
func (t Task) Tail(n *int) Task {
	if n != nil && *n < len(t.Statuses) {
		t.Statuses = t.Statuses[len(t.Statuses)-*n:]
	}
	if n != nil && *n < len(t.History) {
		t.History = t.History[len(t.History)-*n:]
	}
	return t
}

// Add puts a chunk into the artifacts of t, or adds an artifact, without touching earlier snapshots.
func (t *Task) Add(u ArtifactUpdate) {
	t.Artifacts = slices.Clone(t.Artifacts)
	i := slices.IndexFunc(t.Artifacts, func(a Artifact) bool { return a.ID == u.Artifact.ID })
	switch {
	case i < 0:
		t.Artifacts = append(t.Artifacts, u.Artifact)
	case u.Append:
		t.Artifacts[i].Parts = slices.Concat(t.Artifacts[i].Parts, u.Artifact.Parts)
	default:
		t.Artifacts[i] = u.Artifact
	}
}

// An Event is an event of a stream: exactly one of the four is set (A2A 1.0 §3.2.3).
type Event struct {
	Task     *Task
	Message  *Message
	Status   *StatusUpdate
	Artifact *ArtifactUpdate
}

// A StatusUpdate reports a task's new status.
type StatusUpdate struct {
	TaskID, ContextID string
	Status            Status
}

// An ArtifactUpdate has an artifact, or a piece of one.
type ArtifactUpdate struct {
	TaskID, ContextID string
	Artifact          Artifact
	Index             int // of the artifact in its task
	Append, Last      bool
}

// TaskID returns the id of the task that an event is about; empty for a message.
func (e Event) TaskID() string {
	switch {
	case e.Task != nil:
		return e.Task.ID
	case e.Status != nil:
		return e.Status.TaskID
	case e.Artifact != nil:
		return e.Artifact.TaskID
	}
	return ""
}

// EndsStream reports whether a stream ends after this event (A2A 1.0 §3.1.2, §11.7).
func (e Event) EndsStream() bool {
	return e.Status != nil && e.Status.Status.State.TerminalOrInterrupted()
}

// Terminal reports whether this event ends its task.
func (e Event) Terminal() bool { return e.Status != nil && e.Status.Status.State.Terminal() }

// Apply folds an event into t as the engine folded it, without touching earlier snapshots.
func (t *Task) Apply(e Event) {
	switch {
	case e.Status != nil:
		if m := t.Status.Message; m != nil {
			t.History = append(slices.Clip(t.History), *m)
		}
		t.Status = e.Status.Status
	case e.Artifact != nil:
		t.Add(*e.Artifact)
	}
}

// Timestamp writes an instant as A2A 1.0 §5.6.1 wants it: UTC, Z, milliseconds. A2A 0.3 §6.2 allows the same form.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
