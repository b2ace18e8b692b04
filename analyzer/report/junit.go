package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/junit"
)

// maxInCase bounds the findings that one case spells out.
const maxInCase = 50

// JUnit writes a result as JUnit XML: a suite for each link with a case for each rule, one for the directions between
// agents, and one for the verdict. A document has a failure or an error exactly if the check does not pass. A rule that
// was not observed is skipped, one broken by a finding at or above the gate has failed, and one broken by milder
// findings is skipped with the worst of them as its message. If the report is brief, rules that are not broken or were not
// observed are only counted.
func JUnit(w io.Writer, r *Report) error { return junit.Write(w, "a2atap", r.Now, r.suites()) }

func (r *Report) suites() []junit.Suite {
	all := r.junitTests()
	applied, found, also := byLink(r.Result)
	workflows := severalWorkflows(r.Result.Findings)
	calls, counted := make(map[analysis.Link][]*judgment.Calls), r.Result.Counted()
	for i := range r.Result.Calls {
		c := &r.Result.Calls[i]
		calls[counted(c.Link)] = append(calls[counted(c.Link)], c)
	}
	for _, link := range linksOf(applied, found) {
		suite := junit.Suite{Name: analysis.Clean(link.String())}
		for _, rule := range rulesWith(r.Rules, found[link]) {
			c := r.junitCase(rule, applied[link][rule.ID], found[link][rule.ID], workflows)
			if outer := also[link][rule.ID]; outer != "" && c.Failure == nil {
				c.Skipped = &junit.Message{Message: "broken along with " + outer + ", which has the finding"}
			}
			suite.Cases = append(suite.Cases, c)
		}
		if r.Brief {
			suite.Cases = inCounts(suite.Cases)
		}
		if r.Tests == nil { // otherwise some calls are expected to fail
			suite.Out = callLines(suite.Name, calls[link])
		}
		all = append(all, suite)
	}
	if len(r.Directions) > 0 {
		all = append(all, r.junitDirections())
	}
	return append(all, r.junitVerdict())
}

// inCounts returns the cases without those that have passed or were not observed, and two that count these.
func inCounts(cases []junit.Case) []junit.Case {
	const class = "a2atap.rules"
	all, unseen, passed := len(cases), 0, 0
	cases = slices.DeleteFunc(cases, func(c junit.Case) bool {
		switch {
		case c.Skipped != nil && c.Skipped.Message == notObserved:
			unseen++
		case c.Skipped == nil && c.Failure == nil && c.Error == nil && c.Out == "":
			passed++
		default:
			return false
		}
		return true
	})
	if passed > 0 {
		cases = append(cases, junit.Case{Name: "rules that are not broken", Class: class, Out: fmt.Sprintf("%d of %d", passed, all)})
	}
	if unseen > 0 {
		skipped := &junit.Message{Message: fmt.Sprintf("%s: %d of %d", notObserved, unseen, all)}
		cases = append(cases, junit.Case{Name: "rules that were not observed", Class: class, Skipped: skipped})
	}
	return cases
}

// notObserved is the message of a rule that never applied.
const notObserved = "not observed"

// rulesWith returns the requested rules, and the rules of findings that are reported because they cover one.
func rulesWith(list []*analysis.Rule, found map[string][]*analysis.Finding) []*analysis.Rule {
	known := make(map[string]bool, len(list))
	for _, rule := range list {
		known[rule.ID] = true
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if !known[id] {
			list = append(slices.Clip(list), found[id][0].Rule)
		}
	}
	return list
}

// junitVerdict returns a case for the verdict, and one for each of its statements. A statement that fails the check is
// a failure, one that makes it inconclusive an error, and any other the message of a skipped case.
func (r *Report) junitVerdict() junit.Suite {
	v := r.verdict()
	suite := junit.Suite{Name: "verdict"}
	add := func(name string, exit judgment.Exit, message string) {
		c := junit.Case{Name: name, Class: "a2atap.verdict"}
		said := &junit.Message{Message: message}
		switch exit {
		case judgment.Fails:
			c.Failure, said.Type = said, "verdict"
		case judgment.Inconclusive:
			c.Error, said.Type = said, "verdict"
		default:
			c.Skipped = said
		}
		suite.Cases = append(suite.Cases, c)
	}
	if v.Status == judgment.StatusClean {
		suite.Cases = append(suite.Cases, junit.Case{Name: "status", Class: "a2atap.verdict", Out: r.sentence()})
	} else {
		add("status", v.Exit, r.sentence())
	}
	for _, s := range r.statements() {
		add(string(s.Subject), s.Exit, s.String())
	}
	return suite
}

// junitDirections returns a case for each direction between agents. A broken one fails where the check does.
func (r *Report) junitDirections() junit.Suite {
	suite := junit.Suite{Name: "directions"}
	fails := r.verdict().Exit == judgment.Fails
	for _, d := range r.Directions {
		c := junit.Case{Name: analysis.Clean(d.What), Class: "a2atap." + string(analysis.Interop)}
		switch {
		case d.Status == DirectionObserved:
			c.Out = d.How
		case d.Status == DirectionBroken && fails:
			c.Failure = &junit.Message{Message: analysis.Clean(d.Message), Type: "direction"}
		default:
			c.Skipped = &junit.Message{Message: strings.TrimSuffix(string(d.Status)+": "+analysis.Clean(d.Message), ": ")}
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}

// callLines returns the results of the calls that are counted with a suite, one line for each link.
func callLines(suite string, calls []*judgment.Calls) (out string) {
	for _, c := range calls {
		if c.Made == 0 && c.TasksFailed == 0 {
			continue
		}
		if clean := analysis.Clean(c.Link.String()); clean != suite {
			out += clean + ": "
		}
		out += c.String() + "\n"
	}
	return out
}

func (r *Report) junitCase(rule *analysis.Rule, applied int, found []*analysis.Finding, workflows bool) junit.Case {
	c := junit.Case{Name: rule.ID, Class: "a2atap." + string(rule.Category)}
	if applied == 0 && len(found) == 0 {
		c.Skipped = &junit.Message{Message: notObserved}
		return c
	}
	var failing, others []*analysis.Finding
	for _, f := range found {
		if f.Severity >= r.Gate {
			failing = append(failing, f)
		} else {
			others = append(others, f)
		}
	}
	if failing != nil {
		worst := slices.MaxFunc(failing, bySeverity)
		c.Failure = &junit.Message{
			Message: analysis.Clean(worst.String()), Type: worst.Severity.String(),
			Text: lines(failing, workflows) + "fix: " + oneLine(rule.Fix),
		}
	}
	if others != nil {
		c.Out = lines(others, workflows)
	}
	if failing == nil && others != nil {
		c.Skipped = &junit.Message{Message: "broken below the gate: " + worstOf(others)}
	}
	return c
}

// worstOf returns the worst finding as a line, with its severity.
func worstOf(list []*analysis.Finding) string {
	worst := slices.MaxFunc(list, bySeverity)
	return worst.Severity.String() + ": " + analysis.Clean(worst.String())
}

func bySeverity(a, b *analysis.Finding) int { return int(a.Severity) - int(b.Severity) }

func lines(findings []*analysis.Finding, workflows bool) string {
	var b strings.Builder
	for i, f := range findings {
		if i == maxInCase {
			fmt.Fprintf(&b, "and %d more\n", len(findings)-i)
			break
		}
		b.WriteString(analysis.Clean(f.Capture) + ": " + line(f, workflows) + "\n")
	}
	return b.String()
}

// A ruleMap holds something for each rule, by its id, of each link.
type ruleMap[T any] map[analysis.Link]map[string]T

// byLink sorts coverage and findings by link and rule; also holds, for a rule that was broken along with another, that
// one.
func byLink(r *judgment.Result) (applied ruleMap[int], found ruleMap[[]*analysis.Finding], also ruleMap[string]) {
	applied, found, also = make(ruleMap[int]), make(ruleMap[[]*analysis.Finding]), make(ruleMap[string])
	for _, c := range r.Coverage {
		if c.Link.Agent == "" {
			continue
		}
		if applied[c.Link] == nil {
			applied[c.Link] = make(map[string]int)
		}
		applied[c.Link][c.Rule.ID] += c.Applied
	}
	counted := r.Counted()
	for i := range r.Findings {
		f := &r.Findings[i]
		link := counted(f.Link)
		if found[link] == nil {
			found[link], also[link] = make(map[string][]*analysis.Finding), make(map[string]string)
		}
		found[link][f.Rule.ID] = append(found[link][f.Rule.ID], f)
		for _, id := range f.Also {
			also[link][id] = f.Rule.ID
		}
	}
	return applied, found, also
}

func linksOf(applied ruleMap[int], found ruleMap[[]*analysis.Finding]) []analysis.Link {
	var links []analysis.Link
	for l := range applied {
		links = append(links, l)
	}
	for l := range found {
		if applied[l] == nil {
			links = append(links, l)
		}
	}
	slices.SortFunc(links, func(a, b analysis.Link) int { return strings.Compare(a.String(), b.String()) })
	return links
}
