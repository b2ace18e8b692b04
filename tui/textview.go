package tui

import (
	"fmt"
	"strconv"
	"strings"
)

func (p *textPanel) status() string {
	switch {
	case p.shown == nil:
		return ""
	case !p.shown.stream:
		return plural(p.text.length, "line")
	case p.shown.count > len(p.shown.events):
		return fmt.Sprintf("the first %s of %s", number(len(p.shown.events)), plural(p.shown.count, "event"))
	}
	words := plural(p.shown.count, "event")
	if p.follow {
		words += ", following"
	}
	return words
}

func (p *textPanel) view() []line {
	switch {
	case p.err != nil:
		return []line{text(styleError, "! "+p.err.Error())}
	case p.shown == nil:
		return []line{text(styleDim, "  loading …")}
	case !p.shown.stream:
		return p.textLines()
	case p.beside():
		return p.viewBeside()
	}
	var lines []line
	if p.rows.height > 0 {
		lines = append(lines, p.rowHeading(p.width))
		for i := p.rows.top; i < p.rows.bottom(); i++ {
			lines = append(lines, p.row(i, p.width))
		}
		head := "── " + p.textHeading() + " "
		look := styleDim
		if p.inText {
			look = styleTitle
		}
		lines = append(lines, text(look, head+strings.Repeat("─", max(p.width-width(head), 0))))
	}
	return append(lines, p.textLines()...)
}

// viewBeside draws the events, and the text to their right.
func (p *textPanel) viewBeside() []line {
	columns := p.rowColumns()
	look := styleDim
	if p.inText {
		look = styleTitle
	}
	lines := []line{p.rowHeading(columns).inPane(columns, false).add(styleDim, " │").
		add(look, " "+p.textHeading())}
	right := p.textLines()
	for n := range p.rows.height {
		row := line{}
		if i := p.rows.top + n; i < p.rows.bottom() {
			row = p.row(i, columns)
		}
		row = row.inPane(columns, !p.inText).add(styleDim, " │")
		if n < len(right) {
			row = row.join(right[n])
		}
		lines = append(lines, row)
	}
	return lines
}

// textHeading says which part of the text is seen.
func (p *textPanel) textHeading() string {
	if p.text.length <= p.text.height {
		return "text"
	}
	return fmt.Sprintf("text, lines %d–%d of %s", p.text.top+1, p.text.bottom(), number(p.text.length))
}

// textLines draws the visible lines of the text. What the selected event has brought is lit, and its lines are marked.
func (p *textPanel) textLines() []line {
	event := p.rows.cursor
	if !p.shown.stream {
		event = -1
	}
	var lines []line
	for n := p.text.top; n < p.text.bottom(); n++ {
		l := &p.shown.lines[n]
		mark := "  "
		if l.has(event) {
			mark = "▌ "
		}
		lines = append(lines, text(styleStrong, mark).join(l.lit(event)))
	}
	return lines
}

// rowHeading names the columns of the events.
func (p *textPanel) rowHeading(columns int) line {
	look := styleTitle
	if p.inText {
		look = styleDim
	}
	when := p.shared.clockName(p.shown.started, 12)
	if p.shared.deltas {
		when = "since"
	}
	return text(look, "   "+pad("n", p.numberColumns())+" "+padLeft(when, 12)+" "+padLeft("size", 8)+"  brings")
}

func (p *textPanel) numberColumns() int { return max(len(strconv.Itoa(p.shown.count))+1, 4) }

// row draws an event: its number, time and size, and what it brings.
func (p *textPanel) row(i, columns int) line {
	e := &p.shown.events[i]
	mark, look := " ", styleText
	if worst, found := p.marks[e.Number]; found {
		mark, look = sign(worst)
	}
	cursor := " "
	if i == p.rows.cursor {
		cursor = ">"
	}
	words := e.Words
	if e.Replaced >= 0 && p.shown.first[i] < 0 {
		words = fmt.Sprintf("replaced by ·%d", p.shown.events[e.Replaced].Number)
	}
	row := line{selected: i == p.rows.cursor && !p.inText}.add(styleStrong, cursor).add(look, mark+" ").
		add(styleStrong, pad("·"+strconv.Itoa(e.Number), p.numberColumns())+" ").
		add(styleDim, padLeft(p.when(e.At), 12)+" "+padLeft(size(e.Size), 8)+"  ")
	return row.add(styleText, clip(words, columns-row.columns()))
}
