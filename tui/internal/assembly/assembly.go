// Package assembly assembles the contents of an answer that arrives in pieces: each artifact from its chunks, and
// between them, in order, the texts of statuses, messages and errors. It accepts the results of package a2a, in every
// dialect.
//
// The stored contents are bounded. The caller, who knows the total, counts the rest.
package assembly

import (
	"fmt"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A Kind is the kind of a block.
type Kind uint8

// The kinds of blocks.
const (
	Artifact Kind = iota
	Status        // a state of the task, with its message
	Message
	Failure // an error instead of a payload
	Other   // something else than an object of a stream
)

// A Block is text to show: an artifact as received so far, or the messages between two artifacts. Blocks are in the order
// of their first events.
type Block struct {
	Kind   Kind
	Task   string // id of the task it belongs to; empty if none is named
	Name   string // id or index of an artifact, state of a status, role of a message, error of a failure
	Title  string // name of an artifact; empty if it has none
	Runs   []Run
	First  int  // index of the first event that it is made of; -1 in an answer that is not a stream
	Last   int  // index of the last one
	Chunks int  // events that it is made of
	Whole  bool // an artifact whose last chunk has arrived
	Again  int  // how often an artifact was begun again, so that what came before was replaced
	Middle bool // the first chunk of an artifact was to be appended to something missing from the stream
}

// An Event is one event of the stream.
type Event struct {
	Number   int           // in its stream, from 1
	At       time.Duration // offset from the start of the exchange; capture.NotKnown if it was not measured
	Size     int64         // bytes of the event on the wire
	Words    string        // what it brings, in a few words
	Replaced int           // index of the event that replaced what this one brought; -1 if none did
}

// An Assembly has the assembled contents so far. The zero value is empty. It is not safe for concurrent use.
type Assembly struct {
	Blocks []Block
	Events []Event
	Full   bool // a bound is reached: nothing more is added

	artifacts map[string]int // index of the block, by task and artifact
	bytes     int
	tasks     map[string]bool
	lastTask  string // last named task
}

// Tasks returns the number of named tasks.
func (a *Assembly) Tasks() int { return len(a.tasks) }

// AddEvent adds the next event of a stream. It ignores blocks of comments, which are not events.
func (a *Assembly) AddEvent(call *a2a.Call, e *capture.Event) {
	if a.Full || e.K == 0 {
		return
	}
	i := len(a.Events)
	a.Events = append(a.Events, Event{
		Number: e.K, At: e.At, Size: int64(len(e.Raw)) + e.Dropped, Replaced: -1,
	})
	words := "no data"
	if fields := e.Fields(); fields.HasData {
		answer := a2a.DecodeEvent(call, fields.Data)
		if words = a.add(i, &answer); answer.Doc.Err != nil {
			words = "not JSON"
		}
	}
	a.Events[i].Words = words
	a.Full = a.Full || len(a.Events) == MaxEvents
}

// AddAnswer adds an answer that is not a stream: a task with its history and artifacts, a message, or an error.
func (a *Assembly) AddAnswer(answer *a2a.Answer) {
	switch v := answer.Payload.Value; {
	case answer.Err != nil:
	case answer.Payload.Kind == a2a.TaskPayload:
		for _, m := range (a2a.Task{Value: v}).History() {
			a.message(-1, m)
		}
	case answer.Payload.Kind == a2a.TaskListPayload:
		for t := range answer.Payload.Tasks() {
			a.task(-1, t)
		}
		return
	}
	a.add(-1, answer)
}

// add adds the contents of an event or an answer, and returns a short description of them.
func (a *Assembly) add(event int, answer *a2a.Answer) string {
	if answer.Err != nil {
		return a.failure(event, answer.Err)
	}
	switch v := answer.Payload.Value; answer.Payload.Kind {
	case a2a.TaskPayload:
		return strings.TrimSpace("task " + a.task(event, a2a.Task{Value: v}))
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: v}
		return "status " + a.status(event, u.TaskID(), u.Status()) + quoted(u.Status().Message().Parts())
	case a2a.ArtifactPayload:
		return a.update(event, a2a.ArtifactUpdate{Value: v})
	case a2a.MessagePayload:
		return a.message(event, a2a.Message{Value: v})
	case a2a.NoPayload, a2a.NullPayload:
		return answer.Payload.Kind.String()
	}
	a.put(Block{Kind: Other, Name: answer.Payload.Kind.String()}, event, []Run{{
		Event: event, Kind: a2a.DataPart, Text: string(answer.Payload.Value.Raw()),
	}})
	return answer.Payload.Kind.String()
}

func (a *Assembly) failure(event int, e *a2a.Error) string {
	var runs []Run
	if e.Message != "" {
		runs = []Run{{event, a2a.TextPart, e.Message}}
	}
	a.put(Block{Kind: Failure, Name: e.String()}, event, runs)
	return e.String()
}

// task adds a complete task. Its artifacts replace their earlier versions, unless they have the same content.
func (a *Assembly) task(event int, t a2a.Task) string {
	for _, artifact := range t.Artifacts() {
		a.artifact(event, t.ID(), artifact, manner{last: true, snapshot: true})
	}
	if !t.Status().Exists() {
		return ""
	}
	return a.status(event, t.ID(), t.Status())
}

// status adds a status. Several statuses with the same text, and nothing else, become one block.
func (a *Assembly) status(event int, task string, s a2a.Status) string {
	state := s.State().String()
	if !s.State().Known() {
		state = cut(s.StateText(), maxName)
	}
	runs := runsOf(event, s.Message().Parts())
	if n := len(a.Blocks) - 1; n >= 0 && event >= 0 && len(runs) == 0 && a.Blocks[n].Kind == Status &&
		a.Blocks[n].Name == state && a.Blocks[n].Task == task {
		a.Blocks[n].Last = event
		a.Blocks[n].Chunks++
		return state
	}
	a.put(Block{Kind: Status, Task: task, Name: state}, event, runs)
	return state
}

func (a *Assembly) message(event int, m a2a.Message) string {
	role := m.Role().String()
	if role == "" {
		role = cut(m.RoleText(), maxName)
	}
	a.put(Block{Kind: Message, Task: m.TaskID(), Name: role}, event, runsOf(event, m.Parts()))
	return "message" + quoted(m.Parts())
}

func (a *Assembly) update(event int, u a2a.ArtifactUpdate) string {
	words := a.artifact(event, u.TaskID(), u.Artifact(), manner{more: u.Append(), last: u.LastChunk()})
	if u.Append() {
		words = "+ " + words
	}
	words += quoted(u.Artifact().Parts())
	if u.LastChunk() {
		words += ", last"
	}
	return words
}

// A manner is how an event delivers an artifact.
type manner struct {
	more     bool // append it to the existing content
	last     bool // it is the last chunk
	snapshot bool // it is part of a task
}

// artifact takes an artifact, or a chunk of one (A2A 1.0 §4.2.2, 0.3 §7.2.3), and returns its name. Without append, it
// begins an artifact, or replaces the one with the same id; 0.1 has an index instead of the id.
func (a *Assembly) artifact(event int, task string, artifact a2a.Artifact, how manner) string {
	id := artifact.ID()
	if id == "" {
		index, _ := artifact.Index()
		id = fmt.Sprint("#", index)
	}
	if task == "" { // an update that does not say it is about the task of the others
		task = a.lastTask
	}
	key, name, runs := task+"\x00"+id, cut(id, maxName), runsOf(event, artifact.Parts())
	i, known := a.artifacts[key]
	if !known {
		if a.artifacts == nil {
			a.artifacts = make(map[string]int)
		}
		a.artifacts[key] = len(a.Blocks)
		a.bytes += len(key)
		a.put(Block{
			Kind: Artifact, Task: task, Name: name, Title: cut(artifact.Get("name").Text(), maxName),
			Whole: how.last, Middle: how.more,
		}, event, runs)
		return name
	}
	b := &a.Blocks[i]
	switch {
	case how.more:
		b.Whole = b.Whole || how.last
	case how.snapshot && sameContent(b.Runs, runs):
		b.Whole = true
		return name
	default:
		a.replace(b, event)
		b.Whole = how.last
	}
	b.Runs = append(b.Runs, a.charged(runs)...)
	b.Last = event
	b.Chunks++
	return name
}

// replace empties an artifact that starts again.
func (a *Assembly) replace(b *Block, by int) {
	for _, r := range b.Runs {
		if r.Event >= 0 {
			a.Events[r.Event].Replaced = by
		}
		a.bytes -= len(r.Text) + runBytes
	}
	b.Runs, b.Chunks, b.Middle = nil, 0, false
	b.Again++
}

// put adds a block.
func (a *Assembly) put(b Block, event int, runs []Run) {
	if b.Task != "" {
		a.lastTask = b.Task
	}
	if b.Task != "" && !a.tasks[b.Task] {
		if a.tasks == nil {
			a.tasks = make(map[string]bool)
		}
		a.tasks[b.Task] = true
		a.bytes += len(b.Task)
	}
	a.bytes += blockBytes
	b.First, b.Last, b.Chunks, b.Runs = event, event, 1, a.charged(runs)
	a.Blocks = append(a.Blocks, b)
}

// charged returns the runs that fit.
func (a *Assembly) charged(runs []Run) []Run {
	for i := range runs {
		room := max(MaxBytes-a.bytes, 0)
		a.bytes += len(runs[i].Text) + runBytes
		if a.bytes > MaxBytes {
			a.Full = true
			runs[i].Text = cut(runs[i].Text, room)
			return runs[:i+1]
		}
	}
	a.Full = a.Full || a.bytes > MaxBytes
	return runs
}
