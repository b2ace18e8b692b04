package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
)

// A Suite is what one agent was asked actively, and how that came out.
type Suite struct {
	Agent   string // its name in links
	URL     string
	Name    string // that its card gives; empty if no card was read
	Version string // the same
	Tests   []Test // in reading order
	Notes   []string
	// Level is the conformance level, and Reason what it rests on; empty to let rules and tests decide. Errors that
	// only rules have found lower it.
	Level, Reason string
	// Dropped counts the findings that are left out because what was asked is at fault, on purpose.
	Dropped int
	// Unasked says that no interface of the agent was asked.
	Unasked bool
	// Cut says that the run was interrupted: what had not begun is left out.
	Cut bool
	// Shut says why little could be seen, such as an agent that lets nobody in; empty if that is not so.
	Shut string
}

// A TestStatus is how a test came out.
type TestStatus string

// The statuses of tests.
const (
	TestPassed       TestStatus = "pass"
	TestFailed       TestStatus = "fail"
	TestSkipped      TestStatus = "skip"         // not for this agent
	TestInconclusive TestStatus = "inconclusive" // asked, and the answer does not show what it is about
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
	Tags      []string // what groups it
	Fix       string
	Sequence  []string // events of its stream
	Duration  time.Duration
	Request   string   // of a failure: what was asked, for people
	Answer    string   // of a failure: what came back
	Exchanges []uint64 // numbers of its exchanges
	Waived    string   // why a failure does not count; empty if it does
}

// Bad reports whether the test failed, or found the agent gone.
func (t *Test) Bad() bool { return t.Status == TestFailed || t.Status == TestCritical }

// severity says how bad it is that the test failed: an agent that was gone is an error.
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

// A Tally counts tests by how they came out. What is waived is counted as that, and not as failed.
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

// Total returns how many tests there are.
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

// Status returns the verdict on a report with tests in one word, with the report's gate.
func (r *Report) Status() judgment.Status { return r.status(r.Gate) }

func (r *Report) status(gate analysis.Severity) judgment.Status {
	cut, asked := false, false
	for i := range r.Tests {
		cut, asked = cut || r.Tests[i].Cut || r.Tests[i].Shut != "", asked || !r.Tests[i].Unasked
		for j := range r.Tests[i].Tests {
			t := &r.Tests[i].Tests[j]
			if t.fails(gate) {
				return judgment.StatusFindings
			}
			cut = cut || t.Status == TestCritical && t.Waived != "" // what was to come after it was not asked
		}
	}
	v, t := r.Result.Verdict(gate), r.Tally()
	switch {
	case v.Status == judgment.StatusFindings:
		return v.Status
	case t.Passed+t.Failed+t.Waived == 0, !asked:
		return judgment.StatusNothing
	case cut, v.Lost > 0:
		return judgment.StatusIncomplete
	}
	return judgment.StatusClean
}

// Verdict returns the verdict on a report with tests as one line for people: how the tests came out, and what the rules
// found in what was asked and answered.
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

// rulesVerdict says what the rules found.
func (r *Report) rulesVerdict() string {
	v := r.Result.Verdict(r.gate())
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
		text += fmt.Sprintf(", %d lost", v.Lost)
	}
	return text
}

// level returns the conformance level of the agent of a suite, and what it rests on.
func (r *Report) level(s *Suite) (level, reason string) {
	for _, c := range Conformances(r) {
		if c.link == s.Agent {
			return c.ConformanceLevel, c.LevelReason
		}
	}
	return "not-determined", "nothing was answered"
}

// result says in words how the test came out.
func (t *Test) result() string {
	if t.Waived != "" {
		return string(t.Status) + ", waived"
	}
	return string(t.Status)
}

// sentence says in a line what is wrong, and what to do about it.
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
func worstFirst(s *Suite) []*Test {
	var list []*Test
	for i := range s.Tests {
		if s.Tests[i].Bad() {
			list = append(list, &s.Tests[i])
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
