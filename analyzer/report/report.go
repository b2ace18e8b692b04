package report

import (
	"slices"
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
	Calls  bool              // one failed call fails the check; otherwise only links on which at least half of them failed
	Never  bool              // no failed call or task fails the check
	Empty  bool              // a verdict that proves nothing does not fail the check
	Tool   Tool
	Now    time.Time // the date of the report

	Brief    bool                              // text leaves the findings out, JUnit counts the rules that are not broken
	Coverage bool                              // text names the rules that never applied, instead of counting them
	Paint    func(ink Ink, text string) string // draws pieces of text in color; nil for none

	Tests      []Suite     // of agents that were tested actively; nil for recordings only
	Directions []Direction // between two agents; nil unless there are two

	// how long the exchange of a finding took; capture.NotKnown if that is not known; nil if it never is
	Took func(*analysis.Finding) time.Duration

	Traffic *exchanges.Section // the exchanges, for HTML; nil if they are not to be shown
}

// Under returns the report on a result under a gate.
func Under(gate judgment.Gate, r *judgment.Result) *Report {
	return &Report{Result: r, Gate: gate.Severity, Calls: gate.Calls, Never: gate.Never, Empty: gate.AllowEmpty}
}

// verdict returns the sum of the report.
func (r *Report) verdict() judgment.Verdict {
	v := r.Result.Judge(judgment.Gate{Severity: r.Gate, Calls: r.Calls, Never: r.Never, AllowEmpty: r.Empty})
	if r.Tests != nil {
		v.Status, v.Exit = r.Status(), r.Exit()
	}
	return v
}

// statements returns the verdict's statements for every format. For agents that were tested actively, where some calls
// should fail, it leaves out the results of the calls.
func (r *Report) statements() []judgment.Statement {
	v := r.verdict()
	list := v.Statements()
	if r.Tests == nil {
		return list
	}
	list = slices.DeleteFunc(list, func(s judgment.Statement) bool { return !aboutProbe(s.Subject) })
	return append(r.testStatements(v.Exit), list...)
}

// verb returns the command that made the report.
func (r *Report) verb() string {
	if r.Tests != nil {
		return "probe"
	}
	return "check"
}

// sentence summarizes the report.
func (r *Report) sentence() string {
	if r.Tests != nil {
		return string(r.Status()) + ": " + r.Verdict()
	}
	return r.verdict().String()
}
