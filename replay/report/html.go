package report

import (
	_ "embed"
	"io"
	"strings"

	"a2atap/analyzer/report"
	"a2atap/analyzer/report/markup"
	"a2atap/proxy/capture/credential"
)

//go:embed page.html
var pageText string

var page = markup.Page(pageText)

// A pageData has the contents of the page. The template escapes untrusted texts.
type pageData struct {
	Title                 string
	Verb, Result, Verdict string
	Capture, To, Profile  string
	Tool                  report.Tool
	Sides                 Sides
	Good                  bool
	Counts                []pageCount
	Causes                []causeText
	Rest                  []string
	Lines                 []pageLine
	More                  int // lines that are not shown
}

type pageCount struct {
	Name  string
	Count int
}

type pageLine struct {
	Was, Now        uint64
	Operation, Task string
	Status          Status
	Why             string
}

// maxLines bounds the table of exchanges.
const maxLines = 2000

// HTML writes the report as one page, which fetches nothing and runs no script.
func HTML(w io.Writer, r *Report) error {
	data := pageData{
		Title: r.result() + " · A2A " + r.verb(), Verb: r.verb(), Result: r.result(), Verdict: r.Verdict(),
		Capture: credential.WithoutUserinfo(r.Capture), To: credential.WithoutUserinfo(r.To), Profile: r.Profile,
		Tool: r.Tool, Sides: r.sides(), Good: r.Same(),
		Causes: r.causes(), Rest: r.rest(),
		Counts: []pageCount{
			{r.sent(), r.Sent},
			{"matched", r.Matched},
			{"differing", r.Differing},
			{"left out", r.LeftOut},
			{"only in " + r.sides().Was, r.Missing},
			{"only in " + r.sides().Now, r.New},
			{"texts not compared", r.Texts},
		},
	}
	for i := range r.Lines {
		if i == maxLines {
			data.More = len(r.Lines) - i
			break
		}
		l := &r.Lines[i]
		data.Lines = append(data.Lines, pageLine{l.Exchange, l.Live, l.Operation, brief(l.Task), l.Status, brief(l.Why)})
	}
	var b strings.Builder
	if err := page.Execute(&b, data); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}
