package judgment

import "a2atap/analyzer/analysis"

// A Gate defines what makes a check fail. The zero Gate fails on every finding.
type Gate struct {
	Severity   analysis.Severity // the lowest severity whose findings fail; above Error no finding does
	Calls      bool              // one failed call or task fails the check; otherwise only a link on which at least half of them failed
	Never      bool              // no failed call or task fails
	AllowEmpty bool              // a verdict that proves nothing passes
}

// An Exit is the meaning of a verdict for the caller of a check.
type Exit uint8

// The exits, the mildest first. If several apply, the last one counts.
const (
	Passes       Exit = iota
	Inconclusive      // nothing was checked, or too much is missing for an answer
	Fails
)

// Status returns the exit status of a command with that verdict.
func (x Exit) Status() int { return [...]int{Passes: 0, Inconclusive: 4, Fails: 1}[x] }

// Severity returns the severity of the exit, for formats that have severities only.
func (x Exit) Severity() analysis.Severity {
	return [...]analysis.Severity{Passes: analysis.Note, Inconclusive: analysis.Warning, Fails: analysis.Error}[x]
}

// gates reports whether one of the findings of a result is at or above a severity.
func (r *Result) gates(least analysis.Severity) bool {
	for s := least; s <= analysis.Error; s++ {
		if r.Found[s] > 0 {
			return true
		}
	}
	return false
}

// exit returns the exit status of the verdict under a gate. Failures, that is findings or calls that fail the check,
// take precedence over missing traffic.
func (v *Verdict) exit(r *Result, gate Gate) Exit {
	failing := len(v.Failing) > 0 && !gate.Never
	switch {
	case r.gates(gate.Severity), failing, gate.Calls && v.Calls.New() > 0:
		return Fails
	case gate.AllowEmpty, len(v.Failing) > 0, !v.lacking():
		return Passes
	}
	return Inconclusive
}

// lacking reports whether the verdict proves nothing: nothing was checked, or too much is missing.
func (v *Verdict) lacking() bool { return v.empty() || v.incomplete() }
