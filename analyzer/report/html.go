package report

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"slices"
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

// A pageData is what the page shows. The template makes foreign texts safe.
type pageData struct {
	Title, Status, Verdict, Date        string
	Look                                string // a class of the style: good, warn, or none
	Live                                bool
	Captures                            []string
	Tool                                Tool
	Matrix                              [][]string
	Calls                               []pageCalls
	Sections                            []section // of the verdict's statements
	Failed, Refused, FailedTasks, Known []pageFailed
	Directions                          []Direction
	Agents                              []pageAgent
	Tests                               []pageTest // that failed
	Groups                              []pageGroup
	All                                 []pageSuite
	Never                               []family
	NeverCount, RuleCount               int
	Found                               int  // findings
	Traffic                             bool // the exchanges follow
}

type pageCalls struct {
	Link                    string
	Made, Succeeded, Failed int
	Unproved                bool
	Errors                  string
}

type pageAgent struct {
	Link, Name, URL, Version, Level, Reason string
	Head                                    []string
	Rows                                    [][]string
	Notes                                   []string
}

type pageTest struct {
	ID, Severity, Title, Name, Message, Waived, Fix, Agent, Sections, Request, Answer string
}

// A pageFailed has the id of the first exchange, if that is on the page.
type pageFailed struct {
	judgment.FailedCalls
	Anchor string
}

func pageFailures(list []judgment.FailedCalls) []pageFailed {
	var all []pageFailed
	for _, f := range list {
		all = append(all, pageFailed{FailedCalls: f})
	}
	return all
}

type pageSuite struct {
	Agent string
	Tests []pageResult
}

type pageResult struct{ Name, Title, Result, Message, Sections string }

// HTML writes the report as one page for people: the verdict, who talked to whom, each agent, the findings by rule with
// what to change, and the exchanges, if the report has them. It fetches nothing, and runs no script but its own, which
// filters and opens what it shows.
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

// newPageData returns what the page shows but the findings.
func newPageData(r *Report) *pageData {
	v := r.verdict()
	data := &pageData{
		Status: string(v.Status), Verdict: r.sentence(), Date: r.Now.UTC().Format("2006-01-02 15:04 UTC"),
		Look: lookOf(v.Status), Live: v.Live, Captures: r.Result.Captures, Tool: r.Tool,
		Directions: r.Directions,
		RuleCount:  len(r.Rules), Found: len(r.Result.Findings), Traffic: r.Traffic != nil,
	}
	what := "check"
	if r.Tests != nil {
		what = "probe"
	}
	data.Title = fmt.Sprintf("%s · A2A %s", data.Status, what)
	if m := newMatrix(r.Result); r.Tests == nil && len(m.cells) > 0 {
		data.Matrix = m.rows()
	}
	data.calls(r)
	if r.Tests == nil {
		data.Failed, data.Refused, data.FailedTasks = pageFailures(v.Failed), pageFailures(v.Refused), pageFailures(v.Tasks)
		data.Known = pageFailures(v.Known)
	}
	data.Sections = sections(r.statements(), callTables...)
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

func (d *pageData) calls(r *Report) {
	for i := range r.Result.Calls {
		c := r.Result.Calls[i].Settled()
		if c.Made == 0 {
			continue
		}
		d.Calls = append(d.Calls, pageCalls{
			Link: arrow(c.Link), Made: c.Made, Succeeded: c.Succeeded, Failed: c.Failed, Unproved: !c.Proved(),
			Errors: errorsOf(&c, func(s string) string { return s }),
		})
	}
}

func (d *pageData) agents(r *Report) {
	for _, c := range Conformances(r) {
		a := pageAgent{
			Link: c.link, Name: c.AgentName, URL: c.AgentURL, Version: c.AgentVersion, Level: c.ConformanceLevel,
			Reason: c.LevelReason,
		}
		rows := c.rows()
		if s := r.suite(c.link); s != nil {
			rows, a.Notes = s.rows(), slices.Clone(s.Notes)
			if s.Dropped > 0 {
				a.Notes = append(a.Notes, fmt.Sprintf("Left out: %s about what was asked wrongly on purpose",
					analysis.Plural(s.Dropped, "finding")))
			}
		}
		a.Head, a.Rows = rows[0], rows[1:]
		d.Agents = append(d.Agents, a)
	}
}

func (d *pageData) tests(r *Report) {
	for i := range r.Tests {
		s := &r.Tests[i]
		for _, t := range worstFirst(s) {
			d.Tests = append(d.Tests, pageTest{
				ID: fmt.Sprintf("test-%d-%s", i+1, t.Name), Severity: t.severity().String(), Title: t.Title, Name: t.Name, Message: t.Message,
				Waived: t.Waived, Fix: t.Fix, Agent: s.Agent, Sections: strings.Join(t.Sections, ", "),
				Request: visible(t.Request), Answer: visible(t.Answer),
			})
		}
		all := pageSuite{Agent: s.Agent}
		for j := range s.Tests {
			t := &s.Tests[j]
			all.Tests = append(all.Tests, pageResult{t.Name, t.Title, t.result(), orDash(t.Message), strings.Join(t.Sections, ", ")})
		}
		d.All = append(d.All, all)
	}
}

// visible returns a text of several lines without what a page would obey.
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
