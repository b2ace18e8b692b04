// Package report writes the results of checking captures, one output format a file.
//
// Text is for people: a block for each finding, then the observations. JSON is for programs: one document.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
)

// Line returns a finding as one line: PLACE: message [slug], then in parentheses the severity, who is at fault, the
// link, the cited sections, the workflow, if an agent made the call for one, and the failure of the call, if known.
func Line(f *analysis.Finding) string { return line(f, true) }

// line returns a finding like Line; it may leave out the workflow.
func line(f *analysis.Finding, workflow bool) string {
	fault := blame(f)
	in := strings.Join(f.Sections(), ", ")
	if workflow && f.Workflow.Caused {
		in += fmt.Sprintf("; workflow %d", f.Workflow.Number)
	}
	line := fmt.Sprintf("%s (%s; %s%s)", f, f.Severity, fault, in)
	if f.Revises {
		line += "; replaces an earlier finding"
	}
	if f.Failure != "" {
		line += "; the call failed: " + analysis.Clean(f.Failure)
	}
	if f.Times > 1 {
		line += fmt.Sprintf("; %d times", f.Times)
	}
	if len(f.Also) > 0 {
		line += " also " + strings.Join(f.Also, ", ")
	}
	return line
}

// blame names the side at fault, as the beginning of the text after a finding. For rules that only give advice, it
// names only the side, and nothing if the finding is a note. It is empty if the side is unknown.
func blame(f *analysis.Finding) string {
	switch {
	case f.Side == a2a.Nobody:
	case f.Rule.Level != analysis.Advice:
		return culprit(f) + " at fault; "
	case f.Severity > analysis.Note:
		return "on the side of " + culprit(f) + "; "
	}
	return ""
}

// culprit names those who broke the rule: the side, and the name of its program if it has one.
func culprit(f *analysis.Finding) string {
	side, name := f.Side.String(), f.Program()
	if name == "" || name == side || f.Operation == a2a.Webhook && isUnnamed(f.Link) {
		return side
	}
	return side + " " + analysis.Clean(name)
}

// isUnnamed reports whether programs have the names that transcripts give to those without one.
func isUnnamed(l analysis.Link) bool { return l == analysis.Link{Client: "client", Agent: "agent"} }

// Text writes a result for people: the findings as in Findings, and then the observations on each link. For agents that
// were tested actively, it writes the test results.
func Text(w io.Writer, whole *Report) error {
	var b strings.Builder
	if whole.Tests != nil {
		testsText(&b, whole)
		_, err := io.WriteString(w, b.String())
		return err
	}
	r := whole.Result
	if len(r.Findings) > 0 && !whole.Brief {
		b.WriteString(Findings(r.Findings, whole.Paint) + "\n")
	}
	if r.Counts.Exchanges == 0 && r.Nothing == "" {
		b.WriteString("nothing was recorded; point the client at the tap's URL\n")
	}
	answersText(&b, whole)
	if r.Counts.Exchanges > 0 {
		observed(&b, whole)
		directionsText(&b, whole)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// observed writes for each link how many rules applied, and for the whole report how many never did, or which.
func observed(b *strings.Builder, whole *Report) {
	r, rules := whole.Result, whole.Rules
	on := ObservedOn(r, rules)
	for i := range on {
		b.WriteString(on[i].String() + "\n")
	}
	if len(r.Captures) > 1 {
		b.WriteString("\n")
		table(b, newMatrix(r).rows())
		b.WriteString("\n")
	}
	switch never := unobserved(r, rules); {
	case len(never) == 0:
	case whole.Coverage:
		fmt.Fprintf(b, "never observed: %d of %d rules\n", len(never), len(rules))
		for _, f := range families(never) {
			fmt.Fprintf(b, "  %-13s %s\n", f.Family, wrap(strings.Join(f.IDs, " "), 16, 80, strings.Repeat(" ", 16)))
		}
	default:
		fmt.Fprintf(b, "never observed: %d of %d rules; --coverage lists them\n", len(never), len(rules))
	}
}

// arrow returns a link as people read it.
func arrow(l analysis.Link) string {
	return analysis.Clean(l.Client) + " → " + analysis.Clean(l.Agent)
}

// callsOf returns the results of the calls of a link, as the end of a line; empty without calls.
func callsOf(r *judgment.Result, l analysis.Link) string {
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Link == l && c.Made > 0 {
			return "; " + c.String() + unseenWebhooks(c)
		}
	}
	return ""
}

// unseenWebhooks reports that notifications of a link bypassed the recorder, as the end of a line; empty if none did.
func unseenWebhooks(c *judgment.Calls) string {
	if c.Unheard {
		return "; webhooks not observed"
	}
	return ""
}

// unobserved returns the rules that never applied, in reading order.
func unobserved(r *judgment.Result, rules []*analysis.Rule) []*analysis.Rule {
	seen := make(map[string]bool)
	for _, c := range r.Coverage {
		seen[c.Rule.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(rules), func(rule *analysis.Rule) bool { return seen[rule.ID] })
}

// A family has the ids of some of its rules.
type family struct {
	Family string
	IDs    []string
}

// families groups rules, which are in reading order, by their families.
func families(rules []*analysis.Rule) (list []family) {
	for _, r := range rules {
		if n := len(list); n == 0 || list[n-1].Family != r.Family {
			list = append(list, family{Family: r.Family})
		}
		last := &list[len(list)-1]
		last.IDs = append(last.IDs, r.ID)
	}
	return list
}

// wrap breaks a text, which begins at a column, at blanks so that no line is longer than width bytes, and indents what
// follows the first line.
func wrap(text string, column, width int, indent string) string {
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
