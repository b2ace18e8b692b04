package tui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/internal/tuitest"
)

func TestLiveListGrowsAndFocusStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.sees("nothing recorded yet")
		for i := range uint64(40) {
			tuitest.Record(t, m, tuitest.Call(i+1, "t", "TASK_STATE_WORKING"))
			u.pass(50 * time.Millisecond)
		}
		u.pass(time.Second)
		u.selects(1)
		u.sees("40 exchanges, 19 newer below", "live")
		u.press("j", "j")
		tuitest.Record(t, m, tuitest.Call(41, "t", "TASK_STATE_WORKING"))
		u.pass(time.Second)
		u.selects(3)
	})
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 30)
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.press("g", "F")
		u.selects(30)
		tuitest.Record(t, m, tuitest.Call(31, "t", "TASK_STATE_WORKING"))
		u.pass(time.Second)
		u.selects(31)
		u.sees("31 exchanges, following")
		u.press("k")
		tuitest.Record(t, m, tuitest.Call(32, "t", "TASK_STATE_WORKING"))
		u.pass(time.Second)
		u.selects(30)
		end(t, m)
		u.pass(time.Second)
		u.sees("the recording has ended")
		u.press("F")
		u.sees("F: the recording has ended; nothing", "ended")
	})
}

func TestOpenExchangeGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		tuitest.Record(t, m, tuitest.Subscribed(1, "t-1"))
		u := newUI(t, m.Reader(), 100, 40, Options{})
		u.sees("t-1, 0 events, open")
		for k := range 5 {
			tuitest.Record(t, m, []capture.Step{tuitest.Status(1, k+1, "t-1", "TASK_STATE_WORKING")})
		}
		u.pass(3 * time.Second)
		u.sees("t-1 working, 5 events, open")
		u.press("enter", "G")
		u.sees("still open")
		u.press("k", "k")
		if got := u.m.top().Target().String(); got != "1.response.event[5]" {
			t.Fatalf("the cursor is at %s, want event 5", got)
		}
		tuitest.Record(t, m, []capture.Step{
			tuitest.Status(1, 6, "t-1", "TASK_STATE_COMPLETED"), tuitest.Status(1, 7, "t-1", "TASK_STATE_WORKING"),
			{Seq: 1, Offset: time.Second, What: capture.ResponseEnd{Size: capture.NotKnown}},
			{Seq: 1, Offset: time.Second, What: capture.Closed{}},
		})
		u.pass(3 * time.Second)
		expect.Equal(t, "when events came, the cursor", "1.response.event[5]", u.m.top().Target().String())
		u.sees("! ·7", "[stream-closed-on-terminal]", "ended after 1.000s")
		u.press("esc", "l")
		u.sees("! stream-closed-on-terminal")
	})
}

func TestLadderGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 3)
		tuitest.Record(t, m, tuitest.Call(4, "t-9", "TASK_STATE_SUBMITTED"))
		u := newUI(t, m.Reader(), 120, 40, Options{})
		u.press("l", "j")
		expect.Equal(t, "the ladder's cursor is at", "4.response", u.m.top().Target().String())
		tuitest.Record(t, m, tuitest.Call(5, "t-9", "TASK_STATE_WORKING"))
		u.pass(3 * time.Second)
		u.sees("GetTask t-9", "200 t-9 working")
		expect.Equal(t, "the ladder grew, and its cursor went to", "4.response", u.m.top().Target().String())
	})
}

func TestFilterKeepsUpWithTheCapture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 3)
		tuitest.Record(t, m, tuitest.Subscribed(4, "t-4"))
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.press("/").typed("state:failed").press("enter")
		u.sees("0 of 4 exchanges")
		tuitest.Record(t, m, tuitest.Call(5, "t-5", "TASK_STATE_FAILED"))
		tuitest.Record(t, m, tuitest.Call(6, "t-6", "TASK_STATE_COMPLETED"))
		tuitest.Record(t, m, []capture.Step{tuitest.Task(4, 1, "t-4", "TASK_STATE_FAILED")})
		u.pass(3 * time.Second)
		u.lists(4, 5)
		u.press("/", "ctrl+u").typed("severity:error").press("enter")
		u.sees("0 of 6 exchanges")
		tuitest.Record(t, m, tuitest.Call(7, "t-1", "TASK_STATE_WORKING")) // t-1 was completed
		u.pass(3 * time.Second)
		u.lists(7)
	})
}

// A flaky source fails until the test switches it on.
type flaky struct {
	capture.Source
	broken atomic.Bool
}

var errBroken = errors.New("the disk is \x1b[31mon fire")

func (f *flaky) Wait(ctx context.Context, from uint64) error {
	if f.broken.Load() {
		return errBroken
	}
	return f.Source.Wait(ctx, from)
}

func (f *flaky) Info(ctx context.Context) (capture.Info, error) {
	if f.broken.Load() {
		return capture.Info{}, errBroken
	}
	return f.Source.Info(ctx)
}

func TestReadErrorIsShownAndPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 3)
		src := &flaky{Source: m.Reader()}
		u := newUI(t, src, 80, 24, Options{})
		src.broken.Store(true)
		tuitest.Record(t, m, tuitest.Call(4, "t", "TASK_STATE_WORKING"))
		u.pass(5 * time.Second)
		u.sees("! the disk is ␛[31mon fire")
		src.broken.Store(false)
		u.pass(5 * time.Second)
		u.sees("4 exchanges")
		u.hides("fire")
	})
}

func TestCaptureThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &flaky{Source: tuitest.Growing(t, 3).Reader()}
		src.broken.Store(true)
		u := newUI(t, src, 80, 24, Options{})
		u.sees("! the disk is ␛[31mon fire")
		u.press("j", "enter", "?", "esc", "q", "q")
		if !u.quit {
			t.Error("q does not quit")
		}
	})
}

func TestLossIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 2)
		tuitest.Record(t, m, tuitest.Call(5, "t-5", "TASK_STATE_COMPLETED"))
		tuitest.Record(t, m, []capture.Step{{What: capture.Lost{Exchanges: 2, Bytes: 100, Reason: "the disk was full"}}})
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.sees("4 not in the capture", "2 exchanges not recorded")
		u.press("k", "enter")
		u.sees("no such exchange")
	})
}

func TestKeysBeforeThePanelIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("g", "n")
		u.strike("l")
		u.strike("n")
		u.pass(time.Second)
		u.isOn("! stream-closed-on-terminal")
		u.press("esc")
		u.strike("enter")
		u.strike("n")
		u.strike("enter")
		u.pass(time.Second)
		if got := u.cursorLine(); !strings.HasPrefix(got, ">! ·7") {
			t.Errorf("enter, n and enter at once lead to %q", got)
		}
	})
}

func TestBeginWithAFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{Filter: "agent:planner"})
		u.sees("3 of 8 exchanges", " / agent:planner")
		u.selects(1)
	})
}

func TestHintsWhileThereIsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		u := newUI(t, m.Reader(), 80, 24, Options{Hints: []string{"booker is tapped at http://127.0.0.1:7001/a2a"}})
		u.sees("booker is tapped at http://127.0.0.1:7001/a2a")
		tuitest.Record(t, m, tuitest.Call(1, "t", "TASK_STATE_WORKING"))
		u.pass(time.Second)
		u.hides("tapped at")
	})
}

// A slow source delays each step, and counts how often a reader starts.
type slow struct {
	capture.Source
	sweeps atomic.Int64
}

func (s *slow) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		s.sweeps.Add(1)
		for step, err := range s.Source.Steps(ctx, from) {
			select {
			case <-time.After(10 * time.Millisecond): // of the bubble's clock
			case <-ctx.Done():
				return
			}
			if !yield(step, err) {
				return
			}
		}
	}
}

func TestFindingsFillInDuringOneSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 2)
		tuitest.Record(t, m, tuitest.Call(3, "t-1", "TASK_STATE_WORKING")) // t-1 was completed
		for i := range uint64(100) {
			tuitest.Record(t, m, tuitest.Call(4+i, fmt.Sprint("u-", i), "TASK_STATE_WORKING"))
		}
		end(t, m)
		src := &slow{Source: m.Reader()}
		u := newUI(t, src, 80, 24, Options{})
		u.sees("! 1 error, checking")
		u.pass(20 * time.Second)
		u.hides("judging")
		expect.Equal(t, "how often the rules began to read", 1, src.sweeps.Load())
	})
}

// A recording in another process is followed through its store's socket, until the recorder ends.
func TestAttachedToARecorder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	recorder := must.Get(bolt.Open(path, bolt.Options{Flush: time.Millisecond}))(t)
	store := func(steps []capture.Step) {
		t.Helper()
		must.Do(t, recorder.Append(steps...))
	}
	store(tuitest.Call(1, "t-1", "TASK_STATE_COMPLETED"))
	attached := must.Get(bolt.Read(path))(t)
	defer attached.Close()
	u := startUI(t, attached, 120, 40, Options{})
	defer u.cancel()
	u.until("the list", func() bool {
		return strings.Contains(u.screen(), "1 exchange") &&
			strings.Contains(u.screen(), "live")
	})
	store(tuitest.Call(2, "t-1", "TASK_STATE_WORKING"))
	u.until("the second exchange, and what is wrong with it", func() bool {
		return strings.Contains(u.screen(), "2 exchanges") && strings.Contains(u.screen(), "! 1 error")
	})
	u.strike("n")
	u.strike("enter")
	u.until("the finding", func() bool { return strings.Contains(u.screen(), "[state-terminal-immutable]") })
	end(t, recorder)
	u.until("the end", func() bool { return strings.Contains(u.screen(), "the recording has ended") })
	u.strike("esc")
	u.until("the list", func() bool {
		return strings.Contains(u.screen(), "GetTask") &&
			strings.Contains(u.screen(), "ended")
	})
}
