package fleet

import (
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
)

// from is when, with Since, the first messages that are read were stored.
func (r *Reader) from() time.Time { return r.options.Since.Add(-sinceRoom) }

// removedOf is how many messages are missing at the beginning of a stream, 0 if all of them are older than what is
// asked for. Those of other hosts count too: nobody knows any more whose they were.
func (r *Reader) removedOf(info *jetstream.StreamInfo) uint64 {
	state := &info.State
	oldest := state.FirstTime
	if state.Msgs == 0 {
		oldest = state.LastTime
	}
	first := max(info.Config.FirstSeq, 1)
	if state.FirstSeq <= first || !r.options.Since.IsZero() && !oldest.After(r.from()) {
		return 0
	}
	return state.FirstSeq - first
}

// tellRemoved says what the stream has lost, if no recorder lacks its beginning: then it was of recorders of which
// nothing is left.
func (r *Reader) tellRemoved() {
	mirrors := r.found()
	if r.removed == 0 || slices.ContainsFunc(mirrors, (*mirror).lacksHead) {
		return
	}
	what := fmt.Sprintf("the first %d messages of", r.removed)
	if r.removed == 1 {
		what = "the first message of"
	}
	why := fmt.Sprintf("%s the stream %s were removed; recorders of which nothing is left are not known", what,
		r.conn.address.stream)
	r.tell(why)
	if len(mirrors) == 0 {
		r.unsaid = why
		return
	}
	mirrors[0].precede(capture.Lost{Reason: why})
}

// missed says that messages were removed before they were read, where that can be told: of a reader that takes all.
func (r *Reader) missed(info *jetstream.StreamInfo) {
	first := info.State.FirstSeq
	if r.seq == 0 || first <= r.seq+1 || len(r.subjects(info)) > 0 {
		return
	}
	why := fmt.Sprintf("messages %d to %d of the stream %s were removed before they were read; whose they were is not "+
		"known", r.seq+1, first-1, r.conn.address.stream)
	r.seq = first - 1
	r.tell(why)
	if mirrors := r.found(); len(mirrors) > 0 {
		mirrors[0].miss(why)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsaid = why
}

// miss adds a step that says that something is missing that need not be of this capture.
func (m *mirror) miss(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	made := []capture.Step{{Offset: capture.NotKnown, What: capture.Lost{Reason: why}}}
	m.entries = append(m.entries, entry{first: m.arrivals + 1, made: made})
	m.arrivals++
	m.wake()
}

func (m *mirror) lacksHead() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.beheaded
}

// precede adds a step before all others, which says that something is missing that is not of this capture.
func (m *mirror) precede(lost capture.Lost) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entries := []entry{{first: 1, made: []capture.Step{{Offset: capture.NotKnown, What: lost}}}}
	for _, e := range m.entries {
		e.first++
		entries = append(entries, e)
	}
	m.entries = entries
	m.arrivals++
	for seq, x := range m.known {
		m.known[seq] = span{x.first + 1, x.last + 1}
	}
	m.wake()
}
