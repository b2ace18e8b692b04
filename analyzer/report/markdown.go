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

// Markdown writes a result for a web page or a comment, what is worst first: the verdict, what was not seen, the calls
// that failed, the findings, then who talked to whom, a conformance report for each agent with what failed and what to
// do about it, and what was not observed.
func Markdown(w io.Writer, r *Report) error {
	var b strings.Builder
	what := "check"
	if r.Tests != nil {
		what = "probe"
	}
	fmt.Fprintf(&b, "# A2A %s: %s\n\n", what, r.verdict().Status)
	fmt.Fprintf(&b, "%s. Judged by %s %s on %s.\n\n", markup.Text(r.sentence()), markup.Text(r.Tool.Name),
		markup.Text(r.Tool.Version), r.Now.UTC().Format("2006-01-02 15:04 UTC"))
	mdCaptures(&b, r.Result)
	mdAnswers(&b, r)
	if r.Tests == nil {
		mdFindings(&b, r.Result)
		mdLinks(&b, r.Result)
	}
	mdDirections(&b, r)
	for _, c := range Conformances(r) {
		if s := r.suite(c.link); s != nil {
			mdSuite(&b, r, s)
		} else {
			mdConformance(&b, &c)
		}
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

// mdLinks says who talked to whom, and how the calls came out.
func mdLinks(b *strings.Builder, r *judgment.Result) {
	if m := newMatrix(r); len(m.cells) > 0 {
		b.WriteString(
			"## Who talked to whom\n\nEach cell says what was found on the link; `ok` is followed by the number of rules that were " +
				"observed there, none of them broken.\n\n",
		)
		markup.Table(b, mdNames(m.rows()))
	}
	mdCalls(b, r)
}

// mdCalls says how the calls of each link came out.
func mdCalls(b *strings.Builder, r *judgment.Result) {
	rows := [][]string{{"Link", "Calls", "Succeeded", "Failed", "Errors"}}
	for i := range r.Calls {
		c := r.Calls[i].Settled()
		if c.Made == 0 {
			continue
		}
		failed := fmt.Sprint(c.Failed)
		if !c.Proved() {
			failed += ": **no call succeeded**"
		}
		rows = append(rows, []string{
			markup.Text(arrow(c.Link)), fmt.Sprint(c.Made), fmt.Sprint(c.Succeeded), failed, errorsOf(&c, markup.Text),
		})
	}
	if len(rows) > 1 {
		b.WriteString("## Calls\n\nWhether calls succeeded is one question, whether they kept to the protocol another.\n\n")
		markup.Table(b, rows)
	}
}

// errorsOf says which errors calls failed with, and how often each, or a dash.
func errorsOf(c *judgment.Calls, clean func(string) string) string {
	var errs []string
	for _, f := range c.ByError() {
		errs = append(errs, fmt.Sprintf("%s %d", clean(f.Error), f.Count))
	}
	if c.Unheard {
		errs = append(errs, "webhooks not observed")
	}
	return orDash(strings.Join(errs, ", "))
}

// mdConformance writes the report on one agent.
func mdConformance(b *strings.Builder, c *Conformance) {
	fmt.Fprintf(b, "## Agent %s\n\n", markup.Text(c.link))
	fmt.Fprintf(b, "%s at %s, version %s. Conformance level: **%s** (%s).\n\n", markup.Text(orDash(c.AgentName)),
		markup.Code(c.AgentURL), markup.Text(orDash(c.AgentVersion)), c.ConformanceLevel, markup.Text(c.LevelReason))
	markup.Table(b, c.rows())
	failed := c.failed()
	if len(failed) == 0 {
		return
	}
	b.WriteString("### Failed tests\n\n")
	rows := [][]string{{"Test", "Category", "Message", "Recommendation"}}
	for _, result := range failed {
		rows = append(rows, mdFailedRule(&result))
	}
	markup.Table(b, rows)
}

// mdFailedRule returns a rule that failed as a row: the rule, its category, the message and what to do about it.
func mdFailedRule(c *ConformanceResult) []string {
	return []string{markup.Code(c.Test), c.Category, markup.Text(c.Message), markup.Text(c.Fix)}
}

// rows returns how many rules of each category came out how, as a table: first the heads, then a row a category, then all.
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

// failed returns what failed, by category.
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

// messageOf returns the message of a finding, and with what its call failed.
func messageOf(f *analysis.Finding) string {
	if f.Failure == "" {
		return f.Message()
	}
	return f.Message() + "; the call failed: " + f.Failure
}

// mdFindings lists the findings, the worst first: those of one rule that say the same are one row with their places.
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
		fmt.Fprintf(b, "And %d more, which the text and JSON reports list.\n\n", left)
	}
}

// mdPlaces lists the places of findings, with the names of those who are at fault where there are several.
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
		"## Not observed\n\nNothing in the traffic put %d of %d rules to the test.\n\n"+
			"<details><summary>The rules</summary>\n\n", len(never), len(r.Rules))
	codes := make([]string, 0, len(never))
	for _, rule := range never {
		codes = append(codes, markup.Code(rule.ID))
	}
	b.WriteString(strings.Join(codes, " ") + "\n\n</details>\n")
}

// mdNames makes the names in a matrix safe: whatever they hold, each is one cell, and says only itself.
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
