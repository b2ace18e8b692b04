package report

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer"
)

// An Ink is what a piece of text is, for those who draw it in colours. No meaning is in the colour alone.
type Ink uint8

// The inks of a report.
const (
	Plain  Ink = iota
	Errors     // the severity of a finding, or that of a rule
	Warnings
	Notes
	Aside // what matters less: the names of rows
)

// InkOf returns the ink of a severity.
func InkOf(s analyzer.Severity) Ink {
	switch {
	case s >= analyzer.Error:
		return Errors
	case s == analyzer.Warning:
		return Warnings
	}
	return Notes
}

// maxAlso is how many further places of a group are written; of those with other values fewer.
const (
	maxAlso  = 20
	maxOther = 5
)

// Findings returns findings as text for people, the worst first: for each the severity and the place, then what was
// seen and expected, who is at fault and by which section, how to fix it, and where to read more. Those of one rule on
// one link stand together, with the places of the others at the end. What came from the wire is cleaned. Pieces of lines
// go through paint, which may add colours; nil adds none.
func Findings(list []analyzer.Finding, paint func(Ink, string) string) string {
	if paint == nil {
		paint = func(_ Ink, text string) string { return text }
	}
	t := &findingsText{paint: paint}
	for i := range list {
		t.several = t.several || list[i].Capture != list[0].Capture
	}
	for i, g := range groups(list) {
		if i > 0 {
			t.b.WriteString("\n")
		}
		t.group(g)
	}
	return t.b.String()
}

// groups returns findings by rule, severity, side and link, the worst groups first, else in the order of their
// first findings.
func groups(list []analyzer.Finding) [][]*analyzer.Finding {
	type key struct {
		rule     string
		severity analyzer.Severity
		side     string
		link     analyzer.Link
	}
	at := make(map[key]int)
	var all [][]*analyzer.Finding
	for i := range list {
		f := &list[i]
		k := key{f.Rule.ID, f.Severity, f.Side.String(), f.Link}
		n, there := at[k]
		if !there {
			n = len(all)
			at[k], all = n, append(all, nil)
		}
		all[n] = append(all[n], f)
	}
	slices.SortStableFunc(all, func(a, b []*analyzer.Finding) int { return int(b[0].Severity) - int(a[0].Severity) })
	return all
}

type findingsText struct {
	paint   func(Ink, string) string
	several bool // they are of several captures, which are named then
	b       strings.Builder
}

// group writes findings of one rule on one link.
func (t *findingsText) group(g []*analyzer.Finding) {
	f := g[0]
	more := ""
	if len(g) > 1 {
		more = fmt.Sprintf(", %d times", len(g))
	}
	t.b.WriteString(t.paint(InkOf(f.Severity), f.Severity.String()) + "  " + t.place(f) + "  [" + f.Rule.ID + "]" + more + "\n")
	t.row("seen", analyzer.Clean(f.Seen))
	t.row("expected", analyzer.Clean(f.Wanted()))
	sections := strings.Join(f.Sections(), ", ")
	switch who := strings.TrimSuffix(blame(f), "; "); {
	case who == "":
		t.row("source", sections)
	case f.Rule.Level != analyzer.Advice:
		t.row("at fault", culprit(f)+" ("+sections+")")
	default:
		t.row("side", culprit(f)+" ("+sections+")")
	}
	if f.Failure != "" {
		t.row("call", "failed: "+analyzer.Clean(f.Failure))
	}
	if f.Workflow.Others {
		t.row("workflow", fmt.Sprint(f.Workflow.Number))
	}
	if f.Revises {
		t.row("instead", "of what was said of this before")
	}
	t.prose("fix", f.Rule.Fix)
	known := "a2atap rules " + f.Rule.ID
	if len(f.Also) > 0 {
		known += " (also broken here: " + strings.Join(f.Also, ", ") + ")"
	}
	t.row("more", known)
	t.also(f, g[1:])
}

// also writes where else the same was found: places with the same value in one row, those with others in rows of their
// own.
func (t *findingsText) also(first *analyzer.Finding, rest []*analyzer.Finding) {
	var same, other []*analyzer.Finding
	for _, f := range rest {
		if f.Seen == first.Seen || len(other) == maxOther {
			same = append(same, f)
		} else {
			other = append(other, f)
		}
	}
	label := "also at"
	for _, f := range other {
		t.row(label, t.place(f)+": "+analyzer.Clean(f.Seen))
		label = ""
	}
	var places []string
	for _, f := range same[:min(len(same), maxAlso)] {
		places = append(places, t.place(f))
	}
	if left := len(same) - len(places); left > 0 {
		places = append(places, fmt.Sprintf("and %d more, which --format json lists", left))
	}
	if len(places) > 0 {
		t.prose(label, strings.Join(places, ", "))
	}
}

// place returns the place of a finding, with the name of its capture where there are several.
func (t *findingsText) place(f *analyzer.Finding) string {
	place := analyzer.Clean(f.Place.String())
	if t.several {
		place = analyzer.Clean(f.Capture) + ": " + place
	}
	return place
}

// indent is the column at which the text of a row begins.
const indent = 12

// row writes a named row.
func (t *findingsText) row(name, text string) {
	t.b.WriteString("  " + t.paint(Aside, fmt.Sprintf("%-*s", indent-2, name)) + text + "\n")
}

// prose writes a row that is broken at blanks where it is long.
func (t *findingsText) prose(name, text string) {
	t.row(name, wrap(text, indent, 80, strings.Repeat(" ", indent)))
}
