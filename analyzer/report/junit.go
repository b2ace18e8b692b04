package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/junit"
)

type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string       `xml:"name,attr"`
		Tests     int          `xml:"tests,attr"`
		Failures  int          `xml:"failures,attr"`
		Errors    int          `xml:"errors,attr"`
		Skipped   int          `xml:"skipped,attr"`
		Timestamp string       `xml:"timestamp,attr"`
		Cases     []junit.Case `xml:"testcase"`
		Out       string       `xml:"system-out,omitempty"`
	}
)

// maxInCase bounds the findings that one case spells out.
const maxInCase = 50

// JUnit writes a result as JUnit XML: a suite for each link, a case for each rule. A rule that was not observed is
// skipped, one broken by a finding at or above the gate has failed, and milder findings are its output. How the calls
// came out is the output of the suite; where none succeeded and no case says why, a case of its own has an error.
func JUnit(w io.Writer, r *Report) error {
	all := junitSuites{Name: "a2atap"}
	all.addTests(r)
	applied, found, also := byLink(r.Result)
	verdict := r.verdict()
	failed := slices.Concat(verdict.Failed, verdict.Refused, verdict.Tasks)
	workflows := severalWorkflows(r.Result.Findings)
	calls, counted := make(map[analysis.Link][]*judgment.Calls), r.Result.Counted()
	for i := range r.Result.Calls {
		c := &r.Result.Calls[i]
		calls[counted(c.Link)] = append(calls[counted(c.Link)], c)
	}
	for _, link := range linksOf(applied, found) {
		suite := junitSuite{Name: analysis.Clean(link.String())}
		for _, rule := range r.Rules {
			c := r.junitCase(rule, applied[link][rule.ID], found[link][rule.ID], workflows)
			if outer := also[link][rule.ID]; outer != "" {
				c.Skipped, c.Out = nil, c.Out+"broken along with "+outer+", which has the finding\n"
			}
			suite.Cases = append(suite.Cases, c)
		}
		if r.Tests == nil { // else some calls are to fail
			suite.addCalls(r, calls[link], failed)
		}
		all.add(r, suite)
	}
	if r.Tests == nil && len(verdict.NotSeen) > 0 {
		all.add(r, junitSuite{Name: "observation", Cases: []junit.Case{notSeenCase(verdict)}})
	}
	if len(all.Suites) == 0 { // an empty document would look like success
		all.add(r, junitSuite{Name: "nothing", Cases: []junit.Case{
			{Name: "judged", Class: "a2atap", Skipped: &junit.Message{Message: "nothing was judged"}},
		}})
	}
	return junit.Write(w, all)
}

// add adds a suite, and counts its cases.
func (all *junitSuites) add(r *Report, s junitSuite) {
	s.Timestamp = r.Now.UTC().Format("2006-01-02T15:04:05")
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Error != nil:
			s.Errors++
		case c.Failure != nil:
			s.Failures++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures
	all.Errors, all.Skipped = all.Errors+s.Errors, all.Skipped+s.Skipped
	all.Suites = append(all.Suites, s)
}

// notSeenCase returns the case that says what was not seen. It is an error where that makes the verdict incomplete.
func notSeenCase(v judgment.Verdict) junit.Case {
	var lines strings.Builder
	for i := range v.NotSeen {
		lines.WriteString(v.NotSeen[i].String() + "\n")
	}
	one := junit.Case{Name: "seen", Class: "a2atap.observation", Out: lines.String()}
	if v.Status == judgment.StatusIncomplete {
		one.Out, one.Error = "", &junit.Message{Message: v.String(), Type: "observation", Text: lines.String()}
	}
	return one
}

// addCalls says how the calls came out that are counted with the suite's link.
func (s *junitSuite) addCalls(r *Report, calls []*judgment.Calls, failed []judgment.FailedCalls) {
	for _, c := range calls {
		if c.Made == 0 && c.TasksFailed == 0 {
			continue
		}
		name := ""
		if clean := analysis.Clean(c.Link.String()); clean != s.Name {
			name = clean + ": "
		}
		s.Out += name + c.String() + "\n"
		if settled := c.Settled(); settled.Failed+settled.TasksFailed == 0 && c.Proved() {
			continue
		}
		one := r.junitCalls(c, strings.TrimSuffix(name, ": "), failed)
		if one.Failure == nil && !c.Proved() {
			one.Error = &junit.Message{Message: name + "no call is known to have succeeded: " + c.String(), Type: "outcome"}
		}
		s.Cases = append(s.Cases, one)
	}
}

func (r *Report) junitCase(rule *analysis.Rule, applied int, found []*analysis.Finding, workflows bool) junit.Case {
	c := junit.Case{Name: rule.ID, Class: "a2atap." + string(rule.Category)}
	if applied == 0 && len(found) == 0 {
		c.Skipped = &junit.Message{Message: "not observed"}
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
		worst := slices.MaxFunc(failing, func(a, b *analysis.Finding) int { return int(a.Severity) - int(b.Severity) })
		c.Failure = &junit.Message{
			Message: analysis.Clean(worst.String()), Type: worst.Severity.String(),
			Text: lines(failing, workflows) + "fix: " + oneLine(rule.Fix),
		}
	}
	if others != nil {
		c.Out = lines(others, workflows)
	}
	return c
}

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
