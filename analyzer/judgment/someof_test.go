package judgment_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
)

// If calls failed on some links, and too few for more than "no violation", the verdict names the links.
func TestVerdictNamesTheLinksWithFailedCalls(t *testing.T) {
	calls := func(client string, succeeded, failed int) judgment.Calls {
		return judgment.Calls{
			Link: analysis.Link{Client: client, Agent: "booker"}, Made: succeeded + failed, Succeeded: succeeded, Failed: failed,
			Failures: map[string]int{"InternalError": failed},
		}
	}
	for _, tt := range []struct {
		name  string
		calls []judgment.Calls
		want  string
	}{
		{"one of two", []judgment.Calls{calls("planner", 5, 1), calls("traveller", 1, 0)}, "; they failed on planner → booker;"},
		{"the only one", []judgment.Calls{calls("planner", 5, 1)}, ""},
		{"both", []judgment.Calls{calls("planner", 5, 1), calls("traveller", 5, 1)}, ""},
	} {
		r := judgment.Result{Calls: tt.calls}
		r.Counts.Exchanges, r.Counts.Judged = 8, 8
		got := r.Verdict(analysis.Error)
		if got.Status != judgment.StatusNoViolation || strings.Contains(got.String(), "they failed on") != (tt.want != "") ||
			!strings.Contains(got.String(), tt.want) {
			t.Errorf("%s: %s: %s", tt.name, got.Status, got)
		}
	}
}
