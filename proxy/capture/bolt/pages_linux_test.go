package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/must"
)

func TestDropPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	s := must.Get(Open(path, Options{}))(t)
	defer s.Close()
	noise := make([]byte, 4<<20)
	for i := range noise {
		noise[i] = byte(i * i >> 7)
	}
	mustAppend(t, s, capture.Step{Seq: 1, What: capture.RequestBody{Data: noise}})
	s.Flush()
	read := func() (n int) {
		for step, err := range s.Steps(context.Background(), 1) {
			must.Do(t, err)
			if body, ok := step.What.(capture.RequestBody); ok {
				n += len(body.Data)
			}
		}
		return n
	}
	if n := read(); n != len(noise) {
		t.Fatalf("read %d bytes, want %d", n, len(noise))
	}
	before := mapped(t, path)
	must.Do(t, s.DropPages())
	if after := mapped(t, path); after >= before {
		t.Errorf("%d KiB of the file are in memory, %d before", after, before)
	}
	if n := read(); n != len(noise) {
		t.Errorf("read %d bytes after the pages were dropped, want %d", n, len(noise))
	}
}

// mapped returns how many KiB of a file are resident in the process.
func mapped(t *testing.T, path string) (kib int) {
	maps := must.Get(os.ReadFile("/proc/self/smaps"))(t)
	_, rest, ok := strings.Cut(string(maps), path)
	if !ok {
		t.Fatalf("%s is not mapped", path)
	}
	_, rest, _ = strings.Cut(rest, "\nRss:")
	must.Get(fmt.Sscan(rest, &kib))(t)
	return kib
}

// A list of free pages that is overwritten while a commit is under way says that it has four billion pages. That ends
// the commit, and what it does: no goroutine of it may stay.
func TestFreelistOverwrittenInACommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	db := must.Get(segments.OpenDB(path, bbolt.Options{}))(t)
	put := func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("b"))
		return errors.Join(err, b.Put([]byte("k"), []byte("v")))
	}
	must.Do(t, db.Update(put))
	err := db.Update(func(tx *bbolt.Tx) error {
		f := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
		defer f.Close()
		at, fits := pages.Freelist(f)
		if at == 0 || !fits {
			t.Fatalf("the list of free pages is at %d, fits: %v", at, fits)
		}
		head := binary.NativeEndian.AppendUint64(nil, 1<<40) // the page's number: one that no other has
		head = binary.NativeEndian.AppendUint32(head, 0)
		head = binary.NativeEndian.AppendUint32(head, 1<<32-1) // how many more follow it
		must.Get(f.WriteAt(head, at))(t)
		return put(tx)
	})
	if !errors.Is(err, segments.ErrPanicked) {
		t.Errorf("error %v", err)
	}
	db.Close()
}
