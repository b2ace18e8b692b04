package bolt

import (
	"context"
	"fmt"
	"iter"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
)

// A Block is a run of consecutive steps as stored in a capture. Committed blocks never change, so copying blocks from
// the number after the last copied step yields each step exactly once.
type Block struct {
	First  uint64 // arrival number of its first step
	Last   uint64 // of its last
	Packed []byte // the steps, as docs/capture-format.md describes a block
}

// Blocks yields the committed blocks in order, from the one that contains arrival number from up to the last one when
// it began. The caller owns them. It reads the file even in the recorder's process, so it takes no blocks away from a
// follower there.
func (r *Reader) Blocks(ctx context.Context, from uint64) iter.Seq2[Block, error] {
	access := r.access
	if own, ok := access.(followerAccess); ok {
		access = own.localAccess
	}
	return func(yield func(Block, error) bool) {
		var end uint64
		for next := max(from, 1); end == 0 || next <= end; {
			if err := ctx.Err(); err != nil {
				yield(Block{}, err)
				return
			}
			found, last, err := access.Blocks(ctx, next, remote.PageBytes)
			if end == 0 {
				end = last
			}
			if err == nil && len(found) == 0 && next <= end {
				err = layout.ErrNoBlock(next)
			}
			if err != nil {
				yield(Block{}, err)
				return
			}
			if len(found) == 0 {
				return
			}
			for _, f := range found {
				b, err := counted(f)
				if err == nil && b.First > next {
					err = fmt.Errorf("the block with arrival number %d is missing: %w", next, layout.ErrDamaged)
				}
				if !yield(b, err) || err != nil {
					return
				}
				next = b.Last + 1
			}
		}
	}
}

// counted is the block with the number of its last step.
func counted(b layout.Block) (Block, error) {
	last, err := b.Last()
	return Block{First: b.First, Last: last, Packed: b.Value}, err
}

// Steps yields the steps of a block, with their arrival numbers. Any bytes are safe: the error wraps ErrDamaged, or
// reports that a later version wrote them. Last is ignored.
func (b Block) Steps() iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		raw, err := layout.Block{First: b.First, Value: b.Packed}.Unseal()
		if err != nil {
			yield(capture.Step{}, err)
			return
		}
		for arrival := b.First; len(raw) > 0; arrival++ {
			var one []byte
			var s capture.Step
			if one, raw, err = layout.Split(raw); err == nil {
				s, err = layout.DecodeStep(one, false)
			}
			if err != nil {
				yield(capture.Step{}, fmt.Errorf("read the step at arrival %d: %w", arrival, err))
				return
			}
			s.Arrival = arrival
			if !yield(s, nil) {
				return
			}
		}
	}
}
