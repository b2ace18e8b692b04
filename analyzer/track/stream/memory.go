package stream

import (
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
)

const (
	maxRuns    = 4   // streams of a task that are compared
	maxUpdates = 128 // updates of a stream that are compared, the newest ones
)

// Memory remembers streams.
type Memory struct {
	streams analysis.Slot[*Stream]
	tasks   *recent.Map[analysis.TaskKey, *task]
}

// In returns the Stream of an exchange; nil if its answer is not an event stream.
func (m *Memory) In(x *analysis.Exchange) *Stream {
	if x.Stream == nil {
		return nil
	}
	s := m.streams.Of(x)
	if s == nil {
		s = &Stream{Stream: x.Stream}
		m.streams.Put(x, s)
	}
	return s
}

// A task has what parallel streams of one task have shown.
type task struct {
	runs   []*run      // of the streams that run or ran at the same time
	shared bool        // another stream was asked for while one was open
	left   *Disconnect // the client that left one of them last
}

// A Disconnect is a client that left a stream of a task.
type Disconnect struct {
	Exchange uint64
	At       time.Time
	conn     uint64
	arrival  uint64
}
