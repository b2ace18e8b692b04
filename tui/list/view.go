package list

import (
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer"
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/sorting"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

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
	row := l.window.Row(i).Add(look, mark).
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

// filterLines returns the lines below the list: words that complete the filter, the filter, the progress of its search,
// and the error of an expression that is being typed, below its column.
func (d drawing) filterLines() []style.Line {
	l := d.list
	var lines []style.Line
	switch {
	case l.bar != nil:
		if o := &l.bar.offer; o.Words != nil {
			lines = append(lines, panel.Choices(o.Words, o.Chosen(), l.window.Width))
		}
		lines = append(lines, l.bar.line(l.window.Width, d.progress()))
		if l.bar.err != nil {
			lines = append(lines, l.bar.wrong(l.window.Width)...)
		}
	case l.filtering != nil:
		progress := d.progress()
		lines = append(lines, style.Text(style.Title, " / ").Add(style.Normal,
			text.Pad(l.filtering.expr, l.window.Width-4-text.Width(progress))).Add(style.Dim, progress))
	}
	return lines[:min(len(lines), max(l.height-1, 0))]
}

// progress describes the progress of the search.
func (d drawing) progress() string {
	l := d.list
	switch s := l.filtering; {
	case s == nil:
		return ""
	case s.err != nil:
		return "! " + s.err.Error()
	case !s.done():
		return fmt.Sprintf("searching, %d %%", s.percent())
	case !l.shared.Judged.Behind || l.shared.Load.Reading.Whole(): // rows tell it
	case s.filter.Asks("workflow"):
		return "what caused what is still being read"
	case s.judging():
		return l.shared.Running()
	}
	return ""
}

// indented writes the number of an exchange under its headings.
func (d drawing) indented(c panel.Columns, i int, seq uint64) string {
	l := d.list
	level := 0
	if now := l.sorting.now; now != nil && i < now.Rows() {
		level = now.Row(i).Level
	}
	return text.Pad(text.Blanks(2*level)+text.PadLeft(fmt.Sprint(seq), c.Number-l.sorting.indent()), c.Number)
}

// headingLine draws a heading: what it stands for, how many exchanges, their span of time, and how the tasks came out.
func (d drawing) headingLine(i int, h *sorting.Heading, row sorting.Row) style.Line {
	l := d.list
	mark, look := " ", style.Normal
	if h.Worst > 0 {
		mark, look = style.OfSeverity(analyzer.Severity(h.Worst - 1))
	}
	fold := "▾ "
	if l.sorting.folds.Folded(h.Key) {
		fold = "▸ "
	}
	wide, count := max(l.window.Width*2/5, 20), text.PadLeft(text.Plural(h.Exchanges, "exchange"), 15)
	if l.window.Width < 72 {
		count = text.PadLeft("("+text.Number(h.Exchanges)+")", 8)
	}
	took := "–"
	if h.Took > 0 {
		took = text.Duration(h.Took)
	}
	return l.window.Row(i).Add(look, mark).
		Add(style.Title, text.Pad(text.Blanks(2*row.Level)+fold+d.nameOf(h, wide-2*row.Level-2), wide)).
		Add(style.Normal, count).
		Add(style.Dim, " "+text.PadLeft(l.shared.ClockIn(h.Began, 8), 8)+" ").Add(style.Normal, text.PadLeft(took, 8)+"  ").
		Join(outcomeOf(h))
}

// nameOf says what a heading stands for, with short ids where there is no room.
func (d drawing) nameOf(h *sorting.Heading, room int) string {
	l := d.list
	if h.Key.Kind == sorting.Workflow {
		words := fmt.Sprint("workflow ", h.Workflow)
		if e, there := l.cache.entries[h.Workflow]; there && !e.Absent {
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

// outcomeOf says how the tasks under a heading came out.
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
