package prober

import (
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
)

// directions returns the results for each direction between two agents. The probe called each agent in the role of the
// other.
func (r *run) directions(whole *report.Report) []report.Direction {
	a, b := r.agents[0].name, r.agents[1].name
	list := report.NewDirections(a, b)
	for i := range list {
		d := &list[i]
		switch d.ID {
		case report.Discover:
			r.asked(d, whole, []string{d.To}, "S0-1.1")
		case report.Send, report.SendBack:
			r.asked(d, whole, []string{d.To}, "S0-2.1")
		case report.Concurrent:
			r.asked(d, whole, []string{a, b}, "S0-5.5d")
		}
	}
	return list
}

// asked sets a direction from the tests with a tag: broken if one failed, observed if each agent has passed one.
func (r *run) asked(d *report.Direction, whole *report.Report, agents []string, tag string) {
	passed := 0
	for _, agent := range agents {
		i := slices.IndexFunc(whole.Tests, func(s report.Suite) bool { return s.Agent == agent })
		if i < 0 {
			continue
		}
		pass := false
		for j := range whole.Tests[i].Tests {
			t := &whole.Tests[i].Tests[j]
			if !slices.Contains(t.Tags, tag) {
				continue
			}
			pass = pass || t.Status == report.TestPassed
			if t.Bad() && (t.Status == report.TestCritical || t.Severity == analysis.Error) {
				d.Status, d.How, d.Message = report.DirectionBroken, report.AskedByUs, fmt.Sprintf("%s: %s", t.Name, t.Message)
				return
			}
		}
		if pass {
			passed++
		}
	}
	if passed == len(agents) {
		d.Status, d.How = report.DirectionObserved, report.AskedByUs
	}
}
