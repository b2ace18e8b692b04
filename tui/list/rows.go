package list

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/panel"
	"a2atap/tui/sorting"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// headingAt returns the heading at a position of the list, or false if an exchange is there.
func (l *Panel) headingAt(i int) (h sorting.Heading, row sorting.Row, is bool) {
	now := l.sorting.now
	if now == nil || i < 0 || i >= now.Rows() {
		return h, row, false
	}
	if row = now.Row(i); row.Heading < 0 {
		return h, row, false
	}
	return now.Heading(row.Heading), row, true
}

// standIn returns the exchange for which a heading is taken: the one that began the workflow, or the first.
func (l *Panel) standIn(h *sorting.Heading) uint64 {
	if l.sorting.now.Place(h.Workflow) >= 0 {
		return h.Workflow
	}
	return h.First
}

// hold remembers what is under the cursor: the cursor stays at it.
func (l *Panel) hold() {
	s := &l.sorting
	h, row, is := l.headingAt(l.window.Cursor)
	s.key = sorting.Key{}
	if is {
		s.key, s.keyNear = h.Key, row.Heading
	}
	l.anchor = l.Selected()
	s.keyOf = l.anchor
}

// anchored returns the position of what the cursor stays at.
func (l *Panel) anchored() int {
	s := &l.sorting
	if s.now != nil && s.key.Kind != sorting.None && s.keyOf == l.anchor {
		if row, there := s.now.RowOfHeading(s.key, s.keyNear); there {
			return row
		}
	}
	return l.position(l.anchor)
}

// Fold folds or unfolds the heading under the cursor. It returns false if none is there.
func (l *Panel) Fold() (tea.Cmd, bool) {
	h, row, is := l.headingAt(l.window.Cursor)
	if !is {
		return nil, false
	}
	s := &l.sorting
	l.hold()
	s.now.Fold(row.Heading, !s.folds.Folded(h.Key), &s.folds)
	return l.Reposition(), true
}

// foldAll folds all headings, or unfolds them if they are folded.
func (l *Panel) foldAll() tea.Cmd {
	s := &l.sorting
	s.folds.FoldAll(!s.folds.All())
	s.now.Lay(&s.folds)
	return l.Reposition()
}

// Reveal unfolds the headings above an exchange.
func (l *Panel) Reveal(seq uint64) {
	s := &l.sorting
	if s.now == nil {
		return
	}
	for _, k := range s.now.Keys(seq) {
		if s.folds.Folded(k) {
			s.folds.Fold(k, false)
			s.now.Lay(&s.folds)
		}
	}
}

// FindingFrom returns the first exchange with a finding behind an exchange of the list, or before it if step is -1; 0
// if there is none.
func (l *Panel) FindingFrom(seq uint64, step int) uint64 {
	found, now := &l.shared.Found, l.sorting.now
	switch {
	case now != nil:
		place := now.Place(seq) + step
		if h, row, is := l.headingAt(l.window.Cursor); is && l.standIn(&h) == seq {
			if place = now.PlaceOf(row); step < 0 {
				place--
			}
		}
		for ; place >= 0 && place < now.Len(); place += step {
			if _, marked := found.Worst(now.At(place)); marked {
				return now.At(place)
			}
		}
		return 0
	case l.filtering != nil:
		return found.NextOf(l.filtering.matches, seq, step)
	}
	return found.Next(seq, step)
}

// Beside returns the exchange that follows one in the list, or that comes before it if step is -1; 0 if there is none.
func (l *Panel) Beside(seq uint64, step int) uint64 {
	if now := l.sorting.now; now != nil {
		if place := now.Place(seq) + step; place >= 0 && place < now.Len() {
			return now.At(place)
		}
		return 0
	}
	i := l.position(seq)
	if i < l.Length() && l.at(i) == seq || step < 0 {
		i += step
	}
	if i < 0 || i >= l.Length() {
		return 0
	}
	return l.at(i)
}

// described returns the exchange that a line of the list says something of, 0 if there is none.
func (l *Panel) described(i int) uint64 {
	if h, _, is := l.headingAt(i); is {
		return h.Workflow
	}
	return l.at(i)
}

// indent is how many columns the exchanges may be indented.
func (l *Panel) indent() int {
	switch now := l.sorting.now; {
	case now == nil:
		return 0
	case l.sorting.under == sorting.ByTask:
		return 4
	case l.sorting.under == sorting.ByWorkflow:
		return 2
	}
	return 0
}

// indented writes the number of an exchange under its headings.
func (l *Panel) indented(c panel.Columns, i int, seq uint64) string {
	level := 0
	if now := l.sorting.now; now != nil && i < now.Rows() {
		level = now.Row(i).Level
	}
	return text.Pad(text.Blanks(2*level)+text.PadLeft(fmt.Sprint(seq), c.Number-l.indent()), c.Number)
}

// headingLine draws a heading: what it stands for, how many exchanges, their span of time, and how the tasks came out.
func (l *Panel) headingLine(i int, h *sorting.Heading, row sorting.Row) style.Line {
	mark, look := " ", style.Normal
	if h.Worst > 0 {
		mark, look = style.OfSeverity(analyzer.Severity(h.Worst - 1))
	}
	cursor, fold := " ", "▾ "
	if i == l.window.Cursor {
		cursor = ">"
	}
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
	return style.Line{Selected: i == l.window.Cursor}.Add(style.Strong, cursor).Add(look, mark).
		Add(style.Title, text.Pad(text.Blanks(2*row.Level)+fold+l.nameOf(h, wide-2*row.Level-2), wide)).
		Add(style.Normal, count).
		Add(style.Dim, " "+text.PadLeft(l.shared.ClockIn(h.Began, 8), 8)+" ").Add(style.Normal, text.PadLeft(took, 8)+"  ").
		Join(outcomeOf(h))
}

// nameOf says what a heading stands for, with short ids where there is no room.
func (l *Panel) nameOf(h *sorting.Heading, room int) string {
	if h.Key.Kind == sorting.Workflow {
		words := fmt.Sprint("workflow ", h.Workflow)
		if e, there := l.cache[h.Workflow]; there && !e.Absent {
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
