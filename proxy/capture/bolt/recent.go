package bolt

import (
	"cmp"
	"context"
	"slices"

	"a2atap/proxy/capture/bolt/internal/layout"
)

// recentBytes bounds the steps that wait for a reader in the recorder's process.
const recentBytes = 8 << 20

// recent is what the last commits stored, as it was appended, for the one who follows the recording in its own process:
// it then reads neither the file, whose pages would fill the memory, nor decodes what was encoded a moment ago, nor
// parses what was parsed before that. Each block is handed out once. Who comes too late, or second, reads the file.
type recent struct {
	blocks []heldBlock // consecutive, with steps
	bytes  int
}

type heldBlock struct {
	layout.Block
	size int
}

// add takes over the steps of a commit.
func (r *recent) add(blocks []layout.Block) {
	for _, b := range blocks {
		if b.Steps == nil {
			*r = recent{}
			continue
		}
		held := heldBlock{Block: layout.Block{First: b.First, Steps: b.Steps}, size: b.Weight()}
		r.blocks = append(r.blocks, held)
		r.bytes += held.size
	}
	for r.bytes > recentBytes {
		r.drop(1)
	}
}

// take hands out consecutive blocks, beginning with the one that holds arrival number from, up to limit bytes but at
// least one. What is older is given up too. It returns none if there is no such block.
func (r *recent) take(from uint64, limit int) []layout.Block {
	i, exact := slices.BinarySearchFunc(r.blocks, from,
		func(b heldBlock, n uint64) int { return cmp.Compare(b.First, n) })
	if !exact {
		i--
	}
	if i < 0 {
		return nil
	}
	size, end := 0, i
	for end < len(r.blocks) && size < limit {
		size += r.blocks[end].size
		end++
	}
	found := make([]layout.Block, 0, end-i)
	for _, b := range r.blocks[i:end] {
		found = append(found, b.Block)
	}
	r.drop(end)
	return found
}

// drop forgets the first n blocks.
func (r *recent) drop(n int) {
	for _, b := range r.blocks[:n] {
		r.bytes -= b.size
	}
	r.blocks = slices.Delete(r.blocks, 0, n)
}

// followerAccess is the access of readers in the recorder's own process.
type followerAccess struct{ *localAccess }

func (n followerAccess) Blocks(ctx context.Context, from uint64, limit int) (found []layout.Block, last uint64, err error) {
	if found, last = n.takeRecent(from, limit); len(found) > 0 {
		return found, last, nil
	}
	return n.localAccess.Blocks(ctx, from, limit)
}

// Wait is what a follower calls. From then on blocks are kept for it.
func (n followerAccess) Wait(ctx context.Context, from uint64) error {
	n.followed.Store(true)
	return n.localAccess.Wait(ctx, from)
}
