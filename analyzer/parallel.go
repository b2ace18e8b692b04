package analyzer

import (
	"time"

	"a2atap/proxy/a2a"
)

// Updates are the status and artifact updates of one stream of a task, as digests, for the comparison with other streams
// of the task. They are gathered from when a second stream is asked for.
type Updates struct {
	Exchange uint64
	opened   Sighting // when the first event came: from then on the stream was surely attached to the task
	began    Sighting // when the request began
	closed   uint64   // arrival of the step that ended it; 0 while it is open
	viewer   digest
	left     bool // the client ended it
	whole    bool // it came to its end with the update that ended the task, and all of it was seen
	known    bool // all of it was seen, as far as it goes
	count    int  // updates so far
	recent   []update
}

// An update is a status or artifact update.
type update struct {
	content digest
	k       int // number of the event
}

// add remembers an update. A stream may be long: the newest are kept.
func (r *Updates) add(u update) {
	if len(r.recent) < maxUpdates {
		r.recent = append(r.recent, u)
	} else {
		r.recent[r.count%maxUpdates] = u
	}
	r.count++
}

// back returns the update that is i before the last one.
func (r *Updates) back(i int) update { return r.recent[(r.count-1-i)%maxUpdates] }

// A Departure is a client that left a stream of a task.
type Departure struct {
	Exchange uint64
	At       time.Time
	conn     uint64
	arrival  uint64
}

// follow remembers an event for the comparison with other streams of the task. Only 1.0 says that they are alike.
func (s *Session) follow(o *Observation) {
	x := o.Exchange
	if !x.Call.Operation.Streams() || o.Dialects != a2a.Of(a2a.V1_0) || x.Stream.TaskID == "" {
		return
	}
	t := s.TaskOf(x, x.Stream.TaskID)
	if t == nil {
		return
	}
	if x.Stream.run == nil {
		x.Stream.run = &Updates{
			Exchange: x.Seq, viewer: x.viewer(),
			opened: Sighting{Arrival: o.Arrival, At: o.At}, began: Sighting{Arrival: x.Opened, At: x.Started},
		}
		if len(t.Streams) == maxRuns {
			t.Streams = append(t.Streams[:0], t.Streams[1:]...)
		}
		t.Streams = append(t.Streams, x.Stream.run)
	}
	switch p := o.Answer.Payload; p.Kind {
	case a2a.StatusPayload, a2a.ArtifactPayload:
		if !t.shared {
			return
		}
		x.Stream.run.add(update{noDigest.byte(byte(p.Kind)).value(p.Value, "timestamp"), o.Event.K})
	}
}

// finished remembers that a stream is over.
func (s *Session) finished(o *Observation) {
	x := o.Exchange
	run := x.Stream.run
	if run == nil {
		return
	}
	t := s.TaskOf(x, x.Stream.TaskID)
	if t == nil {
		return
	}
	run.close(o)
	if o.End.ByClient() && !o.End.At.IsZero() {
		t.Left = &Departure{Exchange: x.Seq, At: o.End.At, conn: x.Conn, arrival: o.Arrival}
	}
	for _, r := range t.Streams {
		if r.closed == 0 {
			return
		}
	}
	t.Streams, t.shared = nil, false
}

func (r *Updates) close(o *Observation) {
	s := o.Exchange.Stream
	r.closed = max(o.Arrival, 1)
	r.left = o.End.ByClient()
	r.known = !s.Gap && s.Failed == 0 && s.Rest == nil
	r.whole = r.known && o.End.Clean && s.Updated && (s.Newest == s.Terminal || s.Newest == s.Settled)
}

// Departed returns the client that left another stream of the same task, over another connection, while the exchange's
// stream was open; nil if none did, or the last one more than so long before the stream's end.
func (s *Session) Departed(o *Observation, most time.Duration) *Departure {
	x := o.Exchange
	t := s.TaskOf(x, x.Stream.TaskID)
	if x.Stream.run == nil || t == nil || t.Left == nil {
		return nil
	}
	left := t.Left
	after := o.End.At.Sub(left.At)
	if left.conn == 0 || x.Conn == 0 || left.conn == x.Conn || left.arrival < x.Stream.run.opened.Arrival || o.End.At.IsZero() || after < 0 || after > most {
		return nil
	}
	return left
}

// A Divergence is where two streams of one task differ.
type Divergence struct {
	K       int   // number of the event in the stream at hand; 0 if it is not one event
	Other   Place // the event of the other stream, or that stream
	Missing int   // how many updates of the other stream are not there in a row
}

// Diverges compares the stream that has just ended with the other streams of its task that ran at the same time and are
// over. It returns the first difference, nil if there is none, and whether anything could be compared.
//
// Two streams that both ended with the end of the task are compared backwards from there: the shorter one has to be the
// end of the longer one. Of a stream that its client left, all updates have to stand in a row in an older one that went on
// to the end.
func (s *Session) Diverges(o *Observation) (d *Divergence, compared bool) {
	x := o.Exchange
	mine := x.Stream.run
	t := s.TaskOf(x, x.Stream.TaskID)
	if mine == nil || t == nil {
		return nil, false
	}
	this := *mine
	this.close(o)
	for _, r := range t.Streams {
		if r == mine || r.closed == 0 || r.closed < this.began.Arrival || r.viewer != this.viewer {
			continue
		}
		switch {
		case this.whole && r.whole:
			compared = true
			if k, other, differ := this.backwards(r); differ {
				return &Divergence{K: k, Other: Place{Exchange: r.Exchange, Response: true}.Event(other)}, true
			}
		case this.whole && r.left && r.known && this.precedes(r):
			compared = true
			if !this.contains(r) {
				return &Divergence{Other: Place{Exchange: r.Exchange, Response: true}.Body(), Missing: r.count}, true
			}
		}
	}
	return nil, compared
}

// backwards compares two runs from their common end. It returns the numbers of the earliest events that differ.
func (r *Updates) backwards(other *Updates) (k, otherK int, differ bool) {
	for i := range min(r.count, other.count, maxUpdates) {
		if a, b := r.back(i), other.back(i); a.content != b.content {
			k, otherK, differ = a.k, b.k, true
		}
	}
	return k, otherK, differ
}

// precedes reports whether r was surely attached to the task before the other began, and all that is to be compared is
// remembered.
func (r *Updates) precedes(other *Updates) bool {
	return r.opened.Arrival < other.began.Arrival && r.count <= maxUpdates && other.count <= maxUpdates
}

// contains reports whether the other updates stand in r in a row. The first ones may have come before r was gathered.
func (r *Updates) contains(other *Updates) bool {
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
