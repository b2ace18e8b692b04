package tui

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

// begun records the exchanges whose reading in pieces has begun, as in a detail.
type begun struct {
	capture.Source
	mu   sync.Mutex
	seqs []uint64
}

func (b *begun) StepsOf(ctx context.Context, seq, from uint64) iter.Seq2[capture.Step, error] {
	if from == 0 {
		b.mu.Lock()
		b.seqs = append(b.seqs, seq)
		b.mu.Unlock()
	}
	return b.Source.StepsOf(ctx, seq, from)
}

// beside returns the contents of the panes: the selected exchange, the detail's exchange, and the title of the third
// pane.
func (u *ui) beside() string {
	words := fmt.Sprint(u.m.list.Selected())
	if d := u.m.panes.detail; d != nil {
		words += " " + d.Title()
	}
	if p := u.m.panes.third; p != nil {
		words += " " + p.Title()
	}
	return words
}

// isBeside fails unless the panes show that.
func (u *ui) isBeside(want string) {
	u.t.Helper()
	if got := u.beside(); got != want {
		u.t.Errorf("the panes are at %s, want %s:\n%s", got, want, u.screen())
	}
}

func TestDetailBesideTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 110, 24, Options{})
		u.sees("┫ exchanges ┣", "─ exchange 1 ─", "→ GET /.well-known/agent-card.json HTTP/1.1")
		u.press("n", "n")
		u.sees("─ exchange 6 ─", "reset by agent")
		u.send(sizeOf(109, 24))
		u.hides("exchange 6")
		u.sees("8 exchanges")
	})
}

// The focus goes from pane to pane, and the breadcrumb says where it is.
func TestFocusMoves(t *testing.T) {
	for _, c := range []struct {
		keys  string
		width int
		want  string
	}{
		{"", 120, "┫ exchanges ┣"},
		{"tab", 120, "┫ exchange 1 ┣"},
		{"tab tab", 120, "┫ exchanges ┣"},
		{"shift+tab", 120, "┫ exchange 1 ┣"},
		{"enter", 120, "┫ exchange 1 ┣"},
		{"enter esc", 120, "┫ exchanges ┣"},
		{"enter q", 120, "┫ exchanges ┣"},
		{"G tab tab", 200, "┫ findings ┣"},
		{"tab tab tab", 200, "┫ exchanges ┣"},
		{"G shift+tab", 200, "┫ findings ┣"},
		{"shift+tab esc", 200, "┫ exchanges ┣"},
		{"g shift+tab", 200, "┫ ladder of 1 ┣"},
	} {
		synctest.Test(t, func(t *testing.T) {
			u := newUI(t, journey(t), c.width, 40, Options{})
			u.press(strings.Fields(c.keys)...)
			u.sees(c.want)
			crumbs := []string{"exchanges"}
			if top := u.m.top(); top != panel.Panel(u.m.list) {
				crumbs = append(crumbs, top.Title())
			}
			u.sees("journey.txtar › " + strings.Join(crumbs, " › ") + " ")
			if n := strings.Count(u.screen(), "┫"); n != 1 {
				t.Errorf("after %q %d panes have the focus:\n%s", c.keys, n, u.screen())
			}
		})
	}
}

// Keys go to the pane that has the focus, the hints are its own, and the others stay.
func TestKeysOfTheFocusedPane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 120, 40, Options{})
		u.press("g", "j", "j", "enter", "j", "j", "v")
		u.isBeside("3 3")
		u.sees("decoded", "v view")
		u.press("]")
		u.isBeside("4 4")
		u.sees("┫ exchange 4 ┣")
		u.press("n")
		u.sees("! status")
		u.press("n")
		u.isBeside("6 6")
		u.press("esc", "k")
		u.isBeside("5 5")
		u.sees("decoded")
		u.hides("v view")
	})
}

// While a key is held the exchanges that it passes are not read.
func TestPassingByReadsNoDetails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 200)
		src := &begun{Source: m.Reader()}
		u := newUI(t, src, 120, 40, Options{})
		src.seqs = nil
		for range 20 { // thirty keys a second
			u.strike("k")
			u.pass(33 * time.Millisecond)
		}
		u.pass(time.Second)
		expect.Same(t, "details that were begun", []uint64{180}, src.seqs)
		src.seqs = nil
		for range 60 {
			u.strike("k")
			u.pass(33 * time.Millisecond)
		}
		u.pass(time.Second)
		if n := len(src.seqs); n < 2 || n > 4 {
			t.Errorf("in two seconds of k %d details were begun, want one a second: %v", n, src.seqs)
		}
		u.isBeside("120 120")
	})
}

// A stream that is left for another exchange is not read any further.
func TestLeftDetailIsReadNoFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Long(t, 3_000)
		tuitest.Record(t, m, tuitest.Call(2, "t-2", "TASK_STATE_WORKING"))
		src := &steady{Source: m.Reader()}
		u := newUI(t, src, 120, 40, Options{})
		u.press("k")
		u.pass(300 * time.Millisecond)
		if d := u.m.panes.detail; d.Seq != 1 || !d.More {
			t.Fatalf("the detail of exchange %d is not being read:\n%s", d.Seq, u.screen())
		}
		u.press("j")
		u.pass(100 * time.Millisecond)
		left := src.steps.Load()
		u.pass(10 * time.Second)
		if got := src.steps.Load(); got != left {
			t.Errorf("%d steps were read after the stream was left", got-left)
		}
	})
}

func TestOnePaneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 200, 60, Options{})
		u.press("G")
		for _, keys := range []string{"", "tab", "tab tab"} {
			u.press(strings.Fields(keys)...)
			top := u.m.top()
			u.press("z")
			u.hides("┬")
			u.press("w", "w")
			if u.m.top() != top {
				t.Errorf("after %q, z shows another panel", keys)
			}
			u.press("z")
			u.sees("┬")
			if u.m.top() != top || len(u.m.panes.layout()) != 3 {
				t.Errorf("after %q, z twice leads to %s", keys, u.m.top().Title())
			}
			u.isBeside("8 8 findings")
			u.press("esc", "esc")
		}
		u.press("l", "z")
		u.sees("z: this panel has the whole screen")
		u.press("esc")
		u.send(sizeOf(80, 24))
		u.press("z")
		u.sees("z: there is room for only one pane")
		u.press("shift+tab")
		u.sees("shift+tab: there is room for only one pane")
	})
}

// A terminal that becomes narrow keeps what has the focus, and gives the others their place back when it is wide again.
func TestNarrowAndWideAgain(t *testing.T) {
	for _, c := range []struct {
		keys, narrow, wide string
	}{
		{"", "› exchanges ", "┫ exchanges ┣"},
		{"tab", "› exchanges › 8 ", "┫ exchange 8 ┣"},
		{"tab tab", " exchanges › findings ", "┫ findings ┣"},
		{"l", "› exchanges › ladder of 8 ", "› exchanges › ladder of 8 "},
	} {
		synctest.Test(t, func(t *testing.T) {
			u := newUI(t, journey(t), 200, 60, Options{})
			u.press("G").press(strings.Fields(c.keys)...)
			for _, size := range []tea.Msg{sizeOf(80, 24), sizeOf(300, 4), sizeOf(0, 0)} {
				u.send(size)
				u.pass(time.Second)
				u.hides("┬")
			}
			u.send(sizeOf(80, 24))
			u.pass(time.Second)
			u.sees(c.narrow)
			u.send(sizeOf(200, 60))
			u.pass(time.Second)
			u.sees(c.wide)
			u.isBeside("8 8 findings")
		})
	}
}

// A detail opened alone on a narrow screen moves next to the list when the screen becomes wide.
func TestDetailBecomesAPane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("g", "n", "enter", "n")
		u.send(sizeOf(120, 40))
		u.pass(time.Second)
		u.sees("┫ exchange 4 ┣")
		if got, want := u.m.top().Target(), load.EventAt(&capture.Exchange{Seq: 4}, 7); got != want {
			t.Errorf("the detail is at %s, want %s", got, want)
		}
		u.press("esc")
		u.sees("┫ exchanges ┣", "─ exchange 4 ─")
	})
}

// The third pane has the findings of an exchange, or its ladder. Opening an item in it shows the item next to the list.
func TestThirdPane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 160, 45, Options{})
		u.press("g", "j")
		u.isBeside("2 2 ladder of 2")
		u.press("j")
		u.isBeside("3 3 ladder of 3")
		u.press("shift+tab", "k", "enter")
		u.sees("┫ exchange 2 ┣")
		u.selects(2)
		u.press("esc", "n")
		u.isBeside("4 4 findings")
		u.press("shift+tab", "j", "enter")
		u.isBeside("6 6 findings")
		u.press("esc", "e")
		u.sees("› exchanges › findings ")
		u.hides("┬")
		u.press("enter", "esc", "esc")
		u.sees("┫ exchanges ┣")
	})
}

// A finding that is made while the exchange is selected takes the place of its ladder, but not under a reader's hands.
func TestThirdPaneGetsFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		tuitest.Record(t, m, tuitest.Subscribed(1, "t-1"))
		u := newUI(t, m.Reader(), 200, 60, Options{})
		u.press("shift+tab")
		tuitest.Record(t, m, []capture.Step{tuitest.Status(1, 1, "t-1", "TASK_STATE_COMPLETED"), tuitest.Status(1, 2, "t-1", "TASK_STATE_WORKING")})
		u.pass(3 * time.Second)
		u.sees("┫ ladder of 1 ┣")
		u.press("esc")
		u.sees("─ findings ─")
	})
}

// A growing list that is followed takes the panes along, but not a detail that is being read.
func TestPanesFollowTheRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 3)
		u := newUI(t, m.Reader(), 120, 40, Options{})
		u.press("F")
		for i := range uint64(30) {
			tuitest.Record(t, m, tuitest.Call(4+i, fmt.Sprint("u-", i), "TASK_STATE_WORKING"))
			u.pass(50 * time.Millisecond)
		}
		if got := u.m.panes.detail.Seq; got < 10 {
			t.Errorf("after a second and a half of traffic the detail is still of %d", got)
		}
		u.pass(time.Second)
		u.isBeside("33 33")
		u.press("tab")
		tuitest.Record(t, m, tuitest.Call(34, "v", "TASK_STATE_WORKING"))
		u.pass(3 * time.Second)
		u.isBeside("34 33")
		u.press("esc")
		u.pass(time.Second)
		u.isBeside("34 34")
	})
}

func TestPanesOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 200, 60, Options{})
		u.press("/").typed("dialect:0.2").press("enter")
		u.sees("no exchange matches", "nothing is selected")
		u.press("tab", "enter", "shift+tab", "z", "z", "esc")
		u.isBeside("1 1 ladder of 1")
	})
}
