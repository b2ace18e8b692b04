package a2a

import (
	"iter"
	"time"
)

// The types in this file and in push.go each read one protocol object in every form: 0.1, 0.2 and 0.3, the proto JSON
// of 0.x over HTTP+JSON, and 1.0. Each embeds a Value, which may be Absent, and adds accessors. Accessors for text
// return "" if the member is missing or not a string. They also accept the names of the proto file for ids: some peers
// use them, and parsers of proto JSON accept both.

// A Task is a task as an answer, event or notification shows it.
type Task struct{ Value }

// ID returns the id of the task.
func (t Task) ID() string { return t.Get("id").Text() }

// ContextID returns the id of the context; 0.1 has none.
func (t Task) ContextID() string { return firstText(t.Get("contextId"), t.Get("context_id")) }

// SessionID returns the id of the session, which 0.1 has instead of a context.
func (t Task) SessionID() string { return t.Get("sessionId").Text() }

// Status returns the status of the task.
func (t Task) Status() Status { return Status{t.Get("status")} }

// State returns the state of the task.
func (t Task) State() State { return t.Status().State() }

// StateText returns the state as spelled on the wire.
func (t Task) StateText() string { return t.Status().StateText() }

// StatusMessage returns the message that goes with the status.
func (t Task) StatusMessage() Message { return t.Status().Message() }

// Time returns when the status was recorded, and whether that is a valid timestamp (RFC 3339).
func (t Task) Time() (at time.Time, ok bool) {
	raw := t.Status().Get("timestamp").Raw()
	if len(raw) < 2 || raw[0] != '"' || at.UnmarshalText(raw[1:len(raw)-1]) != nil {
		return time.Time{}, false
	}
	return at, true
}

// Artifacts yields the artifacts with their index.
func (t Task) Artifacts() iter.Seq2[int, Artifact] {
	return func(yield func(int, Artifact) bool) {
		for i, v := range t.Get("artifacts").Elems() {
			if !yield(i, Artifact{v}) {
				return
			}
		}
	}
}

// History yields the messages of the history with their index.
func (t Task) History() iter.Seq2[int, Message] {
	return func(yield func(int, Message) bool) {
		for i, v := range t.Get("history").Elems() {
			if !yield(i, Message{v}) {
				return
			}
		}
	}
}

// A Status is the status of a task.
type Status struct{ Value }

// StateValue returns the member "state".
func (s Status) StateValue() Value { return s.Get("state") }

// State returns the state; NoState if it is missing or has an unknown spelling.
func (s Status) State() State {
	state, _ := ParseState(s.StateText())
	return state
}

// StateText returns the state as spelled on the wire.
func (s Status) StateText() string { return s.Get("state").Word(words) }

// Message returns the status's message; the proto JSON of 0.2 calls it "update".
func (s Status) Message() Message { return Message{first(s.Value, "message", "update")} }

// A Message is one message.
type Message struct{ Value }

// ID returns the id of the message; 0.1 has none.
func (m Message) ID() string { return firstText(m.Get("messageId"), m.Get("message_id")) }

// TaskID returns the id of the task that the message belongs to.
func (m Message) TaskID() string { return firstText(m.Get("taskId"), m.Get("task_id")) }

// ContextID returns the id of the context that the message belongs to.
func (m Message) ContextID() string { return firstText(m.Get("contextId"), m.Get("context_id")) }

// Role returns who wrote the message; NoRole if that is missing or has an unknown spelling.
func (m Message) Role() Role {
	role, _ := ParseRole(m.RoleText())
	return role
}

// RoleText returns the role as spelled on the wire.
func (m Message) RoleText() string { return m.Get("role").Word(words) }

// Parts returns the parts; the proto JSON of 0.x calls them "content".
func (m Message) Parts() Parts { return Parts{first(m.Value, "parts", "content")} }

// Parts is the list of the parts of a message or artifact.
type Parts struct{ Value }

// All yields the parts with their index.
func (p Parts) All() iter.Seq2[int, Part] {
	return func(yield func(int, Part) bool) {
		for i, v := range p.Elems() {
			if !yield(i, Part{v}) {
				return
			}
		}
	}
}

// An Artifact is a result of a task, or a piece of one.
type Artifact struct{ Value }

// ID returns the id of the artifact; 0.1 has none.
func (a Artifact) ID() string { return firstText(a.Get("artifactId"), a.Get("artifact_id")) }

// Index returns the index that identifies an artifact in 0.1, by default 0, and whether it is missing or a number.
func (a Artifact) Index() (int64, bool) {
	if v := a.Get("index"); v.Exists() && !v.IsNull() {
		return v.Int()
	}
	return 0, true
}

// Parts returns the parts.
func (a Artifact) Parts() Parts { return Parts{first(a.Value, "parts", "content")} }

// A StatusUpdate is an event that reports the status of a task.
type StatusUpdate struct{ Value }

// TaskID returns the id of the task, which 0.1 calls "id".
func (u StatusUpdate) TaskID() string { return first(u.Value, "taskId", "task_id", "id").Text() }

// ContextID returns the id of the context; 0.1 has none.
func (u StatusUpdate) ContextID() string { return firstText(u.Get("contextId"), u.Get("context_id")) }

// Status returns the status of the task.
func (u StatusUpdate) Status() Status { return Status{u.Get("status")} }

// State returns the state of the task.
func (u StatusUpdate) State() State { return u.Status().State() }

// StateText returns the state as spelled on the wire.
func (u StatusUpdate) StateText() string { return u.Status().StateText() }

// Final reports whether the event has final:true, which 1.0 does not define.
func (u StatusUpdate) Final() bool {
	final, _ := u.Get("final").Bool()
	return final
}

// FinalUnclear reports whether the event has a member final that is not a boolean.
func (u StatusUpdate) FinalUnclear() bool {
	v := u.Get("final")
	return present(v) && v.Kind() != Bool
}

// An ArtifactUpdate is an event that brings an artifact, or a piece of one.
type ArtifactUpdate struct{ Value }

// TaskID returns the id of the task, which 0.1 calls "id".
func (u ArtifactUpdate) TaskID() string { return first(u.Value, "taskId", "task_id", "id").Text() }

// ContextID returns the id of the context; 0.1 has none.
func (u ArtifactUpdate) ContextID() string { return firstText(u.Get("contextId"), u.Get("context_id")) }

// Artifact returns the artifact.
func (u ArtifactUpdate) Artifact() Artifact { return Artifact{u.Get("artifact")} }

// Append reports whether to append the parts to the existing artifact; in 0.1 the flag is inside the artifact.
func (u ArtifactUpdate) Append() bool { return u.flag("append") }

// AppendKnown reports whether it is clear how to apply the update; it is not if append is not a boolean.
func (u ArtifactUpdate) AppendKnown() bool {
	v := u.Get("append")
	if !v.Exists() {
		v = u.Artifact().Get("append")
	}
	return !v.Exists() || v.IsNull() || v.Kind() == Bool
}

// LastChunk reports whether the artifact is complete; in 0.1 the flag is inside the artifact.
func (u ArtifactUpdate) LastChunk() bool { return u.flag("lastChunk") }

func (u ArtifactUpdate) flag(name string) bool {
	v := u.Get(name)
	if !v.Exists() {
		v = u.Artifact().Get(name)
	}
	set, _ := v.Bool()
	return set
}
