// Package filestore keeps the tasks of reference agents in a file, in the database bbolt. A [File] is a refagent.Store.
//
// A change is on the disk when Put or Delete returns. One process has the file at a time, and any number of its agents.
// The file is readable by its owner alone, since the credentials of webhooks are in it.
//
// # Caveats
//
// A file system that has no locks or maps no files, as some network file systems do, cannot hold it.
package filestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// The file has one bucket. It has the format, under that key, and a bucket for each owner. An owner's bucket has the
// values by their keys, each prefixed with the CRC-32 (IEEE) of key and value, big-endian. The bucket's sequence is the
// number of values.
var (
	tasksBucket = []byte("a2atap tasks")
	formatKey   = []byte("format")
)

const format = 1

// lockPatience is how long Open waits for another process that ends.
const lockPatience = time.Second

// Errors of Open and of Each. Open returns other errors where a file cannot be opened at all.
var (
	ErrInUse   = errors.New("another process has the file; stop it, or choose another file")
	ErrForeign = errors.New("the file holds no tasks of agents; choose another file")
	ErrFuture  = errors.New("a later version of this program wrote the file; use that, or choose another file")
	ErrDamaged = errors.New("the file is damaged; move it away, or choose another file")
)

// A File is an open file of tasks. It is safe for concurrent use.
type File struct {
	db *bbolt.DB
}

// Open opens a file of tasks, or creates it. An existing file must have tasks or be empty: otherwise it stays
// unchanged.
func Open(name string) (*File, error) {
	info, err := os.Stat(name)
	fresh := err != nil || info.Size() == 0
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, reason(err)
	case info.IsDir():
		return nil, errors.New("it is a directory; choose a file")
	case !fresh:
		if err := guarded(func() error { return inspect(name, info.Size()) }); err != nil {
			return nil, err
		}
	}
	f := &File{}
	err = guarded(func() error {
		var err error
		f.db, err = bbolt.Open(name, 0o600, &bbolt.Options{Timeout: lockPatience})
		if err != nil || !fresh {
			return err
		}
		return f.db.Update(begin)
	})
	if err != nil {
		if f.db != nil {
			f.db.Close() //nolint:errcheck // what went wrong before matters
		}
		return nil, reason(err)
	}
	return f, nil
}

// begin writes the format into a new file.
func begin(tx *bbolt.Tx) error {
	if tx.Bucket(tasksBucket) != nil {
		return nil
	}
	b, err := tx.CreateBucket(tasksBucket)
	if err != nil {
		return err
	}
	return b.Put(formatKey, []byte{format})
}

// inspect reads the entire file before anything is written to it, since the database trusts the contents.
func inspect(name string, size int64) error {
	db, err := bbolt.Open(name, 0o600, &bbolt.Options{Timeout: lockPatience, ReadOnly: true})
	switch err = reason(err); {
	case err != nil && errors.As(err, new(syscall.Errno)) || errors.Is(err, ErrInUse) || errors.Is(err, ErrDamaged):
		return err
	case err != nil:
		return fmt.Errorf("%w (%v)", ErrForeign, err)
	}
	defer db.Close()
	return db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > size {
			return fmt.Errorf("%w (it ends too early)", ErrDamaged)
		}
		b := tx.Bucket(tasksBucket)
		if b == nil {
			return ErrForeign
		}
		switch v := b.Get(formatKey); {
		case len(v) != 1 || v[0] < format:
			return fmt.Errorf("%w (it does not say its format)", ErrDamaged)
		case v[0] > format:
			return ErrFuture
		}
		return b.ForEachBucket(func(owner []byte) error {
			missing := b.Bucket(owner).Sequence()
			err := b.Bucket(owner).ForEach(func(key, value []byte) error {
				_, err := open(key, value)
				missing--
				return err
			})
			if err == nil && missing != 0 {
				err = fmt.Errorf("%w (tasks of %q are missing)", ErrDamaged, owner)
			}
			return err
		})
	})
}

// reason returns an error in the words of this package. The file's name is the caller's to say.
func reason(err error) error {
	var at *fs.PathError
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return ErrInUse
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch):
		return ErrForeign
	case errors.Is(err, bolterrors.ErrChecksum):
		return ErrDamaged
	case errors.As(err, &at):
		return at.Err
	}
	return err
}

// guarded converts panics to ErrDamaged: the database's panics on invalid contents, and those of reading a truncated
// file.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w (%v)", ErrDamaged, p)
		}
	}()
	return f()
}

const sumSize = 4

// seal puts the checksum before a value.
func seal(key, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, sum(key, value)), value...)
}

func sum(key, value []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(key), crc32.IEEETable, value)
}

// open removes and verifies the checksum.
func open(key, sealed []byte) ([]byte, error) {
	if len(sealed) < sumSize || binary.BigEndian.Uint32(sealed) != sum(key, sealed[sumSize:]) {
		return nil, fmt.Errorf("%w (task %q has not its checksum)", ErrDamaged, key)
	}
	return sealed[sumSize:], nil
}

// Each calls f for each value of an owner, in the order of their keys. The value is valid during the call.
func (f *File) Each(owner string, each func(key string, value []byte) error) error {
	return guarded(func() error {
		// A copy, so that the callback may call Put, which would otherwise wait for this reader.
		type entry struct {
			key   string
			value []byte
		}
		var all []entry
		err := f.db.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket(tasksBucket).Bucket([]byte(owner))
			if b == nil {
				return nil
			}
			return b.ForEach(func(key, sealed []byte) error {
				value, err := open(key, sealed)
				all = append(all, entry{string(key), append([]byte(nil), value...)})
				return err
			})
		})
		if err != nil {
			return err
		}
		for _, e := range all {
			if err := each(e.key, e.value); err != nil {
				return err
			}
		}
		return nil
	})
}

// Put stores a value, replacing the key's previous value. Empty owners and keys are errors.
func (f *File) Put(owner, key string, value []byte) error {
	return f.update(func(tasks *bbolt.Bucket) error {
		b, err := tasks.CreateBucketIfNotExists([]byte(owner))
		if err != nil {
			return err
		}
		if b.Get([]byte(key)) == nil {
			if _, err := b.NextSequence(); err != nil {
				return err
			}
		}
		return b.Put([]byte(key), seal([]byte(key), value))
	})
}

// Delete removes a value, if it exists.
func (f *File) Delete(owner, key string) error {
	return f.update(func(tasks *bbolt.Bucket) error {
		b := tasks.Bucket([]byte(owner))
		if b == nil || b.Get([]byte(key)) == nil {
			return nil
		}
		if err := b.SetSequence(b.Sequence() - 1); err != nil {
			return err
		}
		return b.Delete([]byte(key))
	})
}

func (f *File) update(change func(tasks *bbolt.Bucket) error) error {
	return guarded(func() error {
		return reason(f.db.Update(func(tx *bbolt.Tx) error { return change(tx.Bucket(tasksBucket)) }))
	})
}

// Close releases the file.
func (f *File) Close() error { return f.db.Close() }
