package present

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/spelling"
)

// ParseGate reads --fail-on: a severity, "calls", both with a comma between them, or "never".
func ParseGate(words string) (judgment.Gate, error) {
	if words == "never" {
		return judgment.Gate{Severity: analysis.Error + 1, Never: true}, nil
	}
	gate := judgment.Gate{Severity: analysis.Error}
	for name := range strings.SplitSeq(words, ",") {
		if name == "calls" {
			gate.Calls = true
			continue
		}
		if name == "never" {
			return gate, cli.Usage("--fail-on %s: never cannot be combined", words)
		}
		severity, err := analysis.ParseSeverity(name)
		if err != nil {
			known := []string{"error", "warning", "note", "calls", "never"}
			return gate, cli.Usage("--fail-on: unknown severity %q; use one of %s%s", name, strings.Join(known, ", "),
				spelling.Hint(name, known))
		}
		gate.Severity = severity
	}
	return gate, nil
}

// PrintVerdict prints the line with which every checking command ends, followed by remarks.
func PrintVerdict(e cli.Env, name string, v judgment.Verdict, remarks ...string) {
	fmt.Fprintln(e.Err, strings.Join(append([]string{name + ": " + v.String()}, remarks...), "; "))
}

// VerdictExit returns the exit status of a checking command as an error, nil for 0.
func VerdictExit(x judgment.Exit) error {
	if status := x.Status(); status != cli.ExitOK {
		return &cli.Exit{Code: status}
	}
	return nil
}
