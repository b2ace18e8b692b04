package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// A segment is one file of a capture: the file that the user named, or one that continues it. Every segment is a
// database of the same layout; numbers run on from one to the next.
type segment struct {
	path   string
	db     *bbolt.DB
	file   *os.File // of the database; nil if it is only read
	read   *os.File // of a database that is only read
	locked bool     // if so: nobody can write to it now
	looked fileState
	format uint64
	meta   meta
	found  tables // what was in its file when it was opened
	summed bool   // and the state said it

	readingErr error // what is wrong with the pages of the reading
}

func (s *segment) view(fn func(tx *bbolt.Tx) error) error {
	if err := view(s.db, fn); err != nil {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	return nil
}

// segmentName returns the file name of segment n of the capture at path.
func segmentName(path string, n uint64) string {
	if n == 1 {
		return path
	}
	return fmt.Sprintf("%s.%04d", path, n)
}

// segmentPaths returns the files that a capture has now, in order; none if there is none. It reports a gap, since what
// comes after one cannot be distinguished from what is complete.
func segmentPaths(path string) ([]string, error) {
	var numbers []uint64
	if _, err := os.Stat(path); err == nil {
		numbers = append(numbers, 1)
	}
	names, err := namesIn(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, filepath.Base(path)+".")
		if n, err := strconv.ParseUint(rest, 10, 32); ok && err == nil && n > 1 &&
			segmentName(path, n) == path+"."+rest {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	paths := make([]string, len(numbers))
	for i, n := range numbers {
		if n != uint64(i)+1 {
			return nil, fmt.Errorf("segment %s is missing, and %s is there; bring it back beside the others",
				segmentName(path, uint64(i)+1), segmentName(path, n))
		}
		paths[i] = segmentName(path, n)
	}
	return paths, nil
}

// namesIn lists a folder. The folder is read, rather than asked for one name after another, so that a gap shows.
func namesIn(folder string) ([]string, error) {
	f, err := os.Open(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s; check the name, or create it first: %w", folder, os.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("look for segments in %s: %w", folder, explain(err))
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// load reads what a freshly opened segment is. blank says that nothing was written to it yet.
func (s *segment) load() (blank bool, err error) {
	err = view(s.db, func(tx *bbolt.Tx) error {
		if s.format, err = readFormat(tx); err != nil || s.format == 0 {
			blank = err == nil
			return err
		}
		s.meta, err = readMeta(tx)
		return err
	})
	return blank, err
}

// belongs reports whether the segment is number n of the capture that first begins.
func (s *segment) belongs(first *segment, n uint64) error {
	if s.meta.segment != n {
		if n == 1 {
			return fmt.Errorf("it is segment %d of a capture; name the first one: %w", s.meta.segment,
				capture.ErrFormat)
		}
		return fmt.Errorf("%s says that it is segment %d; it was renamed: %w", s.path, s.meta.segment,
			capture.ErrFormat)
	}
	if s.meta.capture != first.meta.capture {
		return fmt.Errorf("%s belongs to another capture; move it away: %w", s.path, capture.ErrFormat)
	}
	return nil
}

// create makes the buckets of a new segment and says what it is and where it begins. open are the exchanges that go on
// in it.
func (s *segment) create(m meta, st *state, open []uint64) error {
	err := guard(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			for _, name := range buckets {
				if _, err := tx.CreateBucketIfNotExists(name); err != nil {
					return err
				}
			}
			st.tables = tables{}
			for _, seq := range open {
				key := number64(seq)
				if err := tx.Bucket(bucketOpen).Put(key, nothing); err != nil {
					return err
				}
				st.tables.open.add(entrySum(key, nothing))
			}
			return errors.Join(m.put(tx), st.put(tx))
		})
	})
	if err != nil {
		return fmt.Errorf("create %s: %w", s.path, explain(err))
	}
	s.meta, s.format, s.summed = m, Format, true
	syncFolder(filepath.Dir(s.path))
	return nil
}

// syncFolder makes a new file's name survive a loss of power. Not all systems can do that; the file is good without it.
func syncFolder(folder string) {
	if f, err := os.Open(folder); err == nil {
		f.Sync()
		f.Close()
	}
}

// A segmentSet is a capture's segments, opened, in order; at least one. Its methods read, each in short transactions,
// and may run concurrently; they are what Reader is built on.
type segmentSet []*segment

// last returns the segment that is written, or would be.
func (set segmentSet) last() *segment { return set[len(set)-1] }

func (set segmentSet) close() error {
	var errs []error
	for _, s := range set {
		if s.db != nil { // an upgrade may have failed to open it again
			errs = append(errs, s.db.Close())
		}
	}
	return errors.Join(errs...)
}

// handle is the file of the segment's database.
func (s *segment) handle() *os.File {
	if s.file != nil {
		return s.file
	}
	return s.read
}

// A fileState is what a file was when it was looked through.
type fileState struct {
	size  int64
	wrote time.Time
	metas [2][pageMetaSize]byte // what its meta pages say
}

// lookAt returns the state of an open file, and reports whether that still is the one with the segment's name.
func (s *segment) lookAt() (st fileState, there bool, err error) {
	own, err := s.handle().Stat()
	if err != nil {
		return st, false, err
	}
	st.size, st.wrote = own.Size(), own.ModTime()
	for i := range st.metas {
		if _, err := s.handle().ReadAt(st.metas[i][:], int64(i*s.db.Info().PageSize+pageHeader)); err != nil {
			return st, false, err
		}
	}
	named, err := os.Stat(s.path)
	return st, err == nil && os.SameFile(own, named), nil
}

// take locks a file that was let go, and reports whether nobody has written to it or replaced it since.
func (s *segment) take() (same bool, err error) {
	if !canUnlock {
		return true, nil
	}
	if !s.locked {
		if err := lockShared(s.read); err != nil {
			return false, err
		}
		s.locked = true
	}
	st, there, err := s.lookAt()
	return err == nil && there && st == s.looked, nil
}

// openExchanges returns the exchanges that have no end as far as this segment knows.
func (s *segment) openExchanges() (open []uint64, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketOpen).ForEach(func(k, _ []byte) error {
			open = append(open, binary.BigEndian.Uint64(k))
			return nil
		})
	})
	return open, err
}

// verify looks through the file of an open segment before anything is read of it: whether its pages make sense, and
// whether the buckets beside the blocks hold what the last commit left in them. The blocks have checksums of their own.
func (s *segment) verify(free bool) error {
	inv, err := takeInventory(s.handle(), free)
	if err != nil {
		return unsound(err)
	}
	s.found, s.readingErr = inv.tables, nil
	if inv.reading != nil {
		s.readingErr = fmt.Errorf("read %s: %w: %w", s.path, capture.ErrDamagedEntry, inv.reading)
	}
	if inv.state == nil {
		return nil // nothing was written yet
	}
	st, err := decodeState(inv.state)
	if err != nil {
		return unsound(err)
	}
	s.summed = st.summed
	if s.summed && st.tables != inv.tables {
		if err := view(s.db, func(tx *bbolt.Tx) error { _, err := readFormat(tx); return err }); err != nil {
			return err // a later format may have other sums
		}
		return unsound(fmt.Errorf("%s: %w", st.tables.differ(&inv.tables), errDamaged))
	}
	return nil
}

// whole reports an error if a later segment is missing: what there is of a capture must not pass for all of it.
func (set segmentSet) whole(path string) error {
	st, err := set.state()
	if err == nil && st.continued {
		err = fmt.Errorf("segment %s is missing; bring it back beside the others: %w",
			segmentName(path, uint64(len(set))+1), errDamaged)
	}
	return err
}

// keyInside returns the key that a segment of format 1 holds, or nil.
func (s *segment) keyInside() (key []byte, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		key = bytes.Clone(tx.Bucket(bucketMeta).Get(metaKey))
		return nil
	})
	return key, err
}

// erase overwrites what is left of a deleted value. A database writes no page in its place, so old copies of it stay in
// the file, in pages that are free, until those are used again. Nothing else is in the database while it works.
func (s *segment) erase(value []byte) error {
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("erase the key in %s: %w", s.path, explain(err))
	}
	page := make([]byte, s.db.Info().PageSize)
	err = s.view(func(tx *bbolt.Tx) error {
		for id := 0; ; id++ {
			info, err := tx.Page(id)
			if err != nil || info == nil { // that was the last one
				return err
			}
			if info.Type != "free" {
				continue
			}
			at := int64(id) * int64(len(page))
			if _, err := f.ReadAt(page, at); err != nil {
				return err
			}
			if !bytes.Contains(page, value) {
				continue
			}
			if _, err := f.WriteAt(make([]byte, len(page)), at); err != nil {
				return err
			}
		}
	})
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("erase the key in %s: %w", s.path, err)
	}
	return nil
}

// readersPause is the moment for which readers let go of a file, so that a recorder can start.
const readersPause = time.Millisecond

// The folder that listenAt uses on the way to a socket, and the longest name that it gets: MkdirTemp adds at most ten
// digits.
const (
	temporaryPattern = ".a2atap-"
	longestTemporary = temporaryPattern + "4294967295/s"
)
