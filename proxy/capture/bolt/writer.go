package bolt

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// A writer stores batches in the last segment. One goroutine uses it.
type writer struct {
	local   *localAccess
	options Options

	state   layout.State
	start   layout.State          // that the recording began with
	open    map[uint64]layout.Row // of exchanges that have not ended
	young   layout.YoungRuns
	lists   layout.YoungParts
	lost    losses
	begun   int64         // exchanges first stored by this recording
	lag     time.Duration // the longest time from a step's arrival to its commit
	since   time.Time     // when the first of the steps under way came
	whole   time.Time     // what came before is stored with the steps under way
	watch   segments.Watch
	size    int64 // bytes of the last segment that are in use
	scratch scratch
	failing string
	broken  error // the database faulted: it cannot be used any more
	work    background.Work
	keeper  *keeper

	patience patience
	first    error // the first failure
}

// commit stores steps, reports of earlier losses, and entries. If that fails, it drops the entries, retries for as long
// as the options allow, and then counts the steps as lost.
func (w *writer) commit(steps []capture.Step, entries []layout.KeptEntry) {
	err := w.attempt(steps, entries)
	if err != nil && len(entries) > 0 {
		w.keeper.drop(len(entries), err)
		if len(steps) == 0 {
			return
		}
		err = w.attempt(steps, nil)
	}
	if err = w.persist(steps, err); err == nil {
		return
	}
	w.lost.add(steps, err)
	w.report(err)
	w.admit()
}

// persist retries a commit that failed with err, while the options allow it.
func (w *writer) persist(steps []capture.Step, err error) error {
	if err == nil || w.broken != nil || !w.waits() {
		return err
	}
	if w.options.Waits != nil {
		w.options.Waits(true)
		defer w.options.Waits(false)
	}
	for err != nil && w.broken == nil && w.waits() {
		w.report(err)
		w.alive()
		w.pause()
		err = w.attempt(steps, nil)
	}
	return err
}

// alive records in the state how long steps that cannot be stored have waited: the state may fit where the steps do
// not.
func (w *writer) alive() {
	b := w.batch()
	b.state.Beat = layout.Beat{Whole: w.since.UnixNano(), Within: time.Since(w.since) + w.within()}
	if w.store(b) == nil {
		w.state = b.state
	}
}

// attempt stores steps and entries, or changes nothing and returns an error.
func (w *writer) attempt(steps []capture.Step, entries []layout.KeptEntry) error {
	if w.broken != nil {
		return w.broken
	}
	if err := w.watch.Look(w.local.segments()); err != nil {
		return err
	}
	b, refused := w.batchOf(steps, entries, layout.MergeMany)
	err := w.store(b)
	if err != nil && w.lists.Many(len(b.parts)) { // it may fit where entries for all parts do not
		b, refused = w.batchOf(steps, entries, layout.MergeCrowd)
		err = w.store(b)
	}
	if err != nil {
		return err
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
	// Entries alone do not begin a new segment.
	if len(b.blocks) > 0 && w.options.SegmentSize > 0 && w.size >= w.options.SegmentSize {
		w.rotate()
	}
	return nil
}

// batchOf makes a batch from steps, entries, and reports of earlier losses.
func (w *writer) batchOf(steps []capture.Step, entries []layout.KeptEntry, merge layout.Merge) (*batch, []unstorable) {
	b := w.batch()
	b.state.Unreported, b.merge = layout.Unreported{}, merge
	refused := w.fill(b, w.lost.pending(w.holds), steps)
	b.entries, b.hide = entries, len(w.local.segments()) > 1
	return b, refused
}

// admit records losses in the state, which may fit where steps do not.
func (w *writer) admit() {
	b := w.batch()
	b.state.Unreported = w.lost.total(w.holds)
	if w.store(b) == nil {
		w.state = b.state
	}
	w.local.admit(b.state.Unreported)
}

// batch begins a batch, when the one before it was stored or given up.
func (w *writer) batch() *batch {
	w.scratch.reset()
	b := &batch{
		state: w.state, young: w.young, lists: w.lists, lookup: w.lookup, keep: w.local.keeps(), work: &w.work, scratch: &w.scratch,
	}
	b.state.Ended = false
	b.state.Beat = layout.Beat{Whole: w.whole.UnixNano(), Within: w.within()}
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
			w.work.GiveWay()
		}
	}
	b.endBlock()
	return refused
}

// update runs fn in a transaction of a segment, which tests make fail.
func (w *writer) update(s *segments.Segment, fn func(tx *bbolt.Tx) error) error {
	return s.DB.Update(func(tx *bbolt.Tx) error {
		if err := fn(tx); err != nil || w.options.Fault == nil {
			return err
		}
		return w.options.Fault()
	})
}

// store commits a batch.
func (w *writer) store(b *batch) error {
	if w.broken != nil {
		return w.broken
	}
	last := w.local.last()
	err := w.update(last, func(tx *bbolt.Tx) error {
		w.size = tx.Size()
		return b.store(tx)
	})
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write %s: %w", last.Path, pages.Explain(err))
	if errors.Is(err, segments.ErrPanicked) {
		w.broken = fmt.Errorf("%w; nothing more is recorded into it; a2atap doctor shows what can be read", err)
		return w.broken
	}
	// When the last sync fails, the commit may yet be in the file, and readers see it. Then it is not a loss.
	if st, stErr := segments.Set([]*segments.Segment{last}).State(); stErr == nil && st == b.state && b.state != w.state {
		w.report(err)
		return nil
	}
	return err
}

// adopt applies the changes of a stored batch.
func (w *writer) adopt(b *batch) {
	w.state, w.young, w.lists = b.state, b.young, b.lists
	w.begun += b.begun
	for i := range b.rows.list {
		r := &b.rows.list[i]
		if r.Flags&layout.RowClosed != 0 {
			delete(w.open, r.seq)
		} else {
			r.Last = 0
			w.open[r.seq] = r.Row
		}
	}
	w.local.advance(w.state, b.blocks)
}

// lookup returns the row of an exchange that is not new.
func (w *writer) lookup(seq uint64) (layout.Row, error) {
	if r, ok := w.open[seq]; ok {
		return r, nil
	}
	// It is closed and learns something more; or its beginning was lost.
	found := layout.Row{Ended: capture.NotKnown}
	for i, s := range w.local.segments() {
		err := s.View(func(tx *bbolt.Tx) error {
			v := tx.Bucket(layout.BucketExchanges).Get(layout.Number64(seq))
			if v == nil {
				return nil
			}
			if i < len(w.local.segments())-1 {
				found.Flags = layout.RowContinued | layout.RowClosed
				return nil
			}
			var err error
			if found, err = layout.DecodeRow(v); err == nil {
				found.Stored, found.Sum = true, layout.EntrySum(layout.Number64(seq), v)
			}
			return err
		})
		if err != nil {
			return layout.Row{}, err
		}
	}
	return found, nil
}

// holds reports whether the capture has any step of an exchange.
func (w *writer) holds(seq uint64) bool {
	if seq > w.state.Seq {
		return false
	}
	r, err := w.lookup(seq)
	return err != nil || r.Stored || r.Flags&layout.RowContinued != 0
}

// rotate continues in a new segment. If that cannot be created, the old one continues to grow.
func (w *writer) rotate() {
	last := w.local.last()
	m, st := last.Meta, w.state
	m.Segment, m.Arrivals, m.Exchanges = m.Segment+1, w.state.Arrival, w.state.Seq
	s := &segments.Segment{Path: segments.Name(w.local.path, m.Segment)}
	var err error
	if err = remote.OpenExclusive(s, w.local.path, w.options.SegmentSize); err == nil {
		open := make([]uint64, 0, len(w.open))
		for seq := range w.open {
			open = append(open, seq)
		}
		var blank bool
		if blank, err = s.Load(); err == nil && !blank {
			err = fmt.Errorf("%s already exists; move it", s.Path)
		}
		if err == nil {
			err = s.Create(m, &st, open)
		}
		if err != nil {
			err = errors.Join(err, s.DB.Close())
		}
	}
	if err != nil {
		w.report(fmt.Errorf("continue %s in a new segment: %w", w.local.path, err))
		return
	}
	w.local.add(s)
	w.markContinued(last)
	w.state, w.size, w.young, w.lists = st, 0, layout.YoungRuns{}, layout.YoungParts{}
	for seq, r := range w.open {
		w.open[seq] = layout.Row{Flags: layout.RowContinued, Ended: capture.NotKnown, Keys: r.Keys}
	}
}

// markContinued records in a segment that another segment follows, so that readers notice if it is missing. The
// segment's lists of parts are then final.
func (w *writer) markContinued(s *segments.Segment) {
	mark := func(how layout.Merge) error {
		st := w.state
		st.Continued = true
		return w.update(s, func(tx *bbolt.Tx) error {
			if _, err := w.lists.Store(tx, nil, &st, how, func() { w.work.GiveWay() }); err != nil {
				return err
			}
			return st.Put(tx)
		})
	}
	err := mark(layout.MergeAll)
	if err != nil { // it may fit where entries for all parts do not
		err = mark(layout.MergeMany)
	}
	if err != nil {
		w.report(fmt.Errorf("write %s: %w", s.Path, pages.Explain(err)))
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

// end marks the regular end of the recording, and returns what was not stored. Losses are an error even if the capture
// already reports them.
func (w *writer) end() error {
	w.watch.Due()
	if w.lost.any() {
		w.commit(nil, nil)
	}
	err := w.storeEnd(layout.MergeAll)
	if err != nil { // it may fit where entries for all parts do not
		err = w.storeEnd(layout.MergeMany)
	}
	w.local.end(w.state)
	err = errors.Join(err, w.watch.Look(w.local.segments()))
	if w.lost.steps > 0 {
		err = fmt.Errorf("%d steps were not stored (%w)", w.lost.steps, cmp.Or(w.first, err))
	}
	return err
}

func (w *writer) storeEnd(merge layout.Merge) error {
	b := w.batch()
	b.state.Ended, b.state.Unreported, b.merge = true, w.lost.total(w.holds), merge
	err := w.store(b)
	if err == nil {
		w.state = b.state
	}
	return err
}

// run stores the steps in the queue until it is closed and empty. It waits a moment after the first step, so that steps
// share commits.
func (w *writer) run(q *queue) {
	timer := time.NewTimer(w.options.Flush)
	defer timer.Stop()
	look := time.NewTicker(segments.WatchPause)
	defer look.Stop()
	var spare []capture.Step
	for !q.drained() || !w.keeper.drained() {
		select {
		case <-q.wake:
		case <-w.keeper.wake:
		case <-look.C:
			if err := w.watch.Look(w.local.segments()); err != nil {
				w.report(err)
			}
			continue
		}
		timer.Reset(w.options.Flush)
		select {
		case <-timer.C:
		case <-q.flushNow:
		case <-q.ending:
		}
		whole := w.told()
		steps, since := q.take(spare)
		entries := w.keeper.take()
		if len(steps) > 0 || len(entries) > 0 {
			w.work.Begin()
		}
		if len(steps) > 0 {
			w.since, w.whole = since, whole
			w.commit(steps, entries)
			w.stored()
		} else if len(entries) > 0 {
			w.commit(nil, entries)
		}
		q.done(len(steps))
		w.keeper.done()
		clear(steps)
		if spare = steps; cap(spare) > max(spareSteps, 4*len(steps)) {
			spare = nil // it was made for a backlog
		}
	}
}

// spareSteps is the minimum capacity of a reused queue, in steps: a few more than wait under load.
const spareSteps = 4096

// An Account has the outcome of the exchanges appended since Open: their number is Exchanges plus LostExchanges.
type Account struct {
	Exchanges     int64 // of which something is in the capture
	LostExchanges int64 // exchanges that were lost completely, including those that were appended as lost
	LostBytes     int64 // of them, and of gaps in others
	Unreported    bool  // the capture does not report all of that, since it could not be written
}

// Account returns how much of the appended data was stored or lost. It may be called after Close.
func (s *Store) Account() Account {
	<-s.done
	w := s.writer
	left := w.lost.total(w.holds)
	a := Account{
		Exchanges:     w.begun,
		LostExchanges: w.state.LostExchanges - w.start.LostExchanges + left.Exchanges,
		LostBytes:     w.state.LostBytes - w.start.LostBytes + left.Bytes,
		Unreported:    left != w.state.Unreported,
	}
	if w.watch.Err != nil && w.watch.Deleted {
		a.LostExchanges, a.Exchanges, a.Unreported = a.LostExchanges+a.Exchanges, 0, true
	}
	return a
}

// retryPause is the time between a failed commit and the next attempt.
const retryPause = 100 * time.Millisecond

// patience is whether commits that fail are tried again.
type patience struct {
	over chan struct{}
	once sync.Once
}

// StopWaiting ends the effect of Options.Wait: from now on steps that cannot be stored at once are lost, including
// those that already wait.
func (s *Store) StopWaiting() { s.writer.patience.end() }

func (p *patience) end() { p.once.Do(func() { close(p.over) }) }

func (w *writer) waits() bool {
	select {
	case <-w.patience.over:
		return false
	default:
		return w.options.Wait
	}
}

func (w *writer) pause() {
	select {
	case <-time.After(retryPause):
	case <-w.patience.over:
	}
}

// The estimate of a killed recorder's loss: a multiple of the observed waiting time, since a running commit may take
// longer than earlier ones, and at least the usual time on a busy machine.
const (
	crashFactor = 4
	crashLeast  = 200 * time.Millisecond
)

func (w *writer) within() time.Duration { return max(crashFactor*w.lag, crashLeast) }

// told returns the time before which all traffic has been appended. Data taken from the queue afterwards includes that
// traffic.
func (w *writer) told() time.Time {
	now := time.Now()
	if w.options.Behind != nil {
		return now.Add(-w.options.Behind())
	}
	return now
}

// stored is called when the taken steps are in the file, or lost. Observed waiting times decay slowly.
func (w *writer) stored() { w.lag = max(w.lag-w.lag/1024, time.Since(w.since)) }
