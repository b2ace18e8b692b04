package rules_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
	"a2atap/analyzer/report/parts"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
)

// What the parts of a transcript come to is what is said of the whole, into however many parts it is divided.
func TestPartsSayWhatTheWholeSays(t *testing.T) {
	t.Parallel()
	divisions := []int{1, 2, 4, 7}
	for i, path := range sample(t) {
		src, err := capture.ReadMemory(capture.Info{Name: path}, each(parse(t, filepath.Join("testdata", path)).Exchanges))
		if err != nil {
			t.Fatal(err)
		}
		these := divisions
		if !everyDivision {
			these = divisions[i%len(divisions):][:1]
		}
		want := judgePart(t, src, analyzer.Part{})
		for _, n := range these {
			got, err := analyzer.Join(rules.All, inParts(t, src, n))
			if err != nil {
				t.Fatalf("%s in %d parts: %v", path, n, err)
			}
			if got.Settle(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s in %d parts: %s", path, n, firstDifference(asJSON(t, got, nil), asJSON(t, want, nil)))
			}
		}
	}
}

// So it is, byte for byte and by way of the reports on the parts, where all transcripts are one capture, many of them
// at the same time: what is reported once at an endpoint, and what a card was said to lack, then depends on exchanges of
// all parts.
func TestPartsOfAllTranscripts(t *testing.T) {
	t.Parallel()
	random := randomFor("all")
	var steps []capture.Step
	var together []*capture.Exchange
	last := uint64(0)
	flush := func() {
		steps = append(steps, shuffle(random, together)...)
		together = nil
	}
	paths := transcripts(t)
	random.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	for i, path := range paths {
		for _, x := range parse(t, filepath.Join("testdata", path)).Exchanges {
			last++
			x.Seq = last
			together = append(together, x)
		}
		if i%20 == 19 {
			flush()
		}
	}
	flush()
	if found := comesToTheSame(t, inMemory(t, leftOpen(random, steps)), 4); found < 1_500 {
		t.Errorf("%d findings show too little", found)
	}
}

// leftOpen returns the steps without the ends of some exchanges: they are open at the end of the capture.
func leftOpen(random *rand.Rand, steps []capture.Step) []capture.Step {
	open := make(map[uint64]bool)
	var kept []capture.Step
	for _, s := range steps {
		switch s.What.(type) {
		case capture.Opened:
			open[s.Seq] = random.IntN(20) == 0
		case capture.Closed, capture.ResponseEnd:
			if open[s.Seq] {
				continue
			}
		}
		kept = append(kept, s)
	}
	return kept
}

func inMemory(t testing.TB, steps []capture.Step) capture.Source {
	t.Helper()
	memory := capture.NewMemory(capture.Info{Name: "all"})
	if err := memory.Append(steps...); err != nil {
		t.Fatal(err)
	}
	if err := memory.Close(); err != nil {
		t.Fatal(err)
	}
	return memory
}

// comesToTheSame fails the test unless the reports on n parts of a capture come to the report on the whole. It returns
// how many findings there are.
func comesToTheSame(t testing.TB, src capture.Source, n int) int {
	t.Helper()
	whole := judgePart(t, src, analyzer.Part{})
	var files []*parts.File
	for _, r := range inParts(t, src, n) {
		files = append(files, fileOf(t, r))
	}
	merged, err := parts.Merge(files, rules.All)
	if err != nil {
		t.Fatalf("%s in %d parts: %v", whole.Captures, n, err)
	}
	if got, want := asJSON(t, merged[0].Result, nil), asJSON(t, whole, nil); !bytes.Equal(got, want) {
		t.Errorf("%s in %d parts: %s", whole.Captures, n, firstDifference(got, want))
	}
	return len(whole.Findings)
}

// inParts returns what judging each of n parts came to, the last one first.
func inParts(t testing.TB, src capture.Source, n int) (list []*analyzer.Result) {
	t.Helper()
	for k := n; k > 0; k-- {
		list = append(list, judgePart(t, src, analyzer.Part{Number: k, Of: n}))
	}
	return list
}

// firstDifference returns the lines around the first one that differs.
func firstDifference(got, want []byte) string {
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range a {
		if i >= len(b) || !bytes.Equal(a[i], b[i]) {
			from := max(i-3, 0)
			return fmt.Sprintf("line %d\n%s\nwant\n%s", i+1,
				bytes.Join(a[from:min(i+8, len(a))], []byte("\n")), bytes.Join(b[min(from, len(b)):min(i+8, len(b))], []byte("\n")))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

func judgePart(t testing.TB, src capture.Source, p analyzer.Part) *analyzer.Result {
	t.Helper()
	result, err := analyzer.Run(context.Background(), rules.All, src, nil, analyzer.InPart(p))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// fileOf writes the report on a part, and reads it.
func fileOf(t testing.TB, r *analyzer.Result) *parts.File {
	t.Helper()
	judgement := &parts.Judgement{
		Format: parts.Format, Selection: parts.Selection{Rules: parts.Catalogue(rules.All)},
		Captures: []parts.Capture{parts.Of(r, nil)},
	}
	r.Settle()
	f, err := parts.Read(r.Portion.String(), asJSON(t, r, judgement))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// asJSON returns the report on a result.
func asJSON(t testing.TB, r *analyzer.Result, part *parts.Judgement) []byte {
	t.Helper()
	var b bytes.Buffer
	whole := &report.Report{
		Result: r, Rules: rules.All, Gate: analyzer.Error, Now: time.Unix(0, 0).UTC(), Directions: report.Directions(r),
		Part: part,
	}
	if err := report.JSON(&b, whole); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// BenchmarkPart judges the same exchanges whole and in one part of four, by turns, and says what one costs and what the
// part costs compared with the whole: the fastest turn of each, since other programs only add to it.
func BenchmarkPart(b *testing.B) {
	const n = 5_000
	whole, part := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for b.Loop() {
		whole = min(whole, judging(n, analyzer.Part{}))
		part = min(part, judging(n, analyzer.Part{Number: 1, Of: 4}))
	}
	b.ReportMetric(float64(whole.Microseconds())/n, "µs/exchange-whole")
	b.ReportMetric(float64(part.Microseconds())/n, "µs/exchange-1of4")
	b.ReportMetric(100*float64(part)/float64(whole), "%-of-whole")
}

// judging returns how long it takes to judge n exchanges.
func judging(n uint64, p analyzer.Part) time.Duration {
	e := analyzer.NewEngine(rules.All, analyzer.InPart(p))
	begun := time.Now()
	judgeMany(e, 0, n)
	e.End(false)
	return time.Since(begun)
}
