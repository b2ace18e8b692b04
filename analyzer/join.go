package analyzer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"a2atap/proxy/capture"
)

// Join puts the results of all parts of one capture together, given in any order, which were judged by the rules: after
// Settle, what comes of it is what one engine says that judges the whole. The results are not changed. It returns an
// error if a part is missing or given twice, or if they are not of the same capture in the same state.
func Join(rules []*Rule, parts []*Result) (*Result, error) {
	if len(parts) == 0 {
		return nil, errors.New("no part is given")
	}
	sorted := slices.SortedFunc(slices.Values(parts), func(a, b *Result) int {
		return cmp.Compare(a.Portion.Number, b.Portion.Number)
	})
	if err := complete(sorted); err != nil {
		return nil, err
	}
	whole := *sorted[0]
	whole.Portion, whole.Findings, whole.Coverage, whole.Counts.Judged = Portion{}, nil, nil, 0
	var coverage Result
	for _, r := range sorted {
		whole.Findings = append(whole.Findings, r.Findings...)
		whole.Counts.Judged += r.Counts.Judged
		coverage.addCoverage(r.Coverage)
	}
	place := make(map[*Rule]int, len(rules))
	for i, r := range rules {
		place[r] = i
	}
	slices.SortFunc(coverage.Coverage, func(a, b Coverage) int {
		return cmp.Or(cmp.Compare(place[a.Rule], place[b.Rule]), a.Link.compare(b.Link))
	})
	whole.Coverage = coverage.Coverage
	return &whole, nil
}

// complete returns an error unless the results, sorted by their numbers, are those of all parts of one capture.
func complete(sorted []*Result) error {
	first := &sorted[0].Portion
	for _, r := range sorted {
		switch p := &r.Portion; {
		case p.IsWhole():
			return errors.New("one of them is of a whole capture, not of a part")
		case p.Of != first.Of:
			return fmt.Errorf("parts %s and %s are of different divisions", first.Part, p.Part)
		}
	}
	for i, r := range sorted {
		if i > 0 && r.Portion.Number == sorted[i-1].Portion.Number {
			return fmt.Errorf("part %s is given twice", r.Portion.Part)
		}
	}
	for i := range first.Of {
		if i >= len(sorted) || sorted[i].Portion.Number != i+1 {
			return fmt.Errorf("part %s is missing", Part{i + 1, first.Of})
		}
	}
	for _, r := range sorted[1:] {
		p := &r.Portion
		switch {
		case p.Steps != first.Steps:
			return fmt.Errorf("part %s is of a capture of %d steps, part %s of one of %d: it has grown, or is another one",
				first.Part, first.Steps, p.Part, p.Steps)
		case p.Sum != first.Sum, !sameSize(r.Counts, sorted[0].Counts):
			return fmt.Errorf("part %s is of another capture than part %s", p.Part, first.Part)
		case !sameState(r, sorted[0]):
			return fmt.Errorf("part %s was judged in another state of the capture than part %s: while it was recorded, "+
				"when it had ended, or when its recorder was known to be killed; judge both again", p.Part, first.Part)
		}
	}
	return nil
}

// sameSize reports whether counts of two parts are of one capture.
func sameSize(a, b Counts) bool {
	a.Judged, b.Judged = 0, 0
	return a == b
}

// sameState reports whether two parts say the same of how the capture was recorded, which may change without a step.
func sameState(a, b *Result) bool {
	return a.Live == b.Live && a.Insecure == b.Insecure &&
		slices.EqualFunc(a.Crashes, b.Crashes, func(c, d capture.Crash) bool {
			return c.After.Equal(d.After) && c.Within == d.Within
		})
}

// Settle puts the findings of a part, or of several, in the order in which one engine makes them, lets those that
// revise others take their place, and counts them. It is to be called once.
func (r *Result) Settle() {
	made := r.Findings
	slices.SortStableFunc(made, func(f, g Finding) int {
		return cmp.Or(cmp.Compare(f.Order.Step, g.Order.Step), cmp.Compare(f.Order.Index, g.Order.Index))
	})
	var ledger Ledger
	r.Findings = nil
	for _, f := range made {
		f.Order = Order{}
		ledger.Add(&f)
		r.take(f)
	}
	r.Found, r.Critical = ledger.Found, ledger.Critical
}
