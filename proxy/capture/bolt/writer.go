package bolt

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// How the file grows: each time by an eighth of itself, within these bounds, so that a small capture is a small file
// and a large one is not extended, which costs a sync, all the time.
const (
	minGrowth = 256 << 10
	maxGrowth = 16 << 20
)

// A writer stores batches in the last segment. One goroutine uses it.
type writer struct {
	local   *localAccess
	options Options

	state   state
	open    map[uint64]row // of exchanges that have not ended
	young   youngRuns
	lost    losses
	size    int64  // bytes of the last segment that are in use
	raw     []byte // room for the block under way
	room    []byte // for blocks
	failing string
	broken  error // the database faulted: it cannot be used any more
	first   error // the first failure
}

// commit stores steps, together with what is to be said about earlier losses. On failure they are counted as lost.
func (w *writer) commit(steps []capture.Step) {
	b := w.batch()
	pending := w.lost.pending()
	refused := w.fill(b, pending, steps)
	if err := w.store(b); err != nil {
		w.lost.add(steps, err)
		w.report(err)
		return
	}
	w.lost.clear()
	for _, r := range refused {
		w.lost.add([]capture.Step{r.step}, r.err)
		w.report(r.err)
	}
	if len(refused) == 0 {
		w.failing = ""
	}
	w.adopt(b)
	if w.options.SegmentSize > 0 && w.size >= w.options.SegmentSize {
		w.rotate()
	}
}

// batch begins a batch.
func (w *writer) batch() *batch {
	b := &batch{
		state: w.state, young: w.young, rows: make(map[uint64]*row), lookup: w.lookup, raw: w.raw[:0],
		room: w.room[:0], keep: w.local.followed.Load(),
	}
	b.state.ended = false
	return b
}

type unstorable struct {
	step capture.Step
	err  error
}

func (w *writer) fill(b *batch, lists ...[]capture.Step) (refused []unstorable) {
	for _, steps := range lists {
		for i := range steps {
			if err := b.add(steps[i]); err != nil {
				refused = append(refused, unstorable{steps[i], err})
			}
		}
	}
	b.endBlock()
	if cap(b.raw) <= 2*blockTarget {
		w.raw = b.raw
	}
	if cap(b.room) <= 2*roomSize {
		w.room = b.room
	}
	return refused
}

// store commits a batch.
func (w *writer) store(b *batch) error {
	if w.broken != nil {
		return w.broken
	}
	last := w.local.last()
	err := guard(func() error {
		return last.db.Update(func(tx *bbolt.Tx) error {
			w.size = tx.Size()
			last.db.AllocSize = int(min(max(w.size/8, minGrowth), maxGrowth))
			if err := b.store(tx); err != nil {
				return err
			}
			if w.options.beforeCommit != nil {
				return w.options.beforeCommit(tx)
			}
			return nil
		})
	})
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write %s: %w", last.path, explain(err))
	if errors.Is(err, errPanicked) {
		w.broken = err
		return err
	}
	// When the last sync fails, the commit may yet be in the file, and readers see it. Then it is no loss.
	if st, stErr := segmentSet([]*segment{last}).state(); stErr == nil && st == b.state && b.state != w.state {
		w.report(err)
		return nil
	}
	return err
}

// adopt takes over what a batch that was stored has changed.
func (w *writer) adopt(b *batch) {
	w.state, w.young = b.state, b.young
	for seq, r := range b.rows {
		if r.flags&rowClosed != 0 {
			delete(w.open, seq)
		} else {
			r.last = 0
			w.open[seq] = *r
		}
	}
	w.local.advance(w.state, b.blocks)
}

// lookup returns the row of an exchange that is not new.
func (w *writer) lookup(seq uint64) (row, error) {
	if r, ok := w.open[seq]; ok {
		return r, nil
	}
	// It is closed and learns something more; or its beginning was lost.
	found := row{ended: capture.NotKnown}
	for i, s := range w.local.segments() {
		err := s.view(func(tx *bbolt.Tx) error {
			v := tx.Bucket(bucketExchanges).Get(number64(seq))
			if v == nil {
				return nil
			}
			if i < len(w.local.segments())-1 {
				found.flags = rowContinued | rowClosed
				return nil
			}
			var err error
			found, err = decodeRow(v)
			return err
		})
		if err != nil {
			return row{}, err
		}
	}
	return found, nil
}

// rotate goes on in a new segment. If it cannot be made, the old one grows further.
func (w *writer) rotate() {
	last := w.local.last()
	m := last.meta
	m.segment, m.arrivals, m.exchanges = m.segment+1, w.state.arrival, w.state.seq
	s := &segment{path: segmentName(w.local.path, m.segment)}
	var err error
	if s.db, err = openExclusive(w.local.path, s.path, w.options); err == nil {
		open := make([]uint64, 0, len(w.open))
		for seq := range w.open {
			open = append(open, seq)
		}
		var blank bool
		if blank, err = s.load(); err == nil && !blank {
			err = fmt.Errorf("%s is in the way; move it", s.path)
		}
		if err == nil {
			err = s.create(m, w.state, open)
		}
		if err != nil {
			err = errors.Join(err, s.db.Close())
		}
	}
	if err != nil {
		w.report(fmt.Errorf("continue %s in a new segment: %w", w.local.path, err))
		return
	}
	w.local.add(s)
	w.size, w.young = 0, youngRuns{}
	for seq, r := range w.open {
		w.open[seq] = row{flags: rowContinued, ended: capture.NotKnown, keys: r.keys}
	}
}

// report tells the user of a failure, once for a series of the same.
func (w *writer) report(err error) {
	if w.first == nil {
		w.first = err
	}
	if w.failing == err.Error() {
		return
	}
	w.failing = err.Error()
	if w.options.OnError != nil {
		w.options.OnError(err)
	}
}

// end marks that the recording ended as it should, and says what did not get stored. Losses that were told in the
// capture are no error any more: readers see them.
func (w *writer) end() error {
	if len(w.lost.pending()) > 0 {
		w.commit(nil)
	}
	ended := &batch{state: w.state, young: w.young}
	ended.state.ended = true
	err := w.store(ended)
	if err == nil {
		w.state = ended.state
	}
	w.local.end(w.state)
	if w.lost.steps > 0 {
		err = fmt.Errorf("%d steps were not stored (%w)", w.lost.steps, errors.Join(w.first, err))
	}
	return err
}

// run stores what the queue gets until it is closed and empty. It waits a moment after the first step, so that steps
// share commits.
func (w *writer) run(q *queue) {
	timer := time.NewTimer(w.options.Flush)
	defer timer.Stop()
	var spare []capture.Step
	for !q.drained() {
		<-q.wake
		timer.Reset(w.options.Flush)
		select {
		case <-timer.C:
		case <-q.flushNow:
		}
		steps := q.take(spare)
		if len(steps) > 0 {
			w.commit(steps)
		}
		q.done(len(steps))
		clear(steps)
		spare = steps
	}
}
