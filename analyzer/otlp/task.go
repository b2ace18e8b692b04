package otlp

import (
	"iter"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
)

// Tasks follows tasks from the exchange that first shows them to their final state. Give it the results of
// engine.OnEvent and engine.OnEnded, in that order. It is not safe for concurrent use.
type Tasks struct {
	tasks *recent.Map[taskKey, *Task]
}

// A taskKey identifies a task: ids are unique per agent.
type taskKey struct{ agent, id string }

// A Task is a task as far as it was seen.
type Task struct {
	ID       string
	Agent    string    // name of the agent that has it
	Exchange uint64    // that first showed it; the task's span begins with it
	Last     time.Time // when it was last seen, or its end
	State    a2a.State // the last that was seen
	States   []TaskState
	Dropped  int  // states that are not in States
	Ended    bool // it has reached a terminal state; later states are ignored

	taken bool // it was returned
}

// A TaskState is a state, and when it was first seen after another.
type TaskState struct {
	State a2a.State
	At    time.Time
}

// Bounds of the remembered tasks.
const (
	maxTasks  = 10_000
	maxStates = 64 // of one
)

// newTasks returns an empty Tasks.
func newTasks() *Tasks { return &Tasks{recent.New[taskKey, *Task](maxTasks)} }

// Event handles an event of a stream. It returns the task that has ended, or that is forgotten to make room, or nil.
func (t *Tasks) Event(v *summary.Event) *Task {
	return t.saw(taskKey{v.Link.Agent, v.Task}, v.Seq, v.At, v.State)
}

// Ended takes an exchange that has ended. Its result is as for Event.
func (t *Tasks) Ended(x *summary.Summary) *Task {
	if !x.Call && x.Operation != a2a.Webhook {
		return nil
	}
	key := taskKey{x.Programs().Agent, x.Task}
	_, known := t.tasks.Get(key)
	switch made := x.Call && x.State.Known(); { // an id that a client asks for may not be a task's
	case !known && !made:
		return nil
	case x.Events >= 0: // that have reported the states
		return t.saw(key, x.Seq, x.Started, a2a.NoState)
	}
	return t.saw(key, x.Seq, x.Started.Add(max(x.Took, 0)), x.State)
}

// saw records that an exchange has shown a task in a state.
func (t *Tasks) saw(key taskKey, seq uint64, at time.Time, state a2a.State) (over *Task) {
	if key.id == "" || key.agent == "" {
		return nil
	}
	task, known := t.tasks.Get(key)
	if !known {
		task = &Task{ID: key.id, Agent: key.agent, Exchange: seq, Last: at}
		if dropped, ok := t.tasks.Put(key, task); ok && !dropped.taken {
			over = dropped.take()
		}
	}
	if task.Ended {
		return over
	}
	if at.After(task.Last) {
		task.Last = at
	}
	if state.Known() && state != task.State {
		task.State = state
		if len(task.States) < maxStates {
			task.States = append(task.States, TaskState{state, at})
		} else {
			task.Dropped++
		}
	}
	if task.State.Terminal() {
		task.Ended = true
		if over == nil {
			return task.take()
		}
	}
	return over
}

func (t *Task) take() *Task {
	t.taken = true
	return t
}

// Rest yields the tasks that have not ended, and were not returned before.
func (t *Tasks) Rest() iter.Seq[*Task] {
	return func(yield func(*Task) bool) {
		for _, task := range t.tasks.All() {
			if !task.taken && !yield(task.take()) {
				return
			}
		}
	}
}

// Task returns the span of a task: from the exchange that first showed it to its end, or to its last appearance. It
// returns false before that exchange has a span, or if the exchange was forgotten.
func (s *Spans) Task(t *Task) (Span, bool) {
	i, ok := s.known.Get(t.Exchange)
	if !ok || !i.made {
		return Span{}, false
	}
	var a attributes
	a.text("a2a.task.id", t.ID)
	a.text("a2a.context.id", i.context)
	a.text("a2a.task.state", stateName(t.State))
	a.number("a2atap.exchange", int64(t.Exchange))
	a.yes("a2atap.open", !t.Ended)
	id := derive("task", i.span[:], []byte(t.Agent), []byte(t.ID))
	span := &tracepb.Span{
		TraceId: i.trace[:], SpanId: id[:8], ParentSpanId: i.span[:], Flags: parentKnown,
		Name: "a2a.task", Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: nanoseconds(i.started),
		EndTimeUnixNano:   max(nanoseconds(t.Last), nanoseconds(i.started)),
		Attributes:        a.list, DroppedEventsCount: uint32(t.Dropped),
	}
	for _, state := range t.States {
		span.Events = append(span.Events, &tracepb.Span_Event{
			TimeUnixNano: nanoseconds(state.At), Name: stateName(state.State),
		})
	}
	if t.State == a2a.Failed || t.State == a2a.Rejected {
		span.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "task " + stateName(t.State)}
	}
	return Span{valid(t.Agent, maxText), span}, true
}

func stateName(s a2a.State) string {
	if !s.Known() {
		return ""
	}
	return s.String()
}
