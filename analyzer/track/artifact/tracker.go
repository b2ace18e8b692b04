// Package artifact tracks artifacts: how each one grows in a stream, and which ones an ended task is shown to have.
package artifact

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/stream"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Tracker remembers the artifacts of streams and of ended tasks.
var Tracker = &analysis.Tracker{
	Name:  "artifact",
	Doc:   "the artifacts that streams deliver in pieces, and the artifacts of ended tasks",
	Needs: []*analysis.Tracker{card.Tracker, stream.Tracker, task.Tracker},
	On:    analysis.TaskSeen | analysis.AnswerDone,
	New: func(s *analysis.Setup) analysis.State {
		return &Memory{
			cards:   s.State(card.Tracker).(*card.Memory),
			streams: s.State(stream.Tracker).(*stream.Memory),
			tasks:   s.State(task.Tracker).(*task.Memory),
			ended:   analysis.RecentByTask[Ended](maxTasks),
			pieces:  analysis.NewSlot[*Pieces](s),
		}
	},
}

// Of returns the Memory of artifacts.
func Of(p *analysis.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Memory remembers artifacts.
type Memory struct {
	cards   *card.Memory
	streams *stream.Memory
	tasks   *task.Memory
	ended   *recent.Map[analysis.TaskKey, Ended]
	pieces  analysis.Slot[*Pieces]
}

// An Ended has the artifacts of an ended task as they were shown. The zero Ended means that none were. Its sets do not
// change.
type Ended struct {
	Awaited  *Set // by a send that waited for it; nil once another answer showed more
	Shown    *Set // by the newest Task that shows artifacts
	streamed *Set // by the stream that showed its end; nil once it was compared
}

var nothing Ended

// Ended returns the shown artifacts of the task with that id at the exchange's agent. It must not be changed, and is
// valid during the pass.
func (m *Memory) Ended(x *analysis.Exchange, taskID string) *Ended {
	if e := m.ended.Find(x.TaskKey(taskID)); e != nil {
		return e
	}
	return &nothing
}

// Pieces returns the artifacts that the stream of an exchange has brought. It must not be changed.
func (m *Memory) Pieces(x *analysis.Exchange) *Pieces {
	if p := m.pieces.Of(x); p != nil {
		return p
	}
	return &noPieces
}

var noPieces Pieces

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	switch {
	case p.Kind == analysis.TaskSeen:
		m.ends(p.Observation)
	case p.Event != nil: // of AnswerDone
		m.grow(p.Observation)
	}
}

// Forgotten implements analysis.State. Tasks are counted where they are tracked.
func (m *Memory) Forgotten() int { return 0 }

// grow remembers an event's artifacts.
func (m *Memory) grow(o *analysis.Observation) {
	switch o.Answer.Payload.Kind {
	case a2a.TaskPayload, a2a.ArtifactPayload:
	default:
		return
	}
	x := o.Exchange
	pieces := m.pieces.Of(x)
	if pieces == nil {
		pieces = &Pieces{}
		m.pieces.Put(x, pieces)
	}
	if value := o.Answer.Payload.Value; o.Answer.Payload.Kind == a2a.TaskPayload {
		pieces.show(o.Event.K, a2a.Task{Value: value})
	} else {
		pieces.add(o.Event.K, a2a.ArtifactUpdate{Value: value}, m.streams.In(x).Terminal > 0)
	}
}

// streamed returns the artifacts that the stream of an observation showed from their first piece on, or nil.
func (m *Memory) streamed(o *analysis.Observation) *Set {
	if o.Exchange.Stream.Gap {
		return nil
	}
	var w *Set
	for _, piece := range m.Pieces(o.Exchange).list {
		if !piece.Whole {
			continue
		}
		if w == nil {
			w = newSet(o)
		}
		if len(w.list) < maxArtifacts {
			w.list = append(w.list, part{piece.key, piece.content})
		}
	}
	return w
}

// StreamedOf returns a stream's artifacts of the task whose end the observation shows, as far as the stream showed them
// completely; nil if that is unknown, or was for another viewer.
func (m *Memory) StreamedOf(o *analysis.Observation) *Set {
	x := o.Exchange
	if known := m.Ended(x, o.Task.TaskID).streamed; known != nil {
		if known.like(x) {
			return known
		}
		return nil
	}
	if !limitsModes(x) && m.endsIn(x, o.Task.TaskID) {
		return m.streamed(o)
	}
	return nil
}

// endsIn reports whether the stream of an exchange is of a task, and has not shown its end before.
func (m *Memory) endsIn(x *analysis.Exchange, taskID string) bool {
	s := m.streams.In(x)
	return s != nil && s.Terminal == 0 && s.TaskID == taskID
}

// limitsModes reports whether the client accepts only some media types, so that its answer may omit content that others
// show.
func limitsModes(x *analysis.Exchange) bool {
	return x.Call.Params.Get("configuration").Get("acceptedOutputModes").Len() > 0
}

// ends remembers the artifacts from an ended Task, or from the update that ends one.
func (m *Memory) ends(o *analysis.Observation) {
	x := o.Exchange
	if o.Task.Late || !o.Task.State.Terminal() || limitsModes(x) {
		return
	}
	key := x.TaskKey(o.Task.TaskID)
	if known := m.ended.Find(key); known != nil {
		m.update(known, o)
		return
	}
	var known Ended
	if m.update(&known, o); known != nothing {
		m.ended.Put(key, known)
	}
}

func (m *Memory) update(known *Ended, o *analysis.Observation) {
	x := o.Exchange
	if !o.Task.Snapshot {
		if known.streamed == nil && m.endsIn(x, o.Task.TaskID) {
			known.streamed = m.streamed(o)
		}
		return
	}
	t, ok := o.Snapshot()
	if !ok {
		return
	}
	var now *Set
	show := func() *Set {
		if now == nil {
			now = shown(o, t)
		}
		return now
	}
	if m.tasks.Get(x, o.Task.TaskID).Terminal == o.Task && m.cards.Waits(x) {
		known.Awaited = show()
	}
	if known.Awaited.Before(x) && known.Awaited.Lacks(t) >= 0 {
		known.Awaited, known.Shown = nil, nil // it was judged
	}
	if t.Get("artifacts").Kind() != a2a.Array {
		return
	}
	if known.streamed.like(x) {
		known.streamed = nil // it was judged
	}
	if known.Shown == nil || known.Shown.like(x) {
		known.Shown = show()
	}
}
