package stream

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
)

// A run is the status and artifact updates of one stream of a task, as digests, for the comparison with other streams
// of the task. They are gathered from when a second stream is asked for.
type run struct {
	exchange uint64
	opened   analysis.Moment // when the first event came: from then on the stream was surely attached to the task
	began    analysis.Moment // when the request began
	closed   uint64          // arrival of the step that ended it; 0 while it is open
	viewer   digest.Digest
	left     bool // the client ended it
	whole    bool // it ended with the update that ended the task, and all of it was seen
	known    bool // all of it was seen, as far as it goes
	count    int  // updates so far
	recent   []update
}

// An update is a status or artifact update.
type update struct {
	content digest.Digest
	k       int // number of the event
}

// add records an update. A stream may be long: the newest are stored.
func (r *run) add(u update) {
	if len(r.recent) < maxUpdates {
		r.recent = append(r.recent, u)
	} else {
		r.recent[r.count%maxUpdates] = u
	}
	r.count++
}

// back returns the update i places before the last one.
func (r *run) back(i int) update { return r.recent[(r.count-1-i)%maxUpdates] }

func (r *run) close(o *analysis.Observation, s *Stream) {
	r.closed = max(o.Arrival, 1)
	r.left = o.End.ByClient()
	r.known = !s.Gap && s.Failed == 0 && s.Rest == nil
	r.whole = r.known && o.End.Clean && s.Updated && (s.Newest == s.Terminal || s.Newest == s.Repeated)
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

// precedes reports whether r was certainly attached to the task before the other began, and all that is to be compared
// is remembered.
func (r *run) precedes(other *run) bool {
	return r.opened.Arrival < other.began.Arrival && r.count <= maxUpdates && other.count <= maxUpdates
}

// contains reports whether the other updates occur contiguously in r. The first ones may have come before r was
// gathered.
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
