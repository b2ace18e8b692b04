package judgment

import (
	"slices"
	"strings"
)

// maxRules bounds the rules that one group of failed calls names.
const maxRules = 5

// Explain links what was found with what failed: each finding in an exchange whose call failed says with what, and the
// failed calls name the rules whose findings stand there. Calls that were refused have failed where nothing else
// succeeded on their link.
func (r *Result) Explain() {
	type where struct {
		capture  string
		exchange uint64
	}
	at := make(map[where]*FailedCalls)
	works := make(map[string]bool)
	for i := range r.Calls {
		works[r.Calls[i].Link.String()] = r.Calls[i].Succeeded > 0
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
	for i := range r.Findings {
		f := &r.Findings[i]
		failed := at[where{f.Capture, f.Place.Exchange}]
		if failed == nil && len(r.Captures) == 1 {
			failed = at[where{"", f.Place.Exchange}]
		}
		if f.Failure = ""; failed == nil || failed.Link.Agent != f.Link.Agent {
			continue
		}
		f.Failure = failed.Words()
		if id := f.Rule.ID; len(failed.Rules) < maxRules && !slices.Contains(failed.Rules, id) {
			failed.Rules = append(failed.Rules, id)
		}
	}
}

// Words says with what they failed, with the code of the error and what it says: "-32603 InternalError: boom".
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
