package present

import (
	"fmt"
	"io"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
	"a2atap/tui/print"
	"a2atap/tui/text"
)

// A TreePrinter prints each workflow as a tree: what an exchange caused is indented under it.
type TreePrinter struct {
	w       io.Writer
	colours bool
	width   int // of the terminal; 0 if there is none
	Links   *workflow.Index
	order   []uint64
	rows    map[uint64]treeRow
	by      map[uint64]workflow.Evidence // how it is known what each is under
	Doubts  int                          // how many exchanges were printed whose cause is not known
	Unknown int                          // of these, how many were sent by nobody knows whom
	lines   []treeLine
}

// A treeRow is what is printed of an exchange.
type treeRow struct {
	client, agent, asked, outcome, took, broken string
	worst                                       analysis.Severity // of what is broken
	failed                                      bool
}

// A treeLine is a line of a tree, in columns, and what follows them.
type treeLine struct {
	columns [4]string // number, link, request, outcome
	row     treeRow
	rest    []piece
}

// NewTreePrinter returns what prints workflows as trees; 0 is the width of no terminal.
func NewTreePrinter(w io.Writer, colours bool, width int) *TreePrinter {
	return &TreePrinter{
		w: w, colours: colours, width: width, rows: make(map[uint64]treeRow), by: make(map[uint64]workflow.Evidence),
	}
}

func (p *TreePrinter) Print(one *Shown) error {
	row := one.Row
	p.order = append(p.order, row.Seq)
	r := treeRow{
		client: row.Link.Client, agent: row.Link.Agent, asked: row.Asked, outcome: cameTo(&row.Summary),
		took: summary.DurationWords(row.Took), failed: row.Failed(),
	}
	r.broken, r.worst = brokenRules(row.Found)
	p.rows[row.Seq] = r
	return nil
}

// cameTo says what came of an exchange; where there is nothing to say, its HTTP status.
func cameTo(s *summary.Summary) string {
	if words := s.OutcomeText(); words != "" {
		return words
	}
	return statusText(s)
}

// brokenRules names the rule that was broken worst behind the sign of its severity, and says how many others were; ""
// if none was.
func brokenRules(findings []kept.Found) (words string, severity analysis.Severity) {
	if len(findings) == 0 {
		return "", 0
	}
	worst, rules := &findings[0], make(map[string]bool)
	for i := range findings {
		rules[findings[i].Rule] = true
		if findings[i].Severity > worst.Severity {
			worst = &findings[i]
		}
	}
	words = " " + print.Sign(worst.Severity) + " " + worst.Rule
	if len(rules) > 1 {
		words += fmt.Sprintf(" +%d", len(rules)-1)
	}
	return words, worst.Severity
}

// End prints the trees. What is under an exchange that was not chosen is under the nearest one above that was.
func (p *TreePrinter) End() error {
	under := make(map[uint64][]uint64)
	for _, n := range p.order {
		l := p.Links.Of(n)
		above := l.Parent
		p.by[n] = l.By
		for above != 0 && p.rows[above] == (treeRow{}) {
			l = p.Links.Of(above)
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
func (p *TreePrinter) branch(n uint64, stem, below string, nested bool, under map[uint64][]uint64) {
	r := p.rows[n]
	line := treeLine{
		columns: [4]string{stem + fmt.Sprint(n), linkWords(r.client, r.agent, treeWidths[1]), r.asked, r.outcome},
		row:     r,
		rest:    []piece{{fmt.Sprintf("%7s", r.took), inkDim}, {r.broken, severityInk(r.worst)}},
	}
	if by := p.by[n]; nested && !by.Certain() {
		line.rest = append(line.rest, piece{fmt.Sprintf(" (inferred: %s)", by), inkDim})
	}
	if l := p.Links.Of(n); l.Doubt() != "" {
		line.rest = append(line.rest, piece{fmt.Sprintf(" (%s)", l.Doubt()), inkDim})
		p.Doubts++
		if len(l.Maybe.All()) == 0 {
			p.Unknown++
		}
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

// Left returns the exchanges that were not printed and that those which were may have caused.
func (p *TreePrinter) Left() []uint64 {
	printed := func(n uint64) bool { return p.rows[n] != (treeRow{}) }
	return slices.DeleteFunc(p.Links.MayHaveCaused(printed), printed)
}

// treeWidths are what the columns of a tree may take, in columns of the terminal: they are as wide as what is in them,
// and no wider than this.
var treeWidths = [4]int{24, 24, 20, 60}

// write writes the lines.
func (p *TreePrinter) write() error {
	var widths [4]int
	for i := range p.lines {
		for j, cell := range p.lines[i].columns {
			cell = text.Clean(cell)
			p.lines[i].columns[j] = cell
			widths[j] = min(max(widths[j], text.Columns(cell)), treeWidths[j])
		}
	}
	p.narrow(&widths)
	for _, l := range p.lines {
		l.columns[1] = linkWords(l.row.client, l.row.agent, widths[1])
		line := []piece{{InColumns(lastOf(l.columns[0], widths[0]), widths[0]) + "  ", inkDim}}
		for j, text := range l.columns[1:] {
			look := inkPlain
			if l.row.failed && j == 2 {
				look = inkBad
			}
			line = append(line, piece{InColumns(text, widths[j+1]) + "  ", look})
		}
		if _, err := fmt.Fprintln(p.w, paint(p.colours, fit(append(line, l.rest...), p.width)...)); err != nil {
			return err
		}
	}
	return nil
}

// ruleRoom is what a tree leaves for the rules that are broken, in columns.
const ruleRoom = 24

// narrow makes the columns narrower if the terminal is.
func (p *TreePrinter) narrow(widths *[4]int) {
	if p.width == 0 {
		return
	}
	for _, step := range [...]struct{ column, to int }{
		{3, 28}, {1, 18}, {3, 20}, {2, 14}, {0, 14}, {1, 12}, {3, 12}, {2, 8}, {0, 9},
	} {
		if widths[0]+widths[1]+widths[2]+widths[3]+4*2+tookColumn+ruleRoom <= p.width {
			return
		}
		widths[step.column] = min(widths[step.column], step.to)
	}
}

// lastOf returns the end of a text, with an ellipsis for what does not fit into a width.
func lastOf(text string, width int) string {
	if runes := []rune(text); len(runes) > width { // each is as wide as one column
		return "…" + string(runes[len(runes)-width+1:])
	}
	return text
}
