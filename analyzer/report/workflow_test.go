package report_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
)

// A finding names its workflow to programs where it is known, and to people where an agent made the call for it. What
// it is known by stays the same.
func TestFindingNamesItsWorkflow(t *testing.T) {
	for _, test := range []struct {
		workflow   analysis.Workflow
		line, json bool
	}{
		{analysis.Workflow{}, false, false},
		{analysis.Workflow{Number: 7}, false, true},
		{analysis.Workflow{Number: 7, Caused: true}, true, true},
	} {
		f := analysis.Finding{Rule: rules.All[0], Place: analysis.Place{Exchange: 12}, Workflow: test.workflow}
		if got := strings.HasSuffix(report.Line(&f), "; workflow 7)"); got != test.line {
			t.Errorf("%+v: the line is %q", test.workflow, report.Line(&f))
		}
		b := written(t, report.FindingLine, &f)
		if got := strings.Contains(b, `"workflow":7`); got != test.json {
			t.Errorf("%+v: the JSON is %s", test.workflow, b)
		}
		bare := f
		bare.Workflow = analysis.Workflow{}
		if f.Fingerprint() != bare.Fingerprint() {
			t.Errorf("%+v: it has another fingerprint", test.workflow)
		}
	}
}
