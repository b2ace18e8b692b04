package probe

import (
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/replay/client"
)

// Status is the outcome of a case.
type Status = report.TestStatus

// The statuses.
const (
	Pass     = report.TestPassed
	Failed   = report.TestFailed
	Skipped  = report.TestSkipped
	Unproved = report.TestInconclusive
	Critical = report.TestCritical
)

// A Result is the outcome of one case, whose name is like jsonrpc/error-task-not-found. The scenario has the rest of the
// Test.
type Result struct {
	report.Test
	Scenario *Scenario
	Protocol client.Protocol // the protocol that was used; zero if none
	Level    analysis.Level  // of a failure worse than the scenario's usual level; else zero
}

// Severity returns the severity of the case's failure: the level of its scenario in the protocol that was used, or
// the level of the failure.
func (r *Result) Severity() analysis.Severity {
	return max(r.Level.Severity(), r.Scenario.LevelIn(r.Protocol).Severity())
}

// forget drops the fields that only reports of failures quote.
func (r *Result) forget() {
	if !r.Bad() {
		r.Request, r.Answer = "", ""
	}
}

// A Report is the outcome of a run.
type Report struct {
	URL     string
	Card    *client.Card // nil if none could be read
	NoCard  error        // why
	Begun   time.Time
	Results []Result // in the order of the scenarios
	Notes   []string // interfaces that were not tested, and why
	Gone    bool     // the agent stopped responding before all cases had run
	// NoTasks means that the agent makes no tasks: it answered each message with a message, including those to all
	// skills.
	NoTasks bool
	Shut    string // why the agent rejects the credentials on some interface; else empty
}

// Count returns the number of cases with a status.
func (r *Report) Count(s Status) int {
	n := 0
	for i := range r.Results {
		if r.Results[i].Status == s {
			n++
		}
	}
	return n
}
