package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"

	bolterrors "go.etcd.io/bbolt/errors"
)

// errLocked says that another process has the file open for writing, or is reading it while we want to write.
var errLocked = errors.New("held by another process")

// openDB opens a database that inspect found to be sound, or creates it.
func openDB(path string, o bbolt.Options) (db *bbolt.DB, err error) {
	err = guard(func() error {
		db, err = bbolt.Open(path, 0o600, &o)
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, errLocked
	}
	if err != nil {
		return nil, explain(err)
	}
	db.AllocSize = minGrowth
	return db, nil
}

// openReadOnly opens a database for a moment, next to other readers. It does not wait for a writer.
func openReadOnly(path string) (*bbolt.DB, error) {
	if err := inspect(path); err != nil {
		return nil, err
	}
	return openDB(path, bbolt.Options{ReadOnly: true, Timeout: time.Nanosecond, NoStatistics: true})
}

// openToRead is openReadOnly for a segment, which then is locked.
func openToRead(path string) (*segment, error) {
	if err := inspect(path); err != nil {
		return nil, err
	}
	s := &segment{path: path, locked: true}
	var err error
	s.db, err = openDB(path, bbolt.Options{
		ReadOnly: true, Timeout: time.Nanosecond, NoStatistics: true,
		OpenFile: func(name string, flag int, mode fs.FileMode) (f *os.File, err error) {
			s.read, err = os.OpenFile(name, flag, mode)
			return s.read, err
		},
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// view runs fn in a read transaction. It holds up the growth of the file, so fn copies what it needs and returns.
func view(db *bbolt.DB, fn func(tx *bbolt.Tx) error) error {
	return guard(func() error { return db.View(fn) })
}

// errPanicked says that bbolt panicked or faulted. Locks of the database may not have been released.
var errPanicked = errors.New("the file is damaged")

// guard turns a panic in bbolt, which is how it answers pages that make no sense, into an error; likewise a fault in
// the mapped file, which is how the system answers reading past the end of a file that was truncated meanwhile.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w (%v)", errPanicked, p)
		}
	}()
	return fn()
}

// How the file grows: each time by an eighth of itself, within these bounds, so that a small capture is a small file
// and a large one is not extended, which costs a sync, all the time.
const (
	minGrowth = 256 << 10
	maxGrowth = 16 << 20
)

// change runs a transaction in a segment that is open for writing.
func change(s *segment, fn func(tx *bbolt.Tx) error) error {
	if err := changeDB(s.db, fn); err != nil {
		return fmt.Errorf("write %s: %w", s.path, err)
	}
	return nil
}

func changeDB(db *bbolt.DB, fn func(tx *bbolt.Tx) error) error {
	err := guard(func() error {
		return db.Update(func(tx *bbolt.Tx) error {
			db.AllocSize = int(min(max(tx.Size()/8, minGrowth), maxGrowth))
			return fn(tx)
		})
	})
	if err != nil {
		return explain(err)
	}
	return nil
}

// initialMap is how much of the file's address space is mapped at once, so that no growth has to wait for readers. It
// costs no memory and no room on the disk, but on Windows, where it would.
func initialMap(segmentSize int64) int {
	if runtime.GOOS == "windows" || math.MaxInt == math.MaxInt32 {
		return 0
	}
	const most, room = 1 << 30, 64 << 20
	if segmentSize > 0 {
		return int(min(most, segmentSize+room))
	}
	return most
}

// tryExclusive looks at what is there before it opens it for writing: what is no capture of ours is not touched.
func (s *segment) tryExclusive(segmentSize int64) error {
	err := inspect(s.path)
	if err != nil && !errors.Is(err, errEmpty) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		if err := inspectFreelist(s.path); err != nil {
			return err
		}
		db, err := openReadOnly(s.path)
		if err != nil {
			return err
		}
		if err = inspectMeta(s.path); err == nil {
			err = view(db, func(tx *bbolt.Tx) error {
				_, err := readFormat(tx)
				return err
			})
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	s.db, err = openDB(s.path, bbolt.Options{
		Timeout: time.Nanosecond, InitialMmapSize: initialMap(segmentSize), NoStatistics: true,
		OpenFile: func(name string, flag int, mode fs.FileMode) (*os.File, error) {
			var err error
			if s.file, err = os.OpenFile(name, flag, mode); err == nil {
				awaitExclusive(s.file)
			}
			return s.file, err
		},
	})
	return err
}
