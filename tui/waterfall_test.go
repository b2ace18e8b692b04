package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture"
	"a2atap/tui/chart"
	"a2atap/tui/load"
)

func TestBars(t *testing.T) {
	const ms = time.Millisecond
	none := time.Duration(capture.NotKnown)
	for _, c := range []struct {
		name  string
		lane  lane
		after time.Duration
		want  string
	}{
		{"an answer", lane{answer: 50 * ms, until: 60 * ms}, 0, "├────○┤              "},
		{
			"a stream",
			lane{answer: 10 * ms, until: 100 * ms, events: []time.Duration{20 * ms, 50 * ms, 90 * ms}},
			20 * ms,
			"  ├○●━━●━━━●┤        ",
		},
		{"at once", lane{answer: 0, until: ms}, 200 * ms, "                    ┃"},
		{
			"open",
			lane{answer: 10 * ms, until: 40 * ms, events: []time.Duration{40 * ms}, open: true},
			100 * ms,
			"          ├○━━●━━━━━▶",
		},
		{"open without an answer", lane{answer: none, open: true}, 100 * ms, "          ├─────────▶"},
		{"failed", lane{Entry: load.Entry{Failed: true}, answer: none, until: 50 * ms}, 50 * ms, "     ├────✗          "},
		{"cut", lane{answer: none, until: 0, cut: true}, 50 * ms, "     ?               "},
		{"not all read", lane{
			answer: 10 * ms, until: 200 * ms, skipped: [2]time.Duration{30 * ms, 150 * ms},
			events: []time.Duration{20 * ms, 30 * ms, 150 * ms, 200 * ms},
		}, 0, "├○●●╌╌╌╌╌╌╌╌╌╌╌●━━━━●"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.lane.bar(chart.Scale{Total: 200 * ms, Columns: 21}, c.after).Line().String(); got != c.want {
				t.Errorf("got\n%q, want\n%q", got, c.want)
			}
		})
	}
}

// Tab in the ladder shows the waterfall; the exchange stays selected, enter opens it, and tab leads back.
func TestWaterfallOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 30, Options{})
		defer u.close()
		u.press("g", "n", "l", "j", "j", "tab")
		u.sees("5 exchanges, task book-91c2")
		if line := u.cursorLine(); !strings.Contains(line, "SendStreamingMessage 200") || !strings.Contains(line, "├━━") {
			t.Errorf("the cursor is on %q", line)
		}
		u.sees("answer after 12.0ms, 7 events from 12.0ms to 2.600s, ended after 2.611s")
		u.sees("0s            2s             4s             6s")
		u.press("n")
		if got := u.m.top().Target().Exchange; got != 6 {
			t.Errorf("the next finding is in exchange %d, want 6", got)
		}
		if line := u.cursorLine(); !strings.HasSuffix(strings.TrimRight(line, " ┊"), "✗") {
			t.Errorf("the exchange that failed is drawn as %q", line)
		}
		u.press("n", "n")
		u.sees("no further finding in this waterfall")
		u.press("N", "tab")
		if got := u.m.top().Target().Exchange; got != 6 {
			t.Errorf("back in the ladder exchange %d is selected", got)
		}
		u.press("tab", "j", "enter")
		if d, is := u.m.top().(*detail); !is || d.seq != 8 {
			t.Errorf("enter opens\n%s", u.screen())
		}
	})
}

// In a workflow tab leads from the ladder to the tree, to the waterfall, and back.
func TestWaterfallOfAWorkflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, trip(t).Reader(), 120, 30, Options{})
		defer u.close()
		u.press("g", "j", "j", "W", "tab", "tab")
		u.sees("├ request ─ waits")
		for _, name := range []string{"a waterfall", "a ladder", "a tree"} {
			if got := u.m.top().Target().Exchange; got != 3 {
				t.Errorf("as %s, exchange %d is selected", name, got)
			}
			u.press("tab")
		}
		u.sees("├ request ─ waits")
	})
}

// An exchange that goes on reaches to the right end, and grows.
func TestWaterfallGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := growing(t, 0)
		record(t, m, call(1, "t-1", "TASK_STATE_WORKING"))
		record(t, m, subscribed(2, "t-1"))
		u := newUI(t, m.Reader(), 100, 30, Options{})
		defer u.close()
		u.press("g", "j", "l", "tab")
		if line := u.cursorLine(); !strings.HasSuffix(line, "▶") {
			t.Errorf("an open exchange is drawn as %q", line)
		}
		u.sees("answer after 1.0ms, still open")
		for k := range 3 {
			record(t, m, []capture.Step{status(2, 100*(k+1), "t-1", "TASK_STATE_WORKING")})
		}
		u.pass(5 * time.Second)
		if line := u.cursorLine(); strings.Count(line, "●") != 2 || !strings.HasSuffix(line, "▶") {
			t.Errorf("with three events, the last at the end, it is drawn as %q", line)
		}
	})
}

// The waterfall of many long streams costs what the ladder costs: nothing more is read, and what was not is not drawn.
func TestWaterfallOfALongStream(t *testing.T) {
	x := &capture.Exchange{Seq: 1, Started: dawn, Ended: capture.NotKnown, Response: &capture.Response{Stream: true}}
	for k := range 100 {
		x.Response.Events = append(x.Response.Events, capture.Event{K: k + 1, At: time.Duration(k) * time.Second})
	}
	short := load.Shorten(x, 10)
	l := newLane(short, load.New(t.Context(), nil, nil).EntryOf(short), 10)
	if len(l.events) != 20 || l.count != 100 || l.skipped != [2]time.Duration{9 * time.Second, 90 * time.Second} {
		t.Errorf("got %d events of %d, without %v", len(l.events), l.count, l.skipped)
	}
	want := "100 events from 0.0ms to 1m39.0s, those from 9.000s to 1m30.0s are not drawn"
	if got := l.times(); !strings.Contains(got, want) {
		t.Errorf("it says %q", got)
	}
}

// The scale of the bars in the detail is said, and there are none where there is no room.
func TestBarsOfEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 40, Options{})
		defer u.close()
		u.press("g", "n", "enter", "n")
		u.sees("bars are the waits before the events, on a scale from 0 to 2.600s")
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
		u.sees("\n │ {")
		u.sees(` │   "jsonrpc": "2.0",`)
		u.send(sizeOf(89, 40))
		u.pass(time.Second)
		if strings.Contains(u.screen(), "●") || strings.Contains(u.screen(), "bars are") {
			t.Errorf("at 89 columns there are bars:\n%s", u.screen())
		}
		u.sees(fmt.Sprintf("%d events; enter opens one", 7))
	})
}
