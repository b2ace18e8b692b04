package main

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
)

// treePrinter prints each workflow as a tree: what an exchange caused is indented under it.
type treePrinter struct {
	w     io.Writer
	links *workflow.Index
	order []uint64
	rows  map[uint64]treeRow
	by    map[uint64]workflow.Evidence // how it is known what each is under
	lines []treeLine
}

// A treeRow is what is printed of an exchange.
type treeRow struct{ client, agent, asked, outcome, took, broken string }

// A treeLine is a line of a tree, in columns, and what follows them.
type treeLine struct {
	columns [4]string // number, link, request, outcome
	rest    string
}

func newTreePrinter(w io.Writer) *treePrinter {
	return &treePrinter{w: w, rows: make(map[uint64]treeRow), by: make(map[uint64]workflow.Evidence)}
}

func (p *treePrinter) print(x *capture.Exchange, facts analyzer.Facts) error {
	p.order = append(p.order, x.Seq)
	p.rows[x.Seq] = treeRow{
		client: analyzer.Clean(x.Client.Name), agent: analyzer.Clean(x.Agent.Name), asked: asked(x, facts),
		outcome: cameTo(x, facts), took: took(x), broken: brokenRules(facts.Findings),
	}
	return nil
}

// cameTo describes the result of an exchange for the tree: an error, how it broke off, or else the state of the task;
// then the id of the one task that it is about, for short.
func cameTo(x *capture.Exchange, facts analyzer.Facts) string {
	var came string
	switch {
	case len(facts.Errors) > 0 && facts.Errors[0].Name.String() != "":
		came = facts.Errors[0].Name.String()
	case len(facts.Errors) > 0:
		came = facts.Errors[0].String()
	case x.Fault != nil:
		came = faultWords(x.Fault)
	case facts.State() != "":
		came = facts.State()
	default:
		came = status(x)
	}
	if x.State != capture.StateClosed && x.Fault == nil {
		came += ", " + x.State.String()
	}
	if len(facts.Tasks) == 1 {
		came += " " + shortID(facts.Tasks[0])
	}
	return came
}

// shortID returns what people tell ids apart by: the first digits of a UUID, or the beginning.
func shortID(id string) string {
	const most = 8
	runes := []rune(analyzer.Clean(id[:min(len(id), 4*most+1)]))
	if first := strings.IndexByte(id, '-'); first >= most || len(runes) <= most {
		return string(runes[:min(len(runes), most)])
	}
	return string(runes[:most-1]) + "…"
}

// brokenRules names the rule that was broken worst, and says how many others were; "" if none was.
func brokenRules(findings []analyzer.Finding) string {
	if len(findings) == 0 {
		return ""
	}
	worst, rules := &findings[0], make(map[string]bool)
	for i := range findings {
		rules[findings[i].Rule.ID] = true
		if findings[i].Severity > worst.Severity {
			worst = &findings[i]
		}
	}
	if len(rules) == 1 {
		return " ! " + worst.Rule.ID
	}
	return fmt.Sprintf(" ! %s +%d", worst.Rule.ID, len(rules)-1)
}

// end prints the trees. What is under an exchange that was not chosen is under the nearest one above that was.
func (p *treePrinter) end() error {
	under := make(map[uint64][]uint64)
	for _, n := range p.order {
		l := p.links.Of(n)
		above := l.Parent
		p.by[n] = l.By
		for above != 0 && p.rows[above] == (treeRow{}) {
			l = p.links.Of(above)
			above = l.Parent
			p.by[n] = max(p.by[n], l.By) // what is not proved comes after what is
		}
		under[above] = append(under[above], n)
	}
	for _, n := range under[0] {
		p.branch(n, "", "", false, under)
	}
	return p.write()
}

// branch draws an exchange behind a stem, and what is under it behind another one.
func (p *treePrinter) branch(n uint64, stem, below string, nested bool, under map[uint64][]uint64) {
	r := p.rows[n]
	line := treeLine{
		columns: [4]string{stem + fmt.Sprint(n), linkWords(r.client, r.agent), r.asked, r.outcome},
		rest:    fmt.Sprintf("%7s%s", r.took, r.broken),
	}
	if by := p.by[n]; nested && !by.Certain() {
		line.rest += fmt.Sprintf(" (inferred: %s)", by)
	}
	p.lines = append(p.lines, line)
	for i, child := range under[n] {
		fork, bar := "├─ ", "│  "
		if i == len(under[n])-1 {
			fork, bar = "└─ ", "   "
		}
		p.branch(child, below+fork, below+bar, true, under)
	}
}

// treeWidths are what the columns of a tree may take, in characters: they are as wide as what is in them, and no wider
// than this.
var treeWidths = [4]int{24, 24, 20, 23}

// write writes the lines.
func (p *treePrinter) write() error {
	var widths [4]int
	for i := range p.lines {
		for j, text := range p.lines[i].columns {
			text = analyzer.Clean(text)
			p.lines[i].columns[j] = text
			widths[j] = min(max(widths[j], len([]rune(text))), treeWidths[j])
		}
	}
	for _, line := range p.lines {
		var b strings.Builder
		for j, text := range line.columns {
			b.WriteString(column(text, widths[j], j == 0) + "  ")
		}
		if _, err := fmt.Fprintln(p.w, b.String()+line.rest); err != nil {
			return err
		}
	}
	return nil
}

// linkWords names a client and an agent so that both are seen, however long their names are.
func linkWords(client, agent string) string {
	const arrow = " → "
	room := treeWidths[1] - len([]rune(arrow))
	left := min(len([]rune(client)), max(room/2, room-len([]rune(agent))))
	client = cut(client, left)
	agent = cut(agent, room-left)
	return client + arrow + agent
}

// cut returns a text, or the beginning of one that is longer than a width, with an ellipsis.
func cut(text string, width int) string {
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return text
}

// column cuts a text to a width, or fills it up. What is cut off becomes an ellipsis, at the end or at the beginning.
func column(text string, width int, beginning bool) string {
	if runes := []rune(text); beginning && len(runes) > width {
		return "…" + string(runes[len(runes)-width+1:])
	}
	text = cut(text, width)
	return text + strings.Repeat(" ", width-len([]rune(text)))
}
