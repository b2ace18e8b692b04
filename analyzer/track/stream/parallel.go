package stream

import (
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/digest"
	"a2atap/proxy/a2a"
)

const (
	maxRuns    = 4   // streams of a task that are compared
	maxUpdates = 128 // updates of a stream that are compared, the newest ones
)

// A task is what streams of one task have shown beside each other.
type task struct {
	runs   []*run      // of the streams that run or ran at the same time
	shared bool        // another stream was asked for while one was open
	left   *Disconnect // the client that left one of them last
}

// A run is the status and artifact updates of one stream of a task, as digests, for the comparison with other streams
// of the task. They are gathered from when a second stream is asked for.
type run struct {
	exchange uint64
	opened   analyzer.Moment // when the first event came: from then on the stream was surely attached to the task
	began    analyzer.Moment // when the request began
	closed   uint64          // arrival of the step that ended it; 0 while it is open
	viewer   digest.Digest
	left     bool // the client ended it
	whole    bool // it came to its end with the update that ended the task, and all of it was seen
	known    bool // all of it was seen, as far as it goes
	count    int  // updates so far
	recent   []update
}

// An update is a status or artifact update.
type update struct {
	content digest.Digest
	k       int // number of the event
}

// add remembers an update. A stream may be long: the newest are kept.
func (r *run) add(u update) {
	if len(r.recent) < maxUpdates {
		r.recent = append(r.recent, u)
	} else {
		r.recent[r.count%maxUpdates] = u
	}
	r.count++
}

// back returns the update that is i before the last one.
func (r *run) back(i int) update { return r.recent[(r.count-1-i)%maxUpdates] }

// A Disconnect is a client that left a stream of a task.
type Disconnect struct {
	Exchange uint64
	At       time.Time
	conn     uint64
	arrival  uint64
}

// asked notes that another stream of a task is asked for while one is open.
func (m *Memory) asked(x *analyzer.Exchange) {
	if !x.Call.Operation.Streams() || x.Call.TaskID == "" {
		return
	}
	if t, ok := m.tasks.Get(x.TaskKey(x.Call.TaskID)); ok && len(t.runs) > 0 {
		t.shared = true
	}
}

// follow remembers an event for the comparison with other streams of the task. Only 1.0 says that they are alike.
func (m *Memory) follow(o *analyzer.Observation, s *Stream) {
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

// finished remembers that a stream is over.
func (m *Memory) finished(o *analyzer.Observation) {
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

func (r *run) close(o *analyzer.Observation, s *Stream) {
	r.closed = max(o.Arrival, 1)
	r.left = o.End.ByClient()
	r.known = !s.Gap && s.Failed == 0 && s.Rest == nil
	r.whole = r.known && o.End.Clean && s.Updated && (s.Newest == s.Terminal || s.Newest == s.Repeated)
}

// Disconnected returns the client that left another stream of the same task, over another connection, while the
// observation's stream was open; nil if none did, or the last one more than so long before the stream's end.
func (m *Memory) Disconnected(o *analyzer.Observation, most time.Duration) *Disconnect {
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

// A Divergence is where two streams of one task differ.
type Divergence struct {
	K       int            // number of the event in the stream at hand; 0 if it is not one event
	Other   analyzer.Place // the event of the other stream, or that stream
	Missing int            // how many updates of the other stream are not there in a row
}

// Diverges compares the stream that has just ended with the other streams of its task that ran at the same time and are
// over. It returns the first difference, nil if there is none, and whether anything could be compared.
//
// Two streams that both ended with the end of the task are compared backwards from there: the shorter one has to be the
// end of the longer one. Of a stream that its client left, all updates have to stand in a row in an older one that went
// on to the end.
func (m *Memory) Diverges(o *analyzer.Observation) (d *Divergence, compared bool) {
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
				return &Divergence{K: k, Other: analyzer.Place{Exchange: r.exchange, Response: true}.Event(other)}, true
			}
		case this.whole && r.left && r.known && this.precedes(r):
			compared = true
			if !this.contains(r) {
				other := analyzer.Place{Exchange: r.exchange, Response: true}.Body()
				return &Divergence{Other: other, Missing: r.count}, true
			}
		}
	}
	return nil, compared
}

// backwards compares two runs from their common end. It returns the numbers of the earliest events that differ.
func (r *run) backwards(other *run) (k, otherK int, differ bool) {
	for i := range min(r.count, other.count, maxUpdates) {
		if a, b := r.back(i), other.back(i); a.content != b.content {
			k, otherK, differ = a.k, b.k, true
		}
	}
	return k, otherK, differ
}

// precedes reports whether r was surely attached to the task before the other began, and all that is to be compared is
// remembered.
func (r *run) precedes(other *run) bool {
	return r.opened.Arrival < other.began.Arrival && r.count <= maxUpdates && other.count <= maxUpdates
}

// contains reports whether the other updates stand in r in a row. The first ones may have come before r was gathered.
func (r *run) contains(other *run) bool {
	before := min(2, other.count-1)
	for from := -before; from+other.count <= r.count; from++ {
		i := max(0, -from)
		for i < other.count && r.recent[from+i].content == other.recent[i].content {
			i++
		}
		if i >= other.count {
			return true
		}
	}
	return false
}
