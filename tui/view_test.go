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

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
	"a2atap/tui/internal/tuitest"
)

// engines counts the engines that are made with the option.
func engines(n *atomic.Int64) engine.Option {
	return func(*engine.Engine) { n.Add(1) }
}

// A notice is shown until a key is pressed.
func TestNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notices := make(chan string, 1)
		u := newUI(t, tuitest.Growing(t, 3).Reader(), 100, 24, Options{Notices: notices})
		for _, text := range []string{"checking is behind", "shipping has recovered"} {
			notices <- text
			u.pass(time.Second)
			u.sees(text)
			u.press("j")
			u.hides(text)
		}
	})
}

// When the recording has ended and another one appends, the inspector checks both as one, and reports nothing twice.
func TestViewOfAResumedRecording(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	first, store := recorder(t, path)
	store(tuitest.Call(1, "t-1", "TASK_STATE_COMPLETED"))
	store(tuitest.Call(2, "t-1", "TASK_STATE_WORKING"))
	first.Flush()
	attached := must.Get(bolt.Read(path))(t)
	defer attached.Close()
	u := startUI(t, attached, 120, 40, Options{View: view.Open(attached, view.Options{Rules: rules.All})})
	defer u.cancel()
	shows := func(words string) {
		t.Helper()
		u.until(words, func() bool { return strings.Contains(u.screen(), words) })
	}
	shows("! 1 error, live")
	end(t, first)
	shows("! 1 error, ended")
	second, store := recorder(t, path)
	store(tuitest.Call(3, "t-1", "TASK_STATE_WORKING"))
	shows("! 2 errors, live")
	end(t, second)
	shows("! 2 errors, ended")
}

// The list of findings is bounded; all of them are counted, and their exchanges are marked.
func TestManyFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := judgingOf(t, tuitest.Growing(t, 2), nil)
		tuitest.Record(t, r.m, tuitest.Call(3, "t-1", "TASK_STATE_WORKING")) // t-1 was completed
		r.judge()
		broken := must.Get(engine.Run(t.Context(), rules.All, r.m.Reader(), nil))(t).Findings[0]
		for range 20_000 {
			r.writer.Found(broken)
		}
		broken.Place.Exchange = 2
		r.writer.Found(broken)
		r.writer.Flush()
		u := newUI(t, r.m.Reader(), 100, 24, Options{View: r.view(nil)})
		u.sees("! 20,001 errors, live")
		u.press("e")
		u.sees("the first 20,000 are listed")
		u.press("esc", "g", "n")
		if got := u.cursorLine(); !strings.HasPrefix(got, ">!  2 ") {
			t.Errorf("after the first exchange the next one with a finding is %q, want 2", got)
		}
	})
}

// A burning source yields no steps to an engine.
type burning struct{ capture.Source }

func (burning) Steps(context.Context, uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) { yield(capture.Step{}, errors.New("the disk is on fire")) }
}

// An engine that cannot continue is not taken for one that found nothing.
func TestCheckingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 1)
		v := view.Open(burning{m.Reader()}, view.Options{Rules: rules.All})
		u := newUI(t, m.Reader(), 100, 24, Options{View: v})
		u.sees("! checking has stopped: the disk is on fire")
		for i := range uint64(3) {
			tuitest.Record(t, m, tuitest.Call(i+2, fmt.Sprint("t-", i+2), "TASK_STATE_WORKING"))
		}
		u.pass(time.Second)
		u.sees("4 exchanges", "! checking has stopped: the disk is on fire")
	})
}
