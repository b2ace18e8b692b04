package replay

import (
	"fmt"

	"a2atap/proxy/a2a"
)

// An item is a unit of comparison: a whole answer without stream, or an event of a stream. All chunks of an artifact
// are one item, since an agent may send any number of them.
type item struct {
	kind     a2a.PayloadKind
	state    a2a.State
	err      *a2a.Error
	artifact int    // number of the artifact in its answer, from 1
	last     bool   // the artifact was said to be complete
	count    int    // of a task: how many artifacts it has
	task     string // id of the task that it names
	event    int    // number of its (first) event; 0 if it is no event
	answer   a2a.Answer
	chunks   []chunk // of an artifact, after the first
}

// A chunk is a further part of an artifact.
type chunk struct {
	event  int
	answer a2a.Answer
}

// answers returns all that the item was made of.
func (i item) answers() []a2a.Answer {
	all := []a2a.Answer{i.answer}
	for _, c := range i.chunks {
		all = append(all, c.answer)
	}
	return all
}

// roots returns the JSON texts of the item.
func (i item) roots() []located {
	all := []located{{i.answer.Doc.Root, i.event}}
	for _, c := range i.chunks {
		all = append(all, located{c.answer.Doc.Root, c.event})
	}
	return all
}

// String describes the item for people, such as "TaskStatusUpdateEvent working".
func (i item) String() string {
	switch {
	case i.err != nil:
		return "error " + errorLabel(i.err)
	case i.kind == a2a.ArtifactPayload:
		return fmt.Sprintf("%s of artifact %d", i.kind, i.artifact)
	case i.state != a2a.NoState:
		return fmt.Sprintf("%s %s", i.kind, i.state)
	case i.kind == a2a.NullPayload:
		return "done"
	}
	return i.kind.String()
}

func errorLabel(e *a2a.Error) string {
	switch {
	case e.Name != a2a.NoErrorName && e.Name != a2a.OtherError:
		return e.Name.String()
	case e.CodeKnown:
		return fmt.Sprintf("%d", e.Code)
	case e.Reason != "":
		return e.Reason
	}
	return fmt.Sprintf("HTTP %d", e.HTTPStatus)
}

// same reports whether two items mean the same. States are compared where both are one event or answer.
func (i item) same(j item) bool { return i.sameKind(j) && i.state == j.state }

func (i item) sameKind(j item) bool {
	if (i.err == nil) != (j.err == nil) {
		return false
	}
	if i.err != nil {
		return errorLabel(i.err) == errorLabel(j.err)
	}
	return i.kind == j.kind && i.artifact == j.artifact
}

// An itemReader converts answers and events to items.
type itemReader struct {
	call      *a2a.Call
	items     []item
	artifacts map[string]int // where the item of an artifact is
	chunks    int
}

// add takes the next event, or the only answer with number 0. It reports the index of the item that it belongs to, and
// whether that is new; -1 if the event holds no item.
func (f *itemReader) add(event int, a a2a.Answer) (index int, isNew bool) {
	it := newItem(event, a)
	if it.kind == a2a.NoPayload && it.err == nil && event > 0 {
		return -1, false
	}
	if f.call != nil && f.call.Operation == a2a.DeletePushConfig && it.err == nil {
		it.kind = a2a.NullPayload // the agent is free in how it confirms success
	}
	if it.kind == a2a.ArtifactPayload {
		return f.addArtifact(it)
	}
	f.items = append(f.items, it)
	f.chunks = 0
	return len(f.items) - 1, true
}

func (f *itemReader) addArtifact(it item) (int, bool) {
	u := a2a.ArtifactUpdate{Value: it.answer.Payload.Value}
	id := u.Artifact().ID()
	if id == "" { // 0.1
		index, _ := u.Artifact().Index()
		id = fmt.Sprint("#", index)
	}
	id = it.task + "\x00" + id
	if at, known := f.artifacts[id]; known {
		f.items[at].last = f.items[at].last || it.last
		f.items[at].chunks = append(f.items[at].chunks, chunk{it.event, it.answer})
		f.chunks++
		return at, false
	}
	if f.artifacts == nil {
		f.artifacts = map[string]int{}
	}
	it.artifact = len(f.artifacts) + 1
	f.artifacts[id] = len(f.items)
	f.items = append(f.items, it)
	f.chunks = 0
	return len(f.items) - 1, true
}

func newItem(event int, a a2a.Answer) item {
	it := item{kind: a.Payload.Kind, err: a.Err, event: event, answer: a}
	v := a.Payload.Value
	switch it.kind {
	case a2a.TaskPayload:
		t := a2a.Task{Value: v}
		it.state, it.task = t.State(), t.ID()
		for range t.Artifacts() {
			it.count++
		}
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: v}
		it.state, it.task = u.State(), u.TaskID()
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: v}
		it.task, it.last = u.TaskID(), u.LastChunk()
	case a2a.MessagePayload:
		it.task = a2a.Message{Value: v}.TaskID()
	}
	return it
}
