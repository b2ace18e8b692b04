package judgment

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
)

// maxRules bounds the rules that one group of failed calls names.
const maxRules = 5

// Explain links findings and failures. Each finding in an exchange whose call failed names the failure, and each group
// of failed calls names the rules of its findings. Refused calls count as failed if no call on their link succeeded. A
// finding that is reported once per cause gets the number of times its link met that cause. All calls that failed for
// the cause name its rule.
func (r *Result) Explain() {
	type where struct {
		capture  string
		exchange uint64
	}
	at := make(map[where]*FailedCalls)
	works := make(map[string]bool)
	for i := range r.Calls {
		works[r.Calls[i].Link.String()] = r.Calls[i].Succeeded > 0 || r.Calls[i].Works
	}
	for i := range r.FailedCalls {
		f := &r.FailedCalls[i]
		if f.Rules = nil; f.Task || f.Refused && works[f.Link.String()] {
			continue
		}
		for _, n := range append([]uint64{f.Exchange}, f.Others...) {
			at[where{f.Capture, n}] = f
		}
	}
	met := r.metOnce()
	for i := range r.Findings {
		f := &r.Findings[i]
		failed := at[where{f.Capture, f.Place.Exchange}]
		if failed == nil && len(r.Captures) == 1 {
			failed = at[where{"", f.Place.Exchange}]
		}
		f.Failure, f.Times = "", 0
		var all []*FailedCalls
		if failed != nil && failed.Link.Agent != f.Link.Agent {
			failed = nil
		}
		if failed != nil {
			f.Failure, all = failed.Words(), []*FailedCalls{failed}
		}
		if f.Rule.Once == analysis.PerCause {
			if f.Times = met[ruleOn{f.Rule.ID, f.Link}]; f.Rule.Level == analysis.Advice { // the finding says only that the call failed
				all = r.ofCause(failed, f.Times > 0)
			}
			if f.Times == 0 {
				for _, g := range all {
					f.Times += g.Count
				}
			}
		}
		for _, g := range all {
			if id := f.Rule.ID; len(g.Rules) < maxRules && !slices.Contains(g.Rules, id) {
				g.Rules = append(g.Rules, id)
			}
		}
	}
}

// ofCause returns the calls of the link that failed for the same cause as failed, or nil. If alone is true, one finding
// covers all faults, which then have one cause, however they looked.
func (r *Result) ofCause(failed *FailedCalls, alone bool) (all []*FailedCalls) {
	for i := range r.FailedCalls {
		g := &r.FailedCalls[i]
		if failed != nil && g.Capture == failed.Capture && g.Link == failed.Link && g.Error == failed.Error &&
			(alone && analysis.IsFault(g.Error) || g.sameText(failed)) {
			all = append(all, g)
		}
	}
	return all
}

// A ruleOn is a rule on a link.
type ruleOn struct {
	rule string
	link analysis.Link
}

// metOnce returns how often each rule was broken on a link where a single finding covers its cause.
func (r *Result) metOnce() map[ruleOn]int {
	found, broken := make(map[ruleOn]int), make(map[ruleOn]int)
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Rule.Once == analysis.PerCause {
			found[ruleOn{f.Rule.ID, f.Link}]++
		}
	}
	for i := range r.Coverage {
		if c := &r.Coverage[i]; found[ruleOn{c.Rule.ID, c.Link}] == 1 {
			broken[ruleOn{c.Rule.ID, c.Link}] += c.Broken
		}
	}
	return broken
}

// Words names the failure, with the code and text of the error: "-32603 InternalError: boom".
func (f *FailedCalls) Words() string {
	text := f.Error
	if f.Code != "" && !strings.HasSuffix(f.Error, " "+f.Code) {
		text = f.Code + " " + text
	}
	if f.Text != "" {
		text += ": " + f.Text
	}
	return text
}
