package report

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/markup"
)

//go:embed page.html
var pageText string

//go:embed parts.html
var partsText string

var page = markup.Page(pageText + partsText)

// A pageData has the contents of the page. The template escapes untrusted texts.
type pageData struct {
	Title, Status, Verdict, Date string
	Look                         string // a class of the style: good, warn, or none
	Live                         bool
	Captures                     []string
	Tool                         Tool
	Matrix                       [][]string
	Calls                        []linkCalls
	Sections                     []section // of the verdict's statements
	Failed                       []callGroup
	Anchors                      bool // failed calls link to their first exchange
	Directions                   []Direction
	Agents                       []pageAgent
	Tests                        []pageTest // that failed
	Groups                       []pageGroup
	All                          []pageSuite
	Never                        []family
	NeverCount, RuleCount        int
	Found                        int  // findings
	Traffic                      bool // the exchanges follow
}

type pageAgent struct {
	Conformance
	Link  string
	Head  []string
	Rows  [][]string
	Notes []string
}

type pageTest struct {
	*Test
	ID, Severity, Agent, Sections, Request, Answer string
}

type pageSuite struct {
	Agent string
	Tests []pageResult
}

type pageResult struct {
	*Test
	Result, Message, Sections string
}

// HTML writes the report as one page for people: the verdict, who talked to whom, each agent, the findings by rule with
// what to change, and the exchanges, if the report has them. The page fetches nothing, and runs only its own script,
// which filters and opens elements.
func HTML(w io.Writer, r *Report) error {
	data := newPageData(r)
	data.findings(r)
	out := bufio.NewWriter(w)
	if err := page.Execute(out, data); err != nil {
		return err
	}
	if r.Traffic != nil {
		if err := r.Traffic.Write(out); err != nil {
			return err
		}
	}
	if err := page.ExecuteTemplate(out, "end", data); err != nil {
		return err
	}
	return out.Flush()
}

// newPageData returns the contents of the page without the findings.
func newPageData(r *Report) *pageData {
	v := r.verdict()
	data := &pageData{
		Status: string(v.Status), Verdict: r.sentence(), Date: r.Now.UTC().Format("2006-01-02 15:04 UTC"),
		Look: lookOf(v.Status), Live: v.Live, Captures: r.Result.Captures, Tool: r.Tool,
		Directions: r.Directions, Calls: callsOnLinks(r.Result),
		RuleCount: len(r.Rules), Found: len(r.Result.Findings), Traffic: r.Traffic != nil,
	}
	data.Title = fmt.Sprintf("%s · A2A %s", data.Status, r.verb())
	if m := newMatrix(r.Result); r.Tests == nil && len(m.cells) > 0 {
		data.Matrix = m.rows()
	}
	data.Sections, data.Failed = sections(r.statements(), callTables...), r.failures()
	data.agents(r)
	data.tests(r)
	data.never(r)
	return data
}

// lookOf returns the class of the style in which a page has a verdict.
func lookOf(s judgment.Status) string {
	switch s {
	case judgment.StatusClean:
		return "good"
	case judgment.StatusWarnings, judgment.StatusNoViolation:
		return "warn"
	}
	return ""
}

func (d *pageData) agents(r *Report) {
	for _, c := range Conformances(r) {
		rows, notes, _ := c.outcomes()
		d.Agents = append(d.Agents, pageAgent{c, c.link, rows[0], rows[1:], notes})
	}
}

func (d *pageData) tests(r *Report) {
	for i := range r.Tests {
		s := &r.Tests[i]
		for _, t := range worstFirst(s.Tests) {
			d.Tests = append(d.Tests, pageTest{
				t, fmt.Sprintf("test-%d-%s", i+1, t.Name), t.severity().String(), s.Agent, strings.Join(t.Sections, ", "),
				visible(t.Request), visible(t.Answer),
			})
		}
		all := pageSuite{Agent: s.Agent}
		for j := range s.Tests {
			t := &s.Tests[j]
			message := t.Message
			if len(t.Skills) > 0 { // each skill has its own reason
				message = "skill " + strings.Join(t.lives(), "; skill ")
			}
			all.Tests = append(all.Tests, pageResult{t, t.result(), orDash(message), strings.Join(t.Sections, ", ")})
		}
		d.All = append(d.All, all)
	}
}

// visible returns a text of several lines without characters that a page would interpret.
func visible(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(analysis.Clean(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}

// findings groups the findings by their rules, the worst first.
func (d *pageData) findings(r *Report) {
	groups := &pageGroups{several: severalWorkflows(r.Result.Findings)}
	for i := range r.Result.Findings {
		f := &r.Result.Findings[i]
		place := f.Place.String()
		if len(r.Result.Captures) > 1 {
			place = f.Capture + ": " + place
		}
		groups.add(f, place, r.Traffic.Anchor(i))
	}
	d.Groups = groups.worstFirst()
}

func (d *pageData) never(r *Report) {
	never := unobserved(r.Result, r.Rules)
	d.NeverCount, d.Never = len(never), families(never)
}
