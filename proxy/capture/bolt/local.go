package bolt

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// localAccess is the access within the recorder's process. When the recording has ended it switches to the files,
// except after a fault of the database, when each access would start with a full verification.
type localAccess struct {
	path   string
	remote *remote.Capture

	mu      sync.RWMutex
	set     segments.Set // nil after the files were closed
	fault   error        // of a database, then
	state   layout.State // what is committed
	ended   bool         // nothing will be added
	changed chan struct{}

	followed bool // a reader in this process waits for commits
	recent   recent
}

func newLocalAccess(path string, set segments.Set) *localAccess {
	return &localAccess{path: path, remote: remote.New(path), set: set, changed: make(chan struct{})}
}

// segments, last and add are for the writer, which alone changes the list.
func (in *localAccess) segments() segments.Set  { return in.set }
func (in *localAccess) last() *segments.Segment { return in.set.Last() }

func (in *localAccess) add(s *segments.Segment) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.set = append(in.set[:len(in.set):len(in.set)], s)
}

// advance lets readers know of a commit, and of the blocks in it.
func (in *localAccess) advance(st layout.State, blocks []layout.Block) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.state = st
	in.recent.add(blocks)
	close(in.changed)
	in.changed = make(chan struct{})
}

// admit tells readers what was lost and could not be recorded.
func (in *localAccess) admit(u layout.Unreported) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.state.Unreported = u
}

// end tells readers that no more commits will follow.
func (in *localAccess) end(st layout.State) {
	in.mu.Lock()
	in.ended = true
	in.mu.Unlock()
	in.advance(st, nil)
}

// close closes the files, when no reader is in them.
func (in *localAccess) close() error {
	in.mu.Lock()
	set := in.set
	in.set, in.recent, in.fault = nil, recent{}, set.Fault()
	in.mu.Unlock()
	return set.Close()
}

// read calls fn with the segments, or reports false when they were closed and can be opened again.
func (in *localAccess) read(fn func(set segments.Set, ended bool) error) (bool, error) {
	in.mu.RLock()
	defer in.mu.RUnlock()
	if in.set == nil {
		return in.fault != nil, in.fault
	}
	return true, fn(in.set, in.ended)
}

func (in *localAccess) Info(ctx context.Context) (info capture.Info, err error) {
	open, err := in.read(func(set segments.Set, ended bool) (err error) {
		info, err = set.Info(!ended, in.state.Unreported)
		info.Name = in.path
		return err
	})
	if !open {
		return in.remote.Info(ctx)
	}
	return info, err
}

func (in *localAccess) Blocks(ctx context.Context, from uint64, limit int) (found []layout.Block, last uint64, err error) {
	open, err := in.read(func(set segments.Set, _ bool) (err error) {
		found, last, err = set.Blocks(from, limit)
		return err
	})
	if !open {
		return in.remote.Blocks(ctx, from, limit)
	}
	return found, last, err
}

// takeRecent returns blocks that need not be read, and the last arrival number; none if the file must be read.
func (in *localAccess) takeRecent(from uint64, limit int) (found []layout.Block, last uint64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if from > in.state.Arrival {
		return nil, 0
	}
	return in.recent.take(from, limit), in.state.Arrival
}

func (in *localAccess) Fetch(ctx context.Context, firsts []uint64, limit int) (found []layout.Block, err error) {
	open, err := in.read(func(set segments.Set, _ bool) (err error) {
		found, err = set.Fetch(firsts, limit)
		return err
	})
	if !open {
		return in.remote.Fetch(ctx, firsts, limit)
	}
	return found, err
}

func (in *localAccess) Locate(ctx context.Context, seq uint64, limit int) (at segments.Places, err error) {
	open, err := in.read(func(set segments.Set, _ bool) (err error) {
		at, err = set.Locate(seq, limit)
		at.Crashed = false
		return err
	})
	if !open {
		return in.remote.Locate(ctx, seq, limit)
	}
	return at, err
}

func (in *localAccess) Find(ctx context.Context, key layout.KeyHash, seq uint64, limit int) (found []uint64, err error) {
	open, err := in.read(func(set segments.Set, _ bool) (err error) {
		found, err = set.Find(key, seq, limit)
		return err
	})
	if !open {
		return in.remote.Find(ctx, key, seq, limit)
	}
	return found, err
}

func (in *localAccess) Kept(ctx context.Context, keys [][]byte, limit int) (found [][]byte, err error) {
	open, err := in.read(func(set segments.Set, _ bool) (err error) {
		found, err = set.Kept(keys, limit)
		return err
	})
	if !open {
		return in.remote.Kept(ctx, keys, limit)
	}
	return found, err
}

func (in *localAccess) KeptRange(ctx context.Context, from, to []byte, limit int) (
	found []layout.KeptEntry, next []byte, err error,
) {
	open, err := in.read(func(set segments.Set, _ bool) (err error) {
		found, next, err = set.KeptRange(from, to, limit)
		return err
	})
	if !open {
		return in.remote.KeptRange(ctx, from, to, limit)
	}
	return found, next, err
}

func (in *localAccess) Mark(ctx context.Context) (sum []byte, err error) {
	open, err := in.read(func(set segments.Set, _ bool) (err error) {
		sum, err = set.Mark()
		return err
	})
	if !open {
		return in.remote.Mark(ctx)
	}
	return sum, err
}

func (in *localAccess) Wait(ctx context.Context, from uint64) error {
	for {
		in.mu.RLock()
		closed, ended, last, changed, fault := in.set == nil, in.ended, in.state.Arrival, in.changed, in.fault
		in.mu.RUnlock()
		switch {
		case last >= from:
			return nil
		case fault != nil:
			return fault
		case closed:
			// Another recorder may have continued the capture.
			return in.remote.Wait(ctx, from)
		case ended:
			return capture.ErrEnded
		case ctx.Err() != nil:
			return ctx.Err()
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (in *localAccess) Replace(
	ctx context.Context, amend bool, write func(put func(...capture.Entry) error) error,
) error {
	if open, fault := in.read(func(segments.Set, bool) error { return nil }); open {
		return cmp.Or[error](fault, errHeldHere)
	}
	return in.remote.Replace(ctx, amend, write)
}

// heldHere is an ErrHeld that this process itself caused.
type heldHere struct{}

var errHeldHere heldHere

func (heldHere) Error() string {
	return "this process records into it; wait until the recording has ended"
}

func (heldHere) Is(target error) bool { return target == segments.ErrLocked }

// recentBytes bounds the steps that wait for a reader in the recorder's process.
const recentBytes = 4 << 20

// recent has the steps of the newest commits, as appended, for the follower in the recorder's process. So the follower
// does not read the file, whose pages would fill the memory, and does not decode or parse the steps again. Each block
// is handed out once; a second reader reads the file.
//
// When recent is full, it drops new steps until the follower has read the file up to that point. A follower that far
// behind would not reach those steps before they are discarded.
type recent struct {
	blocks []heldBlock // consecutive, with steps
	bytes  int
	full   bool
}

type heldBlock struct {
	layout.Block
	size int
}

// add takes over the steps of a commit.
func (r *recent) add(blocks []layout.Block) {
	for _, b := range blocks {
		if r.full {
			return
		}
		if b.Steps == nil {
			*r = recent{}
			continue
		}
		size := b.Weight()
		if r.bytes+size > recentBytes {
			r.full = true
			return
		}
		r.blocks = append(r.blocks, heldBlock{Block: layout.Block{First: b.First, Steps: b.Steps}, size: size})
		r.bytes += size
	}
}

// reopen starts again if recent was full.
func (r *recent) reopen() {
	if r.full {
		*r = recent{}
	}
}

// take hands out consecutive blocks from the one that contains arrival number from, up to limit bytes but at least one.
// It also drops older blocks. It returns none if there is no such block.
func (r *recent) take(from uint64, limit int) []layout.Block {
	i, exact := slices.BinarySearchFunc(r.blocks, from,
		func(b heldBlock, n uint64) int { return cmp.Compare(b.First, n) })
	if !exact {
		i--
	}
	if i < 0 {
		return nil
	}
	if last := r.blocks[len(r.blocks)-1].Steps; from > last[len(last)-1].Arrival {
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

// keeps reports whether a follower exists and is not so far behind that it will read the file.
func (in *localAccess) keeps() bool {
	in.mu.RLock()
	defer in.mu.RUnlock()
	return in.followed && !in.recent.full
}

// follow begins to keep blocks.
func (in *localAccess) follow() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.followed = true
}

// caughtUp is called when a reader has what is in the file.
func (in *localAccess) caughtUp() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.recent.reopen()
}

// followerAccess is the access of readers in the recorder's own process.
type followerAccess struct{ *localAccess }

func (n followerAccess) Blocks(ctx context.Context, from uint64, limit int) (found []layout.Block, last uint64, err error) {
	if found, last = n.takeRecent(from, limit); len(found) > 0 {
		return found, last, nil
	}
	found, last, err = n.localAccess.Blocks(ctx, from, limit)
	size := 0
	for i := range found {
		size += len(found[i].Value)
	}
	if err == nil && size < limit { // these are all
		n.caughtUp()
	}
	return found, last, err
}

// Wait is called by a follower. From then on blocks are kept for it.
func (n followerAccess) Wait(ctx context.Context, from uint64) error {
	n.follow()
	return n.localAccess.Wait(ctx, from)
}
