package tui

import "a2atap/analyzer"

func (l *list) columns() columns {
	c := listColumns(l.window.width-l.indent(), l.shared.info.Exchanges)
	c.number += l.indent()
	return c
}

func (l *list) view() []line {
	c := l.columns()
	lines := []line{c.heading(l.whenHeading(c.time))}
	for i := l.window.top; i < l.window.bottom(); i++ {
		lines = append(lines, l.line(c, i))
	}
	if l.window.length == 0 {
		lines = append(lines, l.empty()...)
	}
	bar := l.filterLines()
	for len(lines) < l.height-len(bar) {
		lines = append(lines, line{})
	}
	return append(lines[:max(min(len(lines), l.height-len(bar)), 0)], bar...)
}

// empty explains why the list is empty.
func (l *list) empty() []line {
	switch {
	case l.err != nil:
		return []line{text(styleError, "! "+l.err.Error())}
	case !l.shared.opened:
		return []line{text(styleDim, "  opening …")}
	case l.search != nil && !l.search.done():
		return []line{text(styleDim, "  searching …")}
	case l.search != nil:
		return []line{text(styleDim, "  no exchange matches; esc clears the filter")}
	case l.shared.info.Live:
		lines := []line{text(styleDim, "  nothing recorded yet; new exchanges appear here"), {}}
		for _, hint := range l.hints {
			lines = append(lines, text(styleText, "  "+hint))
		}
		return lines
	}
	return []line{text(styleDim, "  nothing recorded")}
}

func (l *list) line(c columns, i int) line {
	if h, row, is := l.headingAt(i); is {
		return l.headingLine(i, &h, row)
	}
	seq := l.at(i)
	mark, look := " ", styleText
	e, there := l.cache[seq]
	if worst, found := l.shared.found.worst(seq); found {
		mark, look = sign(worst)
	} else if e.worst > 0 && l.shared.judged.behind {
		mark, look = sign(analyzer.Severity(e.worst - 1))
	}
	cursor := " "
	if i == l.window.cursor {
		cursor = ">"
	}
	row := line{selected: i == l.window.cursor}.add(styleStrong, cursor).add(look, mark).
		add(l.numberStyle(seq), l.indented(c, i, seq))
	switch {
	case !there:
		return row.add(styleDim, " …")
	case e.absent:
		return row.add(styleDim, " not in the capture")
	}
	star, comment := l.shared.noteSign(seq, e.id)
	e.comment = comment
	return c.add(row.add(styleStrong, star).add(styleDim, padLeft(l.when(i, &e, c.time), c.time)+" "), &e)
}

// numberStyle highlights the numbers of exchanges that have what is searched for.
func (l *list) numberStyle(seq uint64) style {
	if l.hunt != nil && l.hunt.has(seq) {
		return styleMatch
	}
	return styleDim
}
