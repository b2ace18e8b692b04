package textview

import (
	"fmt"
	"strconv"
	"strings"

	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

func (p *Panel) Status() string {
	switch {
	case p.shown == nil:
		return ""
	case !p.shown.stream:
		return text.Plural(p.text.Length, "line")
	case p.shown.count > len(p.shown.events):
		return fmt.Sprintf("the first %s of %s", text.Number(len(p.shown.events)), text.Plural(p.shown.count, "event"))
	}
	words := text.Plural(p.shown.count, "event")
	if p.follow {
		words += ", following"
	}
	return words
}

func (p *Panel) View() []style.Line {
	switch {
	case p.err != nil:
		return panel.Failure(p.err, p.width)
	case p.shown == nil:
		return []style.Line{style.Text(style.Dim, "  loading …")}
	case !p.shown.stream:
		return p.textLines()
	case p.beside():
		return p.viewBeside()
	}
	var lines []style.Line
	if p.rows.Height > 0 {
		lines = append(lines, p.rowHeading(p.width))
		for i := p.rows.Top; i < p.rows.Bottom(); i++ {
			lines = append(lines, p.row(i, p.width))
		}
		head := "── " + p.textHeading() + " "
		look := style.Dim
		if p.inText {
			look = style.Title
		}
		lines = append(lines, style.Text(look, head+strings.Repeat("─", max(p.width-text.Width(head), 0))))
	}
	return append(lines, p.textLines()...)
}

// viewBeside draws the events, and the text to their right.
func (p *Panel) viewBeside() []style.Line {
	columns := p.rowColumns()
	look := style.Dim
	if p.inText {
		look = style.Title
	}
	lines := []style.Line{p.rowHeading(columns).InPane(columns, false).Add(style.Dim, " │").
		Add(look, " "+p.textHeading())}
	right := p.textLines()
	for n := range p.rows.Height {
		row := style.Line{}
		if i := p.rows.Top + n; i < p.rows.Bottom() {
			row = p.row(i, columns)
		}
		row = row.InPane(columns, !p.inText).Add(style.Dim, " │")
		if n < len(right) {
			row = row.Join(right[n])
		}
		lines = append(lines, row)
	}
	return lines
}

// textHeading describes the visible part of the text.
func (p *Panel) textHeading() string {
	if p.text.Length <= p.text.Height {
		return "text"
	}
	return fmt.Sprintf("text, lines %d–%d of %s", p.text.Top+1, p.text.Bottom(), text.Number(p.text.Length))
}

// textLines draws the visible lines of the text. The selected event's text is highlighted, and its lines are marked.
func (p *Panel) textLines() []style.Line {
	event := p.rows.Cursor
	if !p.shown.stream {
		event = -1
	}
	var lines []style.Line
	for n := p.text.Top; n < p.text.Bottom(); n++ {
		l := &p.shown.lines[n]
		mark := "  "
		if l.has(event) {
			mark = "▌ "
		}
		lines = append(lines, style.Text(style.Strong, mark).Join(l.drawn(event)))
	}
	return lines
}

// rowHeading names the columns of the events.
func (p *Panel) rowHeading(columns int) style.Line {
	look := style.Title
	if p.inText {
		look = style.Dim
	}
	when := p.shared.ClockName(p.shown.started, 12)
	if p.shared.Deltas {
		when = "since"
	}
	return style.Text(look, "   "+text.Pad("n", p.numberColumns())+" "+text.PadLeft(when, 12)+" "+text.PadLeft("size", 8)+"  brings")
}

func (p *Panel) numberColumns() int { return max(len(strconv.Itoa(p.shown.count))+1, 4) }

// row draws an event: its number, time and size, and a summary.
func (p *Panel) row(i, columns int) style.Line {
	e := &p.shown.events[i]
	mark, look := " ", style.Normal
	if worst, found := p.marks[e.Number]; found {
		mark, look = style.OfSeverity(worst)
	}
	words := e.Words
	if e.Replaced >= 0 && p.shown.first[i] < 0 {
		words = fmt.Sprintf("replaced by ·%d", p.shown.events[e.Replaced].Number)
	}
	row := p.rows.RowIf(i, !p.inText).Add(look, mark+" ").
		Add(style.Strong, text.Pad("·"+strconv.Itoa(e.Number), p.numberColumns())+" ").
		Add(style.Dim, text.PadLeft(p.shared.EventTime(p.shown.started, e.At), 12)+" "+text.PadLeft(text.Size(e.Size), 8)+"  ")
	return row.Add(style.Normal, text.Clip(words, columns-row.Columns()))
}
