package main

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/kept"
	"a2atap/tui/print"
	"a2atap/tui/text"
)

// A listPrinter prints a line for each exchange: the sign of the worst finding, number, time, client and agent,
// request, status, duration, outcome. The first line names the columns.
type listPrinter struct {
	w       io.Writer
	colours bool
	columns listColumns
	headed  bool
}

func (p *listPrinter) print(one *shown) error {
	if !p.headed {
		p.headed = true
		if err := p.line(p.columns.heading()); err != nil {
			return err
		}
	}
	return p.line(p.columns.line(p.row(one.row)))
}

func (p *listPrinter) line(pieces []piece) error {
	_, err := fmt.Fprintln(p.w, paint(p.colours, fit(pieces, p.columns.whole)...))
	return err
}

func (p *listPrinter) end() error { return nil }

// title prints the line of an exchange that is shown by itself: not in columns, and not cut.
func (p *listPrinter) title(row *kept.Row) error {
	r := p.row(row)
	r.link.text = row.Link.Client + " → " + row.Link.Agent
	var line []piece
	for _, cell := range []piece{r.sign, r.number, r.clock, r.link, r.asked, r.status, r.took} {
		if cell.text = strings.TrimSpace(cell.text); cell.text != "" {
			line = append(line, cell, piece{"  ", inkPlain})
		}
	}
	_, err := fmt.Fprintln(p.w, paint(p.colours, fit(append(line, r.outcome...), 0)...))
	return err
}

// Bounds of the columns of a list.
const (
	numberColumn = 5
	clockColumn  = 12 // 15:04:05.000
	shortClock   = 8  // 15:04:05
	statusColumn = 4
	tookColumn   = 7
	leastNames   = 20 // client and agent, or request: SendStreamingMessage
	mostNames    = 60
	mostOnScreen = 32
	tightLink    = 14 // CLIENT → AGENT
	outcomeRoom  = 21 // made for the outcome: a short id and a state, or code and name of an error
)

// widths are how wide the names in a list are, so that a column is no wider than what stands in it.
type widths struct {
	link, asked int
	exchanges   uint64 // the highest number
}

// see takes an exchange that will be listed.
func (s *widths) see(x *analyzer.Summary) {
	if s.link < mostNames {
		s.link = max(s.link, min(text.Columns(x.Link.Client+" → "+x.Link.Agent), mostNames))
	}
	if s.asked < mostNames {
		s.asked = max(s.asked, min(text.Columns(x.Asked), mostNames))
	}
	s.exchanges = max(s.exchanges, x.Seq)
}

// listColumns are the widths of the columns of a list, blanks between them aside; 0 leaves a column out.
type listColumns struct {
	whole                                    int // of the terminal; 0 if there is none
	number, clock, link, asked, status, took int
}

// columns returns the columns of a list on a terminal of that width, 0 for none. Where there is little room, what helps
// least goes first.
func (s *widths) columns(whole int) listColumns {
	c := listColumns{
		whole: whole, number: max(numberColumn, len(fmt.Sprint(s.exchanges))), clock: clockColumn,
		link: max(s.link, leastNames), asked: max(s.asked, leastNames), status: statusColumn, took: tookColumn,
	}
	if whole == 0 {
		return c
	}
	c.link, c.asked = min(c.link, mostOnScreen), min(c.asked, mostOnScreen)
	for _, step := range []struct {
		column *int
		to     int
	}{
		{&c.clock, shortClock},
		{&c.number, max(3, len(fmt.Sprint(s.exchanges)))},
		{&c.clock, 0},
		{&c.link, tightLink},
		{&c.asked, leastNames},
		{&c.took, 0},
		{&c.status, 0},
		{&c.asked, leastNames / 2},
		{&c.link, 0},
		{&c.asked, 0},
	} {
		if c.before()+outcomeRoom <= whole {
			break
		}
		*step.column = min(*step.column, step.to)
	}
	return c
}

// before returns how many columns stand before the outcome.
func (c *listColumns) before() int {
	n := 1 + c.number + 2
	for _, column := range []int{c.clock, c.link, c.asked, c.status, c.took} {
		if column > 0 {
			n += column + 2
		}
	}
	return n
}

// A listRow is what stands in a line of the list.
type listRow struct {
	sign, number, clock, link, asked, status, took piece
	outcome                                        []piece
}

func (c *listColumns) heading() []piece {
	dim := func(title string) piece { return piece{title, inkDim} }
	return c.line(&listRow{
		sign: dim(" "), number: dim("N"), clock: dim("UTC"), link: dim("CLIENT → AGENT"), asked: dim("REQUEST"),
		status: dim("HTTP"), took: dim("TOOK"), outcome: []piece{dim("OUTCOME")},
	})
}

// line puts a row into the columns.
func (c *listColumns) line(r *listRow) []piece {
	line := []piece{{inColumns(r.sign.text, 1), r.sign.ink}}
	add := func(p piece, columns int, right bool) {
		if columns == 0 {
			return
		}
		text := inColumns(p.text, columns)
		if right {
			text = fmt.Sprintf("%*s", columns, strings.TrimRight(text, " "))
		}
		line = append(line, piece{text + "  ", p.ink})
	}
	add(r.number, c.number, true)
	add(r.clock, c.clock, false)
	add(r.link, c.link, false)
	add(r.asked, c.asked, false)
	add(r.status, c.status, true)
	add(r.took, c.took, true)
	return append(line, r.outcome...)
}

func (p *listPrinter) row(row *kept.Row) *listRow {
	r := &listRow{
		number: piece{fmt.Sprint(row.Seq), inkDim}, clock: piece{clock(row.Started), inkDim},
		link:   piece{linkWords(row.Link.Client, row.Link.Agent, p.columns.link), inkPlain},
		asked:  piece{row.Asked, inkPlain},
		status: piece{statusText(&row.Summary), statusInk(row.Status)},
		took:   piece{analyzer.DurationWords(row.Took), inkDim}, outcome: cameOf(&row.Summary),
	}
	if row.Status == 0 {
		r.status.ink = inkPlain
	}
	if worst, found := row.Worst(); found {
		r.sign = piece{print.Sign(worst), severityInk(worst)}
	}
	if p.columns.clock < clockColumn {
		r.clock.text, _, _ = strings.Cut(r.clock.text, ".")
	}
	return r
}

func statusText(s *analyzer.Summary) string {
	if s.Status == 0 {
		return "–"
	}
	return fmt.Sprint(s.Status)
}
