package tui

import (
	"fmt"
	"strings"
)

// columns are the column widths of the list.
type columns struct{ number, time, link, request, took int }

func (l *list) columns() columns {
	c := columns{number: max(len(fmt.Sprint(l.shared.info.Exchanges)), 3), time: 8, link: 20, request: 20, took: 8}
	if l.window.width >= 100 {
		c.time, c.link, c.request = 12, 28, 24
	}
	return c
}

func (l *list) view() []line {
	c := l.columns()
	lines := []line{l.heading(c)}
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

func (l *list) heading(c columns) line {
	when := "time UTC"
	if l.shared.deltas {
		when = "since"
	}
	return text(styleDim, "  "+padLeft("n", c.number)+" "+pad(when, c.time)+" "+pad("client → agent", c.link)+" "+
		pad("request", c.request)+" "+padLeft("st", 3)+" "+padLeft("took", c.took)+" outcome")
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
	seq := l.at(i)
	mark, look := " ", styleText
	if worst, found := l.shared.found.worst(seq); found {
		mark, look = sign(worst)
	}
	cursor := " "
	if i == l.window.cursor {
		cursor = ">"
	}
	row := line{selected: i == l.window.cursor}.add(styleStrong, cursor).add(look, mark).
		add(l.numberStyle(seq), padLeft(fmt.Sprint(seq), c.number)).add(styleDim, " ")
	e, there := l.cache[seq]
	switch {
	case !there:
		return row.add(styleDim, "…")
	case e.absent:
		return row.add(styleDim, "not in the capture")
	}
	outcome := styleDim
	if e.failed {
		outcome = styleWarning
	}
	took := "–"
	if e.took >= 0 {
		took = since(e.took)
	}
	return row.add(styleDim, padLeft(l.when(i, e), c.time)[:]+" ").
		add(styleText, pad(e.client+" → "+e.agent, c.link)+" ").
		add(styleStrong, pad(e.request, c.request)+" ").
		add(styleText, padLeft(e.status, 3)+" "+padLeft(took, c.took)+" ").
		add(outcome, e.outcome)
}

// numberStyle highlights the numbers of exchanges that have what is searched for.
func (l *list) numberStyle(seq uint64) style {
	if l.hunt != nil && l.hunt.has(seq) {
		return styleMatch
	}
	return styleDim
}

// when returns the time column of an entry.
func (l *list) when(i int, e entry) string {
	if l.shared.deltas {
		if i == 0 {
			return "–"
		}
		before, there := l.cache[l.at(i-1)]
		if !there || before.absent {
			return "…"
		}
		return since(e.started.Sub(before.started))
	}
	at := clock(e.started)
	if l.columns().time < len(at) {
		at, _, _ = strings.Cut(at, ".")
	}
	return at
}
