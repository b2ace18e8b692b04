package report

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
)

// An Observed has the observations on one link.
type Observed struct {
	Link   analysis.Link
	Rules  map[*analysis.Rule]judgment.Coverage // that applied
	Broken int                                  // of them, how many were broken
	of     int                                  // number of rules
	calls  string                               // results of the calls, as the end of a sentence
}

// ObservedOn returns the observations on each link with an agent, in the order of their names.
func ObservedOn(r *judgment.Result, rules []*analysis.Rule) []Observed {
	at := make(map[analysis.Link]int)
	var list []Observed
	for _, c := range r.Coverage {
		if c.Link.Agent == "" {
			continue
		}
		i, known := at[c.Link]
		if !known {
			i = len(list)
			at[c.Link] = i
			list = append(list, Observed{
				Link: c.Link, Rules: make(map[*analysis.Rule]judgment.Coverage), of: len(rules), calls: callsOf(r, c.Link),
			})
		}
		seen := list[i].Rules[c.Rule]
		if c.Broken > 0 && seen.Broken == 0 {
			list[i].Broken++
		}
		c.Applied, c.Broken = c.Applied+seen.Applied, c.Broken+seen.Broken
		list[i].Rules[c.Rule] = c
	}
	slices.SortFunc(list, func(a, b Observed) int { return strings.Compare(a.Link.String(), b.Link.String()) })
	return list
}

// String returns it as people read it: "planner → booker: 12 of 230 rules observed, 1 broken; 2 of 3 calls succeeded".
func (o *Observed) String() string {
	return fmt.Sprintf("%s: %d of %d rules observed, %d broken%s", arrow(o.Link), len(o.Rules), o.of, o.Broken, o.calls)
}
