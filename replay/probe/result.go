package probe

import (
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
)

// Status is how a case came out.
type Status string

// The statuses.
const (
	Pass     Status = "pass"
	Failed   Status = "fail"
	Skipped  Status = "skip"         // not for this agent
	Unproved Status = "inconclusive" // asked, and the answer does not show what it is about
	Critical Status = "critical"     // the agent was gone
)

// A Result is how one case came out.
type Result struct {
	Test     string // name of the case: jsonrpc/error-task-not-found
	Scenario *Scenario
	Protocol client.Protocol // that was spoken; zero if none
	Status   Status
	Message  string // why it is not a pass; empty for one
	Expected string // of a failure
	Seen     string // of a failure
	Duration time.Duration

	Exchanges []uint64 // numbers in the log of what was asked, in order
	Sequence  []string // events of the last stream, such as "status working", in their order
	Request   string   // of a failure: the last request, for people
	Answer    string   // of a failure: what came back for it, for people
}

// Severity returns how much it matters that the case failed: what the level of its scenario says, in
// the protocol that was spoken.
func (r *Result) Severity() analysis.Severity { return r.Scenario.LevelIn(r.Protocol).Severity() }

// Bad reports whether a case failed or found the agent gone.
func (r *Result) Bad() bool { return r.Status == Failed || r.Status == Critical }

// A Report is what a run came to.
type Report struct {
	URL     string
	Card    *client.Card // nil if none could be read
	NoCard  error        // why
	Begun   time.Time
	Results []Result // in the order of the scenarios
	Notes   []string // interfaces that were not asked, and why
	Gone    bool     // the agent was gone before all was asked
	Shut    string   // why the agent lets nobody in on some interface; empty if it does
}

// Count returns how many cases came out so.
func (r *Report) Count(s Status) int {
	n := 0
	for i := range r.Results {
		if r.Results[i].Status == s {
			n++
		}
	}
	return n
}
