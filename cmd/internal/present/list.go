package present

import (
	"fmt"
	"io"
	"math"
	"strings"

	"a2atap/analyzer/snapshot"
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
	row, c := one.Row, &p.Columns
	return p.line(c.line(signOf(row), func(i int) piece { return listed[i].cell(row, c.widths[i]) }, cameOf(&row.Summary)))
}

func (p *ListPrinter) line(pieces []piece) error {
	_, err := fmt.Fprintln(p.W, paint(p.Colours, fit(pieces, p.Columns.whole)...))
	return err
}

// End implements Printer.
func (p *ListPrinter) End() error { return nil }

// title prints the line of an exchange that is shown alone: without columns, and not cut.
func (p *ListPrinter) title(row *snapshot.Row) error {
	var line []piece
	add := func(cell piece) {
		if cell.Text = strings.TrimSpace(cell.Text); cell.Text != "" {
			line = append(line, cell, piece{"  ", inkPlain})
		}
	}
	add(signOf(row))
	for i := range listed {
		width := p.Columns.widths[i]
		if i == linkAt {
			width = math.MaxInt16
		}
		add(listed[i].cell(row, width))
	}
	_, err := fmt.Fprintln(p.W, paint(p.Colours, fit(append(line, cameOf(&row.Summary)...), 0)...))
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
	outcomeRoom  = 21 // reserved for the outcome: a short id and a state, or code and name of an error
)

// Widths has the widths of the names in a list, so that columns are only as wide as their contents.
type Widths struct {
	Link, Asked int
	exchanges   uint64 // the highest number
}

// See adds an exchange that will be listed to the widths.
func (s *Widths) See(x *summary.Summary) {
	if s.Link < mostNames {
		s.Link = max(s.Link, min(text.Columns(x.Link.Client+" → "+x.Link.Agent), mostNames))
	}
	if s.Asked < mostNames {
		s.Asked = max(s.Asked, min(text.Columns(x.Asked), mostNames))
	}
	s.exchanges = max(s.exchanges, x.Seq)
}

// These constants are the indices of columns in listed.
const (
	numberAt = iota
	clockAt
	linkAt
	askedAt
	statusAt
	tookAt
)

// listed are the columns of a list between the sign and the outcome. To add a column, add it here, and set its width
// and its priority in Columns.
var listed = [...]struct {
	title string
	right bool // a number
	cell  func(row *snapshot.Row, width int) piece
}{
	numberAt: {"N", true, func(row *snapshot.Row, _ int) piece { return piece{fmt.Sprint(row.Seq), inkDim} }},
	clockAt: {"UTC", false, func(row *snapshot.Row, width int) piece {
		words := clock(row.Started)
		if width < clockColumn {
			words, _, _ = strings.Cut(words, ".")
		}
		return piece{words, inkDim}
	}},
	linkAt: {"CLIENT → AGENT", false, func(row *snapshot.Row, width int) piece {
		return piece{text.Link(row.Link.Client, row.Link.Agent, width), inkPlain}
	}},
	askedAt: {"REQUEST", false, func(row *snapshot.Row, _ int) piece { return piece{row.Asked, inkPlain} }},
	statusAt: {"HTTP", true, func(row *snapshot.Row, _ int) piece {
		look := inkPlain
		if row.Status != 0 {
			look = statusInk(row.Status)
		}
		return piece{statusText(&row.Summary), look}
	}},
	tookAt: {"TOOK", true, func(row *snapshot.Row, _ int) piece { return piece{summary.DurationWords(row.Took), inkDim} }},
}

// listColumns are the widths of the columns of a list, without the blanks between them; 0 omits a column.
type listColumns struct {
	whole  int // of the terminal; 0 without one
	widths [len(listed)]int
}

// Columns returns the columns of a list on a terminal of that width, 0 for no terminal. On a narrow terminal, it drops
// the least helpful columns first.
func (s *Widths) Columns(whole int) listColumns {
	number := len(fmt.Sprint(s.exchanges))
	c := listColumns{whole, [...]int{
		numberAt: max(numberColumn, number), clockAt: clockColumn, linkAt: max(s.Link, leastNames), askedAt: max(s.Asked, leastNames),
		statusAt: statusColumn, tookAt: tookColumn,
	}}
	if whole == 0 {
		return c
	}
	c.widths[linkAt], c.widths[askedAt] = min(c.widths[linkAt], mostOnScreen), min(c.widths[askedAt], mostOnScreen)
	for _, step := range [...]struct{ column, to int }{
		{clockAt, shortClock},
		{numberAt, max(3, number)},
		{clockAt, 0},
		{linkAt, tightLink},
		{askedAt, leastNames},
		{tookAt, 0},
		{statusAt, 0},
		{askedAt, leastNames / 2},
		{linkAt, 0},
		{askedAt, 0},
	} {
		if c.before()+outcomeRoom <= whole {
			break
		}
		c.widths[step.column] = min(c.widths[step.column], step.to)
	}
	return c
}

// before returns the number of columns before the outcome.
func (c *listColumns) before() int {
	n := 1
	for _, width := range c.widths {
		if width > 0 {
			n += width + len("  ")
		}
	}
	return n
}

func (c *listColumns) heading() []piece {
	return c.line(piece{" ", inkDim}, func(i int) piece { return piece{listed[i].title, inkDim} }, []piece{{"OUTCOME", inkDim}})
}

// line arranges a row in the columns.
func (c *listColumns) line(sign piece, cell func(i int) piece, outcome []piece) []piece {
	line := []piece{{InColumns(sign.Text, 1, false), sign.ink}}
	for i, width := range c.widths {
		if width == 0 {
			continue
		}
		p := cell(i)
		line = append(line, piece{InColumns(p.Text, width, listed[i].right) + "  ", p.ink})
	}
	return append(line, outcome...)
}

// signOf returns the sign of a row's most severe finding.
func signOf(row *snapshot.Row) piece {
	if worst, found := row.Worst(); found {
		return piece{print.Sign(worst), severityInk(worst)}
	}
	return piece{}
}

func statusText(s *summary.Summary) string {
	if s.Status == 0 {
		return "–"
	}
	return fmt.Sprint(s.Status)
}
