package main

import (
	"regexp"
	"strings"
	"testing"

	"a2atap/cmd/internal/present"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

// What a report of differences says in colours it says without them, and no colour comes from the traffic.
func TestDifferencesInColours(t *testing.T) {
	r := &report.Report{
		Sent: 1, Differing: 1,
		Lines: []report.Line{{Exchange: 1, Live: 2, Operation: "GetTask", Task: "\x1b[2Jt", Status: report.Differing}},
		Differences: []compare.Difference{{
			Kind: compare.DifferentState, Exchange: 1, Live: 2, Place: "1.response.body#/result", Want: "completed", Got: "failed",
			Changes: []compare.Change{{Pointer: "/result/status/state", Was: `"completed"`, Now: "\"\x1b[31mfailed\""}},
		}},
	}
	text := func(colours bool) string {
		var b strings.Builder
		if err := present.WriteDifferences(&b, "text", r, colours); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	painted, plain := text(true), text(false)
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
