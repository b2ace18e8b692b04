package findings

import (
	"cmp"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
)

// A findingGrouping is how findings are grouped.
type findingGrouping uint8

const (
	findingsFlat findingGrouping = iota
	findingsByRule
	findingsByAgent
	findingsBySeverity
	findingGroupings // not a grouping: the number of groupings
)

// words describes the grouping; "" if findings are not grouped.
func (g findingGrouping) words() string {
	return [...]string{"", "by rule", "by agent", "by severity"}[g]
}

// of returns the group of a finding.
func (g findingGrouping) of(f *analysis.Finding) string {
	switch g {
	case findingsByRule:
		return f.Rule.ID
	case findingsByAgent:
		return f.Programs().Agent
	case findingsBySeverity:
		return f.Severity.String()
	}
	return ""
}

// A findingGroup is a heading, with the totals of the findings under it.
type findingGroup struct {
	name      string
	found     []int // indices of findings
	counts    [analysis.Error + 1]int
	exchanges int
	title     string // title of the rule that they all break
}

// worst returns the worst severity of the findings.
func (g *findingGroup) worst() analysis.Severity {
	for s := analysis.Error; s > analysis.Note; s-- {
		if g.counts[s] > 0 {
			return s
		}
	}
	return analysis.Note
}

// groupFindings sorts findings, worse ones first, and groups them. Groups with worse findings come first, and among
// equals, larger groups.
func groupFindings(list []analysis.Finding, by findingGrouping) []findingGroup {
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

func sameFinding(a, b *analysis.Finding) bool {
	return a.Rule == b.Rule && a.Place == b.Place && a.Seen == b.Seen && a.Expected == b.Expected
}
