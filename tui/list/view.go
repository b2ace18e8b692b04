package list

import (
	"time"

	"a2atap/analyzer"
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A drawing draws a list as it is.
type drawing struct{ list *Panel }

func (l *Panel) drawing() drawing { return drawing{l} }

func (l *Panel) columns() panel.Columns {
	c := panel.ColumnsOf(l.window.Width-l.sorting.indent(), l.shared.Info.Exchanges)
	c.Number += l.sorting.indent()
	return c
}

func (l *Panel) View() []style.Line {
	c := l.columns()
	lines := []style.Line{c.Heading(l.drawing().whenHeading(c.Time))}
	for i := l.window.Top; i < l.window.Bottom(); i++ {
		lines = append(lines, l.drawing().row(c, i))
	}
	if l.window.Length == 0 {
		lines = append(lines, l.drawing().empty()...)
	}
	bar := l.drawing().filterLines()
	for len(lines) < l.height-len(bar) {
		lines = append(lines, style.Line{})
	}
	return append(lines[:max(min(len(lines), l.height-len(bar)), 0)], bar...)
}

// empty explains why the list is empty.
func (d drawing) empty() []style.Line {
	l := d.list
	switch {
	case l.Err != nil:
		return []style.Line{style.Text(style.Error, "! "+l.Err.Error())}
	case !l.shared.Opened:
		return []style.Line{style.Text(style.Dim, "  opening …")}
	case l.filtering != nil && !l.filtering.done():
		return []style.Line{style.Text(style.Dim, "  searching …")}
	case l.filtering != nil:
		return []style.Line{style.Text(style.Dim, "  no exchange matches; esc clears the filter")}
	case l.shared.Info.Live:
		lines := []style.Line{style.Text(style.Dim, "  nothing recorded yet; new exchanges appear here"), {}}
		for _, hint := range l.hints {
			lines = append(lines, style.Text(style.Normal, "  "+hint))
		}
		return lines
	}
	return []style.Line{style.Text(style.Dim, "  nothing recorded")}
}

func (d drawing) row(c panel.Columns, i int) style.Line {
	l := d.list
	if h, row, is := l.rows().headingAt(i); is {
		return d.headingLine(i, &h, row)
	}
	seq := l.rows().at(i)
	mark, look := " ", style.Normal
	e, there := l.cache.entries[seq]
	if worst, found := l.shared.Found.Worst(seq); found {
		mark, look = style.OfSeverity(worst)
	} else if e.Worst > 0 && l.shared.Judged.Behind {
		mark, look = style.OfSeverity(analyzer.Severity(e.Worst - 1))
	}
	cursor := " "
	if i == l.window.Cursor {
		cursor = ">"
	}
	row := style.Line{Selected: i == l.window.Cursor}.Add(style.Strong, cursor).Add(look, mark).
		Add(d.numberStyle(seq), d.indented(c, i, seq))
	switch {
	case !there:
		return row.Add(style.Dim, " …")
	case e.Absent:
		return row.Add(style.Dim, " not in the capture")
	}
	star, comment := l.shared.NoteSign(seq, e.ID)
	e.Comment = comment
	return c.Add(row.Add(style.Strong, star).Add(style.Dim, text.PadLeft(d.when(i, &e, c.Time), c.Time)+" "), &e)
}

// numberStyle highlights the numbers of exchanges that have what is searched for.
func (d drawing) numberStyle(seq uint64) style.Style {
	l := d.list
	if l.search != nil && l.search.has(seq) {
		return style.Match
	}
	return style.Dim
}

// when returns the time column of an entry.
func (d drawing) when(i int, e *load.Entry, columns int) string {
	l := d.list
	if !l.shared.Deltas {
		return l.shared.ClockIn(e.Started, columns)
	}
	if i == 0 {
		return "–"
	}
	above := l.rows().at(i - 1)
	if above == 0 { // a heading
		return "–"
	}
	before, there := l.cache.entries[above]
	if !there || before.Absent {
		return "…"
	}
	return text.Duration(e.Started.Sub(before.Started))
}

// whenHeading names the time column.
func (d drawing) whenHeading(columns int) string {
	l := d.list
	if l.shared.Deltas {
		return "since"
	}
	at := time.Time{}
	if l.window.Cursor < l.Length() {
		at = l.cache.entries[l.Selected()].Started
	}
	return l.shared.ClockName(at, columns)
}
