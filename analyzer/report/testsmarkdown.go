package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report/markup"
)

// mdLives lists the fate of the tasks that skills were given.
func mdLives(b *strings.Builder, tests []Test) {
	rows := [][]string{{"Skill", "Test", "Result", "States of its task", "Message"}}
	for i := range tests {
		t := &tests[i]
		for _, x := range t.Skills {
			rows = append(rows, []string{
				markup.Text(x.Skill), markup.Code(t.Name), string(x.Status), markup.Text(orDash(strings.Join(x.States, " → "))),
				markup.Text(orDash(x.Message)),
			})
		}
	}
	if len(rows) > 1 {
		b.WriteString("### Skills\n\n")
		markup.Table(b, rows)
	}
}

// rows returns a table of the number of tests by category and result: first the headings, then a row for each category,
// then the totals.
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

// mdFailed lists failed tests and rules, and waived ones.
func mdFailed(b *strings.Builder, c *Conformance, tests []Test) {
	failed := [][]string{{"Test", "Category", "Message", "Recommendation"}}
	waived := [][]string{{"Test", "Category", "Message", "Reason"}}
	for _, t := range worstFirst(tests) {
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
	for _, result := range c.failed() {
		if !slices.ContainsFunc(tests, func(t Test) bool { return t.Name == result.Test }) {
			failed = append(failed, []string{
				markup.Code(result.Test), result.Category, markup.Text(result.Message), markup.Text(result.Fix),
			})
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
func mdTests(b *strings.Builder, tests []Test) {
	if len(tests) == 0 {
		return
	}
	b.WriteString("<details><summary>All tests</summary>\n\n")
	rows := [][]string{{"Test", "Test", "Result", "Took", "Message", "Sections"}}
	for i := range tests {
		t := &tests[i]
		rows = append(rows, []string{
			markup.Code(t.Name), markup.Text(t.Title), t.result(), fmt.Sprintf("%d ms", t.Duration.Milliseconds()),
			markup.Text(orDash(t.Message)), markup.Text(orDash(strings.Join(t.Sections, ", "))),
		})
	}
	markup.Table(b, rows)
	b.WriteString("</details>\n\n")
}
