package bolt

import (
	"context"
	"fmt"
	"slices"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// A loader assembles exchanges from blocks. Concurrent exchanges share blocks, so it keeps the newest ones.
type loader struct {
	access remote.Access
	blocks map[uint64]*openBlock
	order  []uint64 // first arrival numbers of blocks, in the order in which they were added
	size   int      // bytes of them
	asked  int      // how many blocks were asked for the last time: each time it is more

	shortened bool // of a stream only its ends are wanted
	ends      int  // then: how many events of each
}

const (
	loaderBytes  = 16 << 20
	loaderAhead  = 32 // how many blocks to ask for at once, at most
	loaderPlaces = 64 // in how many exchanges to look for them
)

// An openBlock is an unsealed block in which one exchange's steps can be found without decoding the others.
type openBlock struct {
	raw   []byte
	steps []stepAt
}

type stepAt struct {
	seq        uint64
	start, end int
}

func openTheBlock(b layout.Block) (*openBlock, error) {
	raw, err := b.Unseal()
	if err != nil {
		return nil, err
	}
	open := &openBlock{raw: raw}
	for rest := raw; len(rest) > 0; {
		var one []byte
		var seq uint64
		if one, rest, err = layout.Split(rest); err == nil {
			seq, err = layout.PeekSeq(one)
		}
		if err != nil {
			return nil, fmt.Errorf("read the block at arrival %d: %w", b.First, err)
		}
		end := len(raw) - len(rest)
		open.steps = append(open.steps, stepAt{seq: seq, start: end - len(one), end: end})
	}
	return open, nil
}

// events returns how many events of an exchange the block has.
func (b *openBlock) events(seq uint64) int {
	n := 0
	for _, s := range b.steps {
		if s.seq == seq && b.raw[s.start] == layout.TagResponseEvent {
			n++
		}
	}
	return n
}

// exchange returns the first exchange of at; the caller will ask for the others next.
func (l *loader) exchange(ctx context.Context, at []segments.Place, crashed bool) (*capture.Exchange, error) {
	var x *capture.Exchange
	events := 0
	for i := 0; i < len(at[0].Blocks); i++ {
		b, err := l.block(ctx, at[0].Blocks[i], at, i)
		if err != nil {
			return nil, fmt.Errorf("read exchange %d: %w", at[0].Seq, err)
		}
		for k, s := range b.steps {
			if s.seq != at[0].Seq {
				continue
			}
			step, err := layout.DecodeStep(b.raw[s.start:s.end], true)
			if err != nil {
				return nil, fmt.Errorf("read exchange %d: %w", at[0].Seq, err)
			}
			step.Arrival = at[0].Blocks[i] + uint64(k)
			x = capture.Assemble(x, step)
		}
		before := events
		events += b.events(at[0].Seq)
		if l.shortened && before < l.ends && events >= l.ends {
			if i, err = l.lastEvents(ctx, at, i); err != nil {
				return nil, fmt.Errorf("read exchange %d: %w", at[0].Seq, err)
			}
		}
	}
	if x == nil {
		return nil, fmt.Errorf("exchange %d has a row, but no steps: %w", at[0].Seq, layout.ErrDamaged)
	}
	if x.State == capture.StateOpen && crashed {
		x.State = capture.StateInterrupted
	}
	return x, nil
}

// lastEvents returns the block of at[0], after block i, after which the requested number of last events begins.
func (l *loader) lastEvents(ctx context.Context, at []segments.Place, i int) (int, error) {
	one := []segments.Place{at[0]}
	for last, events := len(at[0].Blocks)-1, 0; last > i; last-- {
		b, err := l.block(ctx, at[0].Blocks[last], one, last)
		if err != nil {
			return 0, err
		}
		if events += b.events(at[0].Seq); events >= l.ends {
			return last - 1, nil
		}
	}
	return i, nil
}

// stepsOf yields the steps of at[0] from arrival number from on, and returns whether to continue. The bytes of a step
// are parts of its block, which is released.
func (l *loader) stepsOf(ctx context.Context, at []segments.Place, from uint64, yield func(capture.Step, error) bool) bool {
	i, exact := slices.BinarySearch(at[0].Blocks, from)
	if !exact {
		i = max(i-1, 0)
	}
	for ; i < len(at[0].Blocks); i++ {
		first := at[0].Blocks[i]
		err := ctx.Err()
		var b *openBlock
		if err == nil {
			b, err = l.block(ctx, first, at, i)
		}
		if err != nil {
			yield(capture.Step{}, fmt.Errorf("read exchange %d: %w", at[0].Seq, err))
			return false
		}
		for k, s := range b.steps {
			arrival := first + uint64(k)
			if s.seq != at[0].Seq || arrival < from {
				continue
			}
			step, err := layout.DecodeStep(b.raw[s.start:s.end], false)
			if err != nil {
				yield(capture.Step{}, fmt.Errorf("read exchange %d: %w", at[0].Seq, err))
				return false
			}
			step.Arrival = arrival
			if !yield(step, nil) {
				return false
			}
		}
		l.forget(first)
	}
	return true
}

// block returns the block that begins at first, which is block i of at[0]. If the block is not loaded, it is fetched
// together with those needed next.
func (l *loader) block(ctx context.Context, first uint64, at []segments.Place, i int) (*openBlock, error) {
	if b := l.blocks[first]; b != nil {
		return b, nil
	}
	found, err := l.access.Fetch(ctx, l.ahead(at, i), remote.PageBytes)
	if err != nil {
		return nil, err
	}
	for _, b := range found {
		open, err := openTheBlock(b)
		if err != nil {
			return nil, err
		}
		l.keep(b.First, open)
	}
	if b := l.blocks[first]; b != nil {
		return b, nil
	}
	return nil, layout.ErrNoBlock(first)
}

// ahead lists blocks that are not loaded, in the order in which they will be needed.
func (l *loader) ahead(at []segments.Place, i int) []uint64 {
	var want []uint64
	l.asked = min(max(1, 2*l.asked), loaderAhead)
	asked := make(map[uint64]bool)
	for _, p := range at[:min(len(at), loaderPlaces)] {
		for _, first := range p.Blocks[i:] {
			if len(want) == l.asked {
				return want
			}
			if l.blocks[first] == nil && !asked[first] {
				asked[first] = true
				want = append(want, first)
			}
		}
		i = 0
	}
	return want
}

// keep adds a block and drops the oldest ones while the total is too large. One page of blocks always fits.
func (l *loader) keep(first uint64, b *openBlock) {
	if l.blocks == nil {
		l.blocks = make(map[uint64]*openBlock)
	}
	l.blocks[first] = b
	l.order = append(l.order, first)
	l.size += len(b.raw)
	for l.size > loaderBytes && len(l.order) > loaderAhead {
		l.size -= len(l.blocks[l.order[0]].raw)
		delete(l.blocks, l.order[0])
		l.order = l.order[1:]
	}
}

// forget lets a block go.
func (l *loader) forget(first uint64) {
	if b := l.blocks[first]; b != nil {
		l.size -= len(b.raw)
	}
	delete(l.blocks, first)
	l.order = slices.DeleteFunc(l.order, func(n uint64) bool { return n == first })
}
