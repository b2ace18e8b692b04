package rules_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
)

// What the parts of a transcript say comes to what is said of the whole, byte for byte, into however many parts it is
// divided.
func TestPartsSayWhatTheWholeSays(t *testing.T) {
	t.Parallel()
	shared, spread := 0, 0
	for _, path := range transcripts(t) {
		src, err := capture.ReadMemory(capture.Info{Name: path}, each(parse(t, filepath.Join("testdata", path)).Exchanges))
		if err != nil {
			t.Fatal(err)
		}
		whole := asJSON(t, judgePart(t, src, analyzer.Part{}))
		for _, n := range []int{1, 2, 4, 7} {
			parts := inParts(t, src, n)
			with := 0
			for _, p := range parts {
				if len(p.Findings) > 0 {
					with++
				}
			}
			if with > 1 {
				spread++
			}
			joined, err := analyzer.Join(rules.All, parts)
			if err != nil {
				t.Fatalf("%s in %d parts: %v", path, n, err)
			}
			joined.Settle()
			if got := asJSON(t, joined); !bytes.Equal(got, whole) {
				t.Errorf("%s in %d parts:\n%s\nwant\n%s", path, n, got, whole)
			}
			shared++
		}
	}
	if spread < shared/20 {
		t.Errorf("of %d divisions, %d have findings in more than one part: they show too little", shared, spread)
	}
}

func judgePart(t testing.TB, src capture.Source, p analyzer.Part) *analyzer.Result {
	t.Helper()
	result, err := analyzer.Run(context.Background(), rules.All, src, nil, analyzer.InPart(p))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func inParts(t testing.TB, src capture.Source, n int) []*analyzer.Result {
	t.Helper()
	var parts []*analyzer.Result
	for k := 1; k <= n; k++ {
		parts = append(parts, judgePart(t, src, analyzer.Part{Number: k, Of: n}))
	}
	return parts
}

// asJSON returns the report on a result, and what else it says.
func asJSON(t testing.TB, r *analyzer.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	whole := &report.Report{
		Result: r, Rules: rules.All, Gate: analyzer.Error, Now: time.Unix(0, 0).UTC(), Directions: report.Directions(r),
	}
	if err := report.JSON(&b, whole); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%+v\n%+v\n%+v\n", r.Counts, r.Found, r.Critical)
	return b.Bytes()
}
