package ladder

import (
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/chart"
	"a2atap/tui/internal/tuitest"
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

// The waterfall of many long streams costs what the ladder costs: nothing more is read, and what was not is not drawn.
func TestWaterfallOfALongStream(t *testing.T) {
	x := &capture.Exchange{Seq: 1, Started: tuitest.Dawn, Ended: capture.NotKnown, Response: &capture.Response{Stream: true}}
	for k := range 100 {
		x.Response.Events = append(x.Response.Events, capture.Event{K: k + 1, At: time.Duration(k) * time.Second})
	}
	short := load.Shorten(x, 10)
	l := newLane(short, load.New(t.Context(), nil, nil).EntryOf(short), 10)
	if len(l.events) != 20 || l.count != 100 || l.skipped != [2]time.Duration{9 * time.Second, 90 * time.Second} {
		t.Errorf("got %d events of %d, without %v", len(l.events), l.count, l.skipped)
	}
	want := "100 events from 0.0ms to 1m39.0s, 9.000s to 1m30.0s are not drawn"
	expect.Contains(t, "it says", want, l.times())
}
