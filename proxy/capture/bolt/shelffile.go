package bolt

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// shelfFormat is the version of a shelf's file. It is in the meta bucket under metaShelf. A capture's version has
// another name, so that neither is mistaken for the other.
const shelfFormat = 1

var metaShelf = []byte("shelf")

// A ShelfFile has the derived values of a capture in a separate file, for a capture that cannot be written or a file in
// another format. It implements capture.Shelf.
type ShelfFile struct {
	segment *segments.Segment

	mu      sync.Mutex // the rest is of a file that is written
	pending []layout.KeptEntry
	size    int   // of pending
	err     error // the first of a write
}

var _ capture.Shelf = (*ShelfFile)(nil)

// CreateShelf creates a file that can be read while it is written. The file at path must be empty or missing. Stored
// entries may not be on disk before Close, so the file is for this process alone.
func CreateShelf(path string) (*ShelfFile, error) {
	db, err := segments.OpenDB(path, bbolt.Options{NoSync: true, NoGrowSync: true, NoStatistics: true})
	if err != nil {
		return nil, err
	}
	err = segments.ChangeDB(db, func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucket(layout.BucketMeta)
		if err != nil {
			return err
		}
		_, err = tx.CreateBucket(layout.BucketReading)
		return errors.Join(err, meta.Put(metaShelf, binary.AppendUvarint(nil, shelfFormat)))
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &ShelfFile{segment: &segments.Segment{Path: path, DB: db}}, nil
}

// Put stores entries in a file of CreateShelf, a few MiB at once. If two have the same key, the later one counts. After
// an error nothing more is stored, and every method returns that error.
func (s *ShelfFile) Put(entries ...capture.Entry) error {
	sealed, size, err := layout.SealAll(entries)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, sealed...)
	if s.size += size; s.size < remote.ReplaceBytes {
		return s.err
	}
	return s.flushLocked()
}

// flush stores the entries of earlier calls, so that they can be read.
func (s *ShelfFile) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flushLocked()
}

func (s *ShelfFile) flushLocked() error {
	if len(s.pending) > 0 && s.err == nil {
		s.err = segments.ChangeDB(s.segment.DB, func(tx *bbolt.Tx) error {
			return layout.PutEntries(tx.Bucket(layout.BucketReading), s.pending, false)
		})
	}
	s.pending, s.size = s.pending[:0], 0
	return s.err
}

// OpenShelf opens a file of WriteShelf for reading. The error wraps capture.ErrFormat for any other file,
// capture.ErrFuture for one of a later version, and ErrDamaged for a damaged one. Files with any content are safe.
func OpenShelf(path string) (*ShelfFile, error) {
	s, err := openShelf(path)
	if err != nil {
		return nil, fmt.Errorf("open the stored results, %s: %w", path, err)
	}
	return s, nil
}

func openShelf(path string) (*ShelfFile, error) {
	s, err := segments.OpenToRead(path)
	if err != nil {
		return nil, err
	}
	inv, err := pages.TakeInventory(s.Read, false)
	if err == nil {
		err = inv.Reading
	}
	if err == nil {
		err = s.View(readShelf)
	}
	if err != nil {
		return nil, errors.Join(err, s.DB.Close())
	}
	return &ShelfFile{segment: s}, nil
}

// readShelf looks whether a database is a shelf.
func readShelf(tx *bbolt.Tx) error {
	b := tx.Bucket(layout.BucketMeta)
	if b == nil || tx.Bucket(layout.BucketReading) == nil {
		return capture.ErrFormat
	}
	d := layout.Decoder{B: b.Get(metaShelf)}
	switch format := d.Number(); {
	case d.Err != nil || format == 0:
		return capture.ErrFormat
	case format > shelfFormat:
		return fmt.Errorf("format %d, this build reads up to %d; update a2atap: %w", format, shelfFormat,
			capture.ErrFuture)
	}
	return nil
}

// Close closes the file.
func (s *ShelfFile) Close() error { return s.segment.DB.Close() }

// Kept implements capture.Shelf.
func (s *ShelfFile) Kept(ctx context.Context, keys ...[]byte) ([][]byte, error) {
	values := make([][]byte, 0, len(keys))
	for len(values) < len(keys) {
		if err := cmp.Or(ctx.Err(), s.flush()); err != nil {
			return nil, err
		}
		asked := keys[len(values):]
		found := make([][]byte, len(asked))
		err := s.segment.Shelf(func(b *bbolt.Bucket) {
			n, _ := layout.GetEntries(b, clampAll(asked), found, remote.PageBytes)
			found = found[:n]
		})
		if err != nil {
			return nil, err
		}
		for i, sealed := range found {
			value, err := unsealFound(asked[i], sealed)
			if err != nil {
				return nil, err
			}
			values = append(values, value)
		}
	}
	return values, nil
}

// KeptRange implements capture.Shelf.
func (s *ShelfFile) KeptRange(ctx context.Context, from, to []byte) iter.Seq2[capture.Entry, error] {
	return keptRange(ctx, from, to,
		func(_ context.Context, from, to []byte, limit int) ([]layout.KeptEntry, []byte, error) {
			if err := s.flush(); err != nil {
				return nil, nil, err
			}
			found, next, err := segments.Set{s.segment}.KeptRange(from, to, limit)
			return found, next, errors.Join(err, segments.DropPages(s.segment.DB)) // or all of it counts as memory of the process
		})
}

// WriteShelf writes the entries that write puts into a file with mode 0600. It replaces an existing file once
// everything is on disk; if writing or write fails, the existing file stays. Entries may come in any order; if two have
// the same key, the later one counts. It is for one writer at a time: of several concurrent results, one stays.
func WriteShelf(path string, write func(put func(...capture.Entry) error) error) error {
	if err := writeShelf(path, write); err != nil {
		return fmt.Errorf("write the results to %s: %w", path, err)
	}
	return nil
}

func writeShelf(path string, write func(put func(...capture.Entry) error) error) (err error) {
	folder, pattern := filepath.Dir(path), segments.TemporaryPattern+filepath.Base(path)+"-"
	removeLeft(folder, pattern)
	f, err := os.CreateTemp(folder, pattern+"*")
	if err != nil {
		return pages.Explain(err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	s, err := CreateShelf(f.Name())
	if err != nil {
		return err
	}
	if err = write(s.Put); err == nil {
		err = s.flush()
	}
	if err == nil {
		err = s.segment.DB.Sync()
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("move it into place: %w", err)
	}
	segments.SyncFolder(folder)
	return nil
}

// leftAfter is how old a temporary file is that a killed writer left.
const leftAfter = time.Hour

// removeLeft removes what killed writers left.
func removeLeft(folder, prefix string) {
	names, err := segments.NamesIn(folder)
	if err != nil {
		return
	}
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		left := filepath.Join(folder, name)
		info, err := os.Lstat(left)
		if err == nil && info.Mode()&fs.ModeType == 0 && time.Since(info.ModTime()) > leftAfter {
			os.Remove(left)
		}
	}
}
