package remote

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
	"a2atap/proxy/capture/bolt/internal/check"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// How long a process retries if a capture is locked and no recorder answers: a recorder may be starting or ending, or a
// reader may be in the middle of a page.
const (
	HeldTimeout = 3 * time.Second
	heldPause   = 10 * time.Millisecond
)

// startLooks is how many times a recorder tries to get the files from readers: for three seconds, and longer on a
// machine so busy that its attempts are rarer.
const startLooks = 100

// Capture is the access of a process that is not the recorder. Each call uses the files or, while a recorder holds
// them, the recorder's socket.
type Capture struct {
	path string

	mu     sync.Mutex
	idle   []*client // connections to the recorder that wait for their next call
	Opened openFiles

	verified map[string]verified // files, by path
	whole    int                 // how many of them were verified as a set too
	Lenient  bool                // to open what is damaged, if its pages make sense

	inUse  sync.WaitGroup
	closed bool
}

// ErrReaderClosed is what calls after Close return.
var ErrReaderClosed = errors.New("the reader was closed")

// New returns the access to the capture at path. It opens nothing.
func New(path string) *Capture {
	o := &Capture{path: path, verified: make(map[string]verified)}
	o.Opened.idle.L = &o.Opened.Mu
	return o
}

// verified is the state of a file when it was last verified, and the result.
type verified struct {
	file    fs.FileInfo
	looked  segments.FileState
	found   layout.Tables
	summed  bool
	reading error
}

// do calls exactly one of the functions, with the files or with a connection. It starts again when the recorder ends in
// the middle of a call.
func (o *Capture) do(ctx context.Context, files func(segments.Set) error, live func(*client) error) error {
	deadline := time.Now().Add(HeldTimeout)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := o.take()
		if err != nil {
			return err
		}
		if c == nil {
			if err := o.Files(files); !errors.Is(err, segments.ErrLocked) {
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
				deadline = time.Now().Add(HeldTimeout)
			}
		}
		if time.Now().After(deadline) || errors.Is(err, errOtherVersion) {
			return HeldBy(o.path, err)
		}
		select {
		case <-time.After(heldPause):
		case <-ctx.Done():
		}
	}
}

func (o *Capture) take() (*client, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, ErrReaderClosed
	}
	if n := len(o.idle); n > 0 {
		c := o.idle[n-1]
		o.idle = o.idle[:n-1]
		return c, nil
	}
	return nil, nil
}

func (o *Capture) put(c *client) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || c.unusable {
		c.close()
		return
	}
	o.idle = append(o.idle, c)
}

// Close ends the access. Calls under way fail.
func (o *Capture) Close() error {
	o.mu.Lock()
	o.closed = true
	idle := o.idle
	o.idle = nil
	o.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
	o.inUse.Wait()
	o.Opened.Mu.Lock()
	defer o.Opened.Mu.Unlock()
	return o.Opened.close()
}

// verify verifies a segment, unless its file has not changed since the last time.
func (o *Capture) verify(s *segments.Segment) error {
	file, err := s.Read.Stat()
	if err != nil {
		return err
	}
	o.mu.Lock()
	known, ok := o.verified[s.Path]
	o.mu.Unlock()
	if ok && known.looked == s.Looked && os.SameFile(known.file, file) {
		s.Found, s.Summed, s.ReadingErr = known.found, known.summed, known.reading
		return nil
	}
	if err := s.Verify(false); err != nil && (!o.Lenient || errors.Is(err, pages.ErrPages)) {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.verified[s.Path] = verified{file, s.Looked, s.Found, s.Summed, s.ReadingErr}
	o.whole = 0
	return nil
}

// complete verifies what concerns a set as a whole, unless no file was written since that was last done.
func (o *Capture) complete(set segments.Set) error {
	o.mu.Lock()
	done := o.whole == len(set) || o.Lenient
	o.mu.Unlock()
	if done {
		return nil
	}
	if err := errors.Join(set.Whole(o.path), check.VerifyUnsummed(set)); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.whole = len(set)
	return nil
}

// Info implements Access.
func (o *Capture) Info(ctx context.Context) (info capture.Info, err error) {
	err = o.do(ctx,
		func(set segments.Set) (err error) { info, err = set.Info(false, layout.Unreported{}); return err },
		func(c *client) (err error) { info, err = c.info(ctx); return err })
	info.Name = o.path
	return info, err
}

// Blocks implements Access.
func (o *Capture) Blocks(ctx context.Context, from uint64, limit int) (found []layout.Block, last uint64, err error) {
	err = o.do(ctx,
		func(set segments.Set) (err error) {
			found, last, err = set.Blocks(from, limit)
			o.Opened.Count(sizeOfBlocks(found))
			return err
		},
		func(c *client) (err error) { found, last, err = c.blocks(ctx, from, limit); return err })
	return found, last, err
}

// Fetch implements Access.
func (o *Capture) Fetch(ctx context.Context, firsts []uint64, limit int) (found []layout.Block, err error) {
	err = o.do(ctx,
		func(set segments.Set) (err error) {
			found, err = set.Fetch(firsts, limit)
			o.Opened.Count(sizeOfBlocks(found))
			return err
		},
		func(c *client) (err error) { found, err = c.fetch(ctx, firsts, limit); return err })
	return found, err
}

// Locate implements Access.
func (o *Capture) Locate(ctx context.Context, seq uint64, limit int) (at segments.Places, err error) {
	err = o.do(ctx,
		func(set segments.Set) (err error) { at, err = set.Locate(seq, limit); return err },
		func(c *client) (err error) { at, err = c.locate(ctx, seq, limit); return err })
	return at, err
}

// Find implements Access.
func (o *Capture) Find(ctx context.Context, key layout.KeyHash, seq uint64, limit int) (found []uint64, err error) {
	err = o.do(ctx,
		func(set segments.Set) (err error) { found, err = set.Find(key, seq, limit); return err },
		func(c *client) (err error) { found, err = c.find(ctx, key, seq, limit); return err })
	return found, err
}

// Kept implements Access.
func (o *Capture) Kept(ctx context.Context, keys [][]byte, limit int) (found [][]byte, err error) {
	err = o.do(ctx,
		func(set segments.Set) (err error) { found, err = set.Kept(keys, limit); return err },
		func(c *client) (err error) { found, err = c.kept(ctx, keys, limit); return err })
	return found, err
}

// KeptRange implements Access.
func (o *Capture) KeptRange(ctx context.Context, from, to []byte, limit int) (
	found []layout.KeptEntry, next []byte, err error,
) {
	err = o.do(ctx,
		func(set segments.Set) (err error) {
			found, next, err = set.KeptRange(from, to, limit)
			o.Opened.Count(sizeOfEntries(found))
			return err
		},
		func(c *client) (err error) { found, next, err = c.keptRange(ctx, from, to, limit); return err })
	return found, next, err
}

// Mark implements Access.
func (o *Capture) Mark(ctx context.Context) (sum []byte, err error) {
	err = o.do(ctx,
		func(set segments.Set) (err error) { sum, err = set.Mark(); return err },
		func(c *client) (err error) { sum, err = c.mark(ctx); return err })
	return sum, err
}

// Wait implements Access.
func (o *Capture) Wait(ctx context.Context, from uint64) error {
	return o.do(ctx,
		func(set segments.Set) error {
			st, err := set.State()
			if err == nil && st.Arrival < from {
				err = capture.ErrEnded
			}
			return err
		},
		func(c *client) error { return c.wait(ctx, from) })
}

// HeldBy returns an error that names the process with the capture, as far as known. cause is why the holder could not
// be asked.
func HeldBy(path string, cause error) error {
	if h, err := AskHolder(path); err == nil {
		if errors.Is(cause, errOtherVersion) {
			return fmt.Errorf("%w: %s; read it with the same version, or after the recording has ended", segments.ErrLocked, h)
		}
		return fmt.Errorf("%w: %s; stop it, or use another file", segments.ErrLocked, h)
	}
	return fmt.Errorf("%w, which does not answer on its socket (%w); find it with a tool that lists open files, "+
		"such as: fuser %s",
		segments.ErrLocked, cause, filepath.Base(path))
}

// An Access is how a Reader reaches a capture: in this process, in the files, or through the recorder's socket. Each
// call returns a page and holds nothing afterwards; the result belongs to the caller. Limits in bytes count stored
// blocks and are exceeded by at most one block; every call makes progress.
type Access interface {
	Info(ctx context.Context) (capture.Info, error)

	// blocks returns consecutive blocks, beginning with the one that contains arrival number from, and the last arrival
	// number of the capture. No blocks means that from is beyond it.
	Blocks(ctx context.Context, from uint64, limit int) (found []layout.Block, last uint64, err error)

	// fetch returns the blocks with the given first arrival numbers, or as many of them, from the front, as fit.
	Fetch(ctx context.Context, firsts []uint64, limit int) ([]layout.Block, error)

	// Locate returns the places of the exchanges from seq on, in order, up to limit exchanges.
	Locate(ctx context.Context, seq uint64, limit int) (segments.Places, error)

	// find returns sequence numbers from seq on that the index has for a key, in order, up to limit.
	Find(ctx context.Context, key layout.KeyHash, seq uint64, limit int) ([]uint64, error)

	// kept returns the stored values of keys, nil for missing ones, or as many from the front as fit.
	Kept(ctx context.Context, keys [][]byte, limit int) ([][]byte, error)

	// KeptRange returns the stored entries from one key up to, but not including, another, in order; a nil bound is no
	// limit. It omits removed entries. It returns the key to continue from, or nil if there are no more entries.
	KeptRange(ctx context.Context, from, to []byte, limit int) (found []layout.KeptEntry, next []byte, err error)

	// Mark implements Reader.Mark.
	Mark(ctx context.Context) ([]byte, error)

	// Replace implements Reader.Replace.
	Replace(ctx context.Context, amend bool, write func(put func(...capture.Entry) error) error) error

	// wait is capture.Source's Wait.
	Wait(ctx context.Context, from uint64) error
}

// Sizes of the pages in which a Reader reads: large enough that the cost of a request is negligible, and small enough
// that no read transaction or socket write is long.
const (
	PageBytes     = 1 << 20
	PageExchanges = 256
	PageFound     = 4096
)
