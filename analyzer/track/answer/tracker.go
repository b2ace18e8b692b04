// Package answer tracks answers about tasks that later answers are compared with: that a task is not found, that an
// operation is refused, and the reported state of an ended task.
package answer

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// maxAnswers bounds the remembered answers of each sort. The least recently used are forgotten first.
const maxAnswers = 5_000

// Tracker remembers answers about tasks.
var Tracker = &analysis.Tracker{
	Name:  "answer",
	Doc:   "answers that report a task as not found, refuse an operation on it, or show how it ended",
	Needs: []*analysis.Tracker{card.Tracker, task.Tracker},
	On:    analysis.OutcomeSeen | analysis.TaskSeen | analysis.AnswerDone | analysis.CaptureDone,
	Makes: analysis.TaskMissed,
	New: func(s *analysis.Setup) analysis.State {
		return &Memory{
			cards:     s.State(card.Tracker).(*card.Memory),
			tasks:     s.State(task.Tracker).(*task.Memory),
			refusals:  recent.New[refusalKey, *Refusal](maxAnswers),
			ended:     recent.New[endedKey, *EndedTask](maxAnswers),
			notFound:  analysis.RecentByTask[*NotFound](maxAnswers),
			missed:    analysis.RecentByTask[*Missed](maxAnswers),
			subscribe: analysis.RecentByTask[*Pending](maxAnswers),
			stream:    analysis.RecentByTask[*Pending](maxAnswers),
			digester:  a2a.NewDigester(),
			canceling: recent.New[string, analysis.Moment](maxAnswers),
		}
	},
}

// Of returns the Memory of answers.
func Of(p *analysis.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	o := p.Observation
	switch p.Kind {
	case analysis.OutcomeSeen:
		m.refusedStream(o)
		m.canceled(o)
	case analysis.TaskSeen:
		m.seen(o.Exchange, o.Task)
	case analysis.AnswerDone:
		if o.Answer.Err != nil {
			m.refusedSubscription(o)
			m.refused(o)
			m.missing(o)
		}
		if o.Event == nil {
			m.showed(o)
		}
		m.contradicted(o)
	case analysis.CaptureDone:
		m.tellMissed(p)
	}
}

// Forgotten implements analysis.State. Answers are not counted.
func (m *Memory) Forgotten() int { return 0 }

// seen forgets answers that an observation of a task contradicts: the task exists, or has changed.
func (m *Memory) seen(x *analysis.Exchange, seen *analysis.TaskObservation) {
	key := x.TaskKey(seen.TaskID)
	m.notFound.Delete(key)
	m.found(x, key, seen)
	if seen.Late {
		return
	}
	if a, ok := m.subscribe.Get(key); ok && a.Before(x) {
		m.subscribe.Delete(key)
	}
	if a, ok := m.stream.Get(key); ok && seen.State.Known() && a.Before(x) {
		m.stream.Delete(key)
	}
}
