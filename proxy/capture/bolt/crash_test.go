package bolt

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// TestKilledRecorder records in one process, under load, follows in another, and kills the recorder. Everything that
// readers saw or that was committed is still there, and the next recorder continues, several times with the same
// capture.
func TestKilledRecorder(t *testing.T) {
	t.Parallel()
	const rounds = 3
	for name, segment := range map[string]int64{"one file": 0, "segments": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			for round := range rounds {
				killedOnce(t, path, segment, uint64(round)+1)
			}
		})
	}
}

func killedOnce(t *testing.T, path string, segment int64, crashes uint64) {
	before := reopened(t, path)
	recorder := startHelper(t, "record", path, segment)
	line, ok := recorder.line()
	if !ok {
		t.Fatal("the recorder did not begin")
	}
	committed := number(t, line)
	follower := startHelper(t, "follow", path, 0)
	browsed, stopBrowsing := browse(t, path)

	// The follower reads what is new, in the middle of the load, when the recorder is killed.
	var seen []uint64
	for want := before + 1000; uint64(len(seen)) < want; {
		seen = append(seen, nextHash(t, follower))
	}
	must.Do(t, recorder.cmd.Process.Kill())
	for recorder.lines.Scan() {
		committed = number(t, recorder.lines.Text())
	}
	recorder.cmd.Wait()
	for follower.lines.Scan() {
		seen = append(seen, number(t, follower.lines.Text()))
	}
	if err := follower.cmd.Wait(); err != nil {
		t.Fatal("the follower did not come to the end:", err)
	}
	stopBrowsing()
	if err := <-browsed; err != nil {
		t.Fatal("a reader of exchanges:", err)
	}
	t.Logf("the follower saw %d steps, the recorder had committed at least %d", len(seen), committed)
	checkKilled(t, path, seen, committed)
	if info, err := mustRead(t, path).Info(patient(t)); err != nil || info.Crashes != crashes {
		t.Errorf("%d recorders were killed, want %d; error %v", info.Crashes, crashes, err)
	}
}

// reopened opens and closes a capture, as the next recorder does, and returns how many steps it has.
func reopened(t *testing.T, path string) uint64 {
	t.Helper()
	before, lastSeq := uint64(0), uint64(0)
	if _, err := os.Stat(path); err == nil {
		info := must.Get(mustRead(t, path).Info(patient(t)))(t)
		before, lastSeq = info.Arrivals, info.Exchanges
	}
	s := mustOpen(t, path, Options{})
	at := s.Position()
	if at.Arrival < before || at.Seq != lastSeq {
		t.Fatalf("position %+v after %d steps of %d exchanges", at, before, lastSeq)
	}
	// Each exchange that was left open has exactly one more step now, and the last one says that the recorder was killed.
	added := collect(t, s, before+1)
	if n := len(added); n > 0 {
		lost, ok := added[n-1].What.(capture.Lost)
		if !ok || !strings.HasPrefix(lost.Reason, "the recorder was killed; up to ") {
			t.Fatalf("the last step that was added is %+v", added[n-1])
		}
		added = added[:n-1]
	}
	for _, step := range added {
		if end, ok := step.What.(capture.Closed); !ok || !end.Interrupted {
			t.Fatalf("step %+v was added", step)
		}
	}
	for x, err := range s.Exchanges(patient(t), 1) {
		must.Do(t, err)
		if x.State == capture.StateOpen {
			t.Fatalf("exchange %d is still open", x.Seq)
		}
	}
	mustClose(t, s)
	return at.Arrival
}

// checkKilled looks at what a killed recorder left.
func checkKilled(t *testing.T, path string, seen []uint64, committed uint64) {
	t.Helper()
	must.Do(t, Check(t.Context(), path))
	r := mustRead(t, path)
	info := must.Get(r.Info(patient(t)))(t)
	if info.Live {
		t.Error("the capture says that it is recorded")
	}
	if age := time.Since(info.Crash.After); age < 0 || age > must.Patience || info.Crash.Within < 2*time.Millisecond {
		t.Errorf("the crash is told as %+v", info.Crash)
	}
	if info.Arrivals < committed {
		t.Errorf("%d steps, %d were committed", info.Arrivals, committed)
	}
	steps := collect(t, r, 1)
	if len(steps) != len(seen) {
		t.Fatalf("the follower saw %d steps, the capture has %d", len(seen), len(steps))
	}
	open := make(map[uint64]bool)
	for i, step := range steps {
		if hashOf(step) != seen[i] {
			t.Fatalf("step %d is not what the follower saw", i+1)
		}
		_, closed := step.What.(capture.Closed)
		open[step.Seq] = !closed
	}
	interrupted := 0
	for x, err := range r.Exchanges(patient(t), 1) {
		must.Do(t, err)
		if open[x.Seq] {
			interrupted++
		}
		if open[x.Seq] && x.State != capture.StateInterrupted || x.State == capture.StateOpen {
			t.Errorf("exchange %d is %v", x.Seq, x.State)
		}
	}
	if interrupted == 0 {
		t.Error("no exchange was interrupted, although one never ends")
	}
}

// browse reads exchanges of a growing capture, the last and some others, again and again.
func browse(t *testing.T, path string) (<-chan error, func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	r := mustRead(t, path)
	go func() {
		for ctx.Err() == nil {
			info, err := r.Info(ctx)
			if err == nil && info.Exchanges > 0 {
				for _, err = range r.Exchanges(ctx, max(1, info.Exchanges-min(info.Exchanges, 50))) {
				}
				if err == nil {
					_, err = r.Exchange(ctx, info.Exchanges/2+1)
				}
			}
			if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, capture.ErrNotFound) {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return done, cancel
}

func nextHash(t *testing.T, h *helper) uint64 {
	t.Helper()
	if !h.lines.Scan() {
		t.Fatal("the follower ended early")
	}
	return number(t, h.lines.Text())
}

func number(t *testing.T, s string) uint64 {
	t.Helper()
	return must.Get(strconv.ParseUint(strings.TrimSpace(s), 10, 64))(t)
}
