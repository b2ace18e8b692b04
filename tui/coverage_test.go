package tui

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/proxy/must"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/tuitest"
)

// The coverage panel uses the terms of check, and unfolds to the rules and their subjects.
func TestCoverage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := journey(t)
		u := newUI(t, src, 200, 40, Options{})
		result := must.Get(engine.Run(t.Context(), rules.All, src, nil))(t)
		var check bytes.Buffer
		must.Do(t, report.Text(&check, &report.Report{Result: result, Rules: rules.All}))
		u.press("c")
		for _, words := range strings.Split(check.String(), "\n") {
			if words, _, _ = strings.Cut(words, "; --coverage"); strings.Contains(words, "observed") {
				u.sees(words)
			}
		}
		u.sees("3 errors, 0 warnings, 1 note in 8 exchanges")
		u.press("j", "enter")
		u.sees("▾ agent-card: ")
		u.press("_")
		u.press("_", "g")
		for range 2_000 {
			if strings.Contains(u.cursorLine(), "stream-closed-on-terminal") {
				break
			}
			u.strike("j")
		}
		if line := u.cursorLine(); !strings.HasPrefix(line, ">!") || !strings.Contains(line, "broken 1 of 2") {
			t.Errorf("the rule that was broken is %q", line)
		}
		u.press("enter")
		u.sees("stream continues after the task has ended", "Fix")
		u.press("esc", "esc")
		if u.m.top() != panel.Panel(u.m.list) {
			t.Errorf("back leads to\n%s", u.screen())
		}
	})
}

// The panel follows a recording, and its cursor stays at its line.
func TestCoverageGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 3)
		u := newUI(t, m.Reader(), 160, 30, Options{})
		u.press("c")
		u.sees("3 of 3 calls succeeded", "1 link so far")
		u.press("G")
		at := u.cursorLine()
		for n := uint64(4); n < 8; n++ {
			tuitest.Record(t, m, tuitest.Call(n, fmt.Sprint("t-", n), "TASK_STATE_WORKING"))
		}
		tuitest.Record(t, m, sent(8, "planner", "hotel", parent(1, 1)))
		tuitest.Record(t, m, done(8, "room"))
		u.pass(10 * time.Second)
		u.sees("7 of 7 calls succeeded", "planner → hotel: ", "2 links so far")
		if now := u.cursorLine(); now[:12] != at[:12] {
			t.Errorf("the cursor went from %q to %q", at, now)
		}
	})
}
