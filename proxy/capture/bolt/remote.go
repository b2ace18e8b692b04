package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	idle   []*client           // connections to the recorder that wait for their next call
	sealed map[string]*segment // segments that will not change any more, kept open

	verified map[string]verified // files, by path
	whole    bool                // the set of them was verified too
	lenient  bool                // to open what is damaged, if its pages make sense

	inUse  sync.WaitGroup
	closed bool
}

var errReaderClosed = errors.New("the reader was closed")

func newRemoteAccess(path string) *remoteAccess {
	return &remoteAccess{path: path, sealed: make(map[string]*segment), verified: make(map[string]verified)}
}

// verified is what a file was found to be when it had a mark.
type verified struct {
	mark   uint64
	found  tables
	summed bool
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
	idle, sealed := o.idle, o.sealed
	o.idle, o.sealed = nil, nil
	o.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
	o.inUse.Wait()
	var errs []error
	for _, s := range sealed {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}

// files calls fn with the capture's segments, or returns errLocked when a recorder has them.
func (o *remoteAccess) files(fn func(segmentSet) error) error {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return errReaderClosed
	}
	o.inUse.Add(1)
	o.mu.Unlock()
	defer o.inUse.Done()
	set, err := o.open()
	if err != nil {
		return err
	}
	return errors.Join(fn(set), set.close())
}

// open opens the segments, next to other readers. The first and the last are what a recorder locks when it starts, so
// the set must be closed soon; those between them stay open in sealed.
func (o *remoteAccess) open() (segmentSet, error) {
	paths, err := segmentPaths(o.path)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, explain(fs.ErrNotExist)
	}
	var set segmentSet
	for i, p := range paths {
		s, err := o.segment(p, i > 0 && i < len(paths)-1)
		if err == nil && s == nil && i > 0 {
			break // a recorder was killed between creating the segment and writing to it
		}
		if err == nil && s == nil {
			err = fmt.Errorf("nothing was recorded into it before its recorder was killed: %w", capture.ErrFormat)
		}
		if err == nil {
			set = append(set, s)
			err = s.belongs(set[0], uint64(i)+1)
		}
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("segment %s: %w", p, err)
			}
			return nil, errors.Join(err, set.close())
		}
	}
	if err := o.complete(set); err != nil {
		return nil, errors.Join(err, set.close())
	}
	return set, nil
}

// verify verifies a segment, unless its file is as it was when that was last done.
func (o *remoteAccess) verify(s *segment) error {
	mark, err := markOf(s.path)
	if err != nil {
		return err
	}
	o.mu.Lock()
	known, ok := o.verified[s.path]
	o.mu.Unlock()
	if ok && known.mark == mark {
		s.found, s.summed = known.found, known.summed
		return nil
	}
	if err := s.verify(false); err != nil && (!o.lenient || errors.Is(err, errPages)) {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.verified[s.path] = verified{mark, s.found, s.summed}
	o.whole = false
	return nil
}

// complete verifies what concerns a set as a whole, unless no file was written since that was last done.
func (o *remoteAccess) complete(set segmentSet) error {
	o.mu.Lock()
	done := o.whole || o.lenient
	o.mu.Unlock()
	if done {
		return nil
	}
	if err := errors.Join(set.whole(o.path), set.verifyUnsummed()); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.whole = true
	return nil
}

// segment opens one file. It returns nil for a segment in which nothing was written yet.
func (o *remoteAccess) segment(path string, keep bool) (*segment, error) {
	o.mu.Lock()
	s := o.sealed[path]
	o.mu.Unlock()
	if s != nil {
		return s, nil
	}
	db, err := openReadOnly(path)
	if errors.Is(err, errEmpty) && path != o.path {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s = &segment{path: path, db: db}
	if err := o.verify(s); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	blank, err := s.load()
	if err != nil || blank {
		return nil, errors.Join(err, db.Close())
	}
	if keep {
		o.mu.Lock()
		defer o.mu.Unlock()
		if !o.closed && o.sealed[path] == nil {
			s.kept = true
			o.sealed[path] = s
		}
	}
	return s, nil
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
		func(set segmentSet) (err error) { found, last, err = set.blocks(from, limit); return err },
		func(c *client) (err error) { found, last, err = c.blocks(ctx, from, limit); return err })
	return found, last, err
}

func (o *remoteAccess) fetch(ctx context.Context, firsts []uint64, limit int) (found []block, err error) {
	err = o.do(ctx,
		func(set segmentSet) (err error) { found, err = set.fetch(firsts, limit); return err },
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
