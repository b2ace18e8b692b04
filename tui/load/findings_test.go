package load

import (
	"testing"

	"a2atap/analyzer"
)

// What nobody takes is kept up to a bound.
func TestVerdictsWaitBounded(t *testing.T) {
	v := NewVerdicts(0)
	for range maxListed + 1 {
		v.Found(analyzer.Finding{})
	}
	if n := len(v.news.Findings); n != maxListed || v.news.Further.Total() != 1 {
		t.Errorf("%d findings wait, and %d are counted; want %d and 1", n, v.news.Further.Total(), maxListed)
	}
}

// A finding that takes the place of others takes their counts and marks, too.
func TestRevisedFindings(t *testing.T) {
	at := func(seq uint64) analyzer.Place { return analyzer.Place{Exchange: seq} }
	grave, mild := &analyzer.Rule{ID: "grave"}, &analyzer.Rule{ID: "mild"}
	var l Findings
	l.Add([]analyzer.Finding{
		{Rule: grave, Severity: analyzer.Error, Place: at(1), Unsettled: true},
		{Rule: mild, Severity: analyzer.Warning, Place: at(1), Unsettled: true},
		{Rule: grave, Severity: analyzer.Error, Place: at(2)},
	})
	l.Add([]analyzer.Finding{
		{Rule: grave, Severity: analyzer.Note, Place: at(1), Revises: true},
		{Rule: grave, Severity: analyzer.Note, Place: at(2), Revises: true},
	})
	worst := func(seq uint64) analyzer.Severity {
		s, _ := l.Worst(seq)
		return s
	}
	want := [analyzer.Error + 1]int{analyzer.Note: 2, analyzer.Warning: 1, analyzer.Error: 1}
	if worst(1) != analyzer.Warning || worst(2) != analyzer.Error || l.Counts != want || len(l.Of(1)) != 2 {
		t.Errorf("%v and %v are the worst, %v the counts and %v the first; want a warning, an error and %v",
			worst(1), worst(2), l.Counts, l.Of(1), want)
	}
}
