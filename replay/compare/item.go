package compare

import (
	"fmt"
	"slices"

	"a2atap/proxy/a2a"
)

// An Item is a unit of comparison: a whole answer that is not a stream, or an event of a stream. All chunks of an
// artifact are one item, since an agent may send any number of them.
type Item struct {
	Kind     a2a.PayloadKind
	State    a2a.State  // of the task that a Task or a status update shows
	Err      *a2a.Error // nil for anything but an error
	Artifact int        // number of the artifact in its answer, from 1; 0 for other items
	Last     bool       // the agent marked the artifact as complete
	Count    int        // of a task: how many artifacts it has
	Task     string     // id of the task that it names
	Event    int        // number of its (first) event; 0 if it is not an event
	Answer   a2a.Answer // what it was read from, of an artifact the first chunk
	rest     bool       // it came over HTTP+JSON
	chunks   []chunk    // of an artifact, after the first
}

// A chunk is a further part of an artifact.
type chunk struct {
	event  int
	answer a2a.Answer
}

// answers returns all answers that the item consists of.
func (i Item) answers() []a2a.Answer {
	all := []a2a.Answer{i.Answer}
	for _, c := range i.chunks {
		all = append(all, c.answer)
	}
	return all
}

// roots returns the JSON texts of the item.
func (i Item) roots() []located {
	all := []located{{i.Answer.Doc.Root, i.Event}}
	for _, c := range i.chunks {
		all = append(all, located{c.answer.Doc.Root, c.event})
	}
	return all
}

// String describes the item for people, such as "TaskStatusUpdateEvent working".
func (i Item) String() string {
	switch {
	case i.Err != nil:
		return "error " + errorLabel(i.Err)
	case i.Kind == a2a.ArtifactPayload:
		return fmt.Sprintf("%s of artifact %d", i.Kind, i.Artifact)
	case i.State != a2a.NoState:
		return fmt.Sprintf("%s %s", i.Kind, i.State)
	case i.Kind == a2a.NullPayload:
		return "done"
	case i.isRefusal():
		return fmt.Sprintf("HTTP %d", i.Answer.Status)
	}
	return i.Kind.String()
}

func errorLabel(e *a2a.Error) string {
	switch {
	case e.Name != a2a.NoErrorName && e.Name != a2a.OtherError:
		return e.Name.String()
	case e.CodeKnown:
		return fmt.Sprintf("%d", e.Code)
	case e.Reason != "":
		return e.Reason
	case e.GRPCStatus != "":
		return e.GRPCStatus
	}
	return fmt.Sprintf("HTTP %d", e.HTTPStatus)
}

// Same reports whether two items mean the same: the same error, or the same kind of object in the same state,
// regardless of its contents, binding and dialect.
func (i Item) Same(j Item) bool { return i.sameKind(j) && i.State == j.State }

// sameKind is Same without regard to states.
func (i Item) sameKind(j Item) bool {
	if (i.Err == nil) != (j.Err == nil) {
		return false
	}
	if i.Err != nil {
		return sameError(i, j)
	}
	if i.isRefusal() || j.isRefusal() {
		return i.Kind == j.Kind && i.Answer.Status == j.Answer.Status
	}
	return i.Kind == j.Kind && i.Artifact == j.Artifact
}

// isRefusal reports whether only the HTTP status shows that the call failed: the answer has no protocol object.
func (i Item) isRefusal() bool {
	return i.Kind == a2a.NoPayload && i.Err == nil && i.Answer.Status >= 300
}

// An ItemReader converts answers and events to items. The zero reader is ready to use; the request helps it to read
// the answer.
type ItemReader struct {
	Call      *a2a.Call
	Items     []Item
	artifacts map[string]numbered
	chunks    int
}

// A numbered artifact has its number within its task, if known, and its item; the item is -1 if only a snapshot shows
// the artifact.
type numbered struct{ number, item int }

// Add takes the next event, or the only answer with number 0. It returns the index of its item, and whether the item
// is new; the index is -1 if the event holds no item.
func (f *ItemReader) Add(event int, a a2a.Answer) (index int, isNew bool) {
	it := NewItem(event, a)
	if it.Kind == a2a.NoPayload && it.Err == nil && event > 0 {
		return -1, false
	}
	it.rest = f.Call != nil && f.Call.Binding == a2a.HTTPJSON
	if f.Call != nil && f.Call.Operation == a2a.DeletePushConfig && it.Err == nil {
		it.Kind = a2a.NullPayload // the agent may confirm success in any form
	}
	if it.Kind == a2a.ArtifactPayload {
		return f.addArtifact(it)
	}
	if len(f.Items) == 0 && it.Kind == a2a.TaskPayload && event > 0 {
		for _, shown := range (a2a.Task{Value: a.Payload.Value}).Artifacts() {
			f.number(artifactKey(it.Task, shown), -1)
		}
	}
	f.Items = append(f.Items, it)
	f.chunks = 0
	return len(f.Items) - 1, true
}

// number notes an artifact and its item.
func (f *ItemReader) number(key string, item int) int {
	if f.artifacts == nil {
		f.artifacts = map[string]numbered{}
	}
	n := f.artifacts[key].number
	if n == 0 {
		n = len(f.artifacts) + 1
	}
	f.artifacts[key] = numbered{n, item}
	return n
}

// artifactKey returns a key that distinguishes the artifacts of a stream. In 0.1 their index is their id.
func artifactKey(task string, a a2a.Artifact) string {
	id := a.ID()
	if id == "" {
		index, _ := a.Index()
		id = fmt.Sprint("#", index)
	}
	return task + "\x00" + id
}

func (f *ItemReader) addArtifact(it Item) (int, bool) {
	key := artifactKey(it.Task, it.artifact())
	if at, known := f.artifacts[key]; known && at.item >= 0 {
		f.Items[at.item].Last = f.Items[at.item].Last || it.Last
		f.Items[at.item].chunks = append(f.Items[at.item].chunks, chunk{it.Event, it.Answer})
		f.chunks++
		return at.item, false
	}
	it.Artifact = f.number(key, len(f.Items))
	f.Items = append(f.Items, it)
	f.chunks = 0
	return len(f.Items) - 1, true
}

// artifact returns the artifact in an update.
func (i Item) artifact() a2a.Artifact {
	return a2a.ArtifactUpdate{Value: i.Answer.Payload.Value}.Artifact()
}

// NewItem makes an item of an event, or of a whole answer with number 0. It leaves the number of an artifact to an
// ItemReader.
func NewItem(event int, a a2a.Answer) Item {
	it := Item{Kind: a.Payload.Kind, Err: a.Err, Event: event, Answer: a}
	v := a.Payload.Value
	switch it.Kind {
	case a2a.TaskPayload:
		t := a2a.Task{Value: v}
		it.State, it.Task = t.State(), t.ID()
		for range t.Artifacts() {
			it.Count++
		}
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: v}
		it.State, it.Task = u.State(), u.TaskID()
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: v}
		it.Task, it.Last = u.TaskID(), u.LastChunk()
	case a2a.MessagePayload:
		it.Task = a2a.Message{Value: v}.TaskID()
	}
	return it
}

func terminalOrInterrupted(s a2a.State) bool { return s.Terminal() || s.Interrupted() }

// A located is a value and the number of its event; 0 for a value in a body.
type located struct {
	a2a.Value
	event int
}

func event(it Item) string { return fmt.Sprintf(".event[%d]", it.Event) }

// sameError reports whether two errors mean the same. An HTTP+JSON error without a name is identified by its status:
// it equals a JSON-RPC error with that status (A2A 1.0 §5.4), or another error with the same status.
func sameError(i, j Item) bool {
	if errorLabel(i.Err) == errorLabel(j.Err) {
		return true
	}
	if statusMeans(i.Err.GRPCStatus, j.Err) || statusMeans(j.Err.GRPCStatus, i.Err) {
		return true
	}
	if i.rest == j.rest {
		return false
	}
	if j.rest {
		i, j = j, i
	}
	if i.Err.CodeKnown || i.Err.Reason != "" || i.Err.Name != a2a.NoErrorName {
		return false
	}
	if j.Err.HTTPStatus >= 400 && i.Err.HTTPStatus == j.Err.HTTPStatus { // such as missing credentials
		return true
	}
	if j.Err.Name == a2a.MethodNotFound { // an unknown path, or a wrong method for it
		return i.Err.HTTPStatus == 404 || i.Err.HTTPStatus == 405 || i.Err.HTTPStatus == 501
	}
	row, ok := j.Err.Name.Row()
	return ok && slices.Contains(row.Status, i.Err.HTTPStatus)
}

// statusMeans reports whether a gRPC status corresponds to an error of another binding that has no A2A name.
//
// Source: A2A 1.0 §3.3.2, §5.4.
func statusMeans(status string, e *a2a.Error) bool {
	if e.GRPCStatus != "" || e.Name.A2A() {
		return false
	}
	switch status {
	case "UNAUTHENTICATED":
		return e.HTTPStatus == 401
	case "PERMISSION_DENIED":
		return e.HTTPStatus == 403
	case "INVALID_ARGUMENT":
		return e.HTTPStatus == 400 || e.Name == a2a.InvalidParams || e.Name == a2a.InvalidRequest
	case "UNIMPLEMENTED":
		return e.HTTPStatus == 404 || e.HTTPStatus == 405 || e.HTTPStatus == 501 || e.Name == a2a.MethodNotFound
	case "INTERNAL":
		return e.HTTPStatus == 500 || e.Name == a2a.InternalError
	}
	return false
}
