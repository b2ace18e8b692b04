package report

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
)

// A pageGroup is the findings of one rule.
type pageGroup struct {
	Rule        *analysis.Rule
	Severity    string // the worst
	Count, More int
	Findings    []pageFinding
	worst       analysis.Severity
}

// A pageFinding has the id of its element among the exchanges, if that is on the page.
type pageFinding struct{ Place, Message, Who, Sections, Also, Anchor string }

// maxPlaces bounds the findings of one rule on a page: more are not read.
const maxPlaces = 100

// pageGroups are findings by their rules, as a page shows them. Of each rule no more are held than are shown; the others
// are counted.
type pageGroups struct {
	several bool // the findings are of several workflows
	byRule  map[string]*pageGroup
	order   []*pageGroup
}

// add adds a finding with a description of its place, and the id of the element to which it links.
func (g *pageGroups) add(f *analysis.Finding, place, anchor string) {
	one := g.byRule[f.Rule.ID]
	if one == nil {
		if g.byRule == nil {
			g.byRule = make(map[string]*pageGroup)
		}
		one = &pageGroup{Rule: f.Rule}
		g.byRule[f.Rule.ID] = one
		g.order = append(g.order, one)
	}
	one.Count++
	one.worst = max(one.worst, f.Severity)
	if len(one.Findings) == maxPlaces {
		one.More++
		return
	}
	in := strings.Join(f.Sections(), ", ")
	if g.several && f.Workflow.Caused {
		in += fmt.Sprintf("; workflow %d", f.Workflow.Number)
	}
	one.Findings = append(one.Findings, pageFinding{
		place, messageOf(f), strings.TrimSuffix(f.Severity.String()+"; "+blame(f), "; "), in, strings.Join(f.Also, ", "),
		anchor,
	})
}

// worstFirst returns the groups, the worst first.
func (g *pageGroups) worstFirst() []pageGroup {
	var list []pageGroup
	for _, one := range g.order {
		one.Severity = one.worst.String()
		list = append(list, *one)
	}
	slices.SortStableFunc(list, func(a, b pageGroup) int { return int(b.worst) - int(a.worst) })
	return list
}
