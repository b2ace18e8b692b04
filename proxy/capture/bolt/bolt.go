// Package bolt stores a capture in a file, in the database bbolt, and lets others read it while it grows.
//
// A capture is written by one process, its recorder: Open gives it a Store, which is a capture.Sink. Steps are
// committed in groups, a few milliseconds after they came, with the disk synced each time. What was committed survives
// the end of the process, however it ends; what came in the milliseconds before may be lost with it.
//
// Anybody may read a capture at any time: in the recorder's process through the Store, elsewhere through Read. The
// database belongs to one process while it is written, so other processes are served by the recorder through a unix
// socket beside the file. They do not notice: a Reader uses the way that is open, and changes over when the recorder
// ends. Nothing that a reader does, or fails to do, holds up the recorder.
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

// What is said of a capture, and the errors that say so.
type (
	Checkup = check.Checkup
	Problem = check.Problem
)

var (
	// ErrDamaged is what errors wrap that say that a capture is damaged.
	ErrDamaged = layout.ErrDamaged

	// ErrHeld is what errors wrap that say that another has a capture: somebody records into it, or is reading it while
	// it should be written.
	ErrHeld = segments.ErrLocked
)

// A Store records into a capture and reads it in the same process. It implements capture.Sink, and with the Reader in
// it capture.Source and capture.Index.
//
// Its readers see a step when it is committed. After Close they read the file; what that keeps open is released by the
// Close of the Reader.
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

// Open opens a capture for recording, or creates it with mode 0600, which an empty file gets, too. A file that is there
// must be a capture or empty: otherwise it is left as it is, and the error wraps capture.ErrFormat or
// capture.ErrFuture. A capture that another process records is an error that names the process.
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

// Position returns the numbers that the capture had used when it was opened, the closing of interrupted exchanges
// included. A recorder goes on after them.
func (s *Store) Position() Position { return s.start }

// Committed returns the last numbers that are in the capture: how far somebody who follows the recording can have come.
func (s *Store) Committed() Position {
	s.local.mu.RLock()
	defer s.local.mu.RUnlock()
	return Position{Seq: s.local.state.Seq, Arrival: s.local.state.Arrival, Conn: s.local.state.Conn}
}

// Waiting returns about how many bytes of steps were appended and are not stored yet.
func (s *Store) Waiting() int { return s.queue.waiting() }

// DropPages gives up the pages of the file that writing and reading it have left in memory, where the system can tell
// them apart (Linux): they stay in its cache and come back when they are read again.
func (s *Store) DropPages() error {
	_, err := s.local.read(func(set segments.Set, _ bool) error {
		for _, segment := range set {
			if err := segments.DropPages(segment.DB); err != nil {
				return fmt.Errorf("drop the pages of %s: %w", segment.Path, err)
			}
		}
		return nil
	})
	return err
}

// Append implements capture.Sink. It returns when the steps are queued, and an error only after Close. It may be called
// by several goroutines.
func (s *Store) Append(steps ...capture.Step) error { return s.queue.put(steps) }

// Flush waits until all that was appended and all that was to be kept before has been stored, or was found impossible
// to store.
func (s *Store) Flush() {
	s.queue.flush()
	s.keeper.flush(func() { notify(s.queue.flushNow) })
}

// Close stores what is pending and ends the recording: those who wait get capture.ErrEnded. It returns an error if
// anything that was appended is not in the capture. It may be called again and then returns the same.
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

// Keep stores what was worked out from the capture, in its newest segment, or removes it where the value is nil. All
// entries of a call are stored together, with the steps that are committed next; where none come, after the flush
// interval. Of two entries with one key the later counts. It returns when the entries are queued, and waits while 8 MiB
// are. They do not belong to the store; the caller may change them afterwards.
//
// Keep is for what can be worked out anew: entries with which a commit fails are dropped, so that no step is lost or
// waits for them. See KeepFailed. An error means that nothing of the call will be stored: a key that is not of 1 to 64
// bytes, a value of more than 16 MiB, or that the store was closed. It may be called by several goroutines, but not by
// one that traffic waits for.
func (s *Store) Keep(entries ...capture.Entry) error {
	sealed, size, err := layout.SealAll(entries)
	if err != nil {
		return fmt.Errorf("keep what was worked out from %s: %w", s.local.path, err)
	}
	if len(sealed) == 0 {
		return nil
	}
	return s.keeper.put(sealed, size)
}

// Amend keeps entries beside those that are kept already, once the Store is closed: see Reader.Amend. Those who wait for
// steps are told of the end before it is closed, so it waits for that, not forever.
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
	return fmt.Errorf("%d entries that were worked out from %s could not be kept, and will be worked out anew: %w",
		s.keeper.dropped, s.local.path, s.keeper.failed)
}
