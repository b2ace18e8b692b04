package fleet

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
)

// mirrored presents a mirror as a capture.Source.
type mirrored struct{ *mirror }

// Info implements capture.Source.
func (m mirrored) Info(ctx context.Context) (capture.Info, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	info := m.recorder.Info()
	info.Live = !m.ended || m.held.Load()
	info.Arrivals, info.Exchanges = m.arrivals, m.lastSeq
	if m.since.IsZero() {
		info.LostExchanges = capture.AddLost(info.LostExchanges, m.lost.Exchanges)
	} else {
		info.LostExchanges = capture.AddLost(m.carried.Exchanges, m.lost.Exchanges)
		info.LostBytes = m.carried.Bytes
		if !info.Crash.After.IsZero() && info.Crash.After.Before(m.since) {
			info.Crashes, info.Crash = 0, capture.Crash{}
		}
	}
	return info, ctx.Err()
}

// Wait implements capture.Source.
func (m mirrored) Wait(ctx context.Context, from uint64) error {
	for {
		m.mu.RLock()
		there, ended, changed := m.arrivals >= from, m.ended && !m.held.Load(), m.changed
		m.mu.RUnlock()
		switch {
		case there:
			return nil
		case ended:
			return capture.ErrEnded
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Steps implements capture.Source.
func (m mirrored) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		m.mu.RLock()
		entries, last := m.entries, m.arrivals
		m.mu.RUnlock()
		if from > last {
			return
		}
		at, exact := slices.BinarySearchFunc(entries, from, func(e entry, n uint64) int {
			switch {
			case e.first < n:
				return -1
			case e.first > n:
				return 1
			}
			return 0
		})
		if !exact && at > 0 {
			at--
		}
		for i := at; i < len(entries); i++ {
			if !m.read(ctx, &entries[i], 0, from, yield) {
				return
			}
		}
	}
}

// read yields the steps of an entry from a number on; only those of exchange seq unless seq is 0.
func (m mirrored) read(
	ctx context.Context, e *entry, seq, from uint64, yield func(capture.Step, error) bool,
) bool {
	steps, err := m.steps(e)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		yield(capture.Step{}, err)
		return false
	}
	for i := range steps {
		s := steps[i]
		s.Arrival = e.first + uint64(i)
		if s.Arrival >= from && (seq == 0 || s.Seq == seq) && !yield(s, nil) {
			return false
		}
	}
	return true
}

// steps returns the steps of an entry. The caller owns them.
func (m mirrored) steps(e *entry) ([]capture.Step, error) {
	if e.made != nil {
		return slices.Clone(e.made), nil
	}
	packed, err := m.spool.read(e.place)
	if err != nil {
		return nil, err
	}
	var all []capture.Step
	for s, err := range (bolt.Block{First: e.block, Packed: packed}).Steps() {
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.DeleteFunc(all, func(s capture.Step) bool { return !m.keeps(&s, e) }), nil
}

// StepsOf implements capture.Source.
func (m mirrored) StepsOf(ctx context.Context, seq, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		m.mu.RLock()
		x, ok := m.known[seq]
		entries, interrupted := m.entries, m.ended && m.killed && m.open[seq]
		m.mu.RUnlock()
		if !ok {
			yield(capture.Step{}, fmt.Errorf("read exchange %d: %w", seq, capture.ErrNotFound))
			return
		}
		for i := x.first; i <= x.last && int(i) < len(entries); i++ {
			if !m.read(ctx, &entries[i], seq, from, yield) {
				return
			}
		}
		if interrupted {
			yield(capture.Step{Seq: seq, Offset: capture.NotKnown, What: capture.Closed{Interrupted: true}}, nil)
		}
	}
}

// Exchange implements capture.Source.
func (m mirrored) Exchange(ctx context.Context, seq uint64) (*capture.Exchange, error) {
	var x *capture.Exchange
	for s, err := range m.StepsOf(ctx, seq, 1) {
		if err != nil {
			return nil, err
		}
		x = capture.Assemble(x, s.Clone())
	}
	if x == nil {
		return nil, fmt.Errorf("read exchange %d: %w", seq, capture.ErrNotFound)
	}
	return x, nil
}

// Exchanges implements capture.Source.
func (m mirrored) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		m.mu.RLock()
		seqs := slices.Sorted(maps.Keys(m.known))
		m.mu.RUnlock()
		for _, seq := range seqs {
			if seq < from {
				continue
			}
			x, err := m.Exchange(ctx, seq)
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// Ends implements capture.Source.
func (m mirrored) Ends(ctx context.Context, from uint64, _ int) iter.Seq2[*capture.Exchange, error] {
	return m.Exchanges(ctx, from)
}

// Close implements capture.Source. The Reader releases the mirror's resources.
func (m mirrored) Close() error { return nil }
