package tui

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

// engines counts the engines that are made with the option.
func engines(n *atomic.Int64) engine.Option {
	return func(*engine.Engine) { n.Add(1) }
}

// found returns what the rules find in a capture, as somebody else judges it.
func found(t *testing.T, src capture.Source) *judgment.Result {
	t.Helper()
	return must.Get(engine.Run(t.Context(), rules.All, src, nil))(t)
}

// With verdicts the inspector shows what they tell, and judges nothing.
func TestVerdictsAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 3)
		v := load.NewVerdicts(0)
		var own atomic.Int64
		u := newUI(t, m.Reader(), 100, 24, Options{Verdicts: v, Keys: []engine.Option{engines(&own)}})
		tuitest.Record(t, m, tuitest.Call(4, "t-1", "TASK_STATE_WORKING")) // t-1 was completed
		u.pass(3 * time.Second)
		u.sees("4 exchanges")
		u.hides("error")
		result := found(t, m.Reader())
		for _, f := range result.Findings {
			v.Found(f)
		}
		v.Judged(8, result.Counts, true)
		u.pass(time.Second)
		u.sees("! 1 error, judging 32 %, live")
		v.Judged(28, result.Counts, false)
		u.pass(time.Second)
		u.sees("! 1 error, live")
		u.press("g", "n", "e")
		u.sees("state-terminal-immutable")
		expect.Equal(t, "engines that the inspector made", 0, own.Load())
	})
}

// That judging is behind is shown until a key is pressed, or until it has caught up.
func TestJudgingBehindIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const notice = "judging is 1000 exchanges behind"
		v := load.NewVerdicts(0)
		u := newUI(t, tuitest.Growing(t, 3).Reader(), 100, 24, Options{Verdicts: v})
		counts := judgment.Counts{Exchanges: 3, Judged: 3}
		v.Judged(2, counts, true)
		v.Notice(notice)
		u.pass(time.Second)
		u.sees(notice)
		v.Judged(12, counts, true)
		u.pass(time.Second)
		u.sees(notice)
		u.sees("judging 61 %, live")
		v.Judged(21, counts, false)
		u.pass(time.Second)
		u.hides(notice)
		u.sees("no finding, live")

		v.Notice(notice)
		u.pass(time.Second)
		u.sees(notice)
		u.press("j")
		u.hides(notice)
	})
}

// What earlier recordings left in the capture is judged by the inspector, once, and nothing of what comes after.
func TestVerdictsOnAnAddition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 2)
		tuitest.Record(t, m, tuitest.Call(3, "t-1", "TASK_STATE_WORKING")) // t-1 was completed
		v := load.NewVerdicts(21)
		tuitest.Record(t, m, tuitest.Call(4, "t-2", "TASK_STATE_WORKING")) // t-2 was completed, but before this recording
		var own atomic.Int64
		u := newUI(t, m.Reader(), 100, 24, Options{Verdicts: v, Keys: []engine.Option{engines(&own)}})
		u.sees("! 1 error, judging 78 %, live")
		v.Judged(28, judgment.Counts{Exchanges: 1, Judged: 1}, false)
		u.pass(time.Second)
		u.sees("! 1 error, live")
		if c := u.m.shared.Judged.Counts; c.Exchanges != 4 || c.Judged != 4 {
			t.Errorf("%d exchanges, %d judged; want those of the earlier recording too, 4", c.Exchanges, c.Judged)
		}
		expect.Equal(t, "engines that the inspector made", 1, own.Load())
	})
}

// When the recording has ended and another one appends, the inspector judges both as one, and says nothing twice.
func TestVerdictsEndAndTheRecordingGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	first, store := recorder(t, path)
	store(tuitest.Call(1, "t-1", "TASK_STATE_COMPLETED"))
	store(tuitest.Call(2, "t-1", "TASK_STATE_WORKING"))
	first.Flush()
	attached := must.Get(bolt.Read(path))(t)
	defer attached.Close()
	v := load.NewVerdicts(0)
	u := startUI(t, attached, 120, 40, Options{Verdicts: v})
	defer u.cancel()
	shows := func(words string) {
		t.Helper()
		u.until(words, func() bool { return strings.Contains(u.screen(), words) })
	}
	result := found(t, attached)
	for _, f := range result.Findings {
		v.Found(f)
	}
	v.Judged(14, result.Counts, false)
	shows("! 1 error, live")
	end(t, first)
	v.Ended(result.Counts, nil)
	shows("! 1 error, ended")
	second, store := recorder(t, path)
	store(tuitest.Call(3, "t-1", "TASK_STATE_WORKING"))
	shows("! 2 errors, live")
	end(t, second)
	shows("! 2 errors, ended")
}

// An inspector that takes nothing costs bounded memory, and shows all of it later.
func TestVerdictsThatWaitAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 2)
		tuitest.Record(t, m, tuitest.Call(3, "t-1", "TASK_STATE_WORKING")) // t-1 was completed
		broken := found(t, m.Reader()).Findings[0]
		v := load.NewVerdicts(0)
		for range 20_000 {
			v.Found(broken)
		}
		broken.Place.Exchange = 2
		v.Found(broken)
		v.Judged(21, judgment.Counts{Exchanges: 3, Judged: 3}, false)
		u := newUI(t, m.Reader(), 100, 24, Options{Verdicts: v})
		u.sees("! 20,001 errors, live")
		u.press("e")
		u.sees("the first 20,000 are listed")
		u.press("esc", "g", "n")
		if got := u.cursorLine(); !strings.HasPrefix(got, ">!  2 ") {
			t.Errorf("after the first exchange the next one with a finding is %q, want 2", got)
		}
	})
}

// A judge that cannot go on is not taken for one that found nothing.
func TestVerdictsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 1)
		v := load.NewVerdicts(0)
		u := newUI(t, m.Reader(), 100, 24, Options{Verdicts: v})
		v.Ended(judgment.Counts{}, errors.New("the disk is on fire"))
		u.pass(time.Second)
		u.sees("! judging has stopped: the disk is on fire")
		for i := range uint64(3) {
			tuitest.Record(t, m, tuitest.Call(i+2, fmt.Sprint("t-", i+2), "TASK_STATE_WORKING"))
		}
		u.pass(time.Second)
		u.sees("4 exchanges", "! judging has stopped: the disk is on fire")
	})
}
