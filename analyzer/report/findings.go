package report

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// An Ink is the role of a piece of text, for output in color. Color alone carries no meaning.
type Ink uint8

// The inks of a report.
const (
	Plain  Ink = iota
	Errors     // the severity of a finding or a rule
	Warnings
	Notes
	Aside   // less important text: the names of rows
	Heading // of a difference: the change
	Was     // a recorded value
	Now     // a live value
)

// InkOf returns the ink of a severity.
func InkOf(s analysis.Severity) Ink {
	switch {
	case s >= analysis.Error:
		return Errors
	case s == analysis.Warning:
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
// seen and expected, who is at fault and by which section, how to fix it, and where to read more. Findings of one rule
// are merged into one, with all who are at fault, and with the places of the others at the end. Text from the wire is
// sanitized. Pieces of lines go through paint, which may add colors; nil adds none.
func Findings(list []analysis.Finding, paint func(Ink, string) string) string {
	if paint == nil {
		paint = func(_ Ink, text string) string { return text }
	}
	t := &findingsText{paint: paint, workflows: severalWorkflows(list)}
	t.several = slices.ContainsFunc(list, func(f analysis.Finding) bool { return f.Capture != list[0].Capture })
	for i, g := range groups(list) {
		if i > 0 {
			t.b.WriteString("\n")
		}
		t.group(g)
	}
	return t.b.String()
}

// groups returns findings by rule, severity and side, the worst groups first, else in the order of their first
// findings. Findings without a named side at fault are also grouped by their links.
func groups(list []analysis.Finding) [][]*analysis.Finding {
	type key struct {
		rule     string
		severity analysis.Severity
		side     a2a.Side
		link     analysis.Link
	}
	each := make([]*analysis.Finding, len(list))
	for i := range list {
		each[i] = &list[i]
	}
	all := grouped(each, func(f *analysis.Finding) key {
		k := key{rule: f.Rule.ID, severity: f.Severity, side: f.Side}
		if f.Program() == "" {
			k.link = f.Link
		}
		return k
	})
	slices.SortStableFunc(all, func(a, b []*analysis.Finding) int { return int(b[0].Severity) - int(a[0].Severity) })
	return all
}

// severalWorkflows reports whether findings belong to several workflows, so that naming a finding's workflow is useful.
func severalWorkflows(list []analysis.Finding) bool {
	return slices.ContainsFunc(list, func(f analysis.Finding) bool {
		return f.Workflow.Number != list[0].Workflow.Number || f.Capture != list[0].Capture
	})
}

// sectionsOf returns the sections that findings of one rule rest on.
func sectionsOf(g []*analysis.Finding) string {
	var list []string
	for _, f := range g {
		for _, s := range f.Sections() {
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	return strings.Join(list, ", ")
}

// culprits names those who broke the rule of a group, as culprit does for one finding.
func culprits(g []*analysis.Finding) string {
	names := namesOf(g)
	if len(names) < 2 {
		return culprit(g[0])
	}
	return g[0].Side.String() + "s " + series(names)
}

// namesOf returns the names of who broke the rule of a group, each once.
func namesOf(g []*analysis.Finding) []string {
	var names []string
	for _, of := range grouped(g, (*analysis.Finding).Program) {
		if name := of[0].Program(); name != "" {
			names = append(names, analysis.Clean(name))
		}
	}
	return names
}

// maxSeries is how many of a series are named.
const maxSeries = 10

// series returns words as a sentence lists them: "a, b and c".
func series(words []string) string {
	if more := len(words) - maxSeries; more > 0 {
		words = append(slices.Clone(words[:maxSeries]), fmt.Sprintf("%d more", more))
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

type findingsText struct {
	paint     func(Ink, string) string
	several   bool // they are of several captures, which are named then
	workflows bool // they are of several workflows, the same
	b         strings.Builder
}

// group writes findings of one rule.
func (t *findingsText) group(g []*analysis.Finding) {
	f := g[0]
	more := ""
	if n := timesOf(g); n > 1 {
		more = fmt.Sprintf(", %d times", n)
	}
	t.b.WriteString(t.paint(InkOf(f.Severity), f.Severity.String()) + "  " + t.place(f) + "  [" + f.Rule.ID + "]" + more + "\n")
	t.row("seen", analysis.Clean(f.Seen))
	t.row("expected", analysis.Clean(f.Wanted()))
	sections := sectionsOf(g)
	switch who := strings.TrimSuffix(blame(f), "; "); {
	case who == "":
		t.row("source", sections)
	case f.Rule.Level != analysis.Advice:
		t.row("at fault", culprits(g)+" ("+sections+")")
	default:
		t.row("side", culprits(g)+" ("+sections+")")
	}
	if f.Failure != "" {
		t.row("call", "failed: "+analysis.Clean(f.Failure))
	}
	t.workflow(g)
	if f.Revises {
		t.row("instead", "of an earlier finding")
	}
	t.prose("fix", f.Rule.Fix)
	known := "a2atap rules " + f.Rule.ID
	if len(f.Also) > 0 {
		known += " (also broken here: " + strings.Join(f.Also, ", ") + ")"
	}
	t.row("more", known)
	t.also(f, g[1:], len(namesOf(g)) > 1)
}

// timesOf returns how often the subject of findings occurred.
func timesOf(g []*analysis.Finding) (n int) {
	for _, f := range g {
		n += max(f.Times, 1)
	}
	return n
}

// workflow names the workflows that a group belongs to, if that is useful.
func (t *findingsText) workflow(g []*analysis.Finding) {
	if !t.workflows {
		return
	}
	var numbers []string
	seen := make(map[uint64]bool)
	for _, f := range g {
		if n := f.Workflow.Number; f.Workflow.Caused && !seen[n] {
			seen[n] = true
			numbers = append(numbers, fmt.Sprint(n))
		}
	}
	if len(numbers) > 0 {
		t.row("workflow", series(numbers))
	}
}

// also writes the other places of a finding: places with the same value together, in a row for each side at fault if
// there are several, and places with other values in separate rows.
func (t *findingsText) also(first *analysis.Finding, rest []*analysis.Finding, named bool) {
	var same, other []*analysis.Finding
	for _, f := range rest {
		if f.Seen == first.Seen || len(other) == maxOther {
			same = append(same, f)
		} else {
			other = append(other, f)
		}
	}
	label := "also at"
	for _, f := range other {
		t.row(label, t.place(f)+who(f, named)+": "+analysis.Clean(f.Seen))
		label = ""
	}
	whose := [][]*analysis.Finding{same}
	if named {
		whose = grouped(same, (*analysis.Finding).Program)
	}
	for i, list := range whose {
		if len(list) == 0 {
			continue
		}
		if left := len(whose) - i; i == maxSeries-1 && left > 1 {
			t.row(label, fmt.Sprintf("and %d more, which --format json lists", left))
			return
		}
		shown := list[:min(len(list), max(2, maxAlso/len(whose)))]
		words, in := t.exchanges(first, shown)
		if !in {
			words = t.places(shown)
		}
		if left := len(list) - len(shown); left > 0 {
			words += fmt.Sprintf(", and %d more, which --format json lists", left)
		}
		if in && label == "also at" {
			label = "also in"
		}
		t.prose(label, words+who(list[0], named))
		label = ""
	}
}

// exchanges names the exchanges of findings if all are at the same place in their exchanges as the first of their group
// in its own; otherwise ok is false.
func (t *findingsText) exchanges(first *analysis.Finding, list []*analysis.Finding) (words string, ok bool) {
	var numbers []string
	for _, f := range list {
		at := f.Place
		at.Exchange = first.Place.Exchange
		if at != first.Place || f.Place == first.Place || t.several {
			return "", false
		}
		numbers = append(numbers, fmt.Sprint(f.Place.Exchange))
	}
	if len(numbers) == 1 {
		return "exchange " + numbers[0], true
	}
	return "exchanges " + strings.Join(numbers, ", "), true
}

// places names the places of findings.
func (t *findingsText) places(list []*analysis.Finding) string {
	var places []string
	for _, f := range list {
		places = append(places, t.place(f))
	}
	return strings.Join(places, ", ")
}

// who names those who broke the rule, after a place.
func who(f *analysis.Finding, named bool) string {
	if !named {
		return ""
	}
	return " (" + analysis.Clean(f.Program()) + ")"
}

// grouped groups findings by a function's result, in the order of each group's first finding.
func grouped[K comparable](list []*analysis.Finding, by func(*analysis.Finding) K) (groups [][]*analysis.Finding) {
	at := make(map[K]int)
	for _, f := range list {
		k := by(f)
		n, there := at[k]
		if !there {
			n = len(groups)
			at[k], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], f)
	}
	return groups
}

// place returns the place of a finding, with the name of its capture if there are several.
func (t *findingsText) place(f *analysis.Finding) string {
	place := analysis.Clean(f.Place.String())
	if t.several {
		place = analysis.Clean(f.Capture) + ": " + place
	}
	return place
}

// indent is the column at which the text of a row begins.
const indent = 12

// row writes a named row.
func (t *findingsText) row(name, text string) {
	t.b.WriteString("  " + t.paint(Aside, fmt.Sprintf("%-*s", indent-2, name)) + text + "\n")
}

// prose writes a row that is wrapped at blanks if it is long.
func (t *findingsText) prose(name, text string) {
	t.row(name, wrap(text, indent, 80, strings.Repeat(" ", indent)))
}
