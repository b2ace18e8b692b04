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
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// Options say how to record. The zero value is good.
type Options struct {
	// Tool is the name and version of the recording program. A new capture keeps it.
	Tool string

	// Flush is how long a step waits for others before they are committed together; 0 means 10 ms.
	Flush time.Duration

	// SegmentSize is the size in bytes from which on a file is continued in the next one; 0 means never.
	SegmentSize int64

	// SecretsKept says that secrets are stored as they are. The capture says so for ever.
	SecretsKept bool

	// Budget is how many bytes of steps may wait to be stored; 0 means 32 MiB. Append waits while they are more.
	Budget int

	// OnError is told when steps could not be stored, or when something else went wrong that does not end the
	// recording: once for a series of the same. It is called by the goroutine that writes and must not call the Store.
	OnError func(error)

	// beforeCommit is called in the transaction, to make it fail.
	beforeCommit func(tx *bbolt.Tx) error
}

const (
	defaultFlush  = 10 * time.Millisecond
	defaultBudget = 32 << 20
	commitBytes   = 1 << 20 // that wait end the wait
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
	server *server
	start  Position
	key    []byte
	done   chan struct{} // closed when the writer has ended

	closing sync.Once
	err     error
}

var (
	_ capture.Sink   = (*Store)(nil)
	_ capture.Source = (*Store)(nil)
	_ capture.Index  = (*Store)(nil)
)

// A Position is the last numbers that a capture has used: 0 means none.
type Position struct {
	Seq     uint64 // of an exchange
	Arrival uint64 // of a step
	Conn    uint64 // of a connection
}

// Open opens a capture for recording, or creates it with mode 0600. A file that is there must be a capture or empty:
// otherwise it is left as it is, and the error wraps capture.ErrFormat or capture.ErrFuture. A capture that another
// process records is an error that names the process.
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
	w := &writer{local: in, options: o, open: make(map[uint64]row)}
	if err := w.resume(); err != nil {
		return nil, errors.Join(err, in.close(w.broken != nil))
	}
	s := &Store{
		Reader: Reader{access: followerAccess{in}, close: in.remote.close},
		local:  in, writer: w, queue: newQueue(o.Budget, commitBytes), done: make(chan struct{}),
		key:   set[0].meta.key,
		start: Position{Seq: w.state.seq, Arrival: w.state.arrival, Conn: w.state.conn},
	}
	if s.server, err = serve(path, in); err != nil {
		w.report(err)
		w.first = nil
	}
	go func() {
		defer close(s.done)
		w.run(s.queue)
	}()
	return s, nil
}

// Position returns the numbers that the capture had used when it was opened, the closing of interrupted exchanges
// included. A recorder goes on after them.
func (s *Store) Position() Position { return s.start }

// Committed returns the last numbers that are in the capture: how far somebody who follows the recording can have come.
func (s *Store) Committed() Position {
	s.local.mu.RLock()
	defer s.local.mu.RUnlock()
	return Position{Seq: s.local.state.seq, Arrival: s.local.state.arrival, Conn: s.local.state.conn}
}

// Waiting returns about how many bytes of steps were appended and are not stored yet.
func (s *Store) Waiting() int { return s.queue.waiting() }

// RedactionKey returns the capture's secret, 32 random bytes made when it was created. Placeholders for secrets are
// made with it, so that they are equal in all segments and runs. The caller must not change it.
func (s *Store) RedactionKey() []byte { return s.key }

// Append implements capture.Sink. It returns when the steps are queued, and an error only after Close. It may be called
// by several goroutines.
func (s *Store) Append(steps ...capture.Step) error { return s.queue.put(steps) }

// Flush waits until all that was appended before has been stored, or was found impossible to store.
func (s *Store) Flush() { s.queue.flush() }

// Close stores what is pending and ends the recording: those who wait get capture.ErrEnded. It returns an error if
// anything that was appended is not in the capture. It may be called again and then returns the same.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.queue.close()
		<-s.done
		s.err = s.writer.end()
		if s.server != nil {
			s.server.close()
		}
		s.err = errors.Join(s.err, s.local.close(s.writer.broken != nil))
		if s.err != nil {
			s.err = fmt.Errorf("close %s: %w", s.local.path, s.err)
		}
	})
	return s.err
}
