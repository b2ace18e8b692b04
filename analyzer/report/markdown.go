package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/markup"
)

// titles are the categories as headings.
var titles = map[analysis.Category]string{
	analysis.AgentCard:     "Agent card",
	analysis.Lifecycle:     "Lifecycle",
	analysis.Streaming:     "Streaming",
	analysis.ErrorHandling: "Error handling",
	analysis.Interop:       "Interoperability",
}

// Markdown writes a result for a web page or a comment, the worst first: the verdict, unseen traffic, failed calls, the
// findings, then the links, a conformance report for each agent with failures and fixes, and what was not observed.
func Markdown(w io.Writer, r *Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# A2A %s: %s\n\n", r.verb(), r.verdict().Status)
	fmt.Fprintf(&b, "%s. Checked by %s %s on %s.\n\n", markup.Text(r.sentence()), markup.Text(r.Tool.Name),
		markup.Text(r.Tool.Version), r.Now.UTC().Format("2006-01-02 15:04 UTC"))
	mdCaptures(&b, r.Result)
	mdAnswers(&b, r)
	if r.Tests == nil {
		mdFindings(&b, r.Result)
		mdLinks(&b, r.Result)
	}
	mdDirections(&b, r)
	for _, c := range Conformances(r) {
		mdAgent(&b, &c)
	}
	if r.Tests != nil {
		mdFindings(&b, r.Result)
	}
	mdNotObserved(&b, r)
	_, err := io.WriteString(w, b.String())
	return err
}

// mdCaptures names the captures.
func mdCaptures(b *strings.Builder, r *judgment.Result) {
	captures := make([]string, 0, len(r.Captures))
	for _, c := range r.Captures {
		captures = append(captures, markup.Code(c))
	}
	fmt.Fprintf(b, "Captures: %s.\n\n", strings.Join(captures, ", "))
}

// mdLinks lists the links, with the results of their calls.
func mdLinks(b *strings.Builder, r *judgment.Result) {
	if m := newMatrix(r); len(m.cells) > 0 {
		b.WriteString(
			"## Links\n\nEach cell shows the findings on a link; `ok` is followed by the number of rules that were " +
				"observed there and not broken.\n\n",
		)
		markup.Table(b, mdNames(m.rows()))
	}
	mdCalls(b, r)
}

// mdCalls writes the results of the calls of each link.
func mdCalls(b *strings.Builder, r *judgment.Result) {
	rows := [][]string{{"Link", "Calls", "Succeeded", "Refused", "Failed", "Unknown", "Errors"}}
	for _, c := range callsOnLinks(r) {
		failed := fmt.Sprint(c.Failed)
		if c.Unproved {
			failed += ": **no call succeeded**"
		}
		rows = append(rows, []string{
			markup.Text(c.Link), fmt.Sprint(c.Made), fmt.Sprint(c.Succeeded), fmt.Sprint(c.Refused), failed,
			fmt.Sprint(c.Unknown), markup.Text(c.Errors),
		})
	}
	if len(rows) > 1 {
		b.WriteString("## Calls\n\nThe outcomes of all calls, whether or not they followed the protocol. Refused calls could not be fulfilled, " +
			"such as a request for a task that does not exist; that is no failure.\n\n")
		markup.Table(b, rows)
	}
}

// mdAgent writes the report on one agent: the number of rules, or of tests, for each result, the failures with their
// fixes, and each test.
func mdAgent(b *strings.Builder, c *Conformance) {
	if c.IsClient() {
		fmt.Fprintf(b, "## Client %s\n\nIt was %s.", markup.Text(c.link), markup.Text(c.AgentURL))
	} else {
		fmt.Fprintf(b, "## Agent %s\n\n%s at %s, version %s.", markup.Text(c.link), markup.Text(orDash(c.AgentName)),
			markup.Code(c.AgentURL), markup.Text(orDash(c.AgentVersion)))
	}
	fmt.Fprintf(b, " Conformance level: **%s** (%s).\n\n", c.ConformanceLevel, markup.Text(c.LevelReason))
	rows, notes, tests := c.outcomes()
	markup.Table(b, rows)
	mdFailed(b, c, tests)
	for _, note := range notes {
		b.WriteString("- " + markup.Text(note) + "\n")
	}
	if notes != nil {
		b.WriteString("\n")
	}
	mdLives(b, tests)
	mdTests(b, tests)
}

// IsClient reports whether the report is about a client.
func (c *Conformance) IsClient() bool { return c.suite != nil && c.suite.Client }

// outcomes returns a table of the results for an agent, notes, and its tests. Without tests, the table counts rules.
func (c *Conformance) outcomes() (rows [][]string, notes []string, tests []Test) {
	s := c.suite
	if s == nil {
		return c.rows(), nil, nil
	}
	notes = append(notes, s.Notes...)
	if s.Dropped > 0 {
		notes = append(notes, "Left out: "+s.dropped())
	}
	return s.rows(), notes, s.Tests
}

// rows returns a table of the number of rules by category and result: first the headings, then a row for each category,
// then the totals.
func (c *Conformance) rows() [][]string {
	rows := [][]string{{"Category", "Passed", "Failed", "Not observed"}}
	for _, category := range analysis.Categories {
		count := make(map[string]int)
		for _, result := range c.Categories[string(category)] {
			count[result.Status]++
		}
		rows = append(rows, []string{
			titles[category], fmt.Sprint(count["pass"]), fmt.Sprint(count["fail"] + count["critical"]), fmt.Sprint(count["skip"]),
		})
	}
	return append(rows,
		[]string{"All", fmt.Sprint(c.Summary.Passed), fmt.Sprint(c.Summary.Failed), fmt.Sprint(c.Summary.Skipped)})
}

// failed returns the failures, by category.
func (c *Conformance) failed() []ConformanceResult {
	var failed []ConformanceResult
	for _, category := range analysis.Categories {
		for _, result := range c.Categories[string(category)] {
			if result.Status == "fail" || result.Status == "critical" {
				failed = append(failed, result)
			}
		}
	}
	return failed
}

// Bounds of a table of findings: longer ones are not read, and no page shows them.
const (
	maxRows  = 500
	maxCells = 20 // places in a row
)

// messageOf returns the message of a finding, with the error of its call and the number of occurrences.
func messageOf(f *analysis.Finding) string {
	text := f.Message()
	if f.Failure != "" {
		text += "; the call failed: " + f.Failure
	}
	if f.Times > 1 {
		text += fmt.Sprintf("; %d times", f.Times)
	}
	return text
}

// mdFindings lists the findings, the worst first: equal findings of one rule are one row with their places.
func mdFindings(b *strings.Builder, r *judgment.Result) {
	if len(r.Findings) == 0 {
		return
	}
	b.WriteString("## Findings\n\n")
	rows := [][]string{{"Severity", "At fault", "Rule", "Place", "Message", "Sections"}}
	left := 0
	for _, g := range groups(r.Findings) {
		for _, same := range grouped(g, messageOf) {
			if len(rows) > maxRows {
				left += len(same)
				continue
			}
			f := same[0]
			rows = append(rows, []string{
				f.Severity.String(), markup.Text(culprits(same)), markup.Code(f.Rule.ID), mdPlaces(same, len(r.Captures) > 1),
				markup.Text(messageOf(f)), markup.Text(sectionsOf(same)),
			})
		}
	}
	markup.Table(b, rows)
	if left > 0 {
		fmt.Fprintf(b, "And %d more, listed in the text and JSON reports.\n\n", left)
	}
}

// mdPlaces lists the places of findings, with the names of those at fault if there are several.
func mdPlaces(list []*analysis.Finding, captures bool) string {
	whose := grouped(list, (*analysis.Finding).Program)
	var all []string
	for _, of := range whose {
		most := max(2, maxCells/len(whose))
		var cells []string
		for _, f := range of[:min(len(of), most)] {
			place := f.Place.String()
			if captures {
				place = f.Capture + ": " + place
			}
			cells = append(cells, markup.Code(place))
		}
		if left := len(of) - len(cells); left > 0 {
			cells = append(cells, fmt.Sprintf("and %d more", left))
		}
		words := strings.Join(cells, ", ")
		if len(whose) > 1 {
			words += " (" + markup.Text(of[0].Program()) + ")"
		}
		if all = append(all, words); len(all) == maxCells && len(whose) > maxCells {
			all = append(all, fmt.Sprintf("and of %d more", len(whose)-maxCells))
			break
		}
	}
	return strings.Join(all, "; ")
}

// mdNotObserved names the rules that nothing in the captures put to the test.
func mdNotObserved(b *strings.Builder, r *Report) {
	never := unobserved(r.Result, r.Rules)
	if len(never) == 0 {
		return
	}
	fmt.Fprintf(b,
		"## Not observed\n\n%d of %d rules never applied to the traffic.\n\n"+
			"<details><summary>The rules</summary>\n\n", len(never), len(r.Rules))
	codes := make([]string, 0, len(never))
	for _, rule := range never {
		codes = append(codes, markup.Code(rule.ID))
	}
	b.WriteString(strings.Join(codes, " ") + "\n\n</details>\n")
}

// mdNames escapes the names in a matrix: regardless of its contents, each is one cell, without markup.
func mdNames(rows [][]string) [][]string {
	for i, row := range rows {
		if row[0] = markup.Text(row[0]); i == 0 {
			row[0] = `client \ agent`
			for j, agent := range row[1:] {
				row[1+j] = markup.Text(agent)
			}
		}
	}
	return rows
}
