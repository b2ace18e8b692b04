package segments

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"a2atap/proxy/capture/bolt/internal/pages"
)

// A DB is a database that is no longer used after it panicked or faulted, since it may then hold locks forever. Calls
// that wait for such a lock return soon afterwards. Each call to a faulted DB returns the same error, which wraps
// ErrPanicked.
type DB struct {
	bolt    *bbolt.DB
	file    *os.File
	once    sync.Once
	faulted chan struct{} // closed when cause is set
	cause   error
	last    int // the number of the last committed transaction; 0 if unknown
}

// ErrPanicked means that bbolt panicked or faulted.
var ErrPanicked = errors.New("the file is damaged")

// OpenDB opens a database that inspect found to be sound, or creates it.
func OpenDB(path string, o bbolt.Options) (*DB, error) {
	db := &DB{faulted: make(chan struct{})}
	open := o.OpenFile
	if open == nil {
		open = os.OpenFile
	}
	o.OpenFile = func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
		db.file, err = open(name, flag, mode)
		return db.file, err
	}
	err := guard(func() (err error) {
		db.bolt, err = bbolt.Open(path, 0o600, &o)
		return err
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, ErrLocked
	case errors.Is(err, ErrPanicked):
		db.file.Close()
		return nil, err
	case err != nil:
		return nil, pages.Explain(err)
	}
	db.bolt.AllocSize = MinGrowth
	return db, nil
}

// View runs fn in a read transaction. The file cannot grow during it, so fn copies what it needs and returns.
func (db *DB) View(fn func(tx *bbolt.Tx) error) error {
	tx, err := db.begin(false)
	if err != nil {
		return err
	}
	err = db.guarded(func() error { return fn(tx) })
	return cmp.Or(err, db.apart(tx.Rollback))
}

// Update runs fn in a transaction that is committed if fn returns nil, and otherwise changes nothing. The file grows in
// proportion to its size. Only one goroutine may call it at a time.
func (db *DB) Update(fn func(tx *bbolt.Tx) error) error {
	tx, err := db.begin(true)
	if err != nil {
		return err
	}
	freelist, err := db.untouched(tx)
	if err != nil {
		return err
	}
	db.bolt.AllocSize = int(min(max(tx.Size()/8, MinGrowth), MaxGrowth))
	if err := db.guarded(func() error { return fn(tx) }); err != nil {
		return cmp.Or(err, db.apart(tx.Rollback))
	}
	db.last = tx.ID()
	if err = db.commit(tx, freelist); err != nil {
		db.last = 0
	}
	return err
}

// untouched checks that the file is still as the last commit left it, and has its stated size, since the next commit
// would build on foreign changes. It returns the position of the freelist.
func (db *DB) untouched(tx *bbolt.Tx) (freelist int64, err error) {
	info, err := db.file.Stat()
	if err != nil {
		return 0, cmp.Or(err, db.apart(tx.Rollback))
	}
	freelist, fits := pages.Freelist(db.file)
	if db.last != 0 && tx.ID() != db.last+1 || tx.Size() > info.Size() || !fits {
		return 0, db.overwritten()
	}
	return freelist, nil
}

// overwritten notes that another program has written into the file.
func (db *DB) overwritten() error {
	return db.guarded(func() error { panic("it was overwritten") })
}

// commitLook is how often a slow commit is checked for a fault.
const commitLook = 100 * time.Millisecond

// commit commits a transaction. If the freelist is overwritten meanwhile, bbolt may free four billion pages, which
// takes minutes and all memory; commit then unmaps that page.
func (db *DB) commit(tx *bbolt.Tx, freelist int64) error {
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		look := time.NewTicker(commitLook)
		defer look.Stop()
		for {
			select {
			case <-stop:
				return
			case <-look.C:
			}
			if _, fits := pages.Freelist(db.file); !fits {
				db.View(func(*bbolt.Tx) error { // which keeps the map where it is
					takeAway(db.bolt.Info().Data + uintptr(freelist))
					return nil
				})
				db.overwritten()
				return
			}
		}
	})
	defer watching.Wait()
	defer close(stop)
	return db.apart(tx.Commit)
}

func (db *DB) begin(write bool) (*bbolt.Tx, error) {
	begun := make(chan *bbolt.Tx, 1)
	err := db.apart(func() error {
		tx, err := db.bolt.Begin(write)
		begun <- tx
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-begun, nil
}

// Close closes the database. For a faulted one it only closes the file and releases its lock explicitly, since the file
// stays mapped and closing alone does not release it.
func (db *DB) Close() error {
	if err := db.apart(db.bolt.Close); !errors.Is(err, ErrPanicked) {
		return err
	}
	if db.file != nil {
		Unlock(db.file)
		db.file.Close()
	}
	return nil
}

// Fault returns why the database is left alone; nil if it is not.
func (db *DB) Fault() error {
	select {
	case <-db.faulted:
		return db.cause
	default:
		return nil
	}
}

// Sync writes earlier unsynced writes to disk.
func (db *DB) Sync() error { return db.apart(db.bolt.Sync) }

// IsReadOnly reports whether the database was opened read-only.
func (db *DB) IsReadOnly() bool { return db.bolt.IsReadOnly() }

// Info returns where the file is mapped, and the size of its pages.
func (db *DB) Info() *bbolt.Info { return db.bolt.Info() }

// faultPatience is how long a running call may continue after the database faulted elsewhere.
const faultPatience = 100 * time.Millisecond

// apart runs fn, which may wait for locks of the database, in a goroutine. It abandons that goroutine if another call
// has faulted and fn does not return soon afterwards.
func (db *DB) apart(fn func() error) error {
	if err := db.Fault(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- db.guarded(fn) }()
	select {
	case err := <-done:
		return err
	case <-db.faulted:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(faultPatience):
		return db.cause
	}
}

// guarded runs fn, and notes if it panics.
func (db *DB) guarded(fn func() error) error {
	err := guard(fn)
	if errors.Is(err, ErrPanicked) {
		db.once.Do(func() {
			db.cause = err
			close(db.faulted)
		})
	}
	return err
}

// guard turns a panic in bbolt, its reaction to invalid pages, into an error. It does the same for a fault in the
// mapped file, the system's reaction to reading past the end of a file that was truncated.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w (%s)", ErrPanicked, inWords(p))
		}
	}()
	return fn()
}

// inWords returns the reason of a bbolt panic without the stack.
func inWords(p any) string {
	if _, fault := p.(runtime.Error); fault {
		return "its pages are inconsistent"
	}
	return strings.TrimPrefix(fmt.Sprint(p), "assertion failed: ")
}
