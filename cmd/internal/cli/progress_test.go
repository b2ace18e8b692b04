package cli

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/expect"
	"a2atap/tui/text"
)

// A progress says how much is done, how fast, and how long the rest will take, in a line that fits.
func TestProgressLine(t *testing.T) {
	for _, tt := range []struct {
		what    string
		done    uint64
		total   uint64
		took    time.Duration
		columns int
		want    string
	}{
		{
			"check c.a2atap", 42_000, 100_000, 4 * time.Second, 100,
			"check c.a2atap  [===========                 ]   42%  42,000 of 100,000 exchanges  10,500/s  6s left",
		},
		{"check c.a2atap", 42_000, 100_000, 4 * time.Second, 70, "check c.a2atap   42%  42,000 of 100,000 exchanges  10,500/s  6s left"},
		{"check c.a2atap", 0, 10, time.Second, 79, "check c.a2atap  [                              ]    0%  0 of 10 exchanges"},
		{"check c.a2atap", 10, 10, time.Second, 79, "check c.a2atap  [=============================]  100%  10 of 10 exchanges  10/s"},
	} {
		counted := text.Number(tt.done) + " of " + text.Number(tt.total) + " exchanges"
		got := progressLine(tt.what, counted, tt.done, tt.total-tt.done, float64(tt.done)/float64(tt.total), tt.took, tt.columns)
		if got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
	for columns := range 200 {
		if got := progressLine("check 京都.a2atap", "1 of 2 exchanges", 1, 1, 0.5, time.Second, columns); text.Columns(got) > columns {
			t.Errorf("in %d columns: %q", columns, got)
		}
	}
}

// Work with a time limit says how much of the time is over, and the state.
func TestProgressUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &Progress{W: &out, What: "minimize", Began: time.Now()}
		if p.Until(time.Minute, "9 exchanges, 120 bytes"); out.Len() > 0 {
			t.Errorf("shown at once: %q", out.String())
		}
		p.Began = p.Began.Add(-30 * time.Second)
		p.Until(time.Minute, "9 exchanges, 120 bytes")
		expect.Equal(t, "", "\rminimize  [===============               ]   50%  30s of at most 1m0s, 9 exchanges, 120 bytes", out.String())
	})
}

// The line is shown after a second, at most five times a second, and is gone in the end. In the bubble no time passes.
func TestProgressIsShownAndErased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		common := &CommonFlags{}
		p := &Progress{W: &out, What: "check c", Began: time.Now(), common: common}
		if p.Count("exchange", 1, 300); out.Len() > 0 {
			t.Errorf("shown at once: %q", out.String())
		}
		p.Began = p.Began.Add(-progressAfter)
		p.Count("exchange", 2, 300)
		p.Count("exchange", 3, 300) // too soon
		p.last = p.last.Add(-ProgressEvery)
		p.Count("exchange", 4, 300)
		p.Clear()
		lines := strings.Split(out.String(), "\r")
		if len(lines) != 5 || !strings.Contains(lines[1], "2 of 300") || !strings.Contains(lines[2], "4 of 300") {
			t.Fatalf("shown: %q", lines)
		}
		if strings.TrimSpace(lines[3]+lines[4]) != "" || len(lines[3]) < len(strings.TrimRight(lines[2], " ")) {
			t.Errorf("left behind: %q", lines[3:])
		}
		expect.Equal(t, "so far", " after 4 of 300 exchanges", common.SoFar())
	})
}
