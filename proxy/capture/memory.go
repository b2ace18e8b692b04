package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
)

// Memory is a capture in memory: both a Sink and a Source. It is for tests and small captures. The zero value is an
// empty capture that is being recorded.
type Memory struct {
	mu      sync.Mutex
	info    Info
	steps   []Step
	of      map[uint64][]int // for each exchange, where its steps are
	ended   bool
	changed chan struct{} // closed when there is something new to see
}

// NewMemory returns an empty capture with this info, except for the counts, which Memory keeps itself.
func NewMemory(info Info) *Memory { return &Memory{info: info} }

// Each yields the given exchanges, without an error.
func Each(exchanges ...*Exchange) iter.Seq2[*Exchange, error] {
	return func(yield func(*Exchange, error) bool) {
		for _, x := range exchanges {
			if !yield(x, nil) {
				return
			}
		}
	}
}

// ReadMemory returns a finished capture of these exchanges, interleaved as Interleave does.
func ReadMemory(info Info, exchanges iter.Seq2[*Exchange, error]) (*Memory, error) {
	m := NewMemory(info)
	for s, err := range Interleave(exchanges) {
		if err != nil {
			return nil, err
		}
		if err := m.Append(s); err != nil {
			return nil, err
		}
	}
	return m, m.Close()
}

// Append adds steps to the capture. It fails only after Close.
func (m *Memory) Append(steps ...Step) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return errors.New("append to a capture in memory: the recording has ended")
	}
	if m.of == nil {
		m.of = map[uint64][]int{}
	}
	for _, s := range steps {
		s.Arrival = uint64(len(m.steps)) + 1
		if s.Seq > 0 {
			m.of[s.Seq] = append(m.of[s.Seq], len(m.steps))
			m.info.Exchanges = max(m.info.Exchanges, s.Seq)
		}
		m.count(s)
		m.steps = append(m.steps, s)
	}
	m.wake()
	return nil
}

func (m *Memory) count(s Step) {
	switch what := s.What.(type) {
	case Lost:
		m.info.LostExchanges = AddLost(m.info.LostExchanges, what.Exchanges)
		m.info.LostBytes = AddLost(m.info.LostBytes, what.Bytes)
	case Closed:
		m.info.LostBytes = AddLost(m.info.LostBytes, what.Dropped)
	}
}

// Close ends the recording. Recorded steps can still be read.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	m.wake()
	return nil
}

// wake wakes all readers that wait for something new.
func (m *Memory) wake() {
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// Reader returns a Source of the capture whose Close does not end the recording.
func (m *Memory) Reader() Source { return memoryReader{m} }

type memoryReader struct{ *Memory }

func (memoryReader) Close() error { return nil }

// Info describes the capture as it is now.
func (m *Memory) Info(context.Context) (Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	info := m.info
	info.Arrivals = uint64(len(m.steps))
	info.Live = !m.ended
	return info, nil
}

// Steps yields copies of the current steps.
func (m *Memory) Steps(ctx context.Context, from uint64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		m.mu.Lock()
		steps := m.steps // only ever appended to
		m.mu.Unlock()
		for i := max(from, 1) - 1; i < uint64(len(steps)); i++ {
			if err := ctx.Err(); err != nil {
				yield(Step{}, err)
				return
			}
			if !yield(steps[i].Clone(), nil) {
				return
			}
		}
	}
}

// Wait waits until step from exists, the recording ends, or the context does.
func (m *Memory) Wait(ctx context.Context, from uint64) error {
	for {
		m.mu.Lock()
		there, ended := uint64(len(m.steps)) >= from, m.ended
		if m.changed == nil {
			m.changed = make(chan struct{})
		}
		changed := m.changed
		m.mu.Unlock()
		switch {
		case there:
			return nil
		case ended:
			return ErrEnded
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Exchanges yields copies of the current exchanges, in their current state.
func (m *Memory) Exchanges(ctx context.Context, from uint64) iter.Seq2[*Exchange, error] {
	return m.each(ctx, from, m.assemble)
}

func (m *Memory) each(ctx context.Context, from uint64, assemble func(uint64) *Exchange) iter.Seq2[*Exchange, error] {
	return func(yield func(*Exchange, error) bool) {
		m.mu.Lock()
		seqs := slices.Sorted(maps.Keys(m.of))
		m.mu.Unlock()
		begin, _ := slices.BinarySearch(seqs, from)
		for _, seq := range seqs[begin:] {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if x := assemble(seq); x != nil && !yield(x, nil) {
				return
			}
		}
	}
}

// Exchange returns a copy of one exchange in its current state.
func (m *Memory) Exchange(ctx context.Context, seq uint64) (*Exchange, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if x := m.assemble(seq); x != nil {
		return x, nil
	}
	return nil, fmt.Errorf("read exchange %d: %w", seq, ErrNotFound)
}

// Ends yields copies of the exchanges, of a long stream its first and last n events.
func (m *Memory) Ends(ctx context.Context, from uint64, n int) iter.Seq2[*Exchange, error] {
	return m.each(ctx, from, func(seq uint64) *Exchange { return m.assembleEnds(seq, n) })
}

// assembleEnds is assemble without the events between the first and the last n.
func (m *Memory) assembleEnds(seq uint64, n int) *Exchange {
	m.mu.Lock()
	steps, of := m.steps, m.of[seq]
	m.mu.Unlock()
	events := 0
	for _, i := range of {
		if _, is := steps[i].What.(ResponseEvent); is {
			events++
		}
	}
	var x *Exchange
	at := 0
	for _, i := range of {
		if _, is := steps[i].What.(ResponseEvent); is {
			if at++; at > n && at <= events-n {
				continue
			}
		}
		x = Assemble(x, steps[i].Clone())
	}
	return x
}

// StepsOf yields copies of the steps of one exchange.
func (m *Memory) StepsOf(ctx context.Context, seq, from uint64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		m.mu.Lock()
		steps, of := m.steps, m.of[seq]
		m.mu.Unlock()
		if len(of) == 0 {
			yield(Step{}, fmt.Errorf("read exchange %d: %w", seq, ErrNotFound))
			return
		}
		first, _ := slices.BinarySearch(of, int(max(from, 1)-1))
		for _, i := range of[first:] {
			if err := ctx.Err(); err != nil {
				yield(Step{}, err)
				return
			}
			if !yield(steps[i].Clone(), nil) {
				return
			}
		}
	}
}

// assemble returns a new copy of an exchange, or nil.
func (m *Memory) assemble(seq uint64) *Exchange {
	m.mu.Lock()
	steps, of := m.steps, m.of[seq]
	m.mu.Unlock()
	var x *Exchange
	for _, i := range of {
		x = Assemble(x, steps[i].Clone())
	}
	return x
}

// Clone returns a copy of the step that shares no memory with it.
func (s Step) Clone() Step {
	s = s.WithBytes(bytes.Clone)
	s.Keys = slices.Clone(s.Keys)
	switch what := s.What.(type) {
	case Fact:
		what.Rewrites = slices.Clone(what.Rewrites)
		s.What = what
	case Closed:
		if what.Fault != nil {
			what.Fault = new(*what.Fault)
			s.What = what
		}
	}
	return s
}

// WithBytes returns the step with its bytes replaced by f: of a head, a trailer, a piece of a body or an event. Parsed
// forms are unchanged.
func (s Step) WithBytes(f func([]byte) []byte) Step {
	switch what := s.What.(type) {
	case Opened:
		what.Head = f(what.Head)
		s.What = what
	case RequestBody:
		what.Data = f(what.Data)
		s.What = what
	case RequestEnd:
		what.Trailer = f(what.Trailer)
		s.What = what
	case Informational:
		what.Head = f(what.Head)
		s.What = what
	case ResponseHead:
		what.Head = f(what.Head)
		s.What = what
	case ResponseBody:
		what.Data = f(what.Data)
		s.What = what
	case ResponseEvent:
		what.Event.Raw = f(what.Event.Raw)
		s.What = what
	case ResponseEnd:
		what.Trailer = f(what.Trailer)
		s.What = what
	}
	return s
}
