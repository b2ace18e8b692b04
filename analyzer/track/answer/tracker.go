// Package answer tracks answers about tasks that later ones are compared with: that a task is not found, that an
// operation is refused, and what an ended task is said to be.
package answer

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// maxAnswers bounds the answers that are remembered, of each sort. What goes beyond is forgotten, least recently used
// first.
const maxAnswers = 5_000

// Tracker remembers answers about tasks.
var Tracker = &analysis.Tracker{
	Name:  "answer",
	Doc:   "answers that say of a task that it is not found, that refuse an operation on it, or that show how it ended",
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

// Of returns what is remembered of answers.
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

// seen forgets what an observation of a task shows to be over: the task is there, and not what an answer said before.
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
