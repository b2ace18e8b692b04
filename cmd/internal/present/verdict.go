package present

import (
	"fmt"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/judgment"
	"a2atap/cmd/internal/cli"
)

// ParseGate returns the lowest severity that makes a command fail. For "never" it is above all of them.
func ParseGate(name string) (analyzer.Severity, error) {
	if name == "never" {
		return analyzer.Error + 1, nil
	}
	gate, err := analyzer.ParseSeverity(name)
	if err != nil {
		known := []string{"error", "warning", "note", "never"}
		return 0, cli.Usage("--fail-on: unknown severity %q; use one of %s%s", name, strings.Join(known, ", "), cli.Nearest(name, known))
	}
	return gate, nil
}

// PrintVerdict prints the line with which every checking command ends, followed by remarks.
func PrintVerdict(e cli.Env, name string, v judgment.Verdict, remarks ...string) {
	fmt.Fprintln(e.Err, strings.Join(append([]string{name + ": " + v.String()}, remarks...), "; "))
}

// DisplayedVerdict returns the verdict as it is printed: errors are never called clean, even where no finding makes the
// command fail.
func DisplayedVerdict(r *judgment.Result, gate analyzer.Severity) judgment.Verdict {
	return r.Verdict(min(gate, analyzer.Error))
}

// VerdictExit returns the exit status of a checking command as an error, nil for 0.
func VerdictExit(r *judgment.Result, gate analyzer.Severity, allowEmpty bool) error {
	v := r.Verdict(gate)
	switch {
	case v.Status == judgment.StatusFindings:
		return &cli.Exit{Code: cli.ExitFindings}
	case v.Status != judgment.StatusClean && !allowEmpty:
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return nil
}
