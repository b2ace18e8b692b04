package refagent

import (
	"slices"
	"strings"
	"time"
)

// A state is a task state, spelled as A2A 0.3 §6.3 does. A2A 1.0 §4.1.3 spells it TASK_STATE_ in front.
type state string

const (
	submitted     state = "submitted"
	working       state = "working"
	completed     state = "completed"
	failed        state = "failed"
	canceled      state = "canceled"
	inputRequired state = "input-required"
	rejected      state = "rejected"
	authRequired  state = "auth-required"
)

var states = []state{submitted, working, completed, failed, canceled, inputRequired, rejected, authRequired}

// terminal says whether a task in this state has ended for good (A2A 1.0 §4.1.3).
func (s state) terminal() bool {
	return s == completed || s == failed || s == canceled || s == rejected
}

// interrupted says whether the agent waits for the client.
func (s state) interrupted() bool { return s == inputRequired || s == authRequired }

// terminalOrInterrupted reports whether a blocking send may answer and a stream may close.
func (s state) terminalOrInterrupted() bool { return s.terminal() || s.interrupted() }

// A role names the sender of a message.
type role string

const (
	roleUser  role = "user"
	roleAgent role = "agent"
)

// A partKind says which content a part holds.
type partKind int

const (
	textPart partKind = iota
	rawPart           // inline bytes
	urlPart           // a file by reference
	dataPart          // any JSON value
)

// A part is one piece of content. Only the field that kind names is used.
type part struct {
	kind      partKind
	text      string
	raw       []byte
	url       string
	data      any
	mediaType string
	filename  string
	metadata  object
}

func text(s string) []part { return []part{{kind: textPart, text: s}} }

type message struct {
	id, contextID, taskID string
	role                  role
	parts                 []part
	references            []string // task ids
	extensions            []string // URIs
	metadata              object
}

// text returns the text parts of m, one per line.
func (m *message) text() string {
	var lines []string
	for _, p := range m.parts {
		if p.kind == textPart {
			lines = append(lines, p.text)
		}
	}
	return strings.Join(lines, "\n")
}

type artifact struct {
	id, name, description string
	parts                 []part
}

type status struct {
	state   state
	message *message // nil if the agent says nothing
	at      time.Time
}

// A task is one snapshot. Once it has left the engine nothing changes it.
type task struct {
	id, contextID string
	status        status
	artifacts     []artifact
	history       []message // oldest first, the user's message first
	statuses      []status  // oldest first, the present one last: the history before A2A 0.1
	metadata      object
}

// tail returns t with at most n entries of history, the newest; nil leaves all of them (A2A 1.0 §3.2.4).
func (t task) tail(n *int) task {
	if n != nil && *n < len(t.statuses) {
		t.statuses = t.statuses[len(t.statuses)-*n:]
	}
	if n != nil && *n < len(t.history) {
		t.history = t.history[len(t.history)-*n:]
	}
	return t
}

// add puts a chunk into the artifacts of t, or a new artifact beside them, without touching earlier snapshots.
func (t *task) add(u artifactUpdate) {
	t.artifacts = slices.Clone(t.artifacts)
	i := slices.IndexFunc(t.artifacts, func(a artifact) bool { return a.id == u.artifact.id })
	switch {
	case i < 0:
		t.artifacts = append(t.artifacts, u.artifact)
	case u.append:
		t.artifacts[i].parts = slices.Concat(t.artifacts[i].parts, u.artifact.parts)
	default:
		t.artifacts[i] = u.artifact
	}
}

// An event is what a stream carries: exactly one of the four is set (A2A 1.0 §3.2.3).
type event struct {
	task     *task
	message  *message
	status   *statusUpdate
	artifact *artifactUpdate
}

type statusUpdate struct {
	taskID, contextID string
	status            status
}

type artifactUpdate struct {
	taskID, contextID string
	artifact          artifact
	index             int // of the artifact in its task
	append, last      bool
}

// endsStream reports whether a stream ends after this event (A2A 1.0 §3.1.2, §11.7).
func (e event) endsStream() bool {
	return e.status != nil && e.status.status.state.terminalOrInterrupted()
}

// terminal says whether this event ends its task.
func (e event) terminal() bool { return e.status != nil && e.status.status.state.terminal() }

// apply folds an event into t as the engine folded it, without touching earlier snapshots.
func (t *task) apply(e event) {
	switch {
	case e.status != nil:
		if m := t.status.message; m != nil {
			t.history = append(slices.Clip(t.history), *m)
		}
		t.status = e.status.status
	case e.artifact != nil:
		t.add(*e.artifact)
	}
}

// timestamp writes an instant as A2A 1.0 §5.6.1 wants it: UTC, Z, milliseconds. A2A 0.3 §6.2 allows the same form.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
