package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func mustOpenShelf(t *testing.T, path string) *ShelfFile {
	t.Helper()
	s := must.Get(OpenShelf(path))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// TestShelfFile writes a shelf and writes it again, while a reader reads the first.
func TestShelfFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap.reading")
	write := func(n int) map[string]string {
		t.Helper()
		want := make(map[string]string)
		err := WriteShelf(path, func(put func(...capture.Entry) error) error {
			for i := range n {
				key, value := fmt.Append(nil, "key ", i), bytes.Repeat([]byte{byte(n)}, i*20_000)
				want[string(key)] = string(value)
				err := put(capture.Entry{Key: key, Value: value}, capture.Entry{Key: []byte("x"), Value: key})
				if err != nil {
					return err
				}
			}
			return put(capture.Entry{Key: []byte("x")})
		})
		must.Do(t, err)
		return want
	}
	first := write(30)
	old := mustOpenShelf(t, path)
	sameKept(t, "the first", first, keptOf(t, old))
	expect.Equal(t, "mode", 0o600, fileMode(t, path))
	second := write(2)
	sameKept(t, "the second", second, keptOf(t, mustOpenShelf(t, path)))
	sameKept(t, "the first, which is open", first, keptOf(t, old))

	left := writeFile(t, filepath.Join(filepath.Dir(path), segments.TemporaryPattern+filepath.Base(path)+"-1"), nil)
	must.Do(t, os.Chtimes(left, time.Time{}, time.Now().Add(-2*leftAfter)))
	mine := errors.New("mine")
	err := WriteShelf(path, func(put func(...capture.Entry) error) error {
		return errors.Join(put(capture.Entry{Key: []byte("k"), Value: []byte("v")}), mine)
	})
	expect.ErrorIs(t, "", mine, err)
	sameKept(t, "after a failure", second, keptOf(t, mustOpenShelf(t, path)))
	if names, err := segments.NamesIn(filepath.Dir(path)); err != nil || len(names) != 1 {
		t.Errorf("in the folder: %v, error %v", names, err)
	}
	expect.Error(t, "a shelf is written where there is no folder",
		WriteShelf(filepath.Join(t.TempDir(), "absent", "x"), nil))
}

// TestShelfIsReadWhileItIsWritten compares a file with a shelf in memory after each Put, and closes it beneath a writer.
func TestShelfIsReadWhileItIsWritten(t *testing.T) {
	s := must.Get(CreateShelf(filepath.Join(t.TempDir(), "spool")))(t)
	want := &capture.MemoryShelf{}
	for i := range 40 {
		entries := []capture.Entry{
			{Key: fmt.Append(nil, "key ", i%7), Value: bytes.Repeat([]byte{byte(i)}, i*4000)}, {Key: fmt.Append(nil, "key ", i%5)},
		}
		must.Do(t, s.Put(entries...))
		must.Do(t, want.Put(entries...))
		sameKept(t, fmt.Sprint("after ", i), keptOf(t, want), keptOf(t, s))
	}
	must.Do(t, s.Close())
	must.Do(t, s.Put(capture.Entry{Key: []byte("k"), Value: []byte("v")}))
	if _, err := s.Kept(t.Context(), []byte("k")); err == nil {
		t.Error("a closed file can be read")
	}
	expect.Error(t, "a closed file is written", s.Put(capture.Entry{Key: []byte("k"), Value: []byte("v")}))
}

// TestWhatIsNoShelf opens files of other kinds, and of a later version.
func TestWhatIsNoShelf(t *testing.T) {
	dir := t.TempDir()
	shelf := filepath.Join(dir, "shelf")
	must.Do(t, WriteShelf(shelf, func(func(...capture.Entry) error) error { return nil }))
	later := writeFile(t, filepath.Join(dir, "later"), readFile(t, shelf))
	update(t, later, func(tx *bbolt.Tx) error { return tx.Bucket(layout.BucketMeta).Put(metaShelf, []byte{shelfFormat + 1}) })
	bare := writeFile(t, filepath.Join(dir, "bare"), readFile(t, shelf))
	update(t, bare, func(tx *bbolt.Tx) error { return tx.DeleteBucket(layout.BucketReading) })
	for path, want := range map[string]error{
		later: capture.ErrFuture,
		bare:  capture.ErrFormat,
		writeFile(t, filepath.Join(dir, "text"), bytes.Repeat([]byte("no shelf"), 9999)): capture.ErrFormat,
		writeFile(t, filepath.Join(dir, "empty"), nil):                                   capture.ErrFormat,
		writeFile(t, filepath.Join(dir, "cut"), readFile(t, shelf)[:3*os.Getpagesize()]): ErrDamaged,
		closedCapture(t, Options{}, 1):                                                   capture.ErrFormat,
		filepath.Join(dir, "absent"):                                                     os.ErrNotExist,
	} {
		if s, err := OpenShelf(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, %v, want %v", path, s, err, want)
		}
	}
	expect.ErrorIs(t, "a shelf is read as a capture", capture.ErrFormat, expect.Err(Read(shelf)))
	expect.ErrorIs(t, "a shelf is recorded into", capture.ErrFormat, expect.Err(Open(shelf, Options{})))
}

// FuzzShelf opens what may be a shelf and reads all of it.
func FuzzShelf(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	err := WriteShelf(path, func(put func(...capture.Entry) error) error {
		for i := range 40 {
			if err := put(capture.Entry{Key: fmt.Append(nil, i), Value: make([]byte, 10*i)}); err != nil {
				return err
			}
		}
		return nil
	})
	must.Do(f, err)
	data := must.Get(os.ReadFile(path))(f)
	f.Add(data, 0, byte(0))
	for at := 0; at < len(data); at += 997 {
		f.Add(data, at, byte(0x41))
	}
	path = filepath.Join(f.TempDir(), "fuzzed")
	f.Fuzz(func(t *testing.T, data []byte, at int, change byte) {
		data = bytes.Clone(data)
		if at >= 0 && at < len(data) {
			data[at] ^= change
		}
		writeFile(t, path, data)
		s, err := OpenShelf(path)
		if err != nil {
			return
		}
		defer s.Close()
		n := 0
		for e, err := range s.KeptRange(t.Context(), nil, nil) {
			if err != nil {
				return
			}
			got, err := s.Kept(t.Context(), e.Key)
			if err != nil || !bytes.Equal(got[0], e.Value) {
				t.Errorf("%x is %x, and was %x, error %v", e.Key, got, e.Value, err)
			}
			if n++; n > len(data) {
				t.Fatal("it has no end")
			}
		}
	})
}
