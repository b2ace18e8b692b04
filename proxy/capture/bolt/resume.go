package bolt

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/check"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// openForWriting opens all segments of a capture, the first and the last for writing; the first one's lock is the
// capture's. It creates the capture if it does not exist.
func openForWriting(path string, o Options) (_ segments.Set, err error) {
	paths, err := segments.Paths(path)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		paths = []string{path}
	}
	var set segments.Set
	defer func() {
		if err != nil {
			err = errors.Join(err, set.Close())
		}
	}()
	for i, p := range paths {
		s := &segments.Segment{Path: p}
		if i == 0 || i == len(paths)-1 {
			err = remote.OpenExclusive(s, path, o.SegmentSize)
		} else if s, err = segments.OpenToRead(p); err != nil {
			s = &segments.Segment{Path: p}
		}
		if err != nil && i > 0 {
			err = fmt.Errorf("segment %s: %w", p, err)
		}
		if err != nil {
			return set, err
		}
		set = append(set, s)
		if err = s.Verify(s.File != nil); err == nil {
			err = makeReady(s, path, set, o)
		}
		if err != nil {
			return set, err
		}
	}
	return set, errors.Join(set.Whole(path), check.VerifyUnsummed(set))
}

// makeReady makes an opened segment usable, the last of set: it fills in a new segment, and upgrades an old format.
func makeReady(s *segments.Segment, path string, set segments.Set, o Options) error {
	blank, err := s.Load()
	if err == nil && s.Format < layout.Format && !blank {
		err = remote.UpgradeSegment(s, path, o.SegmentSize)
	}
	if err != nil {
		return err
	}
	if blank {
		if err := beginSegment(s, set[:len(set)-1], o); err != nil {
			return err
		}
	}
	return s.Belongs(set[0], uint64(len(set)))
}

// beginSegment fills in a new segment: the first of a new capture, or one that a killed recorder left empty.
func beginSegment(s *segments.Segment, before segments.Set, o Options) error {
	if len(before) == 0 {
		st := layout.State{Ended: true} // nothing can be missing
		st.Kills, st.Killed = o.Copied.Crashes, layout.BeatOf(o.Copied.Crash)
		m := layout.Meta{
			Capture: uuid.New(), Created: time.Now().UTC(), Tool: o.Tool, Segment: 1, Unfinished: o.Copied.Unfinished,
		}
		if o.copied != nil {
			m, st = *o.copied, o.begins
		}
		m.RecordedAs(o.SecretsKept, o.Insecure, o.RedactionKey)
		return s.Create(m, &st, nil)
	}
	last := before.Last()
	st, err := before.State()
	if err != nil {
		return err
	}
	open, err := last.OpenExchanges()
	if err != nil {
		return err
	}
	m := last.Meta
	m.Segment, m.Arrivals, m.Exchanges = m.Segment+1, st.Arrival, st.Seq
	return s.Create(m, &st, open)
}

// resume continues the recording: it closes exchanges that an earlier recorder left open, and marks the capture as not
// ended. This also proves that the file can be written.
func (w *writer) resume() error {
	last := w.local.last()
	var err error
	if w.state, err = segments.Set([]*segments.Segment{last}).State(); err != nil {
		return err
	}
	open, err := last.OpenExchanges()
	if err != nil {
		return err
	}
	err = last.View(func(tx *bbolt.Tx) (err error) {
		if w.young, err = layout.ReadYoung(tx); err != nil {
			return err
		}
		w.lists, err = layout.ReadYoungParts(tx)
		return err
	})
	if err != nil {
		return err
	}
	if !w.state.Summed {
		w.state.Tables = last.Found
	}
	w.start = w.state
	w.state = w.state.Resumed()
	w.since, w.whole = time.Now(), w.told()
	b := w.batch()
	for _, step := range w.inherited(open) {
		if err := b.add(step); err != nil {
			return err
		}
	}
	b.endBlock()
	if err := w.store(b); err != nil {
		return err
	}
	w.adopt(b)
	w.start.LostExchanges, w.start.LostBytes = w.state.LostExchanges, w.state.LostBytes
	w.stored()
	if last.Meta.RecordedAs(w.options.SecretsKept, w.options.Insecure, w.options.RedactionKey) {
		return last.DB.Update(func(tx *bbolt.Tx) error { return errors.Join(last.Meta.Put(tx), w.state.Put(tx)) })
	}
	return nil
}

// inherited returns the steps that report the previous recorder's end: the exchanges it left open, whether it was
// killed, and what it could not record.
func (w *writer) inherited(open []uint64) (steps []capture.Step) {
	for _, seq := range open {
		steps = append(steps, capture.Step{
			Seq: seq, Offset: capture.NotKnown, What: capture.Closed{Interrupted: true},
		})
	}
	if times, last := w.start.Crash(w.start.Ended); times > w.start.Kills {
		steps = append(steps, capture.Step{Offset: capture.NotKnown, What: last.Lost()})
	}
	if u := w.state.Unreported; u != (layout.Unreported{}) {
		w.state.Unreported = layout.Unreported{}
		steps = append(steps, capture.Step{Offset: capture.NotKnown, What: capture.Lost{
			Exchanges: u.Exchanges, Bytes: u.Bytes, Reason: "the previous recorder could not write it",
		}})
	}
	return steps
}
