package report

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report/junit"
)

// junitTests returns a suite for each agent that was asked actively, a case for each test. A test that was inconclusive, or failed below
// the gate, is skipped with its message; one that found the agent gone has an error.
func (r *Report) junitTests() (all []junit.Suite) {
	for i := range r.Tests {
		s := &r.Tests[i]
		suite := junit.Suite{Name: "probe " + analysis.Clean(s.Agent), Out: analysis.Clean(strings.Join(s.Notes, "; "))}
		for j := range s.Tests {
			suite.Cases = append(suite.Cases, s.Tests[j].junit(r.Gate))
		}
		all = append(all, suite)
	}
	return all
}

func (t *Test) junit(gate analysis.Severity) junit.Case {
	c := junit.Case{
		Name: analysis.Clean(t.Name), Class: "a2atap.probe." + string(t.Category),
		Time: fmt.Sprintf("%.3f", t.Duration.Seconds()),
	}
	message := analysis.Clean(oneLine(t.Message))
	switch {
	case t.Waived != "":
		c.Skipped = &junit.Message{Message: "waived: " + analysis.Clean(oneLine(t.Waived)) + ": " + message}
	case t.Status == TestSkipped:
		c.Skipped = &junit.Message{Message: message}
	case t.Status == TestInconclusive:
		c.Skipped = &junit.Message{Message: "inconclusive: " + message}
	case t.Status == TestCritical && t.fails(gate):
		c.Error = &junit.Message{Message: message, Type: "critical", Text: t.details()}
	case t.fails(gate):
		c.Failure = &junit.Message{Message: message, Type: t.Severity.String(), Text: t.details()}
	case t.Bad():
		c.Skipped = &junit.Message{Message: "failed below the gate: " + t.severity().String() + ": " + message}
		c.Out = t.details()
	}
	for _, life := range t.lives() {
		c.Out += "skill " + life + "\n"
	}
	return c
}

// details returns a failure as the text report has it.
func (t *Test) details() string {
	var b strings.Builder
	testText(&b, t)
	return strings.TrimSuffix(b.String(), "\n")
}
