package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// readersHold is the maximum time for which the readers of a process keep the lock of a capture with overlapping or
// consecutive calls. Then all of them release it for a moment in which a recorder can start.
const readersHold = 50 * time.Millisecond

// After this many bytes of blocks, or calls, the pages that were read are released, by closing the files if there is no
// other way: while a file is mapped, its pages count as memory of the process.
const (
	mostRead  = 4 << 20
	mostCalls = 8
)

// openFiles are the files of a capture without a recorder. They stay open between calls, but are locked only during a
// call, which then checks whether they have changed.
type openFiles struct {
	Mu       sync.Mutex
	idle     sync.Cond                    // there are no users
	segments map[string]*segments.Segment // by path
	Set      segments.Set                 // the capture; nil if it must be looked for
	next     fs.FileInfo                  // of a segment after the last, to which nothing was written yet; may be nil
	users    int                          // calls under way
	calls    int                          // since pages were given up
	read     int                          // bytes of blocks, likewise
	spoiled  bool                         // a file faulted
	since    time.Time                    // when the lock was first taken after a pause
	until    time.Time                    // when it was last let go
}

// Files calls fn with the capture's segments, or returns ErrLocked when a recorder has them.
func (o *Capture) Files(fn func(segments.Set) error) error {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return ErrReaderClosed
	}
	o.inUse.Add(1)
	o.mu.Unlock()
	defer o.inUse.Done()
	set, err := o.acquire()
	if err != nil {
		return err
	}
	err = fn(set)
	return errors.Join(err, o.Opened.release(err))
}

// acquire locks the files, opened if need be.
func (o *Capture) acquire() (segments.Set, error) {
	f := &o.Opened
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.giveWay()
	if f.users == 0 && !f.unchanged() {
		var err error
		f.Set = nil
		if f.Set, err = o.Open(); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	f.users++
	f.calls++
	return f.Set, nil
}

// giveWay waits until all calls have released the files for a moment, if they were held long enough.
func (f *openFiles) giveWay() {
	for f.users > 0 && time.Since(f.since) > readersHold {
		f.idle.Wait()
	}
	if f.users > 0 || !segments.CanUnlock {
		return
	}
	now := time.Now()
	rested := now.Sub(f.until) >= segments.ReadersPause
	if !rested && now.Sub(f.since) > readersHold {
		time.Sleep(segments.ReadersPause)
		rested, now = true, time.Now()
	}
	if rested {
		f.since = now
	}
}

// unchanged locks the open files, and reports whether they are still the unchanged capture.
func (f *openFiles) unchanged() bool {
	if f.Set == nil || !segments.CanUnlock {
		return false
	}
	for _, s := range f.Set {
		if same, err := s.Take(); !same || err != nil {
			return false
		}
	}
	next, err := os.Stat(segments.Name(f.Set[0].Path, uint64(len(f.Set))+1))
	if err != nil || f.next == nil {
		return err != nil && f.next == nil
	}
	return os.SameFile(next, f.next) && next.Size() == f.next.Size() && next.ModTime().Equal(f.next.ModTime())
}

// release ends a call, which had the error err. The last one lets go of the files.
func (f *openFiles) release(err error) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.users--
	f.spoiled = f.spoiled || errors.Is(err, segments.ErrPanicked)
	much := f.read > mostRead || f.calls > mostCalls
	if much && segments.CanDrop && !f.spoiled { // also during calls in progress: they read them again
		for _, s := range f.Set {
			if err := segments.DropPages(s.DB); err != nil {
				f.spoiled = true
			}
		}
		f.calls, f.read = 0, 0
	}
	if f.users > 0 {
		return nil
	}
	f.until = time.Now()
	f.idle.Broadcast()
	if f.spoiled || much && !segments.CanDrop {
		return f.close()
	}
	for i, s := range f.Set {
		if err := f.letGo(s, i > 0 && i < len(f.Set)-1); err != nil {
			return errors.Join(err, f.close())
		}
	}
	return nil
}

// letGo unlocks a file. If unlocking means closing, files in the middle of the capture stay locked, since they are
// never written.
func (f *openFiles) letGo(s *segments.Segment, middle bool) error {
	if segments.CanUnlock {
		s.Locked = false
		return segments.Unlock(s.Read)
	}
	if middle {
		return nil
	}
	delete(f.segments, s.Path)
	return s.DB.Close()
}

// Count notes how much was read of the files.
func (f *openFiles) Count(bytes int) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.read += bytes
}

func sizeOfBlocks(blocks []layout.Block) (n int) {
	for _, b := range blocks {
		n += len(b.Value)
	}
	return n
}

func sizeOfEntries(entries []layout.KeptEntry) (n int) {
	for _, e := range entries {
		n += len(e.Sealed)
	}
	return n
}

// close closes the files.
func (f *openFiles) close() error {
	var errs []error
	for _, s := range f.segments {
		errs = append(errs, s.DB.Close())
	}
	f.segments, f.Set, f.next, f.spoiled, f.calls, f.read = nil, nil, nil, false, 0, 0
	return errors.Join(errs...)
}

// Open opens the segments for reading alongside other readers, except those that are already open and unchanged. The
// first and the last are the ones that a recorder locks when it starts, so they must be released soon.
func (o *Capture) Open() (segments.Set, error) {
	f := &o.Opened
	paths, err := segments.Paths(o.path)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, pages.Explain(fs.ErrNotExist)
	}
	before := f.segments
	f.segments, f.next = make(map[string]*segments.Segment), nil
	defer func() {
		for _, s := range before {
			s.DB.Close()
		}
	}()
	var set segments.Set
	for i, p := range paths {
		s, err := o.reuse(before, p)
		if err == nil && s == nil {
			s, err = o.segment(p)
		}
		if err == nil && s == nil && i > 0 {
			// A recorder was killed between creating the segment and writing to it.
			f.next, _ = os.Stat(p)
			break
		}
		if err == nil && s == nil {
			err = fmt.Errorf("its recorder was killed before anything was recorded: %w", capture.ErrFormat)
		}
		if err == nil {
			f.segments[p] = s
			set = append(set, s)
			err = s.Belongs(set[0], uint64(i)+1)
		}
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("segment %s: %w", p, err)
			}
			return nil, errors.Join(err, f.close())
		}
	}
	if err := o.complete(set); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return set, nil
}

// reuse returns an open segment, if it is unchanged, and removes it from the list.
func (o *Capture) reuse(open map[string]*segments.Segment, path string) (*segments.Segment, error) {
	s := open[path]
	if s == nil {
		return nil, nil
	}
	same, err := s.Take()
	if err != nil || !same {
		return nil, err
	}
	delete(open, path)
	return s, nil
}

// segment opens one file. It returns nil for a segment that is still empty.
func (o *Capture) segment(path string) (*segments.Segment, error) {
	s, err := segments.OpenToRead(path)
	if errors.Is(err, pages.ErrEmpty) && path != o.path {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.Looked, _, err = s.LookAt(); err == nil {
		err = o.verify(s)
	}
	blank := false
	if err == nil {
		blank, err = s.Load()
	}
	if err != nil || blank {
		return nil, errors.Join(err, s.DB.Close())
	}
	return s, nil
}
