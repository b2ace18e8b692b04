package snapshot_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/must"
)

// withReplaced is a transcript in which findings are replaced when a card comes. Every sample has it.
const withReplaced = "dialects/dialect-mismatch-01-at-10"

// transcripts calls f with transcripts of the rules, one of every oneIn.
func transcripts(t *testing.T, f func(t *testing.T, src capture.Source)) {
	t.Helper()
	for i, s := range rulestest.Scenarios(t) {
		if (i+1)%oneIn == 0 || s.Name == withReplaced {
			src := must.Get(must.Get(s.Parse())(t).Source(s.Name))(t)
			t.Run(s.Name, func(t *testing.T) { f(t, src) })
		}
	}
}

// What a reading says of a capture is what judging it says: the findings in their order, the coverage and all counts,
// the summary of each exchange, and what caused it.
func TestReadingIsWhatJudgingSays(t *testing.T) {
	ctx := context.Background()
	transcripts(t, func(t *testing.T, src capture.Source) {
		links := &workflow.Index{}
		ended := make(map[uint64]summary.Summary)
		want, err := engine.Run(ctx, rules.All, src, nil, append(workflow.Into(links.Put),
			engine.OnEnded(func(s summary.Summary) { ended[s.Seq] = s }))...)
		must.Do(t, err)
		var shelf capture.MemoryShelf
		_, w, err := snapshot.Judge(ctx, rules.All, src, shelf.Put, []byte("mark"))
		if err != nil || w.Err() != nil {
			t.Fatal(err, w.Err())
		}
		r := must.Get(snapshot.Open(ctx, &shelf, rules.All))(t)
		got := must.Get(r.Complete(ctx, src))(t)
		sameRule := cmp.Comparer(func(a, b *analysis.Rule) bool { return a == b })
		unnamed := cmpopts.IgnoreFields(analysis.Finding{}, "Workflow", "Cause") // Run does not say the one, and the other is of use only there
		if diff := cmp.Diff(want, got, sameRule, unnamed, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the result: -judged +kept:\n%s", diff)
		}
		rows := 0
		for row, err := range r.Rows(ctx, 1) {
			must.Do(t, err)
			rows++
			one := must.Get(r.Row(ctx, row.Seq))(t)
			if diff := cmp.Diff(ended[row.Seq], row.Summary, cmpopts.EquateEmpty(),
				cmpopts.IgnoreFields(summary.Summary{}, "CardSum", "Messages", "Cause", "Asks")); diff != "" {
				t.Errorf("exchange %d: -judged +kept:\n%s", row.Seq, diff)
			}
			if diff := cmp.Diff(row, one); diff != "" {
				t.Errorf("exchange %d: -of all +by itself:\n%s", row.Seq, diff)
			}
			if want := links.Of(row.Seq); want.Parent != row.Parent || want.By != row.By {
				t.Errorf("exchange %d: cause %d %v, want %d %v", row.Seq, row.Parent, row.By, want.Parent, want.By)
			}
			of := analysis.Workflow{Number: links.Of(row.Seq).Workflow, Caused: links.ByAgent(row.Seq)}
			if w, err := r.Workflow(ctx, row.Seq); err != nil || w != of {
				t.Errorf("exchange %d: in workflow %v, want %v (%v)", row.Seq, w, of, err)
			}
			found := must.Get(r.FindingsOf(ctx, row))(t)
			var here []analysis.Finding
			for _, f := range want.Findings {
				if f.Place.Exchange == row.Seq {
					f.Capture, f.Cause = "", ""
					here = append(here, f)
				}
			}
			if diff := cmp.Diff(here, found, cmp.Comparer(func(a, b *analysis.Rule) bool { return a == b }), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("findings of exchange %d: -judged +kept:\n%s", row.Seq, diff)
			}
		}
		if rows != len(ended) {
			t.Errorf("%d rows of %d exchanges", rows, len(ended))
		}
	})
}

// A View that checks a capture has the same results as one that was checked in one go.
func TestViewIsWhatJudgingSays(t *testing.T) {
	ctx := context.Background()
	transcripts(t, func(t *testing.T, src capture.Source) {
		var whole capture.MemoryShelf
		if _, w, err := snapshot.Judge(ctx, rules.All, src, whole.Put, []byte("mark")); err != nil || w.Err() != nil {
			t.Fatal(err, w.Err())
		}
		v := view.Open(src, view.Options{Rules: rules.All})
		defer v.Close()
		state := must.Get(v.Wait(ctx))(t)
		made := must.Get(snapshot.Open(ctx, &whole, rules.All))(t)
		all := func(r *snapshot.Results) (result *judgment.Result, rows []*snapshot.Row) {
			result = must.Get(r.Complete(ctx, src))(t)
			for row, err := range r.Rows(ctx, 1) {
				must.Do(t, err)
				rows = append(rows, row)
			}
			return result, rows
		}
		sameRule := cmp.Comparer(func(a, b *analysis.Rule) bool { return a == b })
		wantResult, wantRows := all(made)
		gotResult, gotRows := all(state.Results)
		if diff := cmp.Diff(wantResult, gotResult, sameRule); diff != "" {
			t.Errorf("the result: -in one go +View:\n%s", diff)
		}
		if diff := cmp.Diff(wantRows, gotRows); diff != "" {
			t.Errorf("the rows: -in one go +View:\n%s", diff)
		}
	})
}

// A reading made by other rules is not read, but names the exchanges that brought a card.
func TestOfOtherRules(t *testing.T) {
	ctx := context.Background()
	src := must.Get(open.File("../rules/testdata/wild/a2a-go-0.3.15.txtar"))(t)
	defer src.Close()
	var shelf capture.MemoryShelf
	if _, err := snapshot.HeadOf(ctx, &shelf); !errors.Is(err, snapshot.ErrNone) {
		t.Errorf("of an empty shelf: %v, want %v", err, snapshot.ErrNone)
	}
	if _, _, err := snapshot.Judge(ctx, rules.All[1:], src, shelf.Put, []byte("mark")); err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Open(ctx, &shelf, rules.All); !errors.Is(err, snapshot.ErrNone) {
		t.Errorf("opened with one rule more: %v, want %v", err, snapshot.ErrNone)
	}
	if head, err := snapshot.HeadOf(ctx, &shelf); err != nil || !head.Ended || len(head.Cards) == 0 {
		t.Errorf("its head is %+v, %v; want that all was checked, and cards", head, err)
	}
}
