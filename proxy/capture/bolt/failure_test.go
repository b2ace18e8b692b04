package bolt

import (
	"errors"
	"io/fs"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// TestDiskFull runs out of room in the middle of a recording, in a process of its own. What could not be stored is
// reported in the capture as soon as there is room again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	h := startHelper(t, "full", path, 0)
	said, _ := h.line()
	must.Do(t, h.cmd.Wait())
	if !strings.Contains(said, "steps were not stored") || !strings.Contains(said, "file too large") {
		t.Errorf("close said %q", said)
	}
	checkLosses(t, mustRead(t, path), 4<<20)
}

// TestExplain says what went wrong once, and what to do about it.
func TestExplain(t *testing.T) {
	grow := errors.New("file resize error: truncate c.a2atap: " + syscall.EFBIG.Error())
	if err := pages.Explain(grow); !errors.Is(err, syscall.EFBIG) || strings.Contains(err.Error(), "c.a2atap") {
		t.Errorf("a file that cannot grow: %v", err)
	}
	for cause, want := range map[error]string{
		syscall.ENOSPC: "no space left on device; free some space, or record elsewhere",
		syscall.EROFS:  "read-only file system; choose a file that you can write",
		syscall.EACCES: "permission denied; choose a file that you can read and write",
		syscall.EIO:    "input/output error",
	} {
		err := pages.Explain(&fs.PathError{Op: "write", Path: "c.a2atap", Err: cause})
		if got := err.Error(); got != want || !errors.Is(err, cause) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestFailedCommits makes commits fail in the transaction.
func TestFailedCommits(t *testing.T) {
	path := newPath(t)
	broken := errors.New("input/output error")
	var failing atomic.Bool
	told := make(chan error, 10)
	s := mustOpen(t, path, Options{
		Flush:   time.Millisecond,
		OnError: func(err error) { told <- err },
		Fault: func() error {
			if failing.Load() {
				return broken
			}
			return nil
		},
	})
	mustAppend(t, s, exchangeSteps(1, 1000)...)
	mustAppend(t, s, exchangeSteps(2, 1000)[0])
	s.Flush()
	failing.Store(true)
	mustAppend(t, s, noise(2, 1000)...)
	s.Flush() // two commits fail, and are reported once
	mustAppend(t, s, exchangeSteps(3, 1000)...)
	mustAppend(t, s, exchangeSteps(4, 1000)[:3]...)
	s.Flush()
	if info, err := s.Info(patient(t)); err != nil || info.Arrivals != 8 {
		t.Errorf("%d arrivals, error %v while nothing can be stored", info.Arrivals, err)
	}
	failing.Store(false)
	mustAppend(t, s, exchangeSteps(4, 1000)[3:]...)
	mustAppend(t, s, exchangeSteps(5, 1000)...)
	s.Flush()
	if err := s.Close(); !errors.Is(err, broken) || !strings.Contains(err.Error(), "12 steps were not stored") {
		t.Errorf("close: %v", err)
	}
	if err := <-told; !errors.Is(err, broken) || len(told) != 0 {
		t.Errorf("got %v, and %d more", err, len(told))
	}
	checkLosses(t, s, 1000)
}

// TestCommitsAfterOthers lets commits follow that use the same memory: large ones, small ones, and some that were given
// up half way. The check of the file at the end compares rows, index and blocks.
func TestCommitsAfterOthers(t *testing.T) {
	t.Parallel()
	var commits atomic.Int64
	s := mustOpen(t, newPath(t), Options{Wait: true, Flush: time.Hour, Fault: func() error {
		if n := commits.Add(1); n > 0 && n%3 == 0 {
			return errors.New("input/output error")
		}
		return nil
	}})
	var want []capture.Step
	seq := uint64(0)
	for _, n := range []uint64{3, 700, 1, scratchRows + 1, 2, 40} {
		var begun, ended []capture.Step
		for range n {
			seq++
			steps := exchangeSteps(seq, 40)
			begun, ended = append(begun, steps[:2]...), append(ended, steps[2:]...)
		}
		for _, steps := range [][]capture.Step{begun, ended} { // an exchange begins in one commit and ends in another
			mustAppend(t, s, steps...)
			s.Flush()
			want = append(want, steps...)
		}
	}
	commits.Store(math.MinInt32) // no more fail
	mustClose(t, s)
	for i := range want {
		want[i].Arrival, want[i].Keys = uint64(i+1), nil
	}
	if got := collect(t, s, 1); !reflect.DeepEqual(got, want) {
		t.Errorf("the capture has others than the %d steps that were appended", len(want))
	}
	var with []uint64
	for seq, err := range s.Find(patient(t), capture.Key{Kind: "task", Value: "task-5"}, 1) {
		must.Do(t, err)
		with = append(with, seq)
	}
	var those []uint64
	for n := uint64(5); n <= seq; n += 97 {
		those = append(those, n)
	}
	if !cmp.Equal(with, those) {
		t.Errorf("exchanges %v have the task, want %v", with, those)
	}
}

// checkLosses looks for what the two tests above lose: the rest of exchange 2, all of 3, and the beginning of 4.
func checkLosses(t *testing.T, s capture.Source, lostOf2 int64) {
	t.Helper()
	var losses []capture.Step
	for _, step := range collect(t, s, 1) {
		if lost, ok := step.What.(capture.Lost); ok {
			expect.Contains(t, "reason", "write ", lost.Reason)
			lost.Reason = ""
			step.What = lost
			losses = append(losses, step)
		}
	}
	size := func(steps []capture.Step) (n int64) {
		for i := range steps {
			n += payload(&steps[i])
		}
		return n
	}
	of3, of4 := size(exchangeSteps(3, 1000)), size(exchangeSteps(4, 1000)[:3])
	want := []capture.Step{
		{Seq: 2, Offset: capture.NotKnown, What: capture.Lost{Bytes: lostOf2}},
		{Seq: 4, Offset: capture.NotKnown, What: capture.Lost{Bytes: of4}},
		{Seq: 0, Offset: capture.NotKnown, What: capture.Lost{Exchanges: 1, Bytes: of3}},
	}
	expect.Same(t, "losses", want, losses, cmpopts.IgnoreFields(capture.Step{}, "Arrival"))
	info, err := s.Info(patient(t))
	if err != nil || info.LostExchanges != 1 || info.LostBytes != lostOf2+of3+of4 {
		t.Errorf("lost %d exchanges, %d bytes, error %v", info.LostExchanges, info.LostBytes, err)
	}
	for seq, want := range map[uint64]capture.State{
		1: capture.StateClosed, 2: capture.StateClosed,
		4: capture.StateClosed, 5: capture.StateClosed,
	} {
		x, err := s.Exchange(patient(t), seq)
		if err != nil || x.State != want {
			t.Errorf("exchange %d: %+v, error %v", seq, x, err)
		}
	}
	expect.ErrorIs(t, "exchange 3", capture.ErrNotFound, expect.Err(s.Exchange(patient(t), 3)))
}

// TestFailureUntilTheEnd closes while nothing can be stored: what was committed before is a capture that can be read.
func TestFailureUntilTheEnd(t *testing.T) {
	path := newPath(t)
	var failing atomic.Bool
	s := mustOpen(t, path, Options{Fault: func() error {
		if failing.Load() {
			return errors.New("no space left on device")
		}
		return nil
	}})
	mustAppend(t, s, exchangeSteps(1, 100)...)
	mustAppend(t, s, exchangeSteps(2, 100)[0])
	s.Flush()
	failing.Store(true)
	mustAppend(t, s, exchangeSteps(2, 100)[1:]...)
	expect.ErrorHas(t, "close", "6 steps were not stored", s.Close())
	r := mustRead(t, path)
	expect.Equal(t, "steps", 8, len(collect(t, r, 1)))
	if x, err := r.Exchange(patient(t), 2); err != nil || x.State != capture.StateInterrupted {
		t.Errorf("exchange 2: %+v, error %v", x, err)
	}
}

// TestStepsOfNoKind gives the store something that no format has. The rest of the batch is stored.
func TestStepsOfNoKind(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(1, 100)[0], capture.Step{Seq: 1}, event(1, 1))
	expect.ErrorHas(t, "close", "no kind of step for <nil>", s.Close())
	if steps := collect(t, s, 1); len(steps) != 3 ||
		steps[2].What != capture.What(capture.Lost{Reason: "format 4 has no kind of step for <nil>"}) {
		t.Errorf("steps %+v", steps)
	}
}

// TestBudget appends more than may wait: Append waits for the commit and loses nothing.
func TestBudget(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	gate := make(chan struct{})
	var gated atomic.Bool
	s := mustOpen(t, path, Options{Budget: 10 << 10, Flush: time.Millisecond, Fault: func() error {
		if gated.Load() {
			<-gate
		}
		return nil
	}})
	gated.Store(true)
	appended := make(chan uint64)
	go func() {
		for seq := uint64(1); seq <= 50; seq++ {
			s.Append(exchangeSteps(seq, 1000)...)
			appended <- seq
		}
	}()
	last := uint64(0)
	for waiting := false; !waiting; {
		select {
		case last = <-appended:
		case <-time.After(100 * time.Millisecond):
			waiting = true
		}
	}
	if last == 0 || last > 15 {
		t.Errorf("%d exchanges of more than 1000 bytes went into 10 KiB", last)
	}
	gated.Store(false)
	close(gate)
	for last < 50 {
		last = <-appended
	}
	mustClose(t, s)
	expect.Equal(t, "steps", 350, len(collect(t, s, 1)))
}

// A sum of losses stays at the highest number there is, and does not become less.
func TestLossesDoNotWrap(t *testing.T) {
	t.Parallel()
	store := mustOpen(t, newPath(t), Options{})
	for _, n := range []int64{math.MaxInt64, 1, -1} {
		mustAppend(t, store, capture.Step{Offset: capture.NotKnown, What: capture.Lost{Exchanges: n, Bytes: n}})
	}
	mustClose(t, store)
	info, err := store.Info(t.Context())
	if err != nil || info.LostExchanges != math.MaxInt64 || info.LostBytes != math.MaxInt64 {
		t.Errorf("got %+v, %v", info, err)
	}
}
