// Package bolt stores a capture in a file, in the database bbolt, and lets others read it while it grows.
//
// A capture is written by one process, its recorder: Open gives it a Store, which is a capture.Sink. Steps are
// committed in groups, a few milliseconds after they came, with the disk synced each time. What was committed survives
// the end of the process, however it ends; what came in the milliseconds before may be lost with it.
//
// A capture can be read at any time: in the recorder's process through the Store, elsewhere through Read. While the
// database is written, one process owns it, and the recorder serves other processes through a unix socket next to the
// file. This is transparent: a Reader uses whichever access is available, and switches when the recorder ends. Readers
// never delay the recorder.
//
// A capture may continue in further files, its segments, named after the first with .0002 and so on. Sequence, arrival
// and connection numbers run on through them, and through the runs of several recorders.
//
// docs/capture-format.md describes the format.
//
// # Caveats
//
// Append returns before the steps are stored: see Options.OnError, Flush and Close for what becomes of them.
//
// A file system that has no locks or maps no files, as some network file systems do, cannot hold a capture.
package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/check"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// Format is the version of the file format that this package writes. docs/capture-format.md describes it.
const Format = layout.Format

// Descriptions of captures, and errors.
type (
	Checkup = check.Checkup
	File    = check.File
	Problem = check.Problem
)

var (
	// ErrDamaged is wrapped by errors about damaged captures.
	ErrDamaged = layout.ErrDamaged

	// ErrHeld is wrapped by errors about a capture in use: another process is recording into it, or is reading it while
	// this process needs to write.
	ErrHeld = segments.ErrLocked
)

// A Store records into a capture and reads it in the same process. It implements capture.Sink, and with its Reader
// capture.Source and capture.Index.
//
// Its readers see a step once it is committed. After Close they read the file; Close of the Reader releases it.
type Store struct {
	Reader

	local  *localAccess
	writer *writer
	queue  *queue
	keeper *keeper
	server *remote.Server
	start  Position

	exposed error // see Exposed

	done   chan struct{} // closed when the writer has ended
	closed chan struct{} // closed when Close has ended

	closing sync.Once
	err     error
}

var (
	_ capture.Sink   = (*Store)(nil)
	_ capture.Source = (*Store)(nil)
	_ capture.Index  = (*Store)(nil)
	_ capture.Shelf  = (*Store)(nil)
)

// A Position is the last numbers that a capture has used: 0 means none.
type Position struct {
	Seq     uint64 // of an exchange
	Arrival uint64 // of a step
	Conn    uint64 // of a connection
}

// Open opens a capture for recording, or creates it with mode 0600, which an empty file gets, too. An existing file
// must be a capture or empty: otherwise Open leaves it unchanged, and the error wraps capture.ErrFormat or
// capture.ErrFuture. If another process records the capture, the error names that process.
//
// Exchanges that an earlier recorder left open are closed as interrupted.
func Open(path string, o Options) (*Store, error) {
	s, err := open(path, o)
	if err != nil {
		return nil, fmt.Errorf("record into %s: %w", path, err)
	}
	return s, nil
}

func open(path string, o Options) (*Store, error) {
	if o.Flush <= 0 {
		o.Flush = defaultFlush
	}
	if o.Budget <= 0 {
		o.Budget = defaultBudget
	}
	set, err := openForWriting(path, o)
	if err != nil {
		return nil, err
	}
	in := newLocalAccess(path, set)
	w := &writer{
		local: in, options: o, open: make(map[uint64]layout.Row), patience: patience{over: make(chan struct{})},
		work: background.Work{Urgency: o.Urgency}, keeper: newKeeper(),
	}
	if err := w.resume(); err != nil {
		return nil, errors.Join(err, in.close())
	}
	s := &Store{
		Reader: Reader{access: followerAccess{in}, close: in.remote.Close},
		local:  in, writer: w, queue: newQueue(o.Budget, commitBytes, o.Behind), keeper: w.keeper,
		done: make(chan struct{}), closed: make(chan struct{}),
		start: Position{Seq: w.state.Seq, Arrival: w.state.Arrival, Conn: w.state.Conn},
	}
	for _, segment := range set {
		s.exposed = cmp.Or(s.exposed, segment.Open)
	}
	if s.server, err = remote.Serve(path, in); err != nil {
		w.report(err)
		w.first = nil
	}
	go func() {
		defer close(s.done)
		w.run(s.queue)
	}()
	return s, nil
}

// Exposed returns why others than the user may open the capture's files; nil if they may not.
func (s *Store) Exposed() error { return s.exposed }

// Position returns the numbers that the capture had used when it was opened, including the closing of interrupted
// exchanges. A recorder continues after them.
func (s *Store) Position() Position { return s.start }

// Committed returns the last numbers in the capture, which limit the progress of followers.
func (s *Store) Committed() Position {
	s.local.mu.RLock()
	defer s.local.mu.RUnlock()
	return Position{Seq: s.local.state.Seq, Arrival: s.local.state.Arrival, Conn: s.local.state.Conn}
}

// Waiting returns about how many bytes of steps were appended and are not stored yet.
func (s *Store) Waiting() int { return s.queue.waiting() }

// DropPages releases the memory of file pages that writing and reading have used, if the system can tell them apart
// (Linux). The pages stay in the system's cache, and are mapped again when read.
func (s *Store) DropPages() error {
	_, err := s.local.read(func(set segments.Set, _ bool) error {
		for _, segment := range set {
			if err := segments.DropPages(segment.DB); err != nil {
				return fmt.Errorf("release the pages of %s: %w", segment.Path, err)
			}
		}
		return nil
	})
	return err
}

// Append implements capture.Sink. It returns when the steps are queued, and an error only after Close. It may be called
// by several goroutines.
func (s *Store) Append(steps ...capture.Step) error { return s.queue.put(steps) }

// Flush waits until everything passed to Append and Keep before has been stored, or could not be stored.
func (s *Store) Flush() {
	s.queue.flush()
	s.keeper.flush(func() { notify(s.queue.flushNow) })
}

// Close stores pending data and ends the recording: waiting readers get capture.ErrEnded. It returns an error if any
// appended step is not in the capture. Further calls return the same result.
func (s *Store) Close() error {
	s.closing.Do(func() {
		defer close(s.closed)
		s.StopWaiting()
		s.queue.close()
		s.keeper.close()
		<-s.done
		s.err = s.writer.end()
		if s.server != nil {
			s.server.Close()
		}
		s.err = errors.Join(s.err, s.local.close())
		if s.err != nil {
			s.err = fmt.Errorf("close %s: %w", s.local.path, s.err)
		}
	})
	return s.err
}

// Keep stores derived values in the capture's newest segment, or removes those with a nil value. All entries of a call
// are stored together, with the next committed steps, or after the flush interval if no steps arrive. If two entries
// have the same key, the later one counts. Keep returns when the entries are queued, and waits while 8 MiB are queued.
// The caller may change the entries afterwards.
//
// Keep is for values that can be computed again: if a commit with entries fails, they are dropped, so that steps are
// never lost or delayed because of them. See KeepFailed. An error means that none of the entries will be stored: a key
// is not 1 to 64 bytes long, a value has more than 16 MiB, or the store is closed. It is safe for concurrent use, but
// must not be called in the path of traffic.
func (s *Store) Keep(entries ...capture.Entry) error {
	sealed, size, err := layout.SealAll(entries)
	if err != nil {
		return fmt.Errorf("store the results for %s: %w", s.local.path, err)
	}
	if len(sealed) == 0 {
		return nil
	}
	return s.keeper.put(sealed, size)
}

// Amend adds entries to the stored ones after the Store was closed: see Reader.Amend. Waiting readers learn of the end
// before the Store is closed, so Amend waits for the close, for a limited time.
func (s *Store) Amend(ctx context.Context, entries ...capture.Entry) error {
	select {
	case <-s.closed:
	case <-time.After(remote.HeldTimeout):
	case <-ctx.Done():
	}
	return s.Reader.Amend(ctx, entries...)
}

// KeepFailed returns an error if entries were dropped, since a commit with them failed: how many, and the first reason.
// It may be called after Close.
func (s *Store) KeepFailed() error {
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	if s.keeper.failed == nil {
		return nil
	}
	return fmt.Errorf("%d results for %s could not be stored, and will be computed again: %w",
		s.keeper.dropped, s.local.path, s.keeper.failed)
}
