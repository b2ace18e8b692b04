package report_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

// What was never observed is one line with a count, unless its names are asked for.
func TestNeverObserved(t *testing.T) {
	result := small(t)
	text := func(coverage bool) string {
		var b strings.Builder
		r := whole(result, few...)
		r.Coverage = coverage
		if err := report.Text(&b, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if want := "\nnever observed: 1 of 7 rules; --coverage lists them\n"; !strings.HasSuffix(text(false), want) {
		t.Errorf("no %q at the end of\n%s", want, text(false))
	}
	want := "\nnever observed: 1 of 7 rules\n  resterror     rest-error-not-2xx\n"
	if !strings.HasSuffix(text(true), want) {
		t.Errorf("no %q at the end of\n%s", want, text(true))
	}
}

// The worst findings come first. Repeated findings are grouped: places with the same value share a row, other places
// have separate rows, and many places are shown as a number.
func TestFindingsAreGrouped(t *testing.T) {
	rule := func(id string) *analysis.Rule {
		return &analysis.Rule{ID: id, Level: analysis.Must, Fix: "Mend it.", Cites: []a2a.Cite{{In: a2a.V1_0, Section: "1"}}}
	}
	at := func(r *analysis.Rule, n uint64, s analysis.Severity, seen string) analysis.Finding {
		return analysis.Finding{
			Rule: r, Severity: s, Side: a2a.Agent, Link: analysis.Link{Client: "planner", Agent: "booker"},
			Capture: "c", Place: analysis.Place{Exchange: n}.Line(), Seen: seen, Expected: "one", Dialects: a2a.Of(a2a.V1_0),
		}
	}
	late, often := rule("late"), rule("often")
	list := []analysis.Finding{at(late, 1, analysis.Warning, "two"), at(often, 2, analysis.Error, "x\x1b[2J")}
	for n := range uint64(30) {
		list = append(list, at(often, n+3, analysis.Error, "x\x1b[2J"))
	}
	for n := range uint64(7) {
		list = append(list, at(often, n+40, analysis.Error, fmt.Sprintf("value %d", n)))
	}
	got := report.Findings(list, nil)
	want := `error  2.request.line  [often], 38 times
  seen      x�[2J
  expected  one
  at fault  agent booker (1.0 §1)
  fix       Mend it.
  more      a2atap rules often
  also at   40.request.line: value 0
            41.request.line: value 1
            42.request.line: value 2
            43.request.line: value 3
            44.request.line: value 4
            exchanges 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
            19, 20, 21, 22, and 12 more, which --format json lists

warning  1.request.line  [late]
  seen      two
  expected  one
  at fault  agent booker (1.0 §1)
  fix       Mend it.
  more      a2atap rules late
`
	expect.Same(t, "", want, got)
}

// What several agents do wrong alike is one finding, which names them, and says which of them does it where. Those of
// several workflows are distinguished.
func TestFindingsOfSeveralAgents(t *testing.T) {
	rule := &analysis.Rule{ID: "often", Level: analysis.Must, Fix: "Mend it.", Cites: []a2a.Cite{{In: a2a.V1_0, Section: "1"}}}
	var list []analysis.Finding
	for n, agent := range []string{"hotels", "flights", "hotels", "cars", "flights", "cars"} {
		f := analysis.Finding{
			Rule: rule, Severity: analysis.Error, Side: a2a.Agent, Link: analysis.Link{Client: "planner", Agent: agent},
			Capture: "c", Place: analysis.Place{Exchange: uint64(n) + 1}.Line(), Seen: "two", Expected: "one",
			Dialects: a2a.Of(a2a.V1_0), Workflow: analysis.Workflow{Number: 9, Caused: true},
		}
		if n == 5 {
			f.Seen = "three"
		}
		list = append(list, f)
	}
	want := `error  1.request.line  [often], 6 times
  seen      two
  expected  one
  at fault  agents hotels, flights and cars (1.0 §1)
  fix       Mend it.
  more      a2atap rules often
  also at   6.request.line (cars): three
            exchanges 2, 5 (flights)
            exchange 3 (hotels)
            exchange 4 (cars)
`
	expect.Same(t, "", want, report.Findings(list, nil))
	list[3].Workflow.Number = 12
	if got := report.Findings(list, nil); !strings.Contains(got, "\n  workflow  9 and 12\n") {
		t.Errorf("the workflows are not named in\n%s", got)
	}
	for i := range list { // as many as a mesh of agents has
		list[i].Link.Agent = "agent"
	}
	for n := range uint64(40) {
		f := list[0]
		f.Link.Agent, f.Place.Exchange = fmt.Sprint("agent", n), n+10
		list = append(list, f)
	}
	got := report.Findings(list, nil)
	for _, want := range []string{"agents agent, agent0, agent1,", "agent8 and 31 more (1.0", "and 32 more, which --format json lists"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n > 30 {
		t.Errorf("%d lines of one finding:\n%s", n, got)
	}
}

// Findings of clients and findings without a client are distinguished by their links.
func TestFindingsOfNobodyStandAlone(t *testing.T) {
	rule := &analysis.Rule{ID: "odd", Level: analysis.Advice, Cites: []a2a.Cite{{In: a2a.V1_0, Section: "1"}}}
	var list []analysis.Finding
	for _, agent := range []string{"hotels", "flights"} {
		list = append(list, analysis.Finding{Rule: rule, Side: a2a.Nobody, Link: analysis.Link{Client: "planner", Agent: agent}, Seen: "x"})
	}
	expect.Equal(t, "findings", 2, strings.Count(report.Findings(list, nil), "[odd]"))
}
