package present

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/cmd/internal/cli"
)

// A Gate says what makes a checking command fail.
type Gate struct {
	Severity analysis.Severity // the lowest that does; none if it is above Error
	Calls    bool              // one failed call or task does; else only links on which at least half of them failed
	Never    bool              // not even these do
}

// ParseGate reads --fail-on: a severity, "calls", both with a comma between them, or "never".
func ParseGate(words string) (Gate, error) {
	if words == "never" {
		return Gate{Severity: analysis.Error + 1, Never: true}, nil
	}
	gate := Gate{Severity: analysis.Error}
	for name := range strings.SplitSeq(words, ",") {
		if name == "calls" {
			gate.Calls = true
			continue
		}
		if name == "never" {
			return gate, cli.Usage("--fail-on %s: never stands alone", words)
		}
		severity, err := analysis.ParseSeverity(name)
		if err != nil {
			known := []string{"error", "warning", "note", "calls", "never"}
			return gate, cli.Usage("--fail-on: unknown severity %q; use one of %s%s", name, strings.Join(known, ", "),
				cli.Nearest(name, known))
		}
		gate.Severity = severity
	}
	return gate, nil
}

// PrintVerdict prints the line with which every checking command ends, followed by remarks.
func PrintVerdict(e cli.Env, name string, v judgment.Verdict, remarks ...string) {
	fmt.Fprintln(e.Err, strings.Join(append([]string{name + ": " + v.String()}, remarks...), "; "))
}

// DisplayedVerdict returns the verdict as it is printed: errors are never called clean, even where no finding makes the
// command fail.
func DisplayedVerdict(r *judgment.Result, gate Gate) judgment.Verdict {
	return r.Verdict(min(gate.Severity, analysis.Error))
}

// VerdictExit returns the exit status of a checking command as an error, nil for 0.
func VerdictExit(r *judgment.Result, gate Gate, allowEmpty bool) error {
	v := r.Verdict(gate.Severity)
	switch {
	case v.Status == judgment.StatusFindings, v.Status == judgment.StatusFailing && !gate.Never,
		gate.Calls && v.Calls.New() > 0:
		return &cli.Exit{Code: cli.ExitFindings}
	case !v.Status.Proved() && !allowEmpty:
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return nil
}
