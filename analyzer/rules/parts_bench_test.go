package rules_test

import (
	"fmt"
	"testing"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/rules"
)

// BenchmarkPart judges the same exchanges whole and in one part of four, by turns, and says what one costs and what the
// part costs compared with the whole.
func BenchmarkPart(b *testing.B) {
	const n = 20_000
	var whole, part time.Duration
	for b.Loop() {
		whole += judging(n, analyzer.Part{})
		part += judging(n, analyzer.Part{Number: 1, Of: 4})
	}
	b.ReportMetric(float64(whole.Microseconds())/float64(b.N)/n, "µs/exchange-whole")
	b.ReportMetric(float64(part.Microseconds())/float64(b.N)/n, "µs/exchange-1of4")
	b.ReportMetric(100*float64(part)/float64(whole), "%-of-whole")
}

// judging returns how long it takes to judge the exchanges of n tasks, each sent and asked for again.
func judging(n uint64, p analyzer.Part) time.Duration {
	e := analyzer.NewEngine(rules.All, analyzer.InPart(p))
	begun := time.Now()
	judgeMany(e, 0, n)
	e.End(false)
	return time.Since(begun)
}

var _ = fmt.Sprint
