package snapshot

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// manyFindings returns a reading of a million exchanges, of which each has a note and one in ten an error, here and there,
// and how many bytes that takes.
func manyFindings(tb testing.TB) (r *Results, errors, size int) {
	tb.Helper()
	const exchanges = 1_000_000
	k, random := make(kinds), rand.New(rand.NewPCG(1, 2))
	note, mistake := Found{Rule: "a", Severity: analysis.Note}, Found{Rule: "b", Severity: analysis.Error}
	for seq := uint64(1); seq <= exchanges; seq++ {
		k.of(&note).made.add(seq)
		if random.IntN(10) == 0 {
			k.of(&mistake).made.add(seq)
			errors++
		}
	}
	var shelf capture.MemoryShelf
	entries := k.entries(newEncoder())
	for _, e := range entries {
		size += len(e.Key) + len(e.Value)
	}
	must.Do(tb, shelf.Put(entries...))
	return &Results{shelf: &shelf, head: Head{Ended: true, Rows: exchanges, Last: exchanges, Kinds: 2}}, errors, size
}

// matching returns how many exchanges match.
func matching(tb testing.TB, r *Results, expr string) int {
	tb.Helper()
	f := must.Get(filter.Parse(expr))(tb)
	seqs, known, err := r.Matching(context.Background(), f)
	if err != nil || !known {
		tb.Fatalf("%s: known %v, %v", expr, known, err)
	}
	return len(seqs)
}

func TestKindsOfFindingsAreSmall(t *testing.T) {
	r, errors, size := manyFindings(t)
	if size > int(r.head.Last)/4 {
		t.Errorf("%d bytes for %d exchanges", size, r.head.Last)
	}
	for expr, want := range map[string]int{
		"severity:error": errors, "not rule:b": int(r.head.Last) - errors, "rule:a rule:b": errors, "rule:c": 0,
	} {
		expect.Equal(t, fmt.Sprintf("%s matches", expr), want, matching(t, r, expr))
	}
}

// BenchmarkMatching finds the errors in a million exchanges.
func BenchmarkMatching(b *testing.B) {
	r, errors, size := manyFindings(b)
	for b.Loop() {
		if got := matching(b, r, "rule:b"); got != errors {
			b.Fatalf("%d match, want %d", got, errors)
		}
	}
	b.ReportMetric(float64(size)/float64(r.head.Last), "B/exchange")
}
