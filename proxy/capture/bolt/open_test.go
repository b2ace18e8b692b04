package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// closedCapture makes a finished capture of some exchanges and returns its path.
func closedCapture(t *testing.T, o Options, exchanges uint64) string {
	t.Helper()
	path := newPath(t)
	s := mustOpen(t, path, o)
	for seq := uint64(1); seq <= exchanges; seq++ {
		mustAppend(t, s, exchangeSteps(seq, 2000)...)
		if o.SegmentSize > 0 {
			s.Flush()
		}
	}
	mustClose(t, s)
	return path
}

func writeFile(t *testing.T, path string, data []byte) string {
	t.Helper()
	must.Do(t, os.WriteFile(path, data, 0o600))
	return path
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(path))(t)
}

// withMeta writes a value into the meta bucket of a capture.
func withMeta(t *testing.T, path string, key, value []byte) string {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	must.Do(t, err)
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(layout.BucketMeta)
		if err != nil {
			return err
		}
		return b.Put(key, value)
	})
	must.Do(t, errors.Join(err, db.Close()))
	return path
}

// TestWhatIsNoCapture opens files that are not captures, for reading and for writing. They stay unmodified.
func TestWhatIsNoCapture(t *testing.T) {
	whole := readFile(t, closedCapture(t, Options{}, 200))
	other := filepath.Join(t.TempDir(), "other.db")
	db, err := bbolt.Open(other, 0o600, nil)
	must.Do(t, err)
	err = db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err })
	must.Do(t, errors.Join(err, db.Close()))
	for name, c := range map[string]struct {
		data []byte
		want error
		says string
	}{
		"text":         {[]byte("not a capture, but a diary"), capture.ErrFormat, "not a capture"},
		"long text":    {bytes.Repeat([]byte("dear diary, "), 10000), capture.ErrFormat, "not a capture"},
		"cut in half":  {whole[:len(whole)/8], layout.ErrDamaged, "the file is truncated"},
		"cut to pages": {whole[:4*4096], layout.ErrDamaged, "the file is truncated"},
		"cut to metas": {whole[:2*4096], layout.ErrDamaged, "the file is truncated"},
		"cut to bytes": {whole[:100], layout.ErrDamaged, "the file is truncated"},
		"other":        {readFile(t, other), capture.ErrFormat, "another program"},
		"future": {
			readFile(t,
				withMeta(t, writeFile(t, filepath.Join(t.TempDir(), "f"), whole), layout.MetaFormat,
					binary.AppendUvarint(nil, layout.Format+1))),
			capture.ErrFuture, "update a2atap",
		},
		"other's meta": {
			readFile(t, withMeta(t, writeFile(t, filepath.Join(t.TempDir(), "m"), nil), []byte("theirs"), []byte("x"))),
			capture.ErrFormat, "another program",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, filepath.Join(t.TempDir(), "c.a2atap"), c.data)
			check := func(err error) {
				t.Helper()
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) ||
					!strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v, want %q and the path in it", err, c.says)
				}
			}
			_, err := Read(path)
			check(err)
			_, err = Open(path, Options{})
			check(err)
			check(Check(t.Context(), path))
			if !bytes.Equal(readFile(t, path), c.data) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestDamage flips bytes all over a capture. Readers get an error or the whole data, and never panic.
func TestDamage(t *testing.T) {
	t.Parallel()
	path := closedCapture(t, Options{}, 60)
	whole := readFile(t, path)
	dir := t.TempDir()
	found := 0
	for at := 2*4096 + 1; at < len(whole); at += 4001 {
		broken := bytes.Clone(whole)
		for i := at; i < min(at+16, len(broken)); i++ {
			broken[i] ^= 0xa5
		}
		p := writeFile(t, filepath.Join(dir, "c.a2atap"), broken)
		if err := Check(t.Context(), p); err != nil {
			found++
		}
		r, err := Read(p)
		if err != nil {
			continue
		}
		for range r.Steps(t.Context(), 1) {
		}
		for range r.Exchanges(t.Context(), 1) {
		}
		for range r.Find(t.Context(), capture.Key{Kind: "agent", Value: "booker"}, 1) {
		}
		r.Close()
	}
	if found == 0 {
		t.Error("no damage was found")
	}
}

func TestWhatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	must.Do(t, os.Mkdir(closed, 0o700))
	for name, c := range map[string]struct {
		path  string
		read  string // what the error of Read says
		write string // what the error of Open says
	}{
		"a folder":       {closed, "it is a directory", "it is a directory"},
		"a device":       {os.DevNull, "it is a device", "it is a device"},
		"no such file":   {filepath.Join(dir, "absent.a2atap"), "check the name", ""},
		"no such folder": {filepath.Join(dir, "absent", "c.a2atap"), "check the name", "check the name"},
		"a file as a folder": {
			filepath.Join(writeFile(t, filepath.Join(dir, "file"), nil), "c.a2atap"),
			"not a directory", "not a directory",
		},
		"empty": {writeFile(t, filepath.Join(dir, "empty.a2atap"), nil), "the file is empty", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(c.path); err == nil || !strings.Contains(err.Error(), c.read) ||
				!strings.Contains(err.Error(), c.path) {
				t.Errorf("read: %v, want %q", err, c.read)
			}
			s, err := Open(c.path, Options{})
			if err == nil {
				err = s.Close()
				defer s.Reader.Close()
			}
			if (c.write == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.write) {
				t.Errorf("open: %v, want %q", err, c.write)
			}
		})
	}
}

func TestExplainedPermission(t *testing.T) {
	err := pages.Explain(&fs.PathError{Op: "open", Path: "c.a2atap", Err: fs.ErrPermission})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "choose a file") ||
		strings.Contains(err.Error(), "c.a2atap") {
		t.Error(err)
	}
}

// TestKilledWhileCreating opens what is left of a recorder that was killed between creating a file and filling it in.
func TestKilledWhileCreating(t *testing.T) {
	path := newPath(t)
	db := must.Get(bbolt.Open(path, 0o600, nil))(t)
	db.Close()
	expect.ErrorIs(t, "read", capture.ErrFormat, expect.Err(Read(path)))
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(1, 100)...)
	mustClose(t, s)
}

func TestSegmentsInDisorder(t *testing.T) {
	t.Parallel()
	build := func(t *testing.T) string {
		path := closedCapture(t, Options{SegmentSize: 1}, 4)
		if paths, err := segments.Paths(path); err != nil || len(paths) < 4 {
			t.Fatalf("segments %v, error %v", paths, err)
		}
		return path
	}
	move := func(t *testing.T, from, to string) {
		t.Helper()
		must.Do(t, os.Rename(from, to))
	}
	refused := func(t *testing.T, path, says string) {
		t.Helper()
		expect.ErrorHas(t, "read", says, expect.Err(Read(path)))
		expect.ErrorHas(t, "open", says, expect.Err(Open(path, Options{})))
	}
	t.Run("a gap", func(t *testing.T) {
		path := build(t)
		move(t, path+".0002", path+".away")
		refused(t, path, path+".0002 is missing")
		move(t, path+".away", path+".0002")
	})
	t.Run("exchanged", func(t *testing.T) {
		path := build(t)
		move(t, path+".0002", path+".away")
		move(t, path+".0003", path+".0002")
		move(t, path+".away", path+".0003")
		refused(t, path, "it was renamed")
		move(t, path+".0002", path+".away")
		move(t, path+".0003", path+".0002")
		move(t, path+".away", path+".0003")
	})
	t.Run("of another capture", func(t *testing.T) {
		path, other := build(t), build(t)
		was := readFile(t, path+".0002")
		writeFile(t, path+".0002", readFile(t, other+".0002"))
		refused(t, path, "belongs to another capture")
		writeFile(t, path+".0002", was)
	})
	t.Run("by itself", func(t *testing.T) {
		path := build(t)
		refused(t, path+".0002", "it is segment 2 of a capture; name the first segment")
	})
	t.Run("empty at the end", func(t *testing.T) {
		path := build(t)
		paths := must.Get(segments.Paths(path))(t)
		writeFile(t, segments.Name(path, uint64(len(paths))+1), nil)
		expect.Equal(t, "steps", 28, len(collect(t, mustRead(t, path), 1)))
		s := mustOpen(t, path, Options{})
		mustAppend(t, s, exchangeSteps(5, 100)...)
		mustClose(t, s)
		expect.Equal(t, "steps after going on", 35, len(collect(t, s, 1)))
	})
	t.Run("in the way", func(t *testing.T) {
		path := newPath(t)
		var told []error
		s := mustOpen(t, path, Options{SegmentSize: 1, OnError: func(err error) { told = append(told, err) }})
		writeFile(t, path+".0002", []byte("a diary"))
		mustAppend(t, s, exchangeSteps(1, 100)...)
		mustClose(t, s)
		if len(told) != 1 || !strings.Contains(told[0].Error(), "in a new segment") {
			t.Errorf("got %v", told)
		}
		refused(t, path, "segment "+path+".0002: not a capture")
		expect.Equal(t, "the file in the way was changed", "a diary", string(readFile(t, path+".0002")))
		os.Remove(path + ".0002")
		expect.Equal(t, "steps", 7, len(collect(t, s, 1)))
	})
}
