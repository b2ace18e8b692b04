package present

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/kept"
	"a2atap/analyzer/summary"
	"a2atap/tui/print"
	"a2atap/tui/text"
)

// A ListPrinter prints a line for each exchange: the sign of the worst finding, number, time, client and agent,
// request, status, duration, outcome. The first line names the columns.
type ListPrinter struct {
	W       io.Writer
	Colours bool
	Columns listColumns
	headed  bool
}

// Print implements Printer.
func (p *ListPrinter) Print(one *Shown) error {
	if !p.headed {
		p.headed = true
		if err := p.line(p.Columns.heading()); err != nil {
			return err
		}
	}
	return p.line(p.Columns.line(p.row(one.Row)))
}

func (p *ListPrinter) line(pieces []piece) error {
	_, err := fmt.Fprintln(p.W, paint(p.Colours, fit(pieces, p.Columns.whole)...))
	return err
}

// End implements Printer.
func (p *ListPrinter) End() error { return nil }

// title prints the line of an exchange that is shown by itself: not in columns, and not cut.
func (p *ListPrinter) title(row *kept.Row) error {
	r := p.row(row)
	r.link.Text = row.Link.Client + " → " + row.Link.Agent
	var line []piece
	for _, cell := range []piece{r.sign, r.number, r.clock, r.link, r.asked, r.status, r.took} {
		if cell.Text = strings.TrimSpace(cell.Text); cell.Text != "" {
			line = append(line, cell, piece{"  ", inkPlain})
		}
	}
	_, err := fmt.Fprintln(p.W, paint(p.Colours, fit(append(line, r.outcome...), 0)...))
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

// Widths are how wide the names in a list are, so that a column is no wider than what stands in it.
type Widths struct {
	Link, Asked int
	exchanges   uint64 // the highest number
}

// See takes an exchange that will be listed.
func (s *Widths) See(x *summary.Summary) {
	if s.Link < mostNames {
		s.Link = max(s.Link, min(text.Columns(x.Link.Client+" → "+x.Link.Agent), mostNames))
	}
	if s.Asked < mostNames {
		s.Asked = max(s.Asked, min(text.Columns(x.Asked), mostNames))
	}
	s.exchanges = max(s.exchanges, x.Seq)
}

// listColumns are the widths of the columns of a list, blanks between them aside; 0 leaves a column out.
type listColumns struct {
	whole                                    int // of the terminal; 0 if there is none
	number, clock, link, asked, status, took int
}

// Columns returns the columns of a list on a terminal of that width, 0 for none. Where there is little room, what helps
// least goes first.
func (s *Widths) Columns(whole int) listColumns {
	c := listColumns{
		whole: whole, number: max(numberColumn, len(fmt.Sprint(s.exchanges))), clock: clockColumn,
		link: max(s.Link, leastNames), asked: max(s.Asked, leastNames), status: statusColumn, took: tookColumn,
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
	n := 0
	for _, cell := range c.line(&listRow{}) {
		n += text.Columns(cell.Text)
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
	line := []piece{{InColumns(r.sign.Text, 1), r.sign.ink}}
	add := func(p piece, columns int, right bool) {
		if columns == 0 {
			return
		}
		text := InColumns(p.Text, columns)
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

func (p *ListPrinter) row(row *kept.Row) *listRow {
	r := &listRow{
		number: piece{fmt.Sprint(row.Seq), inkDim}, clock: piece{clock(row.Started), inkDim},
		link:   piece{linkWords(row.Link.Client, row.Link.Agent, p.Columns.link), inkPlain},
		asked:  piece{row.Asked, inkPlain},
		status: piece{statusText(&row.Summary), statusInk(row.Status)},
		took:   piece{summary.DurationWords(row.Took), inkDim}, outcome: cameOf(&row.Summary),
	}
	if row.Status == 0 {
		r.status.ink = inkPlain
	}
	if worst, found := row.Worst(); found {
		r.sign = piece{print.Sign(worst), severityInk(worst)}
	}
	if p.Columns.clock < clockColumn {
		r.clock.Text, _, _ = strings.Cut(r.clock.Text, ".")
	}
	return r
}

func statusText(s *summary.Summary) string {
	if s.Status == 0 {
		return "–"
	}
	return fmt.Sprint(s.Status)
}
