package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A findingGrouping is what findings stand under.
type findingGrouping uint8

const (
	findingsFlat findingGrouping = iota
	findingsByRule
	findingsByAgent
	findingsBySeverity
	findingGroupings // not a grouping: how many there are
)

// words says how findings are grouped, "" if they are not.
func (g findingGrouping) words() string {
	return [...]string{"", "by rule", "by agent", "by severity"}[g]
}

// of returns what a finding stands under.
func (g findingGrouping) of(f *analyzer.Finding) string {
	switch g {
	case findingsByRule:
		return f.Rule.ID
	case findingsByAgent:
		return f.Link.Agent
	case findingsBySeverity:
		return f.Severity.String()
	}
	return ""
}

// A findingGroup is a heading, and what the findings under it come to.
type findingGroup struct {
	name      string
	found     []int // indices of findings
	counts    [analyzer.Error + 1]int
	exchanges int
	title     string // of the rule that all have broken
}

// worst returns the worst severity of the findings.
func (g *findingGroup) worst() analyzer.Severity {
	for s := analyzer.Error; s > analyzer.Note; s-- {
		if g.counts[s] > 0 {
			return s
		}
	}
	return analyzer.Note
}

// groupFindings sorts findings, worse ones first, and groups them: groups with worse findings, and then with more of
// them, come first.
func groupFindings(list []analyzer.Finding, by findingGrouping) []findingGroup {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[b].Severity, list[a].Severity),
			cmp.Compare(list[a].Place.Exchange, list[b].Place.Exchange))
	})
	at := make(map[string]int)
	var groups []findingGroup
	exchanges := make(map[string]map[uint64]bool)
	for _, i := range order {
		f := &list[i]
		name := by.of(f)
		n, known := at[name]
		if !known {
			n = len(groups)
			at[name] = n
			groups = append(groups, findingGroup{name: name})
			exchanges[name] = make(map[uint64]bool)
			if by == findingsByRule {
				groups[n].title = f.Rule.Title
			}
		}
		g := &groups[n]
		g.found = append(g.found, i)
		g.counts[f.Severity]++
		exchanges[name][f.Place.Exchange] = true
		g.exchanges = len(exchanges[name])
	}
	slices.SortStableFunc(groups, func(a, b findingGroup) int {
		return cmp.Or(cmp.Compare(b.worst(), a.worst()), cmp.Compare(len(b.found), len(a.found)),
			strings.Compare(a.name, b.name))
	})
	return groups
}

// rebuild lists the findings as they are now. The cursor stays at its finding or heading.
func (f *Panel) rebuild() {
	list := f.shared.Found.List
	groups := groupFindings(list, f.by)
	var lines []panel.OutlineLine
	at := -1
	f.groups = groups
	for n := range groups {
		level := 0
		if f.by != findingsFlat {
			key := f.by.words() + " " + groups[n].name
			if f.held.key == key {
				at = len(lines)
			}
			lines = append(lines, panel.OutlineLine{Key: key, Item: n})
			level = 1
		}
		for _, i := range groups[n].found {
			if at < 0 && f.held.key == "" && f.held.finding != nil && sameFinding(&list[i], f.held.finding) {
				at = len(lines)
			}
			lines = append(lines, panel.OutlineLine{Level: level, Item: i})
		}
	}
	f.list.Set(lines, at)
}

// heldFinding is what the cursor stays at: a heading, by its key, or a finding.
type heldFinding struct {
	key     string
	finding *analyzer.Finding
}

// hold remembers what the cursor is at.
func (f *Panel) hold() {
	f.held = heldFinding{}
	if l := f.list.At(f.list.Cursor); l != nil && l.Key != "" {
		f.held.key = l.Key
	}
	if found := f.Selected(); found != nil {
		copied := *found
		f.held.finding = &copied
	}
}

func sameFinding(a, b *analyzer.Finding) bool {
	return a.Rule == b.Rule && a.Place == b.Place && a.Message == b.Message
}

// regroup groups the findings by the next, and keeps the cursor at its finding.
func (f *Panel) regroup() {
	f.by = (f.by + 1) % findingGroupings
	f.held.key = ""
	f.rebuild()
	f.hold()
}

// nameOf says of a finding what its heading does not: its rule, or under a rule who broke it.
func (f *Panel) nameOf(found *analyzer.Finding) string {
	if f.by == findingsByRule {
		return found.Link.Client + " → " + found.Link.Agent
	}
	return found.Rule.ID
}

// groupLine draws a heading.
func (f *Panel) groupLine(i int, l *panel.OutlineLine) style.Line {
	g := &f.groups[l.Item]
	mark, look := style.OfSeverity(g.worst())
	cursor := " "
	if i == f.list.Cursor {
		cursor = ">"
	}
	var counts []string
	for s := analyzer.Error; ; s-- {
		if n := g.counts[s]; n > 0 {
			counts = append(counts, text.Plural(n, s.String()))
		}
		if s == analyzer.Note {
			break
		}
	}
	return style.Line{Selected: i == f.list.Cursor && !f.inRule}.Add(style.Strong, cursor).Add(look, mark+" ").
		Add(style.Title, f.list.FoldSign(l)+text.Pad(g.name, min(30, f.width/2))+" ").
		Add(style.Normal, fmt.Sprintf("%s in %s", strings.Join(counts, ", "), text.Plural(g.exchanges, "exchange"))).
		Add(style.Dim, "  "+g.title)
}
