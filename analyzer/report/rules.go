package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
)

// A Rule is one rule as JSON.
type Rule struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Level    string   `json:"level"`
	Severity string   `json:"severity"`
	Dialects []string `json:"dialects"`
	Bindings []string `json:"bindings"`
	Side     string   `json:"side"`
	Sections []string `json:"sections"`
	Family   string   `json:"family"`
	Covers   []string `json:"covers"`
	Fix      string   `json:"fix"`
	Doc      string   `json:"doc"`
	Silent   string   `json:"silent"`
}

// RulesJSON writes the rules as one JSON array.
func RulesJSON(w io.Writer, list []*analysis.Rule) error {
	out := make([]Rule, 0, len(list))
	for _, r := range list {
		out = append(out, jsonRule(r))
	}
	return encode(w, out, "  ")
}

func jsonRule(r *analysis.Rule) Rule {
	out := Rule{
		ID: r.ID, Title: r.Title, Level: r.Level.String(), Severity: r.Severity().String(), Side: side(r),
		Sections: r.Sections(0), Bindings: r.Bindings.Names(), Family: r.Family, Covers: append([]string{}, r.Covers...),
		Fix: oneLine(r.Fix), Doc: oneLine(r.Doc), Silent: oneLine(r.Silent),
	}
	for d := range r.Dialects().All() {
		out.Dialects = append(out.Dialects, d.String())
	}
	return out
}

func side(r *analysis.Rule) string {
	if r.Either {
		return "client or agent"
	}
	return r.Side.String()
}

// RulesText writes a table of the rules, one a line, by family.
func RulesText(w io.Writer, list []*analysis.Rule) error {
	var b strings.Builder
	family := ""
	for _, r := range list {
		if r.Family != family {
			if family != "" {
				b.WriteString("\n")
			}
			family = r.Family
			b.WriteString(family + "\n")
		}
		fmt.Fprintf(&b, "  %-32s %-6s %-15s %s\n", r.ID, r.Level, r.Dialects(), r.Title)
	}
	fmt.Fprintf(&b, "\n%s; a2atap rules ID explains a rule\n", analysis.Plural(len(list), "rule"))
	_, err := io.WriteString(w, b.String())
	return err
}

// RuleText explains one rule for people.
func RuleText(w io.Writer, r *analysis.Rule) error {
	text := fmt.Sprintf(`%s
%s

  level      %s (%s)
  at fault   %s
  dialects   %s
  bindings   %s
  sections   %s

Why
%s

Fix
%s

Not reported
%s
`, r.ID, r.Title, r.Level, r.Severity(), side(r), r.Dialects(), strings.Join(r.Bindings.Names(), ", "),
		strings.Join(r.Sections(0), ", "), paragraph(r.Doc), paragraph(r.Fix), paragraph(r.Silent))
	if len(r.Covers) > 0 {
		text += "\nReported instead of\n  " + strings.Join(r.Covers, ", ") + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// RulesMarkdown writes the rules as Markdown: a table if there are several, otherwise the page of the only one.
func RulesMarkdown(w io.Writer, list []*analysis.Rule) error {
	if len(list) == 1 {
		return RulePage(w, list[0], "", "")
	}
	var b strings.Builder
	b.WriteString("| rule | level | at fault | dialects | what it reports |\n|---|---|---|---|---|\n")
	for _, r := range list {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s | %s |\n", r.ID, r.ID, r.Level, side(r), r.Dialects(), r.Title)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// RulePage writes the page of a rule. The example is a transcript that provokes it, and output the result of check for
// it; both may be missing.
func RulePage(w io.Writer, r *analysis.Rule, example, output string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n## What it reports\n\n%s: %s. %s at fault; level %s.\n", r.ID,
		strings.Join(r.Bindings.Names(), ", "), r.Title, title(side(r)), r.Level)
	fmt.Fprintf(&b, "\n## Why\n\n%s\n", oneLine(r.Doc))
	b.WriteString("\n## Spec\n\n")
	for _, s := range r.Sections(0) {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	if example != "" {
		fmt.Fprintf(&b, "\n## Example\n\n```\n%s```\n\n`a2atap check` prints:\n\n```\n%s```\n", example, output)
	}
	fmt.Fprintf(&b, "\n## Fix\n\n%s\n\n## What is not reported\n\n%s\n", oneLine(r.Fix), oneLine(r.Silent))
	if len(r.Covers) > 0 {
		fmt.Fprintf(&b, "\nIt is reported instead of %s if both rules are broken at the same place.\n", strings.Join(r.Covers, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func paragraph(text string) string { return "  " + wrap(text, 2, 80, "  ") }

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
