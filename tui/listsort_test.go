package tui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/tuitest"
)

// A user groups the list, folds what does not matter, and looks for findings: also those that are folded away.
func TestGroupsAreWalked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 40, Options{})
		u.press("g", "j", "_")
		u.sees("_: there are no groups; u groups")
		u.press("u")
		u.sees("exchanges by context and task")
		u.selects(2)
		u.press("k")
		line := u.cursorLine()
		if !strings.Contains(line, "▾ task plan-7f3a") || !strings.Contains(line, "2 exchanges") {
			t.Errorf("above 2 is %q, want the heading of its task", line)
		}
		u.press("enter")
		u.isOn("▸ task plan-7f3a")
		u.press("j")
		u.isOn("▾ task book-91c2")
		u.press("_")
		if got := u.m.list.Length(); got != 2 {
			t.Errorf("all folded, there are %d lines, want 2:\n%s", got, u.screen())
		}
		u.press("g", "n")
		u.selects(4)
		u.press("n", "n", "n")
		u.selects(7)
		u.press("n")
		u.sees("no finding further down; continuing at the top")
		u.press("N", "N", "enter", "[")
		u.isAt(6)
		u.press("]", "]", "esc")
		u.selects(1)
		u.press("u", "u")
		u.sees("exchanges by number")
		if got := u.m.list.Selected(); got != 1 || u.m.list.Length() != 8 {
			t.Errorf("by number again, %d is selected of %d lines", got, u.m.list.Length())
		}
	})
}

// From the heading of a group its first exchange opens in the other panels.
func TestHeadingStandsForItsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 40, Options{})
		u.press("g", "n", "u", "k", "l")
		u.sees("ladder of 4")
		u.press("esc", "d")
		if d, is := u.m.top().(*detail.Panel); !is || d.Seq != 4 {
			t.Errorf("d on the heading opens\n%s", u.screen())
		}
		u.press("esc")
		u.isOn("task book-91c2")
	})
}

func TestSortingWithFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 40, Options{})
		u.press("o", "o", "/").typed("agent:booker").press("enter", "g")
		u.sees("5 of 8 exchanges, longest first")
		u.selects(4)
		u.press("O")
		u.sees("5 of 8 exchanges, shortest first")
		u.selects(4)
		u.press("g")
		u.selects(5)
		u.press("o", "o", "o", "o", "G", "u", "esc")
		u.sees("8 exchanges, by context and task, earliest first")
	})
}

// Under a recording, groups grow and new ones come, and the cursor stays where it is, in the same line of the screen.
func TestGroupsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := capture.NewMemory(capture.Info{Name: "live.a2atap"})
		for n := uint64(1); n <= 40; n++ {
			tuitest.Record(t, m, tuitest.Call(n, fmt.Sprint("t-", n%4), "TASK_STATE_WORKING"))
		}
		u := newUI(t, m.Reader(), 100, 20, Options{})
		u.press("u", "G", "k", "k")
		seq, line := u.m.list.Selected(), u.cursorRow()
		if seq == 0 {
			t.Fatalf("nothing is selected:\n%s", u.screen())
		}
		for n := uint64(41); n <= 60; n++ {
			tuitest.Record(t, m, tuitest.Call(n, fmt.Sprint("t-", n%4), "TASK_STATE_WORKING"))
			u.pass(50 * time.Millisecond)
		}
		u.pass(3 * time.Second)
		if got := u.m.list.Selected(); got != seq || u.cursorRow() != line {
			t.Errorf("the cursor went from %d in line %d to %d in line %d", seq, line, got, u.cursorRow())
		}
		expect.Equal(t, "lines", 60+4+1, u.m.list.Length())
		u.press("_", "g")
		u.sees("60 exchanges", "… 4 working")
		tuitest.Record(t, m, tuitest.Call(61, "t-1", "TASK_STATE_COMPLETED"))
		u.pass(3 * time.Second)
		u.sees("61 exchanges", "… 3 working, ✓ 1 comp")
		u.press("_", "F")
		tuitest.Record(t, m, tuitest.Call(62, "t-2", "TASK_STATE_WORKING"))
		u.pass(3 * time.Second)
		u.selects(62)
	})
}

// Until all was read, the list stays as it is, says how far it is, and works.
func TestSortingSaysHowFarItIs(t *testing.T) {
	const calls = 3_000
	r, err := bolt.Read(store(t, calls))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	src := count(r, 21+42+1500)
	u := startUI(t, src, 100, 24, Options{})
	defer u.cancel()
	u.until("the first exchange", func() bool { return u.m.list.Selected() == 1 && u.m.list.Idle() })
	u.strike("G")
	u.until("the newest", func() bool { return u.m.list.Selected() == calls && u.m.list.Idle() })
	u.strike("o")
	u.until("progress", func() bool { return strings.Contains(u.screen(), "earliest first: reading, ") })
	u.strike("k")
	expect.Equal(t, "while it is read, k leads to", calls-1, u.m.list.Selected())
	close(src.permits)
	u.strike("o")
	u.until("the list by duration", func() bool { return strings.Contains(u.screen(), "longest first ") })
	u.strike("O")
	u.until("its reverse", func() bool {
		return u.m.list.Idle() && strings.Contains(u.screen(), "shortest first")
	})
	read := src.exchanges.Load()
	u.strike("u")
	u.until("groups", func() bool {
		return u.m.list.Idle() && strings.Contains(u.screen(), "by context and task") && u.m.list.Idle()
	})
	if got := src.exchanges.Load() - read; got > 3*24 {
		t.Errorf("what sorting needs was read already, and grouping has read %d exchanges", got)
	}
}

// failing is a source that cannot be read when it is to fail.
type failing struct {
	capture.Source
	fails atomic.Bool
}

func (f *failing) Ends(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error] {
	if !f.fails.Load() {
		return f.Source.Ends(ctx, from, n)
	}
	return func(yield func(*capture.Exchange, error) bool) { yield(nil, errors.New("the disk is gone")) }
}

// A read error is reported, and the list stays unchanged.
func TestSortingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &failing{Source: journey(t)}
		u := newUI(t, src, 100, 24, Options{View: view.Open(burning{src}, view.Options{Rules: rules.All})})
		src.fails.Store(true)
		u.press("u")
		u.sees("the list cannot be sorted: ", "8 exchanges")
		if strings.Contains(u.m.list.Status(), "by context and task") {
			t.Error("it is still to be grouped")
		}
	})
}
