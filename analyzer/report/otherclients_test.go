package report

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Where a link without success is counted with others that have some, the matrix and JUnit say so all the same.
func TestLinkWithoutSuccessAmongOthers(t *testing.T) {
	rule := &analysis.Rule{ID: "r", Family: "f"}
	others := analysis.Link{Client: judgment.OtherClients, Agent: "booker"}
	late := analysis.Link{Client: "planner", Agent: "booker"}
	r := &Report{Rules: []*analysis.Rule{rule}, Result: &judgment.Result{
		Coverage: []judgment.Coverage{{Rule: rule, Link: others, Applied: 9}},
		Calls: []judgment.Calls{
			{Link: others, Made: 7, Succeeded: 7},
			{Link: late, Made: 2, Failed: 2, Failures: map[string]int{"HTTP 503": 2}},
		},
	}}
	m := newMatrix(r.Result)
	expect.Equal(t, "what the matrix says of the planner", "no call succeeded", m.text("planner", "booker"))
	expect.Equal(t, "what the matrix says of the others", "ok (1)", m.text(judgment.OtherClients, "booker"))
	var b strings.Builder
	must.Do(t, JUnit(&b, r))
	for _, want := range []string{
		`<failure message="at least half failed on planner → booker: 2 of 2 calls failed: HTTP 503 2"`,
		"no call is known to have succeeded on planner → booker",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("JUnit does not say %q:\n%s", want, b.String())
		}
	}
}

// A call that failed is in JUnit, and fails there if one is to fail the check.
func TestJUnitNamesFailedCalls(t *testing.T) {
	rule := &analysis.Rule{ID: "r", Family: "f"}
	link := analysis.Link{Client: "planner", Agent: "booker"}
	r := &Report{Gate: analysis.Error, Rules: []*analysis.Rule{rule}, Result: &judgment.Result{
		Coverage:    []judgment.Coverage{{Rule: rule, Link: link, Applied: 9}},
		Calls:       []judgment.Calls{{Link: link, Made: 7, Succeeded: 6, Failed: 1, Failures: map[string]int{"HTTP 503": 1}}},
		FailedCalls: []judgment.FailedCalls{{Exchange: 4, Link: link, Operation: "SendMessage", Error: "HTTP 503", Text: "busy", Count: 1}},
	}}
	for _, fails := range []bool{false, true} {
		r.Calls = fails
		var b strings.Builder
		must.Do(t, JUnit(&b, r))
		if !strings.Contains(b.String(), "4 SendMessage HTTP 503: busy") {
			t.Errorf("the failed call is not in\n%s", b.String())
		}
		if failed := strings.Contains(b.String(), `<failure message="4 SendMessage HTTP 503: busy (planner → booker)"`); failed != fails {
			t.Errorf("with a gate on calls %t, a case has failed %t:\n%s", fails, failed, b.String())
		}
	}
}
