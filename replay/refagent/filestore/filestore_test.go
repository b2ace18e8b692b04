package filestore_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/refagent/filestore"
	"a2atap/replay/refagent/internal/engine"
)

var _ engine.Store = (*filestore.File)(nil)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, name string) *filestore.File {
	t.Helper()
	f := must.Get(filestore.Open(name))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

func put(t testing.TB, f *filestore.File, owner, key, value string) {
	t.Helper()
	must.Do(t, f.Put(owner, key, []byte(value)))
}

// all returns an owner's values, as lines.
func all(t testing.TB, f *filestore.File, owner string) string {
	t.Helper()
	var lines []string
	err := f.Each(owner, func(key string, value []byte) error {
		lines = append(lines, key+"="+string(value))
		return nil
	})
	must.Do(t, err)
	return strings.Join(lines, " ")
}

// Stored values exist after the file is reopened, only for their owner, and the file is readable only by the user.
func TestFileKeeps(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tasks.db")
	f := open(t, name)
	put(t, f, "spec", "b", "1")
	put(t, f, "spec", "a", "2")
	put(t, f, "spec", "b", "3")
	put(t, f, "spec/acme", "b", "")
	put(t, f, "spec", "gone", "4")
	expect.OK(t, f.Delete("spec", "gone"))
	expect.OK(t, errors.Join(f.Delete("spec", "never"), f.Delete("nobody", "never")))
	must.Do(t, f.Close())
	f = open(t, name)
	got := []string{all(t, f, "spec"), all(t, f, "spec/acme"), all(t, f, "nobody")}
	expect.Same(t, "after opening again", []string{"a=2 b=3", "b=", ""}, got)
	expect.Equal(t, "", 0o600, must.Get(os.Stat(name))(t).Mode().Perm())
}

// The callback of Each may call Put: an agent stores tasks that it fails during a restore.
func TestEachMayPut(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "tasks.db"))
	put(t, f, "spec", "a", "1")
	err := f.Each("spec", func(key string, _ []byte) error { return f.Put("spec", key, []byte("2")) })
	if got := all(t, f, "spec"); err != nil || got != "a=2" {
		t.Errorf("got %s, %v", got, err)
	}
	broken := errors.New("broken")
	if err := f.Each("spec", func(string, []byte) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestOneProcessHasTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tasks.db")
	open(t, name)
	if f, err := filestore.Open(name); !errors.Is(err, filestore.ErrInUse) {
		t.Errorf("got %v, %v, want ErrInUse", f, err)
	}
}

// A file with other contents is rejected and left unchanged.
func TestForeignFiles(t *testing.T) {
	database := func(change func(tx *bbolt.Tx) error) func(name string) error {
		return func(name string) error {
			db, err := bbolt.Open(name, 0o600, nil)
			if err != nil {
				return err
			}
			return errors.Join(db.Update(change), db.Close())
		}
	}
	ours := func(format []byte) func(name string) error {
		return database(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("a2atap tasks"))
			return errors.Join(err, b.Put([]byte("format"), format))
		})
	}
	text := func(s string) func(name string) error {
		return func(name string) error { return os.WriteFile(name, []byte(s), 0o600) }
	}
	for _, tt := range []struct {
		name string
		make func(name string) error
		want error
	}{
		{"text", text("tasks"), filestore.ErrForeign},
		{"long text", text(strings.Repeat("tasks\n", 10_000)), filestore.ErrForeign},
		{"another database", database(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("meta"))
			return err
		}), filestore.ErrForeign},
		{"a later format", ours([]byte{2}), filestore.ErrFuture},
		{"no format", ours(nil), filestore.ErrDamaged},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "tasks.db")
			must.Do(t, tt.make(name))
			before := must.Get(os.ReadFile(name))(t)
			expect.ErrorIs(t, "", tt.want, expect.Err(filestore.Open(name)))
			after, err := os.ReadFile(name)
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed; %v", err)
			}
		})
	}
	expect.ErrorHas(t, "a directory", "is a directory", expect.Err(filestore.Open(t.TempDir())))
	expect.ErrorIs(t, "no directory",
		os.ErrNotExist, expect.Err(filestore.Open(filepath.Join(t.TempDir(), "no", "tasks.db"))))
}

// An empty file counts as a new one.
func TestEmptyFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tasks.db")
	must.Do(t, os.WriteFile(name, nil, 0o600))
	put(t, open(t, name), "spec", "a", "1")
}

// filled returns the bytes of a file of many tasks.
func filled(t *testing.T) []byte {
	name := filepath.Join(t.TempDir(), "tasks.db")
	f := open(t, name)
	for i := range 60 {
		put(t, f, "spec", fmt.Sprintf("task %d", i), strings.Repeat("x", 300))
	}
	must.Do(t, f.Close())
	return must.Get(os.ReadFile(name))(t)
}

// A truncated file is rejected, wherever it was cut, unless no data is missing.
func TestCutFiles(t *testing.T) {
	whole := filled(t)
	name := filepath.Join(t.TempDir(), "tasks.db")
	refused := 0
	for size := 1; size < len(whole); size += 1 + len(whole)/97 {
		must.Do(t, os.WriteFile(name, whole[:size], 0o600))
		f, err := filestore.Open(name)
		if err == nil {
			expect.Equal(t, fmt.Sprintf("cut to %d bytes: tasks are missing", size),
				60, strings.Count(all(t, f, "spec"), "="))
			f.Close()
			continue
		}
		if !errors.Is(err, filestore.ErrDamaged) && !errors.Is(err, filestore.ErrForeign) {
			t.Errorf("cut to %d bytes: %v", size, err)
		}
		refused++
	}
	if refused < 50 {
		t.Errorf("%d of 97 are refused", refused)
	}
}

// A changed byte is detected, or lies in an unused part.
func TestChangedBytes(t *testing.T) {
	whole := filled(t)
	name := filepath.Join(t.TempDir(), "tasks.db")
	must.Do(t, os.WriteFile(name, whole, 0o600))
	f := open(t, name)
	want := all(t, f, "spec")
	f.Close()
	found := 0
	for at := 0; at < len(whole); at += 397 {
		text := bytes.Clone(whole)
		text[at] ^= 0x55
		must.Do(t, os.WriteFile(name, text, 0o600))
		f, err := filestore.Open(name)
		if err != nil {
			found++
			continue
		}
		expect.Equal(t, fmt.Sprintf("byte %d is changed, and this is read", at), want, all(t, f, "spec"))
		f.Close()
	}
	if found == 0 {
		t.Error("no damage is found")
	}
}
