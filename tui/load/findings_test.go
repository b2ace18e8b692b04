package load

import (
	"testing"

	"a2atap/analyzer/analysis"
)

// A finding that takes the place of others takes their counts and marks, too.
func TestRevisedFindings(t *testing.T) {
	at := func(seq uint64) analysis.Place { return analysis.Place{Exchange: seq} }
	grave, mild := &analysis.Rule{ID: "grave"}, &analysis.Rule{ID: "mild"}
	var l Findings
	l.Add([]analysis.Finding{
		{Rule: grave, Severity: analysis.Error, Place: at(1), Unsettled: true},
		{Rule: mild, Severity: analysis.Warning, Place: at(1), Unsettled: true},
		{Rule: grave, Severity: analysis.Error, Place: at(2)},
	})
	l.Add([]analysis.Finding{
		{Rule: grave, Severity: analysis.Note, Place: at(1), Revises: true},
		{Rule: grave, Severity: analysis.Note, Place: at(2), Revises: true},
	})
	worst := func(seq uint64) analysis.Severity {
		s, _ := l.Worst(seq)
		return s
	}
	want := [analysis.Error + 1]int{analysis.Note: 2, analysis.Warning: 1, analysis.Error: 1}
	if worst(1) != analysis.Warning || worst(2) != analysis.Error || l.Counts != want || len(l.Of(1)) != 2 {
		t.Errorf("%v and %v are the worst, %v the counts and %v the first; want a warning, an error and %v",
			worst(1), worst(2), l.Counts, l.Of(1), want)
	}
}
