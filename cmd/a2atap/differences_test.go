package main

import (
	"regexp"
	"strings"
	"testing"

	"a2atap/cmd/internal/present"
	"a2atap/proxy/must"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

// A report of differences has the same text with and without colors, and no color comes from the traffic.
func TestDifferencesInColours(t *testing.T) {
	r := &report.Report{
		Sent: 1, Differing: 1,
		Lines: []report.Line{{Exchange: 1, Live: 2, Operation: "GetTask", Task: "\x1b[2Jt", Status: report.Differing}},
		Differences: []compare.Difference{{
			Kind: compare.DifferentState, Exchange: 1, Live: 2, Place: "1.response.body#/result", Want: "completed", Got: "failed",
			Changes: []compare.Change{{Pointer: "/result/status/state", Was: `"completed"`, Now: "\"\x1b[31mfailed\""}},
		}},
	}
	text := func() string {
		var b strings.Builder
		must.Do(t, report.Text(&b, r))
		return b.String()
	}
	plain := text()
	r.Paint = present.Draw
	painted := text()
	colour := regexp.MustCompile("\x1b\\[[0-9;]*m")
	if got := colour.ReplaceAllString(painted, ""); got != plain || strings.Contains(plain, "\x1b") {
		t.Errorf("in colours %q; without %q", painted, plain)
	}
	for _, want := range []string{
		"\x1b[1;31m- \"completed\"\x1b[m\n", "\x1b[32m+ \"\ufffd[31mfailed\"\x1b[m\n", "\x1b[33m1. GetTask of task ",
	} {
		if !strings.Contains(painted, want) {
			t.Errorf("in colours %q; want %q in it", painted, want)
		}
	}
}
