package present

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/neighbor"
	"a2atap/tui/print"
	"a2atap/tui/text"
)

// A TreePrinter prints each workflow as a tree: the effects of an exchange are indented under it.
type TreePrinter struct {
	w       io.Writer
	colours bool
	width   int // of the terminal; 0 without one
	Links   *workflow.Index
	order   []uint64
	rows    map[uint64]treeRow
	by      map[uint64]workflow.Evidence // the evidence for each exchange's cause
	Doubts  int                          // how many of the printed exchanges have an uncertain cause
	Unknown int                          // of these, the number with unknown senders
	lines   []treeLine
}

// A treeRow is the printed data of an exchange.
type treeRow struct {
	client, agent, asked, outcome, took, broken string
	worst                                       analysis.Severity // of the broken rules
	failed                                      bool
	joins                                       bool // a handshake that worked, which is shown in one line with others
	spent                                       spent
}

// A treeLine is a line of a tree: its columns, and the text after them.
type treeLine struct {
	columns [4]string // number, link, request, outcome
	row     treeRow
	rest    []piece
	total   string // of a workflow, instead of the others
}

// NewTreePrinter returns a printer of workflows as trees; width 0 means no terminal.
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
	r.joins = row.Neighbor != nil && row.Neighbor.Handshake() && !r.failed
	r.spent = spentOn(row)
	p.rows[row.Seq] = r
	return nil
}

// cameTo returns the outcome of an exchange, or else its HTTP status.
func cameTo(s *summary.Summary) string {
	if words := s.OutcomeText(); words != "" {
		return words
	}
	return statusText(s)
}

// brokenRules names the most severely broken rule after the sign of its severity, with the number of others. It returns
// "" if no rule was broken.
func brokenRules(findings []snapshot.Found) (words string, severity analysis.Severity) {
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

// End prints the trees. If the cause of an exchange was not selected, the exchange is under the nearest ancestor that
// was.
func (p *TreePrinter) End() error {
	under := make(map[uint64][]uint64)
	for _, n := range p.order {
		l := p.Links.Of(n)
		above := l.Parent
		p.by[n] = l.By
		for above != 0 && p.rows[above] == (treeRow{}) {
			l = p.Links.Of(above)
			above = l.Parent
			p.by[n] = max(p.by[n], l.By) // proved causes come first
		}
		under[above] = append(under[above], n)
	}
	var all spent
	roots := p.fold(under[0], under)
	for _, folded := range roots {
		p.branch(folded, "", "", false, under)
		var sum spent
		for _, n := range folded {
			p.sum(&sum, n, under)
		}
		all.add(sum)
		if words := sum.String(); words != "" && len(under[folded[0]]) > 0 && len(roots) > 1 {
			p.lines = append(p.lines, treeLine{total: "in workflow " + fmt.Sprint(folded[0]) + ": " + words})
		}
	}
	if words := all.String(); words != "" {
		p.lines = append(p.lines, treeLine{total: "in total: " + words})
	}
	return p.write()
}

// fold joins the handshakes with one server among the effects of an exchange. Each element has an exchange, or those
// that are joined.
func (p *TreePrinter) fold(list []uint64, under map[uint64][]uint64) (folded [][]uint64) {
	type link struct{ client, agent string }
	at := make(map[link]int)
	for _, n := range list {
		r := p.rows[n]
		of := link{r.client, r.agent}
		i, begun := at[of]
		switch l := p.Links.Of(n); {
		case !r.joins || len(under[n]) > 0 || l.Doubt() != "":
			folded = append(folded, []uint64{n})
		case begun:
			folded[i] = append(folded[i], n)
		default:
			at[of] = len(folded)
			folded = append(folded, []uint64{n})
		}
	}
	return folded
}

// joined returns one row for several handshakes.
func (p *TreePrinter) joined(list []uint64) (number string, r treeRow) {
	r = p.rows[list[0]]
	if len(list) == 1 {
		return fmt.Sprint(list[0]), r
	}
	var names []string
	var took time.Duration
	for _, n := range list {
		took += p.rows[n].spent.time[neighbor.MCP]
		if asked := p.rows[n].asked; !slices.Contains(names, asked) {
			names = append(names, asked)
		}
	}
	number = fmt.Sprintf("%d+%d", list[0], len(list)-1)
	r.asked, r.outcome, r.took = fmt.Sprintf("%d MCP handshakes", len(list)), strings.Join(names, ", "), summary.DurationWords(took)
	return number, r
}

// sum adds the cost of a workflow.
func (p *TreePrinter) sum(to *spent, n uint64, under map[uint64][]uint64) {
	to.add(p.rows[n].spent)
	for _, child := range under[n] {
		p.sum(to, child, under)
	}
}

// branch draws an exchange, or handshakes that are joined, after the prefix stem, and its effects after the prefix below.
func (p *TreePrinter) branch(folded []uint64, stem, below string, nested bool, under map[uint64][]uint64) {
	n := folded[0]
	number, r := p.joined(folded)
	line := treeLine{
		columns: [4]string{stem + number, r.client + " → " + r.agent, r.asked, r.outcome},
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
	effects := p.fold(under[n], under)
	for i, child := range effects {
		fork, bar := "├─ ", "│  "
		if i == len(effects)-1 {
			fork, bar = "└─ ", "   "
		}
		p.branch(child, below+fork, below+bar, true, under)
	}
}

// Left returns the exchanges that were not printed, but that printed ones may have caused.
func (p *TreePrinter) Left() []uint64 {
	printed := func(n uint64) bool { return p.rows[n] != (treeRow{}) }
	return slices.DeleteFunc(p.Links.MayHaveCaused(printed), printed)
}

// treeWidths are the maximum widths of a tree's columns, in terminal columns. Columns are as wide as their contents, up
// to these widths.
var treeWidths = [4]int{24, 24, 20, 60}

// most returns the maximum width of a column.
func (p *TreePrinter) most(column int) int {
	if p.width == 0 && column < 3 {
		return mostNames
	}
	return treeWidths[column]
}

// write writes the lines.
func (p *TreePrinter) write() error {
	var widths [4]int
	for i := range p.lines {
		for j, cell := range p.lines[i].columns {
			cell = text.Clean(cell)
			p.lines[i].columns[j] = cell
			widths[j] = min(max(widths[j], text.Columns(cell)), p.most(j))
		}
	}
	p.narrow(&widths)
	for _, l := range p.lines {
		if l.total != "" {
			if _, err := fmt.Fprintln(p.w, paint(p.colours, fit([]piece{{l.total, inkDim}}, p.width)...)); err != nil {
				return err
			}
			continue
		}
		if p.width > 0 {
			l.columns[1] = text.Link(l.row.client, l.row.agent, widths[1])
		}
		line := []piece{{InColumns(text.ClipStart(l.columns[0], widths[0]), widths[0], false) + "  ", inkDim}}
		for j, cell := range l.columns[1:] {
			look := inkPlain
			if l.row.failed && j == 2 {
				look = inkBad
			}
			if p.width > 0 || text.Columns(cell) < widths[j+1] { // otherwise nothing is cut
				cell = InColumns(cell, widths[j+1], false)
			}
			line = append(line, piece{cell + "  ", look})
		}
		if _, err := fmt.Fprintln(p.w, paint(p.colours, fit(append(line, l.rest...), p.width)...)); err != nil {
			return err
		}
	}
	return nil
}

// ruleRoom is the width that a tree reserves for broken rules, in columns.
const ruleRoom = 24

// narrow reduces the widths to fit the terminal.
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
