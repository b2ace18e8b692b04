package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
	"a2atap/proxy/a2a"
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
	if want := "\nnever observed: 1 of 7 rules; --coverage names them\n"; !strings.HasSuffix(text(false), want) {
		t.Errorf("no %q at the end of\n%s", want, text(false))
	}
	want := "\nnever observed: 1 of 7 rules\n  resterror     rest-error-not-2xx\n"
	if !strings.HasSuffix(text(true), want) {
		t.Errorf("no %q at the end of\n%s", want, text(true))
	}
}

// The worst findings come first; what repeats stands together: places with the same value in a row, others in rows of
// their own, and of many their number.
func TestFindingsAreGrouped(t *testing.T) {
	rule := func(id string) *analyzer.Rule {
		return &analyzer.Rule{ID: id, Level: analyzer.Must, Fix: "Mend it.", Cites: []a2a.Cite{{In: a2a.V1_0, Section: "1"}}}
	}
	at := func(r *analyzer.Rule, n uint64, s analyzer.Severity, seen string) analyzer.Finding {
		return analyzer.Finding{
			Rule: r, Severity: s, Side: a2a.Agent, Link: analyzer.Link{Client: "planner", Agent: "booker"},
			Capture: "c", Place: analyzer.Place{Exchange: n}.Line(), Seen: seen, Expected: "one", Dialects: a2a.Of(a2a.V1_0),
		}
	}
	late, often := rule("late"), rule("often")
	list := []analyzer.Finding{at(late, 1, analyzer.Warning, "two"), at(often, 2, analyzer.Error, "x\x1b[2J")}
	for n := range uint64(30) {
		list = append(list, at(often, n+3, analyzer.Error, "x\x1b[2J"))
	}
	for n := range uint64(7) {
		list = append(list, at(often, n+40, analyzer.Error, fmt.Sprintf("value %d", n)))
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
            3.request.line, 4.request.line, 5.request.line, 6.request.line,
            7.request.line, 8.request.line, 9.request.line, 10.request.line,
            11.request.line, 12.request.line, 13.request.line, 14.request.line,
            15.request.line, 16.request.line, 17.request.line, 18.request.line,
            19.request.line, 20.request.line, 21.request.line, 22.request.line,
            and 12 more, which --format json lists

warning  1.request.line  [late]
  seen      two
  expected  one
  at fault  agent booker (1.0 §1)
  fix       Mend it.
  more      a2atap rules late
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
