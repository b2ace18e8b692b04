package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/check"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// killedCapture is what a recorder leaves that was killed: a copy of its files.
func killedCapture(t *testing.T, segment int64) string {
	t.Helper()
	path := newPath(t)
	s := mustOpen(t, path, Options{SegmentSize: segment})
	for seq := uint64(1); seq <= 6; seq++ {
		mustAppend(t, s, exchangeSteps(seq, 3000)...)
		mustKeep(t, s, capture.Entry{Key: fmt.Append(nil, "old ", seq), Value: []byte("old")})
		s.Flush()
	}
	mustAppend(t, s, exchangeSteps(7, 100)[0])
	s.Flush()
	left := filepath.Join(t.TempDir(), "killed.a2atap")
	paths := must.Get(segments.Paths(path))(t)
	for i, p := range paths {
		writeFile(t, segments.Name(left, uint64(i)+1), readFile(t, p))
	}
	return left
}

func oldCapture(t *testing.T, format int) string {
	t.Helper()
	return writeFile(t, filepath.Join(t.TempDir(), "c.a2atap"), readFile(t, kept(format)))
}

// TestReplace keeps something new next to captures of every kind. Nothing else about the captures changes.
func TestReplace(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"killed":             killedCapture(t, 0),
		"killed in segments": killedCapture(t, 1),
		"format 1":           oldCapture(t, 1),
		"format 2":           oldCapture(t, 2),
		"format 3":           oldCapture(t, 3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mustRead(t, path)
			info := must.Get(r.Info(patient(t)))(t)
			mark := must.Get(r.Mark(patient(t)))(t)
			steps := readings(t.Context(), path)
			for round := range 2 { // the second throws away what the first kept
				want := make(map[string]string)
				err := r.Replace(patient(t), func(put func(...capture.Entry) error) error {
					for i := range 20 {
						e := capture.Entry{
							Key:   fmt.Append(nil, "round ", round, i),
							Value: bytes.Repeat([]byte{byte(i)}, 20_000*(i+1)),
						}
						want[string(e.Key)] = string(e.Value)
						if err := put(e, capture.Entry{Key: []byte("removed"), Value: []byte("v")}); err != nil {
							return err
						}
						if i%5 == 0 { // others read it meanwhile
							got, err := mustRead(t, path).Info(patient(t))
							if err != nil || got.Arrivals != info.Arrivals {
								return fmt.Errorf("info %+v: %w", got, err)
							}
						}
					}
					return put(capture.Entry{Key: []byte("removed")})
				})
				must.Do(t, err)
				sameKept(t, "the same reader", want, keptOf(t, r))
				sameKept(t, "another", want, keptOf(t, mustRead(t, path)))
			}
			after, err := r.Info(patient(t))
			if info.Format < layout.FormatReading {
				info.Format = layout.Format
			}
			if err != nil || after != info {
				t.Errorf("info %+v, want %+v, error %v", after, info, err)
			}
			if got, err := r.Mark(patient(t)); err != nil || !bytes.Equal(got, mark) {
				t.Errorf("mark %x, want %x, error %v", got, mark, err)
			}
			got := readings(t.Context(), path)
			for _, what := range []string{"info", "kept"} { // compared above
				delete(steps, what)
				delete(got, what)
			}
			expect.Same(t, "", steps, got)
			expect.OK(t, Check(t.Context(), path))
			s := mustOpen(t, path, Options{})
			mustAppend(t, s, exchangeSteps(s.Position().Seq+1, 100)...)
			mustClose(t, s)
			if err := Check(t.Context(), path); err != nil {
				t.Error("after a recorder went on:", err)
			}
		})
	}
}

// TestReplaceThatFails leaves nothing, and a capture that is whole.
func TestReplaceThatFails(t *testing.T) {
	path := killedCapture(t, 0)
	r := mustRead(t, path)
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		write func(put func(...capture.Entry) error) error
		want  error
	}{
		"by its own": {func(put func(...capture.Entry) error) error {
			return errors.Join(mine, put(capture.Entry{Key: []byte("k"), Value: make([]byte, remote.ReplaceBytes)}))
		}, mine},
		"by a bad key": {func(put func(...capture.Entry) error) error { return put(capture.Entry{}) }, nil},
	} {
		if err := r.Replace(patient(t), c.write); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		sameKept(t, name, nil, keptOf(t, r))
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := r.Replace(ctx, func(put func(...capture.Entry) error) error {
		cancel()
		return put(capture.Entry{Key: []byte("k"), Value: []byte("v")})
	})
	expect.ErrorIs(t, "canceled", context.Canceled, err)
	absent := remote.New(filepath.Join(t.TempDir(), "absent"))
	expect.ErrorIs(t, "absent", fs.ErrNotExist, absent.Replace(patient(t), false, nil))
}

// TestReplaceWhileHeld checks that a capture that is being recorded, or was recorded meanwhile, is left alone.
func TestReplaceWhileHeld(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(1, 100)...)
	s.Flush()
	nothing := func(func(...capture.Entry) error) error { return nil }
	for name, r := range map[string]*Reader{"the store": &s.Reader, "a reader": mustRead(t, path)} {
		expect.ErrorIs(t, name, ErrHeld, r.Replace(patient(t), nothing))
	}
	mustClose(t, s)
	if err := s.Replace(patient(t), nothing); err != nil {
		t.Error("after the recording:", err)
	}
	big := capture.Entry{Key: []byte("k"), Value: make([]byte, remote.ReplaceBytes)}
	err := s.Replace(patient(t), func(put func(...capture.Entry) error) error {
		if err := put(big); err != nil {
			return err
		}
		next := mustOpen(t, path, Options{})
		mustAppend(t, next, exchangeSteps(2, 100)...)
		mustClose(t, next)
		return put(big)
	})
	if !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "in the meantime") {
		t.Errorf("recorded into meanwhile: %v", err)
	}
	expect.Equal(t, "steps", 14, len(collect(t, s, 1)))
}

// TestKilledReplace kills a process in the middle, many times. The recorder's data stays, and the next process
// continues.
func TestKilledReplace(t *testing.T) {
	t.Parallel()
	path := killedCapture(t, 1)
	info := must.Get(mustRead(t, path).Info(patient(t)))(t)
	for range 5 {
		h := startHelper(t, "replace", path, 0)
		for range 3 {
			if _, ok := h.line(); !ok {
				t.Fatal("it does not begin")
			}
		}
		must.Do(t, h.cmd.Process.Kill())
		h.cmd.Wait()
		r := mustRead(t, path)
		expect.Equal(t, "info", info, must.Get(r.Info(patient(t)))(t))
		for k, v := range keptOf(t, r) {
			if !strings.HasPrefix(k, "new ") || len(v) != 1<<20 {
				t.Errorf("%q has %d bytes", k, len(v))
			}
		}
		expect.OK(t, Check(t.Context(), path))
	}
	s := mustOpen(t, path, Options{})
	expect.Equal(t, "position", info.Exchanges, s.Position().Seq)
	mustClose(t, s)
}

// helpReplace replaces what is kept, without end.
func helpReplace(path string) error {
	r, err := Read(path)
	if err != nil {
		return err
	}
	return r.Replace(context.Background(), func(put func(...capture.Entry) error) error {
		for i := 0; ; i++ {
			e := capture.Entry{Key: fmt.Append(nil, "new ", i%20), Value: bytes.Repeat([]byte{byte(i)}, 1<<20)}
			if err := put(e); err != nil {
				return err
			}
			fmt.Println(i)
		}
	})
}

// TestUnwritable keeps nothing in a file that may not be written, or has no room to grow, and says why.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"read-only": "permission denied", "full": "file too large"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := must.Get(os.MkdirTemp("", "unwritable"))(t)
			t.Cleanup(func() { os.RemoveAll(folder) })
			path := writeFile(t, filepath.Join(folder, "c.a2atap"), readFile(t, oldCapture(t, 3)))
			must.Do(t, os.Chmod(folder, 0o755))
			if name == "read-only" {
				must.Do(t, os.Chmod(path, 0o444))
			}
			h := startHelper(t, "unwritable", path, 0)
			said, _ := h.line()
			must.Do(t, h.cmd.Wait())
			expect.Contains(t, "", want, said)
			if name == "full" {
				sameKept(t, "kept", nil, keptOf(t, mustRead(t, path)))
			} else if !bytes.Equal(readFile(t, path), readFile(t, kept(3))) {
				t.Error("the file was changed")
			}
			expect.OK(t, Check(t.Context(), path))
		})
	}
}

// helpUnwritable tries to keep more than there is room for, without the rights of an administrator.
func helpUnwritable(path string) error {
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o444 {
		if _, err := limitFileSize(path); err != nil {
			return err
		}
	} else if err := becomeNobody(); err != nil {
		return err
	}
	r, err := Read(path)
	if err != nil {
		return err
	}
	defer r.Close()
	err = r.Replace(context.Background(), func(put func(...capture.Entry) error) error {
		for i := range 10 {
			value := bytes.Repeat([]byte{byte(i)}, 1<<20)
			if err := put(capture.Entry{Key: []byte{byte(i + 1)}, Value: value}); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, ErrHeld) || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("the error is of another kind: %w", err)
	}
	fmt.Println(err)
	return nil
}

// TestEarlierSegmentsAreHidden has entries in a segment that is being read all the time, and so cannot be written.
func TestEarlierSegmentsAreHidden(t *testing.T) {
	t.Parallel()
	path := killedCapture(t, 1)
	held, err := segments.OpenReadOnly(segments.Name(path, 3))
	must.Do(t, err)
	defer held.Close()
	r := mustRead(t, path)
	err = r.Replace(patient(t), func(put func(...capture.Entry) error) error {
		return put(capture.Entry{Key: []byte("old 3"), Value: []byte("new")}, capture.Entry{Key: []byte("a")})
	})
	must.Do(t, err)
	sameKept(t, "kept", map[string]string{"old 3": "new"}, keptOf(t, r))
	left := 0
	err = held.View(func(tx *bbolt.Tx) error {
		left = check.Count(tx.Bucket(layout.BucketReading))
		return nil
	})
	if err != nil || left == 0 {
		t.Errorf("%d entries are left, error %v; the test wants some", left, err)
	}
}

// TestRecorderStartsUnderManyReaders has goroutines look at a capture without a pause, with several readers.
func TestRecorderStartsUnderManyReaders(t *testing.T) {
	t.Parallel()
	path := closedCapture(t, Options{}, 50)
	ctx, stop := context.WithCancel(t.Context())
	failed := make(chan error, 8)
	one, other := mustRead(t, path), mustRead(t, path)
	for i := range cap(failed) {
		r := []*Reader{one, other}[i%2]
		go func() {
			var err error
			for ctx.Err() == nil && err == nil {
				if _, err = r.Exchange(ctx, 7); err == nil {
					_, err = r.Info(ctx)
				}
			}
			if ctx.Err() != nil {
				err = nil
			}
			failed <- err
		}()
	}
	for range 3 {
		began := time.Now()
		s := mustOpen(t, path, Options{})
		t.Logf("a recorder started after %v", time.Since(began))
		mustAppend(t, s, exchangeSteps(s.Position().Seq+1, 100)...)
		mustClose(t, s)
	}
	stop()
	for range cap(failed) {
		expect.OK(t, <-failed)
	}
}
