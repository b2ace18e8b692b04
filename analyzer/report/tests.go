package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
)

// A Suite has the active tests of one agent, and their results.
type Suite struct {
	Agent   string // its name in links
	URL     string
	Name    string // that its card gives; empty if no card was read
	Version string // the same
	Tests   []Test // in reading order
	Notes   []string
	// Level is the conformance level, and Reason the reason for it; empty to let rules and tests decide. Errors that
	// only rules have found lower it.
	Level, Reason string
	// Client means that a client was tested, by agents that a2atap plays: Agent is its name, and URL how it was started.
	Client bool
	// Dropped counts the findings that are left out because the test's request, or the played agent, is at fault on purpose.
	Dropped int
	// Unasked means that no interface of the agent was tested.
	Unasked bool
	// Cut means that the run was interrupted: tests that had not started are left out.
	Cut bool
	// Shut is the reason why little could be seen, such as an agent that rejects all clients; may be empty.
	Shut string
}

// head returns who was tested, and where, in text that clean makes safe.
func (s *Suite) head(clean func(string) string) string {
	if s.Client {
		return "client " + clean(s.Agent) + ", " + clean(s.URL)
	}
	return "agent " + clean(s.Agent) + " at " + clean(s.URL)
}

// dropped describes the findings that are left out.
func (s *Suite) dropped() string {
	about := "requests that are wrong on purpose"
	if s.Client {
		about = "the agents that a2atap plays"
	}
	return analysis.Plural(s.Dropped, "finding") + " about " + about
}

// A TestStatus is the result of a test.
type TestStatus string

// The statuses of tests.
const (
	TestPassed       TestStatus = "pass"
	TestFailed       TestStatus = "fail"
	TestSkipped      TestStatus = "skip"         // not for this agent
	TestInconclusive TestStatus = "inconclusive" // executed, but the answer does not show the subject of the test
	TestCritical     TestStatus = "critical"     // the agent was gone
)

// A Test is one thing that an agent was asked actively.
type Test struct {
	Name      string
	Title     string
	Category  analysis.Category
	Status    TestStatus
	Severity  analysis.Severity // how much it matters if it fails
	Message   string            // why it is not a pass
	Expected  string            // of a failure
	Seen      string            // of a failure
	Sections  []string
	Tags      []string // the group it belongs to
	Fix       string
	Sequence  []string // events of its stream
	Skills    []Life   // of tasks that skills were given
	Duration  time.Duration
	Request   string   // of a failure: the request, for people
	Answer    string   // for a failure: the answer
	Exchanges []uint64 // numbers of its exchanges
	Waived    string   // why a failure does not count; empty if it does
}

// A Life is the fate of a message to a skill of an agent.
type Life struct {
	Skill   string     `json:"skill"` // id in the card
	Status  TestStatus `json:"status"`
	States  []string   `json:"states"`            // of its task, as seen in order; "message" if the agent answered with a message
	Message string     `json:"message,omitempty"` // why it did not pass; empty for a pass
}

// lives describes the life cycle of each skill's task.
func (t *Test) lives() []string {
	var list []string
	for _, x := range t.Skills {
		text := fmt.Sprintf("%s: %s: %s", x.Skill, x.Status, orDash(strings.Join(x.States, " → ")))
		if x.Message != "" {
			text += " (" + x.Message + ")"
		}
		list = append(list, analysis.Clean(oneLine(text)))
	}
	return list
}

// Bad reports whether the test failed, or found the agent gone.
func (t *Test) Bad() bool { return t.Status == TestFailed || t.Status == TestCritical }

// severity returns the severity of the test's failure: an agent that was gone is an error.
func (t *Test) severity() analysis.Severity {
	if t.Status == TestCritical {
		return analysis.Error
	}
	return t.Severity
}

// breaks reports whether the test has failed with a severity at least, waived or not.
func (t *Test) breaks(least analysis.Severity) bool { return t.Bad() && t.severity() >= least }

// fails reports whether the test fails a check with that gate.
func (t *Test) fails(gate analysis.Severity) bool { return t.Waived == "" && t.breaks(gate) }

// A Tally counts tests by their results. Waived tests are counted as waived, and not as failed.
type Tally struct {
	Passed       int `json:"passed"`
	Failed       int `json:"failed"` // the critical ones included
	Critical     int `json:"critical"`
	Skipped      int `json:"skipped"`
	Inconclusive int `json:"inconclusive"`
	Waived       int `json:"waived"`
	Warnings     int `json:"warnings"` // of the failed ones, those that are less than an error
}

func (t *Tally) add(test *Test) {
	switch {
	case test.Bad() && test.Waived != "":
		t.Waived++
	case test.Status == TestCritical:
		t.Critical++
		t.Failed++
	case test.Status == TestFailed:
		t.Failed++
		if test.Severity < analysis.Error {
			t.Warnings++
		}
	case test.Status == TestSkipped:
		t.Skipped++
	case test.Status == TestInconclusive:
		t.Inconclusive++
	default:
		t.Passed++
	}
}

// Total returns the number of tests.
func (t *Tally) Total() int { return t.Passed + t.Failed + t.Skipped + t.Inconclusive + t.Waived }

// String returns the counts as verdicts have them: 58 passed, 0 failed, 3 skipped, 1 inconclusive of 62.
func (t *Tally) String() string {
	text := fmt.Sprintf("%d passed, %d failed", t.Passed, t.Failed)
	var kinds []string
	if t.Critical > 0 {
		kinds = append(kinds, fmt.Sprintf("%d critical", t.Critical))
	}
	if t.Warnings > 0 {
		kinds = append(kinds, analysis.Plural(t.Warnings, "warning"))
	}
	if kinds != nil {
		text += " (" + strings.Join(kinds, ", ") + ")"
	}
	if t.Waived > 0 {
		text += fmt.Sprintf(", %d waived", t.Waived)
	}
	return text + fmt.Sprintf(", %d skipped, %d inconclusive of %d", t.Skipped, t.Inconclusive, t.Total())
}

// Tally counts the tests of a suite.
func (s *Suite) Tally() Tally {
	var t Tally
	for i := range s.Tests {
		t.add(&s.Tests[i])
	}
	return t
}

// tallyOf counts its tests of one category.
func (s *Suite) tallyOf(category analysis.Category) Tally {
	var t Tally
	for i := range s.Tests {
		if s.Tests[i].Category == category {
			t.add(&s.Tests[i])
		}
	}
	return t
}

// Tally counts the tests of all suites.
func (r *Report) Tally() Tally {
	var t Tally
	for i := range r.Tests {
		for j := range r.Tests[i].Tests {
			t.add(&r.Tests[i].Tests[j])
		}
	}
	return t
}

// Status returns the verdict on a report with tests in one word. Errors are findings also where nothing fails the check.
func (r *Report) Status() judgment.Status {
	v := r.Result.Judge(judgment.Gate{Severity: r.Gate})
	switch {
	case r.breaksAt(min(r.Gate, analysis.Error)), v.Status == judgment.StatusFindings:
		return judgment.StatusFindings
	case !r.answered():
		return judgment.StatusNothing
	case r.unfinished() != "", v.Lost > 0:
		return judgment.StatusIncomplete
	case r.breaksAt(analysis.Warning), v.Warnings > 0:
		return judgment.StatusWarnings
	}
	return judgment.StatusClean
}

// Exit returns the exit status of a report with tests.
func (r *Report) Exit() judgment.Exit {
	v := r.Result.Judge(judgment.Gate{Severity: r.Gate, Never: true})
	switch {
	case r.breaksAt(r.Gate), v.Exit == judgment.Fails:
		return judgment.Fails
	case r.Empty:
	case !r.answered(), r.unfinished() != "", v.Lost > 0:
		return judgment.Inconclusive
	}
	return judgment.Passes
}

// breaksAt reports whether a test fails a check with that gate.
func (r *Report) breaksAt(gate analysis.Severity) bool {
	return slices.ContainsFunc(r.Tests, func(s Suite) bool {
		return slices.ContainsFunc(s.Tests, func(t Test) bool { return t.fails(gate) })
	})
}

// answered reports whether a test shows anything of an agent.
func (r *Report) answered() bool {
	t := r.Tally()
	asked := slices.ContainsFunc(r.Tests, func(s Suite) bool { return !s.Unasked })
	return asked && t.Passed+t.Failed+t.Waived > 0
}

// unfinished returns why tests are missing; empty if none are known to be.
func (r *Report) unfinished() string {
	for i := range r.Tests {
		s := &r.Tests[i]
		switch {
		case s.Cut:
			return "the run was interrupted"
		case s.Shut != "":
			return s.Shut
		case slices.ContainsFunc(s.Tests, func(t Test) bool { return t.Status == TestCritical && t.Waived != "" }):
			return "agent " + analysis.Clean(s.Agent) + " stopped answering, and the rest was not run"
		}
	}
	return ""
}

// testStatements returns the tests' statements for the verdict.
func (r *Report) testStatements(exit judgment.Exit) (list []judgment.Statement) {
	effect := min(exit, judgment.Inconclusive)
	if !r.answered() {
		list = append(list, judgment.Statement{
			Subject: judgment.AboutNothing, Text: "no test has a result", Exit: effect,
		})
	}
	if why := r.unfinished(); why != "" {
		list = append(list, judgment.Statement{Subject: judgment.AboutNotSeen, Text: why, Exit: effect})
	}
	return list
}

// aboutProbe reports whether a statement holds of traffic in which some calls are to fail and connections are to break.
func aboutProbe(s judgment.Subject) bool {
	switch s {
	case judgment.AboutLost, judgment.AboutCrash, judgment.AboutInsecure, judgment.AboutForgotten, judgment.AboutBaselined,
		judgment.AboutLive:
		return true
	}
	return false
}

// Verdict returns the verdict on a report with tests as one line for people: the results of the tests, and the rules'
// findings in their traffic.
func (r *Report) Verdict() string {
	t := r.Tally()
	text := t.String() + "; " + r.rulesVerdict()
	for i := range r.Tests {
		s := &r.Tests[i]
		level, _ := r.level(s)
		if len(r.Tests) > 1 {
			text += fmt.Sprintf("; %s: %s", analysis.Clean(s.Agent), level)
		} else {
			text += "; conformance level " + level
		}
		if s.Cut {
			text += "; interrupted"
		}
		if s.Shut != "" {
			text += "; " + s.Shut
		}
	}
	return text
}

// rulesVerdict summarizes the rules' findings.
func (r *Report) rulesVerdict() string {
	v := r.verdict()
	text := fmt.Sprintf("rules found %s, %s, %s", analysis.Plural(v.Errors, "error"),
		analysis.Plural(v.Warnings, "warning"), analysis.Plural(v.Notes, "note"))
	if v.Errors+v.Warnings+v.Notes == 0 {
		text = "rules found nothing"
	}
	text += " in " + analysis.Plural(v.Exchanges, "exchange")
	if v.Baselined > 0 {
		text += fmt.Sprintf(", %d known and not counted", v.Baselined)
	}
	if v.Lost > 0 {
		text += ", " + analysis.Plural(v.Lost, "exchange") + " not recorded"
	}
	return text
}

// level returns the conformance level of a suite's agent, and the reason.
func (r *Report) level(s *Suite) (level, reason string) {
	for _, c := range Conformances(r) {
		if c.link == s.Agent {
			return c.ConformanceLevel, c.LevelReason
		}
	}
	return "not-determined", "no request was answered"
}

// result describes the result of the test.
func (t *Test) result() string {
	if t.Waived != "" {
		return string(t.Status) + ", waived"
	}
	return string(t.Status)
}

// sentence returns a line with the problem and its fix.
func (t *Test) sentence() string {
	text := t.Title + ": " + t.Message
	if len(t.Sections) > 0 {
		text += " (" + strings.Join(t.Sections, ", ") + ")"
	}
	if t.Fix != "" {
		text += "; fix: " + t.Fix
	}
	return analysis.Clean(oneLine(text))
}

// worstFirst returns the tests that failed: critical ones, then by severity, waived ones last.
func worstFirst(tests []Test) []*Test {
	var list []*Test
	for i := range tests {
		if tests[i].Bad() {
			list = append(list, &tests[i])
		}
	}
	weight := func(t *Test) int {
		switch {
		case t.Waived != "":
			return 0
		case t.Status == TestCritical:
			return int(analysis.Error) + 2
		}
		return int(t.Severity) + 1
	}
	slices.SortStableFunc(list, func(a, b *Test) int { return weight(b) - weight(a) })
	return list
}
