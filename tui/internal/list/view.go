package list

import (
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/sorting"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

func (l *Panel) View() []style.Line {
	d := drawing{l}
	c := d.columns()
	lines := []style.Line{c.Heading(d.whenHeading(c.Time))}
	for i := l.window.Top; i < l.window.Bottom(); i++ {
		lines = append(lines, d.row(c, i))
	}
	if l.window.Length == 0 {
		lines = append(lines, d.empty()...)
	}
	bar := l.Filter.draw()
	for len(lines) < l.height-len(bar) {
		lines = append(lines, style.Line{})
	}
	return append(lines[:max(min(len(lines), l.height-len(bar)), 0)], bar...)
}

// A drawing draws the current list.
type drawing struct{ *Panel }

func (d drawing) columns() panel.Columns {
	c := panel.ColumnsOf(d.window.Width-d.Order.indent(), d.shared.Info.Exchanges)
	c.Number += d.Order.indent()
	return c
}

// empty explains why the list is empty.
func (d drawing) empty() []style.Line {
	switch {
	case d.Err != nil:
		return panel.Failure(d.Err, d.window.Width)
	case !d.shared.Opened:
		return []style.Line{style.Text(style.Dim, "  opening …")}
	case d.filtering != nil && !d.filtering.done():
		return []style.Line{style.Text(style.Dim, "  searching …")}
	case d.filtering != nil:
		return []style.Line{style.Text(style.Dim, "  no exchange matches; esc clears the filter")}
	case d.shared.Info.Live:
		lines := []style.Line{style.Text(style.Dim, "  nothing recorded yet; new exchanges appear here"), {}}
		for _, hint := range d.hints {
			lines = append(lines, style.Text(style.Normal, "  "+hint))
		}
		return lines
	}
	return []style.Line{style.Text(style.Dim, "  nothing recorded")}
}

func (d drawing) row(c panel.Columns, i int) style.Line {
	if h, row, is := d.rows().headingAt(i); is {
		return d.headingLine(i, &h, row)
	}
	seq := d.rows().at(i)
	mark, look := " ", style.Normal
	e, there := d.entries[seq]
	if worst, found := d.shared.Found.Worst(seq); found {
		mark, look = style.OfSeverity(worst)
	} else if e.Worst > 0 && d.shared.Judged.Behind {
		mark, look = style.OfSeverity(analysis.Severity(e.Worst - 1))
	}
	row := d.window.Row(i).Add(look, mark).
		Add(d.numberStyle(seq), d.indented(c, i, seq))
	switch {
	case !there:
		return row.Add(style.Dim, " …")
	case e.Absent:
		return row.Add(style.Dim, " not in the capture")
	}
	star, comment := d.shared.NoteSign(seq, e.ID)
	e.Comment = comment
	return c.Add(row.Add(style.Strong, star).Add(style.Dim, text.PadLeft(d.when(i, &e, c.Time), c.Time)+" "), &e)
}

// numberStyle highlights the numbers of exchanges with a match of the search.
func (d drawing) numberStyle(seq uint64) style.Style {
	if d.search != nil && d.search.has(seq) {
		return style.Match
	}
	return style.Dim
}

// when returns the time column of an entry.
func (d drawing) when(i int, e *load.Entry, columns int) string {
	if !d.shared.Deltas {
		return d.shared.ClockIn(e.Started, columns)
	}
	if i == 0 {
		return "–"
	}
	above := d.rows().at(i - 1)
	if above == 0 { // a heading
		return "–"
	}
	before, there := d.entries[above]
	if !there || before.Absent {
		return "…"
	}
	return text.Duration(e.Started.Sub(before.Started))
}

// whenHeading names the time column.
func (d drawing) whenHeading(columns int) string {
	if d.shared.Deltas {
		return "since"
	}
	at := time.Time{}
	if d.window.Cursor < d.Length() {
		at = d.entries[d.Selected()].Started
	}
	return d.shared.ClockName(at, columns)
}

// indented returns the number of an exchange, indented under its headings.
func (d drawing) indented(c panel.Columns, i int, seq uint64) string {
	level := 0
	if now := d.now; now != nil && i < now.Rows() {
		level = now.Row(i).Level
	}
	return text.Pad(text.Blanks(2*level)+text.PadLeft(fmt.Sprint(seq), c.Number-d.Order.indent()), c.Number)
}

// headingLine draws a heading: its name, the number of exchanges, their time span, and the outcomes of their tasks.
func (d drawing) headingLine(i int, h *sorting.Heading, row sorting.Row) style.Line {
	mark, look := " ", style.Normal
	if h.Worst > 0 {
		mark, look = style.OfSeverity(analysis.Severity(h.Worst - 1))
	}
	fold := "▾ "
	if d.folds.Folded(h.Key) {
		fold = "▸ "
	}
	wide, count := max(d.window.Width*2/5, 20), text.PadLeft(text.Plural(h.Exchanges, "exchange"), 15)
	if d.window.Width < 72 {
		count = text.PadLeft("("+text.Number(h.Exchanges)+")", 8)
	}
	took := "–"
	if h.Took > 0 {
		took = text.Duration(h.Took)
	}
	return d.window.Row(i).Add(look, mark).
		Add(style.Title, text.Pad(text.Blanks(2*row.Level)+fold+d.nameOf(h, wide-2*row.Level-2), wide)).
		Add(style.Normal, count).
		Add(style.Dim, " "+text.PadLeft(d.shared.ClockIn(h.Began, 8), 8)+" ").Add(style.Normal, text.PadLeft(took, 8)+"  ").
		Join(outcomeOf(h))
}

// nameOf returns a heading's name, with short ids if there is little room.
func (d drawing) nameOf(h *sorting.Heading, room int) string {
	if h.Key.Kind == sorting.Workflow {
		words := fmt.Sprint("workflow ", h.Workflow)
		if e, there := d.entries[h.Workflow]; there && !e.Absent {
			words += ": " + e.Request + ", " + e.Client + " → " + e.Agent
		}
		return words
	}
	join := func(context, task string) string {
		switch {
		case context == "" && task == "" && h.Key.Kind == sorting.Context:
			return "no context"
		case context == "" && task == "":
			return "no task"
		case task == "":
			return "context " + context
		case h.Key.Kind == sorting.Task:
			return "task " + task
		}
		return "context " + context + " › task " + task
	}
	if long := join(h.Context, h.Task); text.Width(text.Clean(long)) <= room {
		return long
	}
	return join(panel.ShortID(h.Context), panel.ShortID(h.Task))
}

// outcomeOf returns the outcomes of the tasks under a heading.
func outcomeOf(h *sorting.Heading) style.Line {
	words := style.Line{}
	between := ""
	for _, s := range h.States {
		mark, look := style.OfState(s.State.String())
		count := ""
		if s.Count > 1 || len(h.States) > 1 {
			count = text.Number(s.Count) + " "
		}
		words = words.Add(style.Dim, between).Add(look, strings.TrimLeft(mark+" "+count+s.State.String(), " "))
		between = ", "
	}
	if h.Failed > 0 {
		words = words.Add(style.Dim, between).Add(style.Warning, "✗ "+text.Plural(h.Failed, "exchange")+" failed")
	}
	return words
}
