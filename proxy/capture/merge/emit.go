package merge

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"a2atap/proxy/capture"
)

// emit writes steps in order, as far as possible. more means that further steps may come; steps that wait for them are
// then not forced.
func (m *Merger) emit(ctx context.Context, more bool) (err error) {
	for _, r := range m.recorders {
		if !more {
			r.out.limit = r.scanned
		}
		if r.out.read < r.out.limit {
			r.out.next, r.out.stop = iter.Pull2(r.Source.Steps(ctx, r.out.read+1))
		}
	}
	defer func() {
		for _, r := range m.recorders {
			if r.out.stop != nil {
				r.out.stop()
			}
			r.out.next, r.out.stop, r.out.head, r.out.x = nil, nil, nil, nil
		}
	}()
	for {
		r, err := m.first(ctx, more)
		if r == nil || err != nil {
			return err
		}
		s := *r.out.head
		x := r.out.x
		r.out.head, r.out.x = nil, nil
		r.out.read = s.Arrival
		r.out.time = max(r.out.time, r.out.at)
		if err := m.out.write(r, x, s); err != nil {
			return err
		}
	}
}

// first returns the recorder with the next step of all; nil if no recorder has one.
func (m *Merger) first(ctx context.Context, more bool) (*recorder, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var free, blocked *recorder
	for _, r := range m.recorders {
		if err := m.peek(r); err != nil {
			return nil, fmt.Errorf("merge %s: %w", r.Name, err)
		}
		if r.out.head == nil {
			continue
		}
		best := &free
		if r.waits(more) {
			best = &blocked
		}
		if *best == nil || r.out.at < (*best).out.at {
			*best = r
		}
	}
	if free == nil && blocked != nil && (!more || blocked.overdue()) {
		free = blocked // nothing could continue: one of the pairs is wrong, or the awaited step was lost
	}
	return free, nil
}

// peek reads the next step of a recorder, if it is not there yet.
func (m *Merger) peek(r *recorder) error {
	out := &r.out
	if out.head != nil || out.next == nil || out.read >= out.limit {
		return nil
	}
	s, err, ok := out.next()
	if err != nil {
		return err
	}
	if !ok {
		out.limit = out.read // some were removed
		return nil
	}
	if s.Arrival == 0 {
		s.Arrival = out.read + 1
	}
	out.head, out.at = &s, out.time
	if _, is := s.What.(capture.Opened); is && s.Seq != 0 {
		if len(out.opened) == 0 {
			return errors.New("it changed while it was read")
		}
		out.x = out.opened[0]
		out.at = m.clocks.corrected(r.Host, out.x.started)
		return nil
	}
	if out.x = out.exchanges[s.Seq]; out.x != nil && s.Offset != capture.NotKnown {
		out.at = m.clocks.corrected(r.Host, out.x.started+int64(s.Offset))
	}
	return nil
}

// waits reports whether the next step of a recorder must follow a step of another.
func (r *recorder) waits(more bool) bool {
	x := r.out.x
	if x == nil {
		return false
	}
	if _, opened := r.out.head.What.(capture.Opened); opened {
		return x.up != nil && !x.up.passed.opened && !(x.up.r.exhausted() && !more)
	}
	y := x.down
	if y == nil || y.apart || y.passed.closed || y.r.exhausted() && !more {
		return false
	}
	switch r.out.head.What.(type) {
	case capture.ResponseHead:
		return !y.passed.head
	case capture.ResponseEvent:
		return y.passed.blocks <= x.passed.blocks && !y.passed.end
	case capture.ResponseEnd:
		return !y.passed.end
	}
	return false
}

// overdue reports whether the step for which a blocked recorder waits should have arrived.
func (r *recorder) overdue() bool { return r.out.head.Arrival <= r.out.due }
