package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/tuitest"
)

// A user groups findings, folds a group, and goes through the others.
func TestFindingsAreGrouped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 40, Options{})
		u.press("e", "_")
		u.sees("_: there are no groups; u groups")
		u.press("G")
		u.sees("stream-still-open: stream was open") // the rule of the note, which is the last
		u.press("u")
		u.sees("1 note; by rule")
		expect.Equal(t, "grouping has moved the cursor to", 8, u.m.top().Target().Exchange)
		u.press("k")
		line := u.cursorLine()
		if !strings.Contains(line, "▾ stream-still-open") || !strings.Contains(line, "1 note in 1 exchange") {
			t.Errorf("above it is %q", line)
		}
		u.press("enter", "g")
		u.isOn("1 error in 1 exchange")
		u.press("n", "n", "n", "n")
		expect.Equal(t, "four findings on", 8, u.m.top().Target().Exchange)
		u.press("_")
		expect.Equal(t, "lines when folded", 4, strings.Count(u.screen(), "▸ "))
		u.press("u")
		u.sees("▾ booker", "3 errors, 1 note in 4 exchanges")
		u.press("u")
		u.sees("▾ error", "3 errors in 3 exchanges")
		u.press("g", "j", "enter")
		if d, is := u.m.top().(*detail.Panel); !is || d.Seq != 4 {
			t.Errorf("enter on a finding opens\n%s", u.screen())
		}
	})
}

// New findings, also worse ones, do not move the cursor, and a heading that is selected stays selected.
func TestFindingGroupsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := judgingOf(t, tuitest.Growing(t, 30), nil)
		r.judge()
		u := newUI(t, r.m.Reader(), 100, 30, Options{View: r.view(nil)})
		find := func(seq uint64, s analysis.Severity, rule int) {
			r.writer.Found(analysis.Finding{
				Rule: rules.All[rule], Severity: s, Seen: fmt.Sprint("finding ", seq), Place: analysis.Place{Exchange: seq},
				Link: analysis.Link{Client: "traveller", Agent: "booker"},
			})
			r.writer.Flush()
			u.pass(time.Second)
		}
		find(5, analysis.Warning, 0)
		u.press("e")
		for n := uint64(6); n < 12; n++ {
			find(n, analysis.Error, 1)
		}
		expect.Equal(t, "worse findings have moved the cursor to", 5, u.m.top().Target().Exchange)
		u.press("u", "g")
		at := u.cursorLine()
		expect.Contains(t, "the first group", "6 errors in 6 exchanges", at)
		find(12, analysis.Error, 2)
		find(13, analysis.Error, 1)
		expect.Contains(t, "the cursor has moved to", "7 errors in 7 exchanges", u.cursorLine())
		u.sees("8 errors, 1 warning, 0 notes; by rule")
	})
}
