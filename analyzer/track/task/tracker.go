// Package task tracks tasks: the states and contexts in which each was seen, the messages that were sent to it, and
// what a request that names it can have known about it.
package task

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
)

// Tracker remembers the tasks that were seen.
var Tracker = &analysis.Tracker{
	Name: "task",
	Doc:  "the states and contexts of tasks, and the messages that were sent to them",
	On: analysis.RequestRead | analysis.RequestDone | analysis.TaskSeen | analysis.WebhookSeen |
		analysis.CaptureDone,
	Makes: analysis.CancelSettled,
	New: func(s *analysis.Setup) analysis.State {
		return &Memory{
			tasks:   analysis.RecentByTask[*Task](maxTasks),
			strange: recent.New[string, struct{}](maxTasks),
			named:   analysis.NewSlot[*Task](s),
			retry:   analysis.NewSlot[bool](s),
		}
	},
}

// Of returns the Memory of tasks.
func Of(p *analysis.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Memory remembers tasks. It also tells the engine which messages were sent to them.
type Memory struct {
	tasks   *recent.Map[analysis.TaskKey, *Task]
	strange *recent.Map[string, struct{}] // ids of tasks in notifications that may be from any agent
	named   analysis.Slot[*Task]
	retry   analysis.Slot[bool]
}

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	x := p.Exchange
	switch p.Kind {
	case analysis.RequestRead:
		if x.Endpoint != nil && x.Call.TaskID != "" {
			m.find(x, p.RequestMissed())
		}
	case analysis.RequestDone:
		if t := m.Named(x); t != nil {
			t.remember(x)
			t.asked(x)
		}
	case analysis.TaskSeen:
		m.see(p.Observation)
	case analysis.WebhookSeen:
		if x.Agent == "" && x.Call.TaskID != "" {
			m.strange.Put(x.Call.TaskID, struct{}{})
		}
	case analysis.CaptureDone:
		m.settle(p)
	}
}

// Forgotten implements analysis.State: it returns how many tasks were.
func (m *Memory) Forgotten() int { return m.tasks.Forgotten() }

// find records which known task a request names.
func (m *Memory) find(x *analysis.Exchange, missed bool) {
	t := m.At(x.TaskKey(x.Call.TaskID))
	if t == nil {
		return
	}
	m.named.Put(x, t)
	if missed || t.repeats(x) {
		m.retry.Put(x, true)
	}
}

// At returns known facts about a task, or nil.
func (m *Memory) At(key analysis.TaskKey) *Task {
	t, _ := m.tasks.Get(key)
	return t
}

// Get returns known facts about the task with that id at the exchange's agent, or nil.
func (m *Memory) Get(x *analysis.Exchange, id string) *Task { return m.At(x.TaskKey(id)) }

// Named returns the task that a request names; nil if it names none, or one that was not known when it was read.
func (m *Memory) Named(x *analysis.Exchange) *Task { return m.named.Of(x) }

// SeenBefore reports whether an answer had shown the named task before the exchange began.
func (m *Memory) SeenBefore(x *analysis.Exchange) bool {
	t := m.Named(x)
	return t != nil && t.First != nil && x.BeganAfter(t.First.Moment())
}

// Retry reports whether a request sends a message that was sent to the task before, or may have been: some request was
// not recorded.
func (m *Memory) Retry(x *analysis.Exchange) bool { return m.retry.Of(x) }

// Sent implements analysis.SentMessages.
func (m *Memory) Sent(x *analysis.Exchange, taskID, messageID string) *analysis.SentMessage {
	t := m.Get(x, taskID)
	if t == nil {
		return nil
	}
	return t.message(messageID)
}

// EndedBefore returns the observation that showed the named task in a terminal state, fully delivered before the
// exchange began, or nil.
func (m *Memory) EndedBefore(x *analysis.Exchange) *analysis.TaskObservation {
	t := m.Named(x)
	if t == nil || t.Terminal == nil || !x.BeganAfter(t.Terminal.Moment()) {
		return nil
	}
	return t.Terminal
}

// ActiveBefore returns the newest observation of the named task, if it had been delivered before the exchange began and
// nothing has shown the end of the task; else nil.
func (m *Memory) ActiveBefore(x *analysis.Exchange) *analysis.TaskObservation {
	t := m.Named(x)
	if t == nil || t.Terminal != nil || t.Last == nil || !x.BeganAfter(t.Last.Moment()) {
		return nil
	}
	return t.Last
}

// ToldEnd reports whether the same client, with the same credentials, received the end of the named task.
func (m *Memory) ToldEnd(x *analysis.Exchange) bool {
	t := m.Named(x)
	return t != nil && t.ending == x.Caller()
}

// FoundByAnother returns the first observation of the named task, if it had been delivered before the exchange began
// and was for credentials other than the exchange's; else nil.
func (m *Memory) FoundByAnother(x *analysis.Exchange) *analysis.TaskObservation {
	t := m.Named(x)
	if t == nil || t.First == nil || t.FirstFor == 0 || !x.BeganAfter(t.First.Moment()) {
		return nil
	}
	if asks := x.KnownPrincipal(); asks == 0 || !asks.Unlike(t.FirstFor) {
		return nil
	}
	return t.First
}

// see remembers an observation of a task.
func (m *Memory) see(o *analysis.Observation) {
	x, seen := o.Exchange, o.Task
	key := x.TaskKey(seen.TaskID)
	at, known := m.tasks.At(key)
	if !known {
		*at = &Task{ID: seen.TaskID, shownBy: x.Seq}
	}
	t := *at
	before := t.Last
	t.see(x, seen)
	t.takeEnd(o)
	t.takeQuestion(o)
	t.takeCancel(o, before)
	if !x.Call.Operation.Sends() {
		return
	}
	if m.Named(x) == nil && x.Call.TaskID == seen.TaskID {
		t.remember(x) // the task was made before the recording began
	}
	if x.Call.TaskID != "" || !seen.Snapshot {
		return
	}
	if t.Created == nil {
		t.creation = Creation{
			Place: seen.Object, MessageID: x.Call.MessageID, ContextID: x.Call.ContextID, References: x.References(),
		}
		t.Created = &t.creation
	}
	t.remember(x)
}
