package report

import (
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/exchanges"
)

// A Report is all that a report can be made of.
type Report struct {
	Result *judgment.Result
	Rules  []*analysis.Rule  // that were asked for, in reading order
	Gate   analysis.Severity // from which on a finding fails the check; one above Error if none does
	Calls  bool              // one failed call fails the check; else only links on which at least half of them failed
	Tool   Tool
	Now    time.Time // the date of the report

	Coverage bool                              // text names the rules that never applied, instead of counting them
	Paint    func(ink Ink, text string) string // draws pieces of text in colours; nil for none

	Tests      []Suite     // of agents that were asked actively; nil for what was only recorded
	Directions []Direction // between two agents; nil if there are not two

	Traffic *exchanges.Section // the exchanges, for HTML; nil if they are not to be shown
}

// gate returns the severity that decides the status in words: also where no finding fails the check, errors are not
// called clean.
func (r *Report) gate() analysis.Severity { return min(r.Gate, analysis.Error) }

// verdict returns the sum of the report.
func (r *Report) verdict() judgment.Verdict {
	v := r.Result.Verdict(r.gate())
	if r.Tests != nil {
		v.Status = r.status(r.gate())
	}
	return v
}

// sentence returns the sum of the report in words.
func (r *Report) sentence() string {
	if r.Tests != nil {
		return string(r.status(r.gate())) + ": " + r.Verdict()
	}
	return r.verdict().String()
}
