package segments

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"

	"go.etcd.io/bbolt"

	bolterrors "go.etcd.io/bbolt/errors"
)

// ErrLocked says that another process has the file open for writing, or is reading it while we want to write.
var ErrLocked = errors.New("held by another process")

// OpenDB opens a database that inspect found to be sound, or creates it.
func OpenDB(path string, o bbolt.Options) (db *bbolt.DB, err error) {
	err = Guard(func() error {
		db, err = bbolt.Open(path, 0o600, &o)
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, pages.Explain(err)
	}
	db.AllocSize = MinGrowth
	return db, nil
}

// OpenReadOnly opens a database for a moment, next to other readers. It does not wait for a writer.
func OpenReadOnly(path string) (*bbolt.DB, error) {
	if err := pages.Inspect(path); err != nil {
		return nil, err
	}
	return OpenDB(path, bbolt.Options{ReadOnly: true, Timeout: time.Nanosecond, NoStatistics: true})
}

// OpenToRead is OpenReadOnly for a segment, which then is locked.
func OpenToRead(path string) (*Segment, error) {
	if err := pages.Inspect(path); err != nil {
		return nil, err
	}
	s := &Segment{Path: path, Locked: true}
	var err error
	s.DB, err = OpenDB(path, bbolt.Options{
		ReadOnly: true, Timeout: time.Nanosecond, NoStatistics: true,
		OpenFile: func(name string, flag int, mode fs.FileMode) (f *os.File, err error) {
			s.Read, err = os.OpenFile(name, flag, mode)
			return s.Read, err
		},
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// View runs fn in a read transaction. It holds up the growth of the file, so fn copies what it needs and returns.
func View(db *bbolt.DB, fn func(tx *bbolt.Tx) error) error {
	return Guard(func() error { return db.View(fn) })
}

// ErrPanicked says that bbolt panicked or faulted. Locks of the database may not have been released.
var ErrPanicked = errors.New("the file is damaged")

// Guard turns a panic in bbolt, which is how it answers pages that make no sense, into an error; likewise a fault in
// the mapped file, which is how the system answers reading past the end of a file that was truncated meanwhile.
func Guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w (%v)", ErrPanicked, p)
		}
	}()
	return fn()
}

// How the file grows: each time by an eighth of itself, within these bounds, so that a small capture is a small file
// and a large one is not extended, which costs a sync, all the time.
const (
	MinGrowth = 256 << 10
	MaxGrowth = 16 << 20
)

// Change runs a transaction in a segment that is open for writing.
func Change(s *Segment, fn func(tx *bbolt.Tx) error) error {
	if err := ChangeDB(s.DB, fn); err != nil {
		return fmt.Errorf("write %s: %w", s.Path, err)
	}
	return nil
}

// ChangeDB runs a transaction in a database, which grows in proportion to its size.
func ChangeDB(db *bbolt.DB, fn func(tx *bbolt.Tx) error) error {
	err := Guard(func() error {
		return db.Update(func(tx *bbolt.Tx) error {
			db.AllocSize = int(min(max(tx.Size()/8, MinGrowth), MaxGrowth))
			return fn(tx)
		})
	})
	if err != nil {
		return pages.Explain(err)
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

// TryExclusive looks at what is there before it opens it for writing: what is no capture of ours is not touched.
func (s *Segment) TryExclusive(segmentSize int64) error {
	err := pages.Inspect(s.Path)
	if err != nil && !errors.Is(err, pages.ErrEmpty) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		if err := pages.InspectFreelist(s.Path); err != nil {
			return err
		}
		db, err := OpenReadOnly(s.Path)
		if err != nil {
			return err
		}
		if err = pages.InspectMeta(s.Path); err == nil {
			err = View(db, func(tx *bbolt.Tx) error {
				_, err := layout.ReadFormat(tx)
				return err
			})
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	s.DB, err = OpenDB(s.Path, bbolt.Options{
		Timeout: time.Nanosecond, InitialMmapSize: initialMap(segmentSize), NoStatistics: true,
		OpenFile: func(name string, flag int, mode fs.FileMode) (*os.File, error) {
			var err error
			if s.File, err = os.OpenFile(name, flag, mode); err == nil {
				AwaitExclusive(s.File)
			}
			return s.File, err
		},
	})
	return err
}
