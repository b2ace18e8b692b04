package stream

import (
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

// asked records that another stream of a task is requested while one is open.
func (m *Memory) asked(x *analysis.Exchange) {
	if !x.Call.Operation.Streams() || x.Call.TaskID == "" {
		return
	}
	if t, ok := m.tasks.Get(x.TaskKey(x.Call.TaskID)); ok && len(t.runs) > 0 {
		t.shared = true
	}
}

// follow remembers an event for the comparison with other streams of the task. Only 1.0 requires them to be equal.
func (m *Memory) follow(o *analysis.Observation, s *Stream) {
	x := o.Exchange
	if !x.Call.Operation.Streams() || o.Dialects != a2a.Of(a2a.V1_0) || s.TaskID == "" {
		return
	}
	key := x.TaskKey(s.TaskID)
	t, ok := m.tasks.Get(key)
	if !ok {
		t = &task{}
		m.tasks.Put(key, t)
	}
	if s.run == nil {
		s.run = &run{exchange: x.Seq, viewer: x.Viewer(), opened: o.Moment(), began: x.Began()}
		if len(t.runs) == maxRuns {
			t.runs = append(t.runs[:0], t.runs[1:]...)
		}
		t.runs = append(t.runs, s.run)
	}
	switch p := o.Answer.Payload; p.Kind {
	case a2a.StatusPayload, a2a.ArtifactPayload:
		if !t.shared {
			return
		}
		s.run.add(update{digest.Empty.Byte(byte(p.Kind)).JSON(p.Value, "timestamp"), o.Event.K})
	}
}

// finished records that a stream has ended.
func (m *Memory) finished(o *analysis.Observation) {
	x, s := o.Exchange, m.In(o.Exchange)
	if s.run == nil {
		return
	}
	key := x.TaskKey(s.TaskID)
	t, ok := m.tasks.Get(key)
	if !ok {
		return
	}
	s.run.close(o, s)
	if o.End.ByClient() && !o.End.At.IsZero() {
		t.left = &Disconnect{Exchange: x.Seq, At: o.End.At, conn: x.Conn, arrival: o.Arrival}
	}
	for _, r := range t.runs {
		if r.closed == 0 {
			return
		}
	}
	t.runs, t.shared = nil, false
	if t.left == nil {
		m.tasks.Delete(key)
	}
}

// Disconnected returns the client that left another stream of the same task, over another connection, while the
// observation's stream was open. It returns nil if none did, or if the last one left longer than the limit before the
// stream's end.
func (m *Memory) Disconnected(o *analysis.Observation, most time.Duration) *Disconnect {
	x, s := o.Exchange, m.In(o.Exchange)
	if s.run == nil {
		return nil
	}
	t, ok := m.tasks.Get(x.TaskKey(s.TaskID))
	if !ok || t.left == nil {
		return nil
	}
	left := t.left
	elsewhere := left.conn != 0 && x.Conn != 0 && left.conn != x.Conn
	after := o.End.At.Sub(left.At)
	if !elsewhere || left.arrival < s.run.opened.Arrival || o.End.At.IsZero() || after < 0 || after > most {
		return nil
	}
	return left
}

// A Divergence is the first difference between two streams of one task.
type Divergence struct {
	K       int            // number of the event in the current stream; 0 if it is not one event
	Other   analysis.Place // the event of the other stream, or that stream
	Missing int            // how many consecutive updates of the other stream are missing
}

// Diverges compares the stream that has just ended with the other streams of its task that ran at the same time and are
// over. It returns the first difference, which may be nil, and whether anything could be compared.
//
// Two streams that both ended with the end of the task are compared backwards from there: the shorter one must be the
// end of the longer one. If a client left its stream, all updates must occur contiguously in an older stream that
// continued to the end.
func (m *Memory) Diverges(o *analysis.Observation) (d *Divergence, compared bool) {
	x, s := o.Exchange, m.In(o.Exchange)
	if s.run == nil {
		return nil, false
	}
	t, ok := m.tasks.Get(x.TaskKey(s.TaskID))
	if !ok {
		return nil, false
	}
	this := *s.run
	this.close(o, s)
	for _, r := range t.runs {
		if r == s.run || r.closed == 0 || r.closed < this.began.Arrival || r.viewer != this.viewer {
			continue
		}
		switch {
		case this.whole && r.whole:
			compared = true
			if k, other, differ := this.backwards(r); differ {
				return &Divergence{K: k, Other: analysis.Place{Exchange: r.exchange, Response: true}.Event(other)}, true
			}
		case this.whole && r.left && r.known && this.precedes(r):
			compared = true
			if !this.contains(r) {
				other := analysis.Place{Exchange: r.exchange, Response: true}.Body()
				return &Divergence{Other: other, Missing: r.count}, true
			}
		}
	}
	return nil, compared
}
