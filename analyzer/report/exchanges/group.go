package exchanges

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report/internal/svg"
	"a2atap/analyzer/sequence"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
)

// A group is exchanges that belong together: of one workflow, or of workflows that share a task.
type group struct {
	items []*item // in order
	root  uint64  // the exchange that began it
}

// manyTasks is how many tasks an exchange may name to tie workflows together: a list of tasks would tie all of them.
const manyTasks = 3

// groups returns the exchanges that are shown in groups, in the order in which these begin.
func (sh *shown) groups() []group {
	same := make(map[uint64]uint64) // the workflow that another one is part of
	find := func(n uint64) uint64 {
		for same[n] != 0 {
			n = same[n]
		}
		return n
	}
	ofTask := make(map[string]uint64)
	for _, it := range sh.items {
		if len(it.tasks) > manyTasks {
			continue
		}
		of := find(sh.Links.Of(it.seq).Workflow)
		for _, task := range it.tasks {
			other, known := ofTask[task]
			if other = find(other); known && other != of {
				same[max(of, other)] = min(of, other)
				of = min(of, other)
			}
			ofTask[task] = of
		}
	}
	var groups []group
	at := make(map[uint64]int)
	for _, it := range sh.items {
		of := find(sh.Links.Of(it.seq).Workflow)
		i, known := at[of]
		if !known {
			i = len(groups)
			at[of] = i
			groups = append(groups, group{root: of})
		}
		groups[i].items = append(groups[i].items, it)
	}
	return groups
}

// group writes a group: its tree, its ladder and its exchanges. A single exchange is written without a group.
func (sh *shown) group(p *page, g *group, most int, open bool) {
	if len(g.items) == 1 {
		it := g.items[0]
		p.raw(it.begin)
		if len(it.arrows) > 2 {
			sh.ladder(p, g, most)
		}
		p.raw(it.rest)
		return
	}
	first := g.items[0]
	for _, it := range g.items {
		if it.seq == g.root {
			first = it
		}
	}
	p.raw(`<details class="group"`)
	if open {
		p.raw(" open")
	}
	p.raw("><summary>")
	p.span("number", fmt.Sprintf("Workflow %d:", g.root))
	p.raw(" ")
	p.text(first.link)
	p.raw(" <b>")
	p.text(first.asked)
	p.raw("</b> ")
	p.span("faint", analysis.Plural(len(g.items), "exchange"))
	var found []*finding
	for _, it := range g.items {
		found = append(found, it.found...)
	}
	p.counts(found)
	p.raw("</summary>\n")
	sh.tree(p, g, most)
	sh.ladder(p, g, most)
	for _, it := range g.items {
		p.raw(it.begin)
		p.raw(it.rest)
	}
	p.raw("</details>\n")
}

// marks returns the marks of findings, one for each rule.
func marks(found []*finding) []svg.Mark {
	var list []svg.Mark
	for _, f := range found {
		if !slices.ContainsFunc(list, func(m svg.Mark) bool { return m.Text == f.Rule.ID }) {
			list = append(list, svg.Mark{Severity: f.Severity.String(), Text: f.Rule.ID, Href: "#" + f.id})
		}
	}
	return list
}

// tree draws which exchange caused which, if any did.
func (sh *shown) tree(p *page, g *group, most int) {
	items := make(map[uint64]*item, len(g.items))
	var links []workflow.Link
	for _, it := range g.items {
		items[it.seq], links = it, append(links, sh.Links.Of(it.seq))
	}
	branches := workflow.Tree(links)
	if !slices.ContainsFunc(branches, func(b workflow.Branch) bool { return b.Depth > 0 }) {
		return
	}
	t := svg.Tree{Label: fmt.Sprintf("Tree of workflow %d: each exchange and the calls that it caused", g.root)}
	for _, b := range branches {
		it := items[b.Exchange]
		row := svg.Row{
			Depth: b.Depth, Number: fmt.Sprint(it.seq), Text: it.link + " " + it.asked, Outcome: it.outcome,
			Aside: summary.DurationWords(it.took), Href: "#" + sh.id(it.seq), Marks: marks(it.found),
		}
		if b.Parent != 0 && !b.By.Certain() {
			row.Dashed = true
			row.Aside += fmt.Sprintf(" (inferred: %s)", b.By)
		} else if doubt := b.Doubt(); doubt != "" {
			row.Aside += fmt.Sprintf(" (%s)", doubt)
		}
		t.Rows = append(t.Rows, row)
	}
	more := len(t.Rows) - most
	t.Rows = t.Rows[:min(len(t.Rows), most)]
	p.figure("Causes", t.String(), more, "exchange")
}

// figure writes a drawing that may be wider than the page, and the number of omitted elements.
func (p *page) figure(title, drawing string, more int, noun string) {
	p.raw("<h4>" + title + "</h4>\n" + `<div class="wide">` + drawing + "</div>\n")
	if more > 0 {
		p.raw(`<p class="left">`)
		p.text(leftWords(more, noun))
		p.raw("</p>\n")
	}
}

// ladder draws the messages as a sequence diagram: the first arrows and those with findings.
func (sh *shown) ladder(p *page, g *group, most int) {
	var arrows []sequence.Arrow
	found := make(map[uint64][]*finding)
	for _, it := range g.items {
		arrows = append(arrows, it.arrows...)
		found[it.seq] = it.found
	}
	sequence.Sort(arrows)
	l := svg.Ladder{Label: fmt.Sprintf("Ladder of workflow %d, %s", g.root, analysis.Plural(len(arrows), "arrow"))}
	left := 0
	for i := range arrows {
		a := &arrows[i]
		if i >= most && (len(a.Findings) == 0 || len(l.Arrows) > 2*most) {
			left++
			continue
		}
		if left > 0 {
			l.Arrows = append(l.Arrows, gap(left))
			left = 0
		}
		l.Arrows = append(l.Arrows, sh.arrow(a, found[a.Exchange], a.At.Sub(arrows[0].At)))
	}
	if left > 0 {
		l.Arrows = append(l.Arrows, gap(left))
	}
	p.figure("Ladder", l.String(), 0, "")
}

// gap is a line for arrows that are not drawn.
func gap(n int) svg.Arrow { return svg.Arrow{Label: leftWords(n, "arrow")} }

// arrow returns the drawing of an arrow; since is the time after the first one.
func (sh *shown) arrow(a *sequence.Arrow, found []*finding, since time.Duration) svg.Arrow {
	out := svg.Arrow{
		From: name(a.From), To: name(a.To), Time: fmt.Sprintf("%.3fs", since.Seconds()), Number: fmt.Sprint(a.Exchange),
		Label: a.Label, Href: "#" + sh.id(a.Exchange), Answer: a.Response, Broken: a.Broken,
	}
	if a.Event > 0 {
		out.Href = fmt.Sprintf("#%s.response.event[%d]", sh.id(a.Exchange), a.Event)
	}
	for i, slug := range a.Findings {
		m := svg.Mark{Severity: a.Severities[i].String(), Text: slug}
		if f := nearestFinding(found, a, slug); f != nil {
			m.Href = "#" + f.id
		}
		out.Marks = append(out.Marks, m)
	}
	return out
}

// name is never empty: an arrow without ends would be none.
func name(s string) string { return cmp.Or(s, "–") }

// nearestFinding returns the finding by a rule that an arrow shows: in its event, on its side, or anywhere.
func nearestFinding(found []*finding, a *sequence.Arrow, slug string) *finding {
	var best *finding
	rank := -1
	for _, f := range found {
		if f.Rule.ID != slug {
			continue
		}
		r := 0
		if f.Place.Response == a.Response {
			r = 1
			if k, ok := eventOf(f.Place.Part); ok && k == a.Event {
				r = 2
			}
		}
		if r > rank {
			best, rank = f, r
		}
	}
	return best
}
