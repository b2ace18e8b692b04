// Package stream tracks event streams: what the events of each have shown so far, and whether the streams of one task
// show the same.
package stream

import (
	"a2atap/analyzer/analysis"
)

// maxTasks bounds the tasks whose streams are compared. What goes beyond is forgotten, least recently used first.
const maxTasks = 5_000

// Tracker remembers what the events of each stream have shown, and compares the streams of a task.
var Tracker = &analysis.Tracker{
	Name: "stream",
	Doc:  "what event streams have shown, and the streams of one task beside each other",
	On:   analysis.RequestDone | analysis.StatusSeen | analysis.TaskSeen | analysis.AnswerDone | analysis.StreamEnded,
	New: func(s *analysis.Setup) analysis.State {
		return &Memory{
			streams: analysis.NewSlot[*Stream](s),
			tasks:   analysis.RecentByTask[*task](maxTasks),
		}
	},
}

// Of returns what is remembered of streams.
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
