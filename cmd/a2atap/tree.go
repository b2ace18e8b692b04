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
}

// A treeRow is what is printed of an exchange.
type treeRow struct{ link, asked, outcome, took string }

func newTreePrinter(w io.Writer) *treePrinter {
	return &treePrinter{w: w, rows: make(map[uint64]treeRow), by: make(map[uint64]workflow.Evidence)}
}

func (p *treePrinter) print(x *capture.Exchange, facts analyzer.Facts) error {
	came := outcome(x, facts)
	if came == "" {
		came = status(x)
	}
	p.order = append(p.order, x.Seq)
	p.rows[x.Seq] = treeRow{
		x.Client.Name + " → " + x.Agent.Name, asked(x, facts), came, took(x),
	}
	return nil
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
		if err := p.branch(n, "", "", false, under); err != nil {
			return err
		}
	}
	return nil
}

// branch prints an exchange behind a stem, and what is under it behind another one.
func (p *treePrinter) branch(n uint64, stem, below string, nested bool, under map[uint64][]uint64) error {
	r := p.rows[n]
	line := fmt.Sprintf("%s  %s  %s  %s  %7s", column(stem+fmt.Sprint(n), 10), column(r.link, 20), column(r.asked, 20),
		column(r.outcome, 14), r.took)
	if by := p.by[n]; nested && !by.Certain() {
		line += fmt.Sprintf(" (inferred: %s)", by)
	}
	if _, err := fmt.Fprintln(p.w, line); err != nil {
		return err
	}
	for i, child := range under[n] {
		fork, bar := "├─ ", "│  "
		if i == len(under[n])-1 {
			fork, bar = "└─ ", "   "
		}
		if err := p.branch(child, below+fork, below+bar, true, under); err != nil {
			return err
		}
	}
	return nil
}

// column cuts a text to a width, or fills it up. What is cut off ends with an ellipsis; a stem loses its beginning.
func column(text string, width int) string {
	runes := []rune(strings.TrimRight(analyzer.Clean(text), " "))
	switch over := len(runes) - width; {
	case over > 0 && strings.ContainsAny(string(runes[len(runes)-1]), "0123456789") && strings.Contains(text, "─"):
		return "…" + string(runes[over+1:])
	case over > 0:
		return string(runes[:width-1]) + "…"
	default:
		return string(runes) + strings.Repeat(" ", -over)
	}
}
