package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"a2atap/proxy/capture"
)

// Times for which a process goes on trying when a capture is held and nobody answers for it: a recorder that is just
// starting or ending, or a reader that is in the middle of a page.
const (
	heldTimeout = 3 * time.Second
	heldPause   = 10 * time.Millisecond
)

// remoteAccess is the access of a process that is not the recorder. For each call it uses the files or, while a
// recorder holds them, the recorder's socket.
type remoteAccess struct {
	path string

	mu     sync.Mutex
	idle   []*client // connections to the recorder that wait for their next call
	opened openFiles

	verified map[string]verified // files, by path
	whole    int                 // how many of them were verified as a set too
	lenient  bool                // to open what is damaged, if its pages make sense

	inUse  sync.WaitGroup
	closed bool
}

var errReaderClosed = errors.New("the reader was closed")

func newRemoteAccess(path string) *remoteAccess {
	o := &remoteAccess{path: path, verified: make(map[string]verified)}
	o.opened.idle.L = &o.opened.mu
	return o
}

// verified is what a file was found to be when it was in a state.
type verified struct {
	file    fs.FileInfo
	looked  fileState
	found   tables
	summed  bool
	reading error
}

// do calls exactly one of the functions, with the files or with a connection. It starts again when the recorder ends in
// the middle of a call.
func (o *remoteAccess) do(ctx context.Context, files func(segmentSet) error, live func(*client) error) error {
	deadline := time.Now().Add(heldTimeout)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := o.take()
		if err != nil {
			return err
		}
		if c == nil {
			if err := o.files(files); !errors.Is(err, errLocked) {
				return err
			}
			c, err = dial(ctx, o.path)
		}
		if err == nil {
			if err = live(c); !errors.Is(err, errBroken) {
				o.put(c)
				return err
			}
			c.close()
			if c.calls > 0 {
				deadline = time.Now().Add(heldTimeout)
			}
		}
		if time.Now().After(deadline) || errors.Is(err, errOtherVersion) {
			return heldBy(o.path, err)
		}
		select {
		case <-time.After(heldPause):
		case <-ctx.Done():
		}
	}
}

func (o *remoteAccess) take() (*client, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, errReaderClosed
	}
	if n := len(o.idle); n > 0 {
		c := o.idle[n-1]
		o.idle = o.idle[:n-1]
		return c, nil
	}
	return nil, nil
}

func (o *remoteAccess) put(c *client) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || c.unusable {
		c.close()
		return
	}
	o.idle = append(o.idle, c)
}

func (o *remoteAccess) close() error {
	o.mu.Lock()
	o.closed = true
	idle := o.idle
	o.idle = nil
	o.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
	o.inUse.Wait()
	o.opened.mu.Lock()
	defer o.opened.mu.Unlock()
	return o.opened.close()
}

// verify verifies a segment, unless its file is as it was when that was last done.
func (o *remoteAccess) verify(s *segment) error {
	file, err := s.read.Stat()
	if err != nil {
		return err
	}
	o.mu.Lock()
	known, ok := o.verified[s.path]
	o.mu.Unlock()
	if ok && known.looked == s.looked && os.SameFile(known.file, file) {
		s.found, s.summed, s.readingErr = known.found, known.summed, known.reading
		return nil
	}
	if err := s.verify(false); err != nil && (!o.lenient || errors.Is(err, errPages)) {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.verified[s.path] = verified{file, s.looked, s.found, s.summed, s.readingErr}
	o.whole = 0
	return nil
}

// complete verifies what concerns a set as a whole, unless no file was written since that was last done.
func (o *remoteAccess) complete(set segmentSet) error {
	o.mu.Lock()
	done := o.whole == len(set) || o.lenient
	o.mu.Unlock()
	if done {
		return nil
	}
	if err := errors.Join(set.whole(o.path), verifyUnsummed(set)); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.whole = len(set)
	return nil
}

func (o *remoteAccess) info(ctx context.Context) (info capture.Info, err error) {
	err = o.do(ctx,
		func(set segmentSet) (err error) { info, err = set.info(false, unreported{}); return err },
		func(c *client) (err error) { info, err = c.info(ctx); return err })
	info.Name = o.path
	return info, err
}

func (o *remoteAccess) blocks(ctx context.Context, from uint64, limit int) (found []block, last uint64, err error) {
	err = o.do(ctx,
		func(set segmentSet) (err error) {
			found, last, err = set.blocks(from, limit)
			o.opened.count(sizeOfBlocks(found))
			return err
		},
		func(c *client) (err error) { found, last, err = c.blocks(ctx, from, limit); return err })
	return found, last, err
}

func (o *remoteAccess) fetch(ctx context.Context, firsts []uint64, limit int) (found []block, err error) {
	err = o.do(ctx,
		func(set segmentSet) (err error) {
			found, err = set.fetch(firsts, limit)
			o.opened.count(sizeOfBlocks(found))
			return err
		},
		func(c *client) (err error) { found, err = c.fetch(ctx, firsts, limit); return err })
	return found, err
}

func (o *remoteAccess) locate(ctx context.Context, seq uint64, limit int) (at places, err error) {
	err = o.do(ctx,
		func(set segmentSet) (err error) { at, err = set.locate(seq, limit); return err },
		func(c *client) (err error) { at, err = c.locate(ctx, seq, limit); return err })
	return at, err
}

func (o *remoteAccess) find(ctx context.Context, key keyHash, seq uint64, limit int) (found []uint64, err error) {
	err = o.do(ctx,
		func(set segmentSet) (err error) { found, err = set.find(key, seq, limit); return err },
		func(c *client) (err error) { found, err = c.find(ctx, key, seq, limit); return err })
	return found, err
}

func (o *remoteAccess) kept(ctx context.Context, keys [][]byte, limit int) (found [][]byte, err error) {
	err = o.do(ctx,
		func(set segmentSet) (err error) { found, err = set.kept(keys, limit); return err },
		func(c *client) (err error) { found, err = c.kept(ctx, keys, limit); return err })
	return found, err
}

func (o *remoteAccess) keptRange(ctx context.Context, from, to []byte, limit int) (
	found []keptEntry, next []byte, err error,
) {
	err = o.do(ctx,
		func(set segmentSet) (err error) {
			found, next, err = set.keptRange(from, to, limit)
			o.opened.count(sizeOfEntries(found))
			return err
		},
		func(c *client) (err error) { found, next, err = c.keptRange(ctx, from, to, limit); return err })
	return found, next, err
}

func (o *remoteAccess) mark(ctx context.Context) (sum []byte, err error) {
	err = o.do(ctx,
		func(set segmentSet) (err error) { sum, err = set.mark(); return err },
		func(c *client) (err error) { sum, err = c.mark(ctx); return err })
	return sum, err
}

func (o *remoteAccess) wait(ctx context.Context, from uint64) error {
	return o.do(ctx,
		func(set segmentSet) error {
			st, err := set.state()
			if err == nil && st.arrival < from {
				err = capture.ErrEnded
			}
			return err
		},
		func(c *client) error { return c.wait(ctx, from) })
}

// heldBy says who has a capture, as far as that is known. cause is why the holder could not be asked.
func heldBy(path string, cause error) error {
	if h, err := askHolder(path); err == nil {
		if errors.Is(cause, errOtherVersion) {
			return fmt.Errorf("%w: %s; read it with the same version, or when that has ended", errLocked, h)
		}
		return fmt.Errorf("%w: %s; stop it, or use another file", errLocked, h)
	}
	return fmt.Errorf("%w, which does not answer on its socket (%w); find it with a tool that lists open files, "+
		"such as: fuser %s",
		errLocked, cause, filepath.Base(path))
}

// An access is how a Reader reaches a capture: in this process, in the files, or through the recorder's socket. Each
// call answers a page and holds nothing afterwards; what it returns belongs to the caller. Limits in bytes are of
// stored blocks and are passed by at most one block; every call makes progress.
type access interface {
	info(ctx context.Context) (capture.Info, error)

	// blocks returns consecutive blocks, beginning with the one that holds arrival number from, and the last arrival
	// number that the capture has. No blocks means that from is beyond it.
	blocks(ctx context.Context, from uint64, limit int) (found []block, last uint64, err error)

	// fetch returns the blocks with the given first arrival numbers, or as many of them, from the front, as fit.
	fetch(ctx context.Context, firsts []uint64, limit int) ([]block, error)

	// locate says where the exchanges from seq on are stored, in order, up to limit exchanges.
	locate(ctx context.Context, seq uint64, limit int) (places, error)

	// find returns sequence numbers from seq on that the index has for a key, in order, up to limit.
	find(ctx context.Context, key keyHash, seq uint64, limit int) ([]uint64, error)

	// kept returns what is stored of keys, nil where there is nothing, or of as many of them, from the front, as fit.
	kept(ctx context.Context, keys [][]byte, limit int) ([][]byte, error)

	// keptRange returns the stored entries from a key on and below another, nil for none, in order; not those that were
	// removed. It reports the key to go on from, nil if there is no more.
	keptRange(ctx context.Context, from, to []byte, limit int) (found []keptEntry, next []byte, err error)

	// mark is what Reader.Mark returns.
	mark(ctx context.Context) ([]byte, error)

	// replace is what Reader.Replace does.
	replace(ctx context.Context, amend bool, write func(put func(...capture.Entry) error) error) error

	// wait is capture.Source's Wait.
	wait(ctx context.Context, from uint64) error
}

// Sizes of the pages in which a Reader reads: large enough that what a page costs to ask for does not count, small
// enough that no read transaction or socket write is long.
const (
	pageBytes     = 1 << 20
	pageExchanges = 256
	pageFound     = 4096
)
