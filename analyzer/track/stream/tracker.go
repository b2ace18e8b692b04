// Package stream tracks event streams: the contents of each stream so far, and whether the streams of one task agree.
package stream

import (
	"a2atap/analyzer/analysis"
)

// maxTasks bounds the tasks whose streams are compared. The least recently used are forgotten first.
const maxTasks = 5_000

// Tracker remembers the events of each stream, and compares the streams of a task.
var Tracker = &analysis.Tracker{
	Name: "stream",
	Doc:  "the contents of event streams, and parallel streams of one task",
	On:   analysis.RequestDone | analysis.StatusSeen | analysis.TaskSeen | analysis.AnswerDone | analysis.StreamEnded,
	New: func(s *analysis.Setup) analysis.State {
		return &Memory{
			streams: analysis.NewSlot[*Stream](s),
			tasks:   analysis.RecentByTask[*task](maxTasks),
		}
	},
}

// Of returns the Memory of streams.
func Of(p *analysis.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	x := p.Exchange
	switch p.Kind {
	case analysis.RequestDone:
		m.asked(x)
	case analysis.StatusSeen:
		if s := m.In(x); s != nil {
			s.time(p.Entity)
		}
	case analysis.TaskSeen:
		if s := m.In(x); s != nil {
			s.name(p.Task)
		}
	case analysis.AnswerDone:
		if s := m.In(x); s != nil {
			s.add(p.Observation)
			m.follow(p.Observation, s)
		}
	case analysis.StreamEnded:
		m.finished(p.Observation)
	}
}

// Forgotten implements analysis.State. Streams that were not compared are not counted.
func (m *Memory) Forgotten() int { return 0 }
