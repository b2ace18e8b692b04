package list

import (
	"time"

	"a2atap/analyzer"
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

func (l *Panel) columns() panel.Columns {
	c := panel.ColumnsOf(l.window.Width-l.indent(), l.shared.Info.Exchanges)
	c.Number += l.indent()
	return c
}

func (l *Panel) View() []style.Line {
	c := l.columns()
	lines := []style.Line{c.Heading(l.whenHeading(c.Time))}
	for i := l.window.Top; i < l.window.Bottom(); i++ {
		lines = append(lines, l.line(c, i))
	}
	if l.window.Length == 0 {
		lines = append(lines, l.empty()...)
	}
	bar := l.filterLines()
	for len(lines) < l.height-len(bar) {
		lines = append(lines, style.Line{})
	}
	return append(lines[:max(min(len(lines), l.height-len(bar)), 0)], bar...)
}

// empty explains why the list is empty.
func (l *Panel) empty() []style.Line {
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

func (l *Panel) line(c panel.Columns, i int) style.Line {
	if h, row, is := l.headingAt(i); is {
		return l.headingLine(i, &h, row)
	}
	seq := l.at(i)
	mark, look := " ", style.Normal
	e, there := l.cache[seq]
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
		Add(l.numberStyle(seq), l.indented(c, i, seq))
	switch {
	case !there:
		return row.Add(style.Dim, " …")
	case e.Absent:
		return row.Add(style.Dim, " not in the capture")
	}
	star, comment := l.shared.NoteSign(seq, e.ID)
	e.Comment = comment
	return c.Add(row.Add(style.Strong, star).Add(style.Dim, text.PadLeft(l.when(i, &e, c.Time), c.Time)+" "), &e)
}

// numberStyle highlights the numbers of exchanges that have what is searched for.
func (l *Panel) numberStyle(seq uint64) style.Style {
	if l.search != nil && l.search.has(seq) {
		return style.Match
	}
	return style.Dim
}

// when returns the time column of an entry.
func (l *Panel) when(i int, e *load.Entry, columns int) string {
	if !l.shared.Deltas {
		return l.shared.ClockIn(e.Started, columns)
	}
	if i == 0 {
		return "–"
	}
	above := l.at(i - 1)
	if above == 0 { // a heading
		return "–"
	}
	before, there := l.cache[above]
	if !there || before.Absent {
		return "…"
	}
	return text.Duration(e.Started.Sub(before.Started))
}

// whenHeading names the time column.
func (l *Panel) whenHeading(columns int) string {
	if l.shared.Deltas {
		return "since"
	}
	at := time.Time{}
	if l.window.Cursor < l.Length() {
		at = l.cache[l.Selected()].Started
	}
	return l.shared.ClockName(at, columns)
}
