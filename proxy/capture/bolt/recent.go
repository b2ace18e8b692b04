package bolt

import (
	"cmp"
	"context"
	"slices"
)

// recentBytes bounds the unpacked blocks that wait for a reader in the recorder's process.
const recentBytes = 8 << 20

// recent is what the last commits stored, unpacked, for the one who follows the recording in its own process: it then
// reads neither the file, whose pages would fill the memory, nor unpacks what was packed a moment ago. Each block is
// handed out once. Who comes too late, or second, reads the file.
type recent struct {
	blocks []block // consecutive, with raw
	bytes  int
}

// add takes over the unpacked blocks of a commit.
func (r *recent) add(blocks []block) {
	for _, b := range blocks {
		if b.raw == nil {
			*r = recent{}
			continue
		}
		r.blocks = append(r.blocks, block{first: b.first, raw: b.raw})
		r.bytes += len(b.raw)
	}
	for r.bytes > recentBytes {
		r.drop(1)
	}
}

// take hands out consecutive blocks, beginning with the one that holds arrival number from, up to limit bytes but at
// least one. What is older is given up too. It returns none if there is no such block.
func (r *recent) take(from uint64, limit int) []block {
	i, exact := slices.BinarySearchFunc(r.blocks, from, func(b block, n uint64) int { return cmp.Compare(b.first, n) })
	if !exact {
		i--
	}
	if i < 0 {
		return nil
	}
	size, end := 0, i
	for end < len(r.blocks) && size < limit {
		size += len(r.blocks[end].raw)
		end++
	}
	found := slices.Clone(r.blocks[i:end])
	r.drop(end)
	return found
}

// drop forgets the first n blocks.
func (r *recent) drop(n int) {
	for _, b := range r.blocks[:n] {
		r.bytes -= len(b.raw)
	}
	r.blocks = slices.Delete(r.blocks, 0, n)
}

// nearby is the access of readers in the recorder's own process.
type nearby struct{ *inside }

func (n nearby) blocks(ctx context.Context, from uint64, limit int) (found []block, last uint64, err error) {
	if found, last = n.takeRecent(from, limit); len(found) > 0 {
		return found, last, nil
	}
	return n.inside.blocks(ctx, from, limit)
}

// wait is what a follower calls. From then on blocks are kept for it.
func (n nearby) wait(ctx context.Context, from uint64) error {
	n.followed.Store(true)
	return n.inside.wait(ctx, from)
}
