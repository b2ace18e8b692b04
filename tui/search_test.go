package tui

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/internal/tuitest"
)

// towns returns a capture of calls, one of each town.
func towns(t *testing.T, names ...string) *capture.Memory {
	t.Helper()
	m := tuitest.Growing(t, 0)
	for i, name := range names {
		tuitest.Record(t, m, tuitest.Call(uint64(i)+1, name, "TASK_STATE_COMPLETED"))
	}
	return m
}

// The list stays whole, and the cursor goes from exchange to exchange that has what is searched for.
func TestSearchInTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, towns(t, "kyoto", "osaka", "nara", "kyoto", "osaka", "Kyoto").Reader(), 80, 24, Options{})
		var visited []uint64
		visit := func(keys ...string) {
			u.press(keys...)
			visited = append(visited, u.m.list.Selected())
		}
		u.press("g", "j").search("kyoto")
		u.sees("6 exchanges, match 2 of 3")
		visit()
		visit(".")
		u.sees("match 3 of 3")
		visit(".")
		u.sees("no match further down; the search continues at the top")
		visit(",")
		u.sees("no match further up; the search continues at the end")
		visit(",")
		visit("j", ",")
		expect.Same(t, "kyoto is found in", []uint64{4, 6, 1, 6, 4, 4}, visited)
		u.press("k")
		u.sees("6 exchanges, 3 matches")
		visited = nil
		u.search("Kyoto")
		visit()
		u.sees("match 1 of 1")
		u.search("tokyo")
		u.sees("no match for tokyo")
		u.press("esc", ".")
		u.sees(".: there is no search; s starts one")
		expect.Equal(t, "Kyoto is found", 6, visited[0])
	})
}

// Enter shows the match, and the next exchange shows its own.
func TestSearchFromListToDetail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, towns(t, "kyoto", "osaka", "kyoto").Reader(), 80, 24, Options{})
		u.press("g").search("/k.oto/").press(".", "enter")
		u.sees("exchanges › 3 ", "match 1 of 2")
		u.isOn(`"id": "kyoto"`)
		u.press("[")
		u.sees("0 matches")
		u.press("[")
		u.sees("match 1 of 2")
		u.press("esc", "esc")
		if got := u.screen(); strings.Contains(got, "match") {
			t.Errorf("esc in the list does not end the search:\n%s", got)
		}
		u.press("enter")
		if got := u.screen(); strings.Contains(got, "match") {
			t.Errorf("what was searched for before is lit:\n%s", got)
		}
	})
}

// Beside the list, the detail follows the search.
func TestSearchOnAWideScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, towns(t, "kyoto", "osaka", "kyoto").Reader(), 130, 30, Options{})
		u.press("g").search("kyoto")
		u.sees("3 exchanges, match 1 of 2", "│>    \"id\": \"kyoto\"", "match 1 of 2")
		u.press(".")
		u.pass(time.Second)
		u.sees("3 exchanges, match 2 of 2")
		if d := u.m.panes.detail; d.Seq != 3 || !strings.Contains(d.Status(), "match 1 of 2") {
			t.Errorf("beside it is exchange %d: %s", d.Seq, d.Status())
		}
		u.press("tab", ".")
		u.sees("━ match 2 of 2 ━", "│>    \"id\": \"kyoto\",")
	})
}

// With a filter, only what it lets through is gone to and counted.
func TestSearchWithAFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("g").search("task")
		all := len(u.m.list.Found())
		u.press("/").typed("agent:booker").press("enter", "g", ".")
		kept := u.m.list.Found()
		if len(kept) == 0 || len(kept) >= all {
			t.Fatalf("%d of %d matches are in the list", len(kept), all)
		}
		u.sees(fmt.Sprintf(" of %d", len(kept)))
		for range all {
			u.press(".")
			if got := u.m.list.Selected(); !slices.Contains(u.m.list.Found(), got) {
				t.Errorf("exchange %d has no match", got)
			}
		}
	})
}

// Where the filter lets another exchange through in the place of one, the search follows, although it is as many.
func TestSearchWhenTheFilterLetsOthersThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		for seq := uint64(1); seq <= 2; seq++ {
			tuitest.Record(t, m, tuitest.Subscribed(seq, "kyoto"))
		}
		tuitest.Record(t, m, []capture.Step{tuitest.Status(1, 1, "kyoto", "TASK_STATE_WORKING")})
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.press("/").typed("state:working not state:completed").press("enter", "g").search("kyoto")
		u.sees("match 1 of 1")
		tuitest.Record(t, m, []capture.Step{
			tuitest.Status(1, 2, "kyoto", "TASK_STATE_COMPLETED"), tuitest.Status(2, 1, "kyoto", "TASK_STATE_WORKING"),
		})
		u.pass(30 * time.Second)
		u.lists(2)
		u.press("g", ".")
		u.sees("match 1 of 1")
		u.selects(2)
	})
}

// The search keeps up with a recording: with new exchanges, and with new steps of open ones.
func TestSearchFollowsTheRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := towns(t, "kyoto", "osaka")
		tuitest.Record(t, m, tuitest.Subscribed(3, "t-3"))
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.press("g").search("kyoto")
		u.sees("match 1 of 1")
		tuitest.Record(t, m, tuitest.Call(4, "kyoto", "TASK_STATE_COMPLETED"))
		u.pass(10 * time.Second)
		u.sees("match 1 of 2")
		tuitest.Record(t, m, []capture.Step{tuitest.Says(3, 1, "nara")})
		u.pass(30 * time.Second)
		u.sees("match 1 of 2")
		tuitest.Record(t, m, []capture.Step{tuitest.Says(3, 2, "kyoto")})
		u.pass(30 * time.Second)
		u.sees("match 1 of 3")
		u.press(".")
		u.selects(3)
	})
}

// A large capture is searched bit by bit, from the cursor on; esc stops that.
func TestSearchInALargeList(t *testing.T) {
	const calls = 5_000
	r := must.Get(bolt.Read(store(t, calls)))(t)
	defer r.Close()
	src := count(r, 3_000)
	u := startUI(t, src, 80, 24, Options{Rules: []*analysis.Rule{}})
	defer u.cancel()
	u.until("the list", func() bool { return u.m.list.Selected() == 1 && u.m.list.Idle() })
	u.strike("s")
	for _, c := range `/t-25"|t-1249"/` {
		u.strike(string(c))
	}
	u.strike("enter")
	u.until("the first match", func() bool { return u.m.list.Selected() == 101 })
	u.strike("esc")
	u.until("the end of the search", func() bool {
		return strings.Contains(u.screen(), "match 1 of ") && !strings.Contains(u.screen(), "searching ")
	})
	close(src.permits)
	for u.m.list.Selected() != 4_997 {
		before := u.m.list.Selected()
		u.strike(".")
		u.until("the next match", func() bool { return u.m.list.Selected() != before })
	}
	u.until("all matches", func() bool { return len(u.m.list.Found()) >= 8 })
	if got := u.m.list.Found(); len(got) != 8 {
		t.Errorf("the matches are %v", got)
	}
}

// A stream of very many events is searched, in the list and in the detail, without being in memory.
func TestLongStreamIsSearchedAndNotHeld(t *testing.T) {
	const events = 100_000
	path := filepath.Join(t.TempDir(), "long.a2atap")
	s := must.Get(bolt.Open(path, bolt.Options{}))(t)
	steps := tuitest.Subscribed(1, "t-1")
	for k := range events {
		if k == events/2 {
			steps = append(steps, tuitest.Says(1, k+1, "kyoto"))
		} else {
			steps = append(steps, tuitest.Status(1, k+1, "t-1", "TASK_STATE_WORKING"))
		}
	}
	must.Do(t, s.Append(steps...))
	steps = nil
	end(t, s)
	r := must.Get(bolt.Read(path))(t)
	defer r.Close()
	before := heap()
	u := startUI(t, inParts{r, t}, 80, 24, Options{Rules: []*analysis.Rule{}})
	defer u.cancel()
	u.until("the list", func() bool { return strings.Contains(u.screen(), "SubscribeToTask") })
	u.strike("s")
	for _, c := range "kyoto" {
		u.strike(string(c))
	}
	u.strike("enter")
	u.until("the match in the list", func() bool { return strings.Contains(u.screen(), "match 1 of 1") })
	u.strike("enter")
	u.until("the match in the detail", func() bool {
		return strings.Contains(u.cursorLine(), `"note": "kyoto"`) && u.m.top().Status() == "match 1 of 1"
	})
	u.until("the end of checking, which allocates", func() bool { return u.m.shared.Judged.Ended })
	if got := heap() - before; got > 16<<20 { // the events themselves are some 40 MiB
		t.Errorf("searching it takes %d bytes", got)
	}
	runtime.KeepAlive(u)
}

// In a sorted or grouped list, next follows the order of the list, and unfolds groups.
func TestSearchInASortedList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, towns(t, "kyoto", "osaka", "nara", "kyoto", "osaka", "Kyoto").Reader(), 80, 24, Options{})
		u.press("O", "g").search("kyoto")
		u.sees("match 1 of 3")
		var visited []uint64
		for _, key := range []string{".", ".", ".", ","} {
			visited = append(visited, u.press(key).m.list.Selected())
		}
		expect.Same(t, "from the newest to the oldest", []uint64{4, 1, 6, 1}, visited)
		u.sees("match 3 of 3")
		u.press("O", "u", "_", "g", ".")
		u.sees("match 1 of 3")
		u.isOn("GetTask")
		u.press("g").search("nara")
		u.sees("match 1 of 1")
		u.selects(3)
	})
}
