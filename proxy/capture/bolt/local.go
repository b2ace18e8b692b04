package bolt

import (
	"context"
	"sync"
	"sync/atomic"

	"a2atap/proxy/capture"
)

// localAccess is the access of the recorder's own process. When the recording has ended it goes over to the files.
type localAccess struct {
	path   string
	remote *remoteAccess

	mu      sync.RWMutex
	set     segmentSet // nil after the files were closed
	state   state      // what is committed
	ended   bool       // nothing will be added
	changed chan struct{}
	recent  recent

	followed atomic.Bool // somebody in this process waits for commits
}

func newLocalAccess(path string, set segmentSet) *localAccess {
	return &localAccess{path: path, remote: newRemoteAccess(path), set: set, changed: make(chan struct{})}
}

// segments, last and add are for the writer, which alone changes the list.
func (in *localAccess) segments() segmentSet { return in.set }
func (in *localAccess) last() *segment       { return in.set.last() }

func (in *localAccess) add(s *segment) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.set = append(in.set[:len(in.set):len(in.set)], s)
}

// advance lets readers know of a commit, and of the blocks in it.
func (in *localAccess) advance(st state, blocks []block) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.state = st
	in.recent.add(blocks)
	close(in.changed)
	in.changed = make(chan struct{})
}

// admit lets readers know what was lost and could not be recorded.
func (in *localAccess) admit(u unreported) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.state.unreported = u
}

// end lets readers know that there will be no more commits.
func (in *localAccess) end(st state) {
	in.mu.Lock()
	in.ended = true
	in.mu.Unlock()
	in.advance(st, nil)
}

// close closes the files, when no reader is in them. A database that faulted is left alone: closing it would wait for
// locks that it still holds.
func (in *localAccess) close(broken bool) error {
	in.mu.Lock()
	set := in.set
	in.set, in.recent = nil, recent{}
	in.mu.Unlock()
	if broken {
		return nil
	}
	return set.close()
}

// read calls fn with the segments, or reports false when they were closed.
func (in *localAccess) read(fn func(set segmentSet, ended bool) error) (bool, error) {
	in.mu.RLock()
	defer in.mu.RUnlock()
	if in.set == nil {
		return false, nil
	}
	return true, fn(in.set, in.ended)
}

func (in *localAccess) info(ctx context.Context) (info capture.Info, err error) {
	open, err := in.read(func(set segmentSet, ended bool) (err error) {
		info, err = set.info(!ended, in.state.unreported)
		info.Name = in.path
		return err
	})
	if !open {
		return in.remote.info(ctx)
	}
	return info, err
}

func (in *localAccess) blocks(ctx context.Context, from uint64, limit int) (found []block, last uint64, err error) {
	open, err := in.read(func(set segmentSet, _ bool) (err error) {
		found, last, err = set.blocks(from, limit)
		return err
	})
	if !open {
		return in.remote.blocks(ctx, from, limit)
	}
	return found, last, err
}

// takeRecent returns blocks that need not be read, and the last arrival number; none if the file must be read.
func (in *localAccess) takeRecent(from uint64, limit int) (found []block, last uint64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if from > in.state.arrival {
		return nil, 0
	}
	return in.recent.take(from, limit), in.state.arrival
}

func (in *localAccess) fetch(ctx context.Context, firsts []uint64, limit int) (found []block, err error) {
	open, err := in.read(func(set segmentSet, _ bool) (err error) {
		found, err = set.fetch(firsts, limit)
		return err
	})
	if !open {
		return in.remote.fetch(ctx, firsts, limit)
	}
	return found, err
}

func (in *localAccess) locate(ctx context.Context, seq uint64, limit int) (at places, err error) {
	open, err := in.read(func(set segmentSet, _ bool) (err error) {
		at, err = set.locate(seq, limit)
		at.crashed = false
		return err
	})
	if !open {
		return in.remote.locate(ctx, seq, limit)
	}
	return at, err
}

func (in *localAccess) find(ctx context.Context, key keyHash, seq uint64, limit int) (found []uint64, err error) {
	open, err := in.read(func(set segmentSet, _ bool) (err error) {
		found, err = set.find(key, seq, limit)
		return err
	})
	if !open {
		return in.remote.find(ctx, key, seq, limit)
	}
	return found, err
}

func (in *localAccess) kept(ctx context.Context, keys [][]byte, limit int) (found [][]byte, err error) {
	open, err := in.read(func(set segmentSet, _ bool) (err error) {
		found, err = set.kept(keys, limit)
		return err
	})
	if !open {
		return in.remote.kept(ctx, keys, limit)
	}
	return found, err
}

func (in *localAccess) keptRange(ctx context.Context, from, to []byte, limit int) (
	found []keptEntry, next []byte, err error,
) {
	open, err := in.read(func(set segmentSet, _ bool) (err error) {
		found, next, err = set.keptRange(from, to, limit)
		return err
	})
	if !open {
		return in.remote.keptRange(ctx, from, to, limit)
	}
	return found, next, err
}

func (in *localAccess) mark(ctx context.Context) (sum []byte, err error) {
	open, err := in.read(func(set segmentSet, _ bool) (err error) {
		sum, err = set.mark()
		return err
	})
	if !open {
		return in.remote.mark(ctx)
	}
	return sum, err
}

func (in *localAccess) wait(ctx context.Context, from uint64) error {
	for {
		in.mu.RLock()
		closed, ended, last, changed := in.set == nil, in.ended, in.state.arrival, in.changed
		in.mu.RUnlock()
		switch {
		case last >= from:
			return nil
		case closed:
			// Another recorder may have gone on with the capture.
			return in.remote.wait(ctx, from)
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

func (in *localAccess) replace(
	ctx context.Context, amend bool, write func(put func(...capture.Entry) error) error,
) error {
	if open, _ := in.read(func(segmentSet, bool) error { return nil }); open {
		return errHeldHere
	}
	return in.remote.replace(ctx, amend, write)
}

// heldHere is an ErrHeld of which no other process is the cause.
type heldHere struct{}

var errHeldHere heldHere

func (heldHere) Error() string { return "this process records into it; wait until that has ended" }

func (heldHere) Is(target error) bool { return target == ErrHeld }
