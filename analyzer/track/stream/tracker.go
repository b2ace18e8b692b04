// Package stream tracks event streams: what the events of each have shown so far, and whether the streams of one task
// show the same.
package stream

import (
	"a2atap/analyzer"
	"a2atap/analyzer/recent"
)

// maxTasks bounds the tasks whose streams are compared. What goes beyond is forgotten, least recently used first.
const maxTasks = 5_000

// Tracker remembers what the events of each stream have shown, and compares the streams of a task.
var Tracker = &analyzer.Tracker{
	Name: "stream",
	Doc:  "what event streams have shown, and the streams of one task beside each other",
	On:   analyzer.RequestDone | analyzer.StatusSeen | analyzer.TaskSeen | analyzer.AnswerDone | analyzer.StreamEnded,
	New: func(s *analyzer.Setup) analyzer.State {
		return &Memory{
			streams: analyzer.NewSlot[*Stream](s),
			tasks:   recent.New[analyzer.TaskKey, *task](maxTasks),
		}
	},
}

// Of returns what is remembered of streams.
func Of(p *analyzer.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Take implements analyzer.State.
func (m *Memory) Take(p *analyzer.Pass) {
	x := p.Exchange
	switch p.Kind {
	case analyzer.RequestDone:
		m.asked(x)
	case analyzer.StatusSeen:
		if s := m.In(x); s != nil {
			s.time(p.Entity)
		}
	case analyzer.TaskSeen:
		if s := m.In(x); s != nil {
			s.name(p.Task)
		}
	case analyzer.AnswerDone:
		if s := m.In(x); s != nil {
			s.add(p.Observation)
			m.follow(p.Observation, s)
		}
	case analyzer.StreamEnded:
		m.finished(p.Observation)
	}
}

// Forgotten implements analyzer.State. Streams that were not compared are not counted.
func (m *Memory) Forgotten() int { return 0 }
