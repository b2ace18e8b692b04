package judgment_test

import (
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
)

// Findings in exchanges whose calls failed name the error, and the failed calls name them; others have nothing to do
// with it, and refusals of agents that work are no failures.
func TestExplain(t *testing.T) {
	rule := func(id string) *analysis.Rule { return &analysis.Rule{ID: id} }
	found := func(id string, exchange uint64) analysis.Finding {
		return analysis.Finding{Rule: rule(id), Link: link, Place: analysis.Place{Exchange: exchange}}
	}
	down := func(seq uint64) summary.Summary {
		s := failing(call(a2a.SendMessage, ""), a2a.InternalError, "boom")
		s.Errors[0].Code, s.Errors[0].Known, s.Seq = -32603, true, seq
		return s
	}
	done := call(a2a.SendMessage, "t1")
	done.Seq = 3
	refused := failing(call(a2a.GetTask, "t9"), a2a.TaskNotFound, "none")
	refused.Seq = 4
	r := &judgment.Result{Captures: []string{"c"}}
	r.Count(down(1), down(2), done, refused)
	r.Findings = []analysis.Finding{found("a-a", 1), found("b-b", 2), found("b-b", 1), found("c-c", 3), found("d-d", 4)}
	for range 2 { // it can be done again
		r.Explain()
	}
	for i, want := range []string{"-32603 InternalError: boom", "-32603 InternalError: boom", "-32603 InternalError: boom", "", ""} {
		if got := r.Findings[i].Failure; got != want {
			t.Errorf("the finding of %s at %d says %q, want %q", r.Findings[i].Rule.ID, r.Findings[i].Place.Exchange, got, want)
		}
	}
	v := r.Verdict(analysis.Error)
	if len(v.Failed) != 1 || v.Failed[0].String() != "1 SendMessage InternalError: boom (and 1 more) [a-a, b-b]" {
		t.Errorf("failed are %v", v.Failed)
	}
	if len(v.Refused) != 1 || v.Refused[0].Rules != nil {
		t.Errorf("refused are %v", v.Refused)
	}
}
