package tui

import (
	"time"

	"a2atap/tui/load"
	"a2atap/tui/text"
)

// when returns the time column of an entry.
func (l *list) when(i int, e *load.Entry, columns int) string {
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
func (l *list) whenHeading(columns int) string {
	if l.shared.Deltas {
		return "since"
	}
	at := time.Time{}
	if l.window.Cursor < l.length() {
		at = l.cache[l.selected()].Started
	}
	return l.shared.ClockName(at, columns)
}
