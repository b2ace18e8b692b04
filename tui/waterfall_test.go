package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/tuitest"
)

// Tab in the ladder shows the waterfall; the exchange stays selected, enter opens it, and tab leads back.
func TestWaterfallOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 30, Options{})
		u.press("g", "n", "l", "j", "j", "tab")
		u.sees("5 exchanges, task book-91c2")
		u.isOn("SendStreamingMessage 200")
		u.isOn("├━━")
		u.sees("answer after 12.0ms, 7 events from 12.0ms to 2.600s, ended after 2.611s")
		u.sees("0s            2s             4s             6s")
		u.press("n")
		u.isAt(6)
		if line := u.cursorLine(); !strings.HasSuffix(strings.TrimRight(line, " ┊"), "✗") {
			t.Errorf("the exchange that failed is drawn as %q", line)
		}
		u.press("n", "n")
		u.sees("no finding further down; continuing at the top")
		u.press("N")
		u.sees("no finding further up; continuing at the end")
		u.press("N", "tab")
		u.isAt(6)
		u.press("tab", "j", "enter")
		if d, is := u.m.top().(*detail.Panel); !is || d.Seq != 8 {
			t.Errorf("enter opens\n%s", u.screen())
		}
	})
}

// In a workflow tab leads from the ladder to the tree, to the waterfall, and back.
func TestWaterfallOfAWorkflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, trip(t).Reader(), 120, 30, Options{})
		u.press("g", "j", "j", "W", "tab", "tab")
		u.sees("├ request ─ waits")
		for range 3 { // a waterfall, a ladder, a tree
			u.isAt(3)
			u.press("tab")
		}
		u.sees("├ request ─ waits")
	})
}

// An open exchange extends to the right end, and grows.
func TestWaterfallGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		tuitest.Record(t, m, tuitest.Call(1, "t-1", "TASK_STATE_WORKING"))
		tuitest.Record(t, m, tuitest.Subscribed(2, "t-1"))
		u := newUI(t, m.Reader(), 100, 30, Options{})
		u.press("g", "j", "l", "tab")
		if line := u.cursorLine(); !strings.HasSuffix(line, "▶") {
			t.Errorf("an open exchange is drawn as %q", line)
		}
		u.sees("answer after 1.0ms, still open")
		for k := range 3 {
			tuitest.Record(t, m, []capture.Step{tuitest.Status(2, 100*(k+1), "t-1", "TASK_STATE_WORKING")})
		}
		u.pass(5 * time.Second)
		if line := u.cursorLine(); strings.Count(line, "●") != 2 || !strings.HasSuffix(line, "▶") {
			t.Errorf("with three events, the last at the end, it is drawn as %q", line)
		}
	})
}

// The detail shows the scale of its bars. Without room, it has no bars.
func TestBarsOfEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 40, Options{})
		u.press("g", "n", "enter", "n")
		u.sees("bars show the wait before each event, on a scale from 0 to 2.600s")
		bars := 0
		for line := range strings.Lines(u.screen()) {
			if strings.Contains(line, "●") {
				bars++
			}
		}
		if bars != 7 {
			t.Errorf("%d of seven events have bars:\n%s", bars, u.screen())
		}
		u.press("enter")
		u.sees("\n │ {", ` │   "jsonrpc": "2.0",`)
		u.send(sizeOf(89, 40))
		u.pass(time.Second)
		if strings.Contains(u.screen(), "●") || strings.Contains(u.screen(), "bars are") {
			t.Errorf("at 89 columns there are bars:\n%s", u.screen())
		}
		u.sees(fmt.Sprintf("%d events; enter opens one", 7))
	})
}
