package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report/markup"
)

// mdSuite writes what one agent was asked actively: how many tests came out how, what failed and what to do about it,
// and each test.
func mdSuite(b *strings.Builder, r *Report, s *Suite) {
	level, reason := r.level(s)
	fmt.Fprintf(b, "## Agent %s\n\n%s at %s, version %s. Conformance level: **%s** (%s).\n\n", markup.Text(s.Agent),
		markup.Text(orDash(s.Name)), markup.Code(s.URL), markup.Text(orDash(s.Version)), level, markup.Text(reason))
	markup.Table(b, s.rows())
	mdFailed(b, r, s)
	for _, note := range s.Notes {
		b.WriteString("- " + markup.Text(note) + "\n")
	}
	if s.Dropped > 0 {
		fmt.Fprintf(b, "- Left out: %s about what was asked wrongly on purpose\n", analysis.Plural(s.Dropped, "finding"))
	}
	if len(s.Notes) > 0 || s.Dropped > 0 {
		b.WriteString("\n")
	}
	mdTests(b, s)
}

// rows returns how many tests of each category came out how, as a table: first the heads, then a row a category, then all.
func (s *Suite) rows() [][]string {
	rows := [][]string{{"Category", "Passed", "Failed", "Waived", "Skipped", "Inconclusive"}}
	row := func(name string, t Tally) {
		cells := []string{name}
		for _, n := range []int{t.Passed, t.Failed, t.Waived, t.Skipped, t.Inconclusive} {
			cells = append(cells, strconv.Itoa(n))
		}
		rows = append(rows, cells)
	}
	for _, category := range analysis.Categories {
		row(titles[category], s.tallyOf(category))
	}
	row("All", s.Tally())
	return rows
}

// mdFailed lists what failed, tests and rules, and what is waived.
func mdFailed(b *strings.Builder, r *Report, s *Suite) {
	failed := [][]string{{"Test", "Category", "Message", "Recommendation"}}
	waived := [][]string{{"Test", "Category", "Message", "Reason"}}
	for _, t := range worstFirst(s) {
		message := markup.Text(t.Message)
		if t.Status == TestCritical {
			message = "**critical**: " + message
		}
		cells := []string{markup.Code(t.Name), kebab[t.Category], message}
		if t.Waived != "" {
			waived = append(waived, append(cells, markup.Text(t.Waived)))
		} else {
			failed = append(failed, append(cells, markup.Text(oneLine(t.Fix))))
		}
	}
	for _, c := range Conformances(r) {
		if c.link != s.Agent {
			continue
		}
		for _, result := range c.failed() {
			if !slices.ContainsFunc(s.Tests, func(t Test) bool { return t.Name == result.Test }) {
				failed = append(failed, mdFailedRule(&result))
			}
		}
	}
	if len(failed) > 1 {
		b.WriteString("### Failed tests\n\n")
		markup.Table(b, failed)
	}
	if len(waived) > 1 {
		b.WriteString("### Waived\n\n")
		markup.Table(b, waived)
	}
}

// mdTests lists all tests with their results.
func mdTests(b *strings.Builder, s *Suite) {
	if len(s.Tests) == 0 {
		return
	}
	b.WriteString("<details><summary>All tests</summary>\n\n")
	rows := [][]string{{"Test", "What it asks", "Result", "Took", "Message", "Sections"}}
	for i := range s.Tests {
		t := &s.Tests[i]
		rows = append(rows, []string{
			markup.Code(t.Name), markup.Text(t.Title), t.result(), fmt.Sprintf("%d ms", t.Duration.Milliseconds()),
			markup.Text(orDash(t.Message)), markup.Text(orDash(strings.Join(t.Sections, ", "))),
		})
	}
	markup.Table(b, rows)
	b.WriteString("</details>\n\n")
}

// suite returns what an agent was asked actively; nil if it was not.
func (r *Report) suite(agent string) *Suite {
	if i := slices.IndexFunc(r.Tests, func(s Suite) bool { return s.Agent == agent }); i >= 0 {
		return &r.Tests[i]
	}
	return nil
}
