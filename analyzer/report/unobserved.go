package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
)

// UnobservedText writes the requirements that no rule judges, one a line, with the reason.
func UnobservedText(w io.Writer, list []analysis.Unobserved) error {
	var b strings.Builder
	b.WriteString("\nnever observed\n")
	for _, u := range list {
		fmt.Fprintf(&b, "  %-32s %-6s %-15s %s\n", u.ID, u.Level, u.Reason, u.Title)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// UnobservedMarkdown writes the same as a table.
func UnobservedMarkdown(w io.Writer, list []analysis.Unobserved) error {
	var b strings.Builder
	b.WriteString(
		"\nNever observed, and so never a success:\n\n" +
			"| requirement | level | why not | what would be wrong |\n|---|---|---|---|\n",
	)
	for _, u := range list {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", u.ID, u.Level, u.Reason, u.Title)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
