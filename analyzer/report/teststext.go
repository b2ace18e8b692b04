package report

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
)

// words are the statuses of tests that do not pass, as text has them.
var words = map[TestStatus]string{TestFailed: "FAIL", TestCritical: "CRITICAL"}

// testsText writes the active tests of agents: failures first, each with its request, answer and fix; then the rules'
// findings; and then a line for each group.
func testsText(b *strings.Builder, r *Report) {
	for i := range r.Tests {
		s := &r.Tests[i]
		b.WriteString(s.head(analysis.Clean))
		if s.Name != "" && !s.Client {
			fmt.Fprintf(b, ": %s %s", analysis.Clean(s.Name), analysis.Clean(s.Version))
		}
		b.WriteString("\n\n")
		for _, t := range worstFirst(s.Tests) {
			testText(b, t)
		}
		if found := r.findingsOf(func(agent string) bool { return agent == s.Agent }); len(found) > 0 {
			b.WriteString(Findings(found, r.Paint) + "\n")
		}
		r.suiteText(b, s)
		if i < len(r.Tests)-1 {
			b.WriteString("\n")
		}
	}
	r.othersText(b)
	directionsText(b, r)
	answersText(b, r)
}

// othersText lists the rules' findings about agents that were not under test, such as those that a card names.
func (r *Report) othersText(b *strings.Builder) {
	b.WriteString(Findings(r.findingsOf(func(agent string) bool {
		return !slices.ContainsFunc(r.Tests, func(s Suite) bool { return s.Agent == agent })
	}), r.Paint))
}

// findingsOf returns the findings on links to some agents, which are chosen by name.
func (r *Report) findingsOf(chosen func(agent string) bool) []analysis.Finding {
	var list []analysis.Finding
	for i := range r.Result.Findings {
		if chosen(r.Result.Findings[i].Programs().Agent) {
			list = append(list, r.Result.Findings[i])
		}
	}
	return list
}

// testText writes a test that failed.
func testText(b *strings.Builder, t *Test) {
	word := words[t.Status]
	if t.Waived != "" {
		word = "WAIVED"
	}
	fmt.Fprintf(b, "%s %s: %s (%s", word, t.Name, t.Title, t.severity())
	if len(t.Sections) > 0 {
		b.WriteString("; " + strings.Join(t.Sections, ", "))
	}
	b.WriteString(")\n")
	field := func(name, text string) {
		switch text = strings.TrimRight(text, "\r\n"); {
		case text == "":
		case strings.Contains(text, "\n"):
			fmt.Fprintf(b, "  %s\n", name)
			for line := range strings.SplitSeq(text, "\n") {
				b.WriteString("    " + analysis.Clean(strings.TrimRight(line, "\r")) + "\n")
			}
		default:
			fmt.Fprintf(b, "  %-9s %s\n", name, analysis.Clean(text))
		}
	}
	field("waived", t.Waived)
	if t.Expected+t.Seen == "" || t.Status == TestCritical {
		field("message", t.Message)
	}
	field("expected", t.Expected)
	field("seen", t.Seen)
	field("events", strings.Join(t.Sequence, ", "))
	field("request", t.Request)
	field("answer", t.Answer)
	field("fix", t.Fix)
	b.WriteString("\n")
}

// suiteText writes a line for each group of tests, and then the tests that neither passed nor failed.
func (r *Report) suiteText(b *strings.Builder, s *Suite) {
	for _, category := range analysis.Categories {
		if t := s.tallyOf(category); t.Total() > 0 {
			fmt.Fprintf(b, "%-17s %s\n", titles[category], strings.Join(t.parts(), ", "))
		}
	}
	for i := range s.Tests {
		for _, life := range s.Tests[i].lives() {
			fmt.Fprintf(b, "%s: skill %s\n", s.Tests[i].Name, life)
		}
	}
	for i := range s.Tests {
		if t := &s.Tests[i]; t.Status == TestInconclusive && !t.unasked() {
			fmt.Fprintf(b, "inconclusive: %s: %s\n", t.Name, analysis.Clean(oneLine(t.Message)))
		}
	}
	for _, why := range s.reasons((*Test).unasked) {
		fmt.Fprintf(b, "inconclusive: %s\n", analysis.Clean(oneLine(why)))
	}
	for _, why := range s.reasons(func(t *Test) bool { return t.Status == TestSkipped }) {
		fmt.Fprintf(b, "skipped: %s\n", analysis.Clean(oneLine(why)))
	}
	applied := make(map[string]bool)
	for _, c := range r.Result.Coverage {
		if c.Programs().Agent == s.Agent && c.Applied > 0 {
			applied[c.Rule.ID] = true
		}
	}
	fmt.Fprintf(b, "rules: %d of %d observed\n", len(applied), len(r.Rules))
	if s.Dropped > 0 {
		b.WriteString("left out: " + s.dropped() + "\n")
	}
	for _, note := range s.Notes {
		fmt.Fprintf(b, "note: %s\n", analysis.Clean(oneLine(note)))
	}
	level, reason := r.level(s)
	fmt.Fprintf(b, "conformance level: %s (%s)\n", level, analysis.Clean(oneLine(reason)))
}

// unasked reports whether a test is inconclusive for a reason that is reported elsewhere.
func (t *Test) unasked() bool {
	return t.Status == TestInconclusive && strings.HasPrefix(t.Message, "not run: ")
}

// reasons returns the reasons of test results, each with the number of tests, or with the name of the only one.
func (s *Suite) reasons(which func(*Test) bool) []string {
	var reasons []string
	names := make(map[string][]string)
	for i := range s.Tests {
		t := &s.Tests[i]
		if !which(t) {
			continue
		}
		if names[t.Message] == nil {
			reasons = append(reasons, t.Message)
		}
		names[t.Message] = append(names[t.Message], t.Name)
	}
	for i, why := range reasons {
		if list := names[why]; len(list) > 1 {
			reasons[i] = analysis.Plural(len(list), "test") + ": " + why
		} else {
			reasons[i] = list[0] + ": " + why
		}
	}
	return reasons
}

// parts describes the counts that are not zero.
func (t *Tally) parts() []string {
	var list []string
	for _, part := range []struct {
		n    int
		word string
	}{
		{t.Passed, "passed"},
		{t.Failed, "failed"},
		{t.Waived, "waived"},
		{t.Skipped, "skipped"},
		{t.Inconclusive, "inconclusive"},
	} {
		if part.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return list
}
