package bolt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// TestLossesAreAdmitted makes commits of steps fail while the state alone can be written, as on a disk that is full.
// Whoever reads knows at once what is lost; so does the next recorder, which says it in a step.
func TestLossesAreAdmitted(t *testing.T) {
	path := newPath(t)
	var failing atomic.Bool
	commits := 0 // of the writer's goroutine
	s := mustOpen(t, path, Options{Fault: func() error {
		if !failing.Load() {
			return nil
		}
		if commits++; commits%2 == 1 {
			return errors.New("no space left on device")
		}
		return nil
	}})
	mustAppend(t, s, exchangeSteps(1, 100)...)
	s.Flush()
	failing.Store(true)
	mustAppend(t, s, exchangeSteps(2, 100)...)
	mustAppend(t, s, exchangeSteps(3, 100)[0])
	s.Flush()
	left := writeFile(t, filepath.Join(t.TempDir(), "killed.a2atap"), readFile(t, path))
	lostOf := func(path string, r interface{ Close() error }, info capture.Info, err error) {
		t.Helper()
		if err != nil || info.LostExchanges != 2 || info.LostBytes < 100 || info.Exchanges != 1 {
			t.Errorf("%s: %+v, error %v", path, info, err)
		}
	}
	info, err := s.Info(patient(t))
	lostOf("in the process", s, info, err)
	r := mustRead(t, path)
	info, err = r.Info(patient(t))
	lostOf("through the socket", r, info, err)
	failing.Store(false)
	expect.Error(t, "close says nothing", s.Close())
	r = mustRead(t, left)
	info, err = r.Info(patient(t))
	lostOf("what a kill leaves", r, info, err)
	next := mustOpen(t, left, Options{})
	mustClose(t, next)
	info, err = next.Info(patient(t))
	lostOf("after the next recorder", next, info, err)
	expect.OK(t, Check(t.Context(), left))
	told := false
	for _, step := range collect(t, next, 1) {
		lost, ok := step.What.(capture.Lost)
		told = told || ok && lost.Exchanges == 2
	}
	if !told {
		t.Error("no step says what was lost")
	}
}

// TestTakenAway takes the file of a recorder away that has nothing to do.
func TestTakenAway(t *testing.T) {
	if remote.NoFileModes {
		t.Skip("a file that is open cannot be taken away here")
	}
	t.Parallel()
	for name, c := range map[string]struct {
		take func(path string) error
		says string
	}{
		"deleted": {os.Remove, "was deleted while it was recorded"},
		"moved":   {func(path string) error { return os.Rename(path, path+".away") }, "was moved away"},
		"replaced": {func(path string) error {
			return errors.Join(os.Rename(path, path+".away"), os.WriteFile(path, []byte("theirs"), 0o600))
		}, "was replaced by another file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "c.a2atap")
			told := make(chan error, 10)
			s := mustOpen(t, path, Options{OnError: func(err error) { told <- err }})
			mustAppend(t, s, exchangeSteps(1, 100)...)
			s.Flush()
			must.Do(t, c.take(path))
			select {
			case err := <-told:
				if !strings.Contains(err.Error(), path+" "+c.says) {
					t.Errorf("got %q, want %q", err, c.says)
				}
			case <-time.After(must.Patience):
				t.Fatal("nobody says that it is gone")
			}
			mustAppend(t, s, exchangeSteps(2, 100)...)
			expect.ErrorHas(t, "close", c.says, s.Close())
			got, want := s.Account(), Account{Exchanges: 1, LostExchanges: 1, LostBytes: s.Account().LostBytes}
			if name == "deleted" {
				want = Account{LostExchanges: 2, LostBytes: want.LostBytes, Unreported: true}
			}
			expect.Equal(t, "", want, got)
		})
	}
}
