package segments

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
)

// A Segment is one file of a capture: the file that the user named, or one that continues it. All segments have the
// same layout, and numbers continue from one to the next.
type Segment struct {
	Path   string
	DB     *DB
	File   *os.File // of the database; nil if it is only read
	Read   *os.File // of a database that is only read
	Locked bool     // if so, no other process can write to it now
	Open   error    // why users other than the owner may open its file, or nil
	Looked FileState
	Format uint64
	Meta   layout.Meta
	Found  layout.Tables // the state of its file when it was opened
	Summed bool          // and the state said it

	ReadingErr error // what is wrong with the pages of the reading
}

// View is View for the database of a segment.
func (s *Segment) View(fn func(tx *bbolt.Tx) error) error {
	if err := s.DB.View(fn); err != nil {
		return fmt.Errorf("read %s: %w", s.Path, err)
	}
	return nil
}

// Name returns the file name of segment n of the capture at path.
func Name(path string, n uint64) string {
	if n == 1 {
		return path
	}
	return fmt.Sprintf("%s.%04d", path, n)
}

// Paths returns the current files of a capture, in order. A gap between them is an error, since files after a gap would
// otherwise pass as complete.
func Paths(path string) ([]string, error) {
	var numbers []uint64
	if _, err := os.Stat(path); err == nil {
		numbers = append(numbers, 1)
	}
	names, err := NamesIn(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, filepath.Base(path)+".")
		if n, err := strconv.ParseUint(rest, 10, 32); ok && err == nil && n > 1 &&
			Name(path, n) == path+"."+rest {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	paths := make([]string, len(numbers))
	for i, n := range numbers {
		if n != uint64(i)+1 {
			return nil, fmt.Errorf("segment %s is missing, but %s exists; put it back next to the others",
				Name(path, uint64(i)+1), Name(path, n))
		}
		paths[i] = Name(path, n)
	}
	return paths, nil
}

// NamesIn lists a folder. It reads the folder instead of probing one name after another, so that a gap is noticed.
func NamesIn(folder string) ([]string, error) {
	f, err := os.Open(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no directory %s; check the name, or create it first: %w", folder, os.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("look for segments in %s: %w", folder, pages.Explain(err))
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// Load reads the description of a freshly opened segment. blank reports that nothing was written to it yet.
func (s *Segment) Load() (blank bool, err error) {
	err = s.DB.View(func(tx *bbolt.Tx) error {
		if s.Format, err = layout.ReadFormat(tx); err != nil || s.Format == 0 {
			blank = err == nil
			return err
		}
		s.Meta, err = layout.ReadMeta(tx)
		return err
	})
	return blank, err
}

// Belongs reports whether the segment is number n of the capture that begins with first.
func (s *Segment) Belongs(first *Segment, n uint64) error {
	if s.Meta.Segment != n {
		if n == 1 {
			return fmt.Errorf("it is segment %d of a capture; name the first segment: %w", s.Meta.Segment,
				capture.ErrFormat)
		}
		return fmt.Errorf("%s identifies itself as segment %d; it was renamed: %w", s.Path, s.Meta.Segment,
			capture.ErrFormat)
	}
	if s.Meta.Capture != first.Meta.Capture {
		return fmt.Errorf("%s belongs to another capture; move it away: %w", s.Path, capture.ErrFormat)
	}
	return nil
}

// Create creates the buckets of a new segment and writes its description and beginning. open has the exchanges that
// continue in it.
func (s *Segment) Create(m layout.Meta, st *layout.State, open []uint64) error {
	err := s.DB.Update(func(tx *bbolt.Tx) error {
		for _, name := range layout.Buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		st.Tables = layout.Tables{}
		for _, seq := range open {
			key := layout.Number64(seq)
			if err := tx.Bucket(layout.BucketOpen).Put(key, layout.Nothing); err != nil {
				return err
			}
			st.Tables.Open.Add(layout.EntrySum(key, layout.Nothing))
		}
		return errors.Join(m.Put(tx), st.Put(tx))
	})
	if err != nil {
		return fmt.Errorf("create %s: %w", s.Path, pages.Explain(err))
	}
	s.Meta, s.Format, s.Summed = m, layout.Format, true
	SyncFolder(filepath.Dir(s.Path))
	return nil
}

// SyncFolder makes a new file's name survive a power loss. Not all systems support that; the file works without it.
func SyncFolder(folder string) {
	if f, err := os.Open(folder); err == nil {
		f.Sync()
		f.Close()
	}
}

// A Set has a capture's open segments in order; at least one. Its methods read in short transactions, and may run
// concurrently. Reader is built on them.
type Set []*Segment

// Last returns the segment that is written, or would be.
func (set Set) Last() *Segment { return set[len(set)-1] }

// Fault returns why one of the databases is no longer used, or nil.
func (set Set) Fault() error {
	for _, s := range set {
		if s.DB != nil && s.DB.Fault() != nil {
			return fmt.Errorf("read %s: %w", s.Path, s.DB.Fault())
		}
	}
	return nil
}

// Close closes all segments.
func (set Set) Close() error {
	var errs []error
	for _, s := range set {
		if s.DB != nil { // an upgrade may have failed to open it again
			errs = append(errs, s.DB.Close())
		}
	}
	return errors.Join(errs...)
}

// handle is the file of the segment's database.
func (s *Segment) handle() *os.File {
	if s.File != nil {
		return s.File
	}
	return s.Read
}

// A FileState is the state of a file when it was inspected.
type FileState struct {
	size  int64
	wrote time.Time
	Metas [2][pages.PageMetaSize]byte // the contents of its meta pages
}

// LookAt returns the state of an open file, and reports whether the segment's name still refers to it.
func (s *Segment) LookAt() (st FileState, there bool, err error) {
	own, err := s.handle().Stat()
	if err != nil {
		return st, false, err
	}
	st.size, st.wrote = own.Size(), own.ModTime()
	page, err := s.pageSize()
	if err != nil {
		return st, false, err
	}
	for i := range st.Metas {
		if _, err := s.handle().ReadAt(st.Metas[i][:], int64(i*page+pages.PageHeader)); err != nil {
			return st, false, err
		}
	}
	named, err := os.Stat(s.Path)
	return st, err == nil && os.SameFile(own, named), nil
}

// pageSize returns the size of a page. Even that faults where the file was emptied.
func (s *Segment) pageSize() (n int, err error) {
	err = s.DB.guarded(func() error {
		n = s.DB.Info().PageSize
		return nil
	})
	return n, err
}

// Take locks a released file again, and reports whether it was neither written to nor replaced in the meantime.
func (s *Segment) Take() (same bool, err error) {
	if !CanUnlock {
		return true, nil
	}
	if !s.Locked {
		if err := lockShared(s.Read); err != nil {
			return false, err
		}
		s.Locked = true
	}
	st, there, err := s.LookAt()
	return err == nil && there && st == s.Looked, nil
}

// OpenExchanges returns the exchanges that have no end as far as this segment knows.
func (s *Segment) OpenExchanges() (open []uint64, err error) {
	err = s.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(layout.BucketOpen).ForEach(func(k, _ []byte) error {
			open = append(open, binary.BigEndian.Uint64(k))
			return nil
		})
	})
	return open, err
}

// Verify checks the file of an open segment before anything is read from it: its pages must be valid, and the buckets
// other than the blocks must be as the last commit left them. Blocks have their own checksums.
func (s *Segment) Verify(free bool) error {
	inv, err := pages.TakeInventory(s.handle(), free)
	if err != nil {
		return pages.Unsound(err)
	}
	s.Found, s.ReadingErr = inv.Tables, nil
	if inv.Reading != nil {
		s.ReadingErr = fmt.Errorf("read %s: %w: %w", s.Path, capture.ErrDamagedEntry, inv.Reading)
	}
	if inv.State == nil {
		return nil // nothing was written yet
	}
	st, err := layout.DecodeState(inv.State)
	if err != nil {
		return pages.Unsound(err)
	}
	s.Summed = st.Summed
	if s.Summed && st.Tables != inv.Tables {
		if err := s.DB.View(func(tx *bbolt.Tx) error { _, err := layout.ReadFormat(tx); return err }); err != nil {
			return err // a later format may have other sums
		}
		return pages.Unsound(fmt.Errorf("%s: %w", st.Tables.Differ(&inv.Tables), layout.ErrDamaged))
	}
	return nil
}

// Whole returns an error if a later segment is missing: an incomplete capture must not look complete.
func (set Set) Whole(path string) error {
	st, err := set.State()
	if err == nil && st.Continued {
		err = fmt.Errorf("segment %s is missing; put it back next to the others: %w",
			Name(path, uint64(len(set))+1), layout.ErrDamaged)
	}
	return err
}

// KeyInside returns the key that a segment of format 1 holds, or nil.
func (s *Segment) KeyInside() (key []byte, err error) {
	err = s.View(func(tx *bbolt.Tx) error {
		key = bytes.Clone(tx.Bucket(layout.BucketMeta).Get(layout.MetaKey))
		return nil
	})
	return key, err
}

// Erase overwrites the remains of a deleted value. A database writes pages to new places, so old copies stay in free
// pages of the file until these are reused. No other transaction may run while it works.
func (s *Segment) Erase(value []byte) error {
	f, err := os.OpenFile(s.Path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("erase the key in %s: %w", s.Path, pages.Explain(err))
	}
	size, err := s.pageSize()
	if err != nil {
		return errors.Join(fmt.Errorf("erase the key in %s: %w", s.Path, err), f.Close())
	}
	page := make([]byte, size)
	err = s.View(func(tx *bbolt.Tx) error {
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
		return fmt.Errorf("erase the key in %s: %w", s.Path, err)
	}
	return nil
}

// The folder that ListenAt uses on the way to a socket, and its longest name: MkdirTemp adds at most ten digits.
const (
	TemporaryPattern = ".a2atap-"
	LongestTemporary = TemporaryPattern + "4294967295/s"
)

// OpenReadOnly opens a database for a moment, next to other readers. It does not wait for a writer.
func OpenReadOnly(path string) (*DB, error) {
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

// How the file grows: each time by an eighth of its size, within these bounds. So a small capture is a small file, and
// a large file is rarely extended, since that costs a sync.
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

// ChangeDB runs a transaction in a database, and adds to an error what to do about it.
func ChangeDB(db *DB, fn func(tx *bbolt.Tx) error) error {
	if err := db.Update(fn); err != nil {
		return pages.Explain(err)
	}
	return nil
}

// initialMap is how much of the file's address space is mapped at once, so that growth need not wait for readers. It
// costs no memory and no disk space, except on Windows.
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

// TryExclusive inspects a file before it opens it for writing: it does not touch files that are not captures.
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
			err = db.View(func(tx *bbolt.Tx) error {
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
				s.Open = makePrivate(s.File)
			}
			return s.File, err
		},
	})
	return err
}

// makePrivate gives an empty file, which another program may have created, the mode of new captures. It keeps the mode
// of a file with contents. It returns an error if others can open the file nevertheless.
func makePrivate(f *os.File) error {
	info, err := f.Stat()
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 { // where modes have no meaning
		return nil
	}
	if info.Size() == 0 {
		if err = f.Chmod(0o600); err == nil {
			return nil
		}
		return fmt.Errorf("other users can open %s, which already existed with mode %04o, and the mode cannot be changed: %w; record into "+
			"your own file", f.Name(), info.Mode().Perm(), pages.Explain(err))
	}
	return fmt.Errorf("other users can open %s, which already existed with mode %04o; chmod 600 prevents that", f.Name(),
		info.Mode().Perm())
}

// State returns the capture's progress.
func (set Set) State() (st layout.State, err error) {
	err = set.Last().View(func(tx *bbolt.Tx) (err error) {
		st, err = layout.ReadState(tx)
		return err
	})
	return st, err
}
