package bolt

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// openForWriting opens all segments of a capture, the first and the last for writing; the first one's lock is the
// capture's. It creates the capture if it is not there.
func openForWriting(path string, o Options) (_ segmentSet, err error) {
	paths, err := segmentPaths(path)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		paths = []string{path}
	}
	var set segmentSet
	defer func() {
		if err != nil {
			err = errors.Join(err, set.close())
		}
	}()
	for i, p := range paths {
		s := &segment{path: p}
		if i == 0 || i == len(paths)-1 {
			err = openExclusive(s, path, o.SegmentSize)
		} else if s, err = openToRead(p); err != nil {
			s = &segment{path: p}
		}
		if err != nil && i > 0 {
			err = fmt.Errorf("segment %s: %w", p, err)
		}
		if err != nil {
			return set, err
		}
		set = append(set, s)
		if err = s.verify(s.file != nil); err == nil {
			err = makeReady(s, path, set, o)
		}
		if err != nil {
			return set, err
		}
	}
	return set, errors.Join(set.whole(path), verifyUnsummed(set))
}

// makeReady makes a segment that was opened, the last of set, usable: new ones are filled in, old formats upgraded.
func makeReady(s *segment, path string, set segmentSet, o Options) error {
	blank, err := s.load()
	if err == nil && s.format < Format && !blank {
		err = upgradeSegment(s, path, o.SegmentSize)
	}
	if err != nil {
		return err
	}
	if blank {
		if err := beginSegment(s, set[:len(set)-1], o); err != nil {
			return err
		}
	}
	return s.belongs(set[0], uint64(len(set)))
}

// beginSegment fills in a new segment: the first of a new capture, or one that a killed recorder did not get to fill in.
func beginSegment(s *segment, before segmentSet, o Options) error {
	if len(before) == 0 {
		st := state{ended: true} // nothing can be missing
		m := meta{
			capture: uuid.New(), created: time.Now().UTC(), tool: o.Tool, segment: 1,
		}
		if o.copied != nil {
			m, st = *o.copied, o.begins
		}
		m.recordedAs(o.SecretsKept, o.Insecure, o.RedactionKey)
		return s.create(m, &st, nil)
	}
	last := before.last()
	st, err := before.state()
	if err != nil {
		return err
	}
	open, err := last.openExchanges()
	if err != nil {
		return err
	}
	m := last.meta
	m.segment, m.arrivals, m.exchanges = m.segment+1, st.arrival, st.seq
	return s.create(m, &st, open)
}

// resume takes up the recording: it closes what an earlier recorder left open, and marks the capture as not ended. It
// shows too that the file can be written.
func (w *writer) resume() error {
	last := w.local.last()
	var err error
	if w.state, err = segmentSet([]*segment{last}).state(); err != nil {
		return err
	}
	open, err := last.openExchanges()
	if err != nil {
		return err
	}
	err = last.view(func(tx *bbolt.Tx) (err error) {
		w.young, err = readYoung(tx)
		return err
	})
	if err != nil {
		return err
	}
	if !w.state.summed {
		w.state.tables = last.found
	}
	w.start = w.state
	w.state = w.state.resumed()
	w.taken(time.Now())
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
	w.start.lostExchanges, w.start.lostBytes = w.state.lostExchanges, w.state.lostBytes
	w.stored()
	if last.meta.recordedAs(w.options.SecretsKept, w.options.Insecure, w.options.RedactionKey) {
		return last.db.Update(func(tx *bbolt.Tx) error { return errors.Join(last.meta.put(tx), w.state.put(tx)) })
	}
	return nil
}

// inherited returns what is to be said of the recorder before: what it left open, that it was killed, and what it could
// not record.
func (w *writer) inherited(open []uint64) (steps []capture.Step) {
	for _, seq := range open {
		steps = append(steps, capture.Step{
			Seq: seq, Offset: capture.NotKnown, What: capture.Closed{Interrupted: true},
		})
	}
	if times, last := w.start.crash(w.start.ended); times > w.start.kills {
		steps = append(steps, capture.Step{Offset: capture.NotKnown, What: capture.Lost{Reason: last.String()}})
	}
	if u := w.state.unreported; u != (unreported{}) {
		w.state.unreported = unreported{}
		steps = append(steps, capture.Step{Offset: capture.NotKnown, What: capture.Lost{
			Exchanges: u.exchanges, Bytes: u.bytes, Reason: "the recorder before could not write it",
		}})
	}
	return steps
}
