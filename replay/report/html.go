package report

import (
	_ "embed"
	"io"
	"strings"

	"a2atap/analyzer/report/markup"
	"a2atap/proxy/capture/credential"
	"a2atap/replay/compare"
)

//go:embed page.html
var pageText string

var page = markup.Page(pageText)

// A pageData is what the page shows. The template makes foreign texts safe.
type pageData struct {
	Title                 string
	Verb, Result, Verdict string
	Capture, To, Profile  string
	Tool                  Tool
	Sides                 Sides
	Good                  bool
	Counts                []pageCount
	Causes                []pageCause
	Rest                  []string
	Lines                 []pageLine
	More                  int // lines that are not shown
}

type pageCount struct {
	Name  string
	Count int
}

type pageCause struct {
	pageGroup
	Changes      []pageChange
	Consequences []pageGroup
	Also         string
}

type pageGroup struct{ Headline, Kind, Where, At string }

type pageChange struct{ Pointer, Was, Now string }

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
		Rest: r.rest(),
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
	causes := r.Causes()
	for i := range causes {
		data.Causes = append(data.Causes, r.pageCause(&causes[i]))
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

func (r *Report) pageCause(c *Cause) pageCause {
	out := pageCause{pageGroup: r.pageGroup(&c.Group), Also: r.following(c)}
	for _, change := range c.Differences[0].Changes {
		was, now := compare.Excerpt(change.Was, change.Now, shown)
		out.Changes = append(out.Changes, pageChange{pointerOf(change), was, now})
	}
	for _, q := range r.consequences(c) {
		out.Consequences = append(out.Consequences, pageGroup{q.headline, q.kinds, q.where, q.at})
	}
	return out
}

func (r *Report) pageGroup(g *Group) pageGroup {
	return pageGroup{Headline: headline(g), Kind: label(&g.Differences[0]), Where: r.where(g), At: at(g)}
}
