package list

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/panel"
	"a2atap/tui/sorting"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// rows says what stands in which line of the list: exchanges by number, the matches of a filter, or an arrangement of
// either, which has headings.
type rows struct {
	now       *sorting.Arrangement // nil: by number
	matches   []uint64             // of the filter
	filtered  bool
	exchanges int // of the capture
}

func (r rows) length() int {
	switch {
	case r.now != nil:
		return r.now.Rows()
	case r.filtered:
		return len(r.matches)
	}
	return r.exchanges
}

// at returns the exchange at a position, 0 if a heading is there.
func (r rows) at(i int) uint64 {
	switch {
	case r.now != nil:
		return r.now.Row(i).Exchange
	case r.filtered:
		return r.matches[i]
	}
	return uint64(i) + 1
}

// position returns the position of an exchange, or of the heading that hides it. Of one that is not in the list it
// returns the one where it would be inserted, or another one where that is not known.
func (r rows) position(seq uint64, otherwise int) int {
	switch {
	case r.now != nil:
		if row, there := r.now.RowOf(seq); there {
			return row
		}
		return otherwise
	case r.filtered:
		i, _ := slices.BinarySearch(r.matches, seq)
		return i
	}
	return int(seq) - 1
}

// headingAt returns the heading at a position, or false if an exchange is there.
func (r rows) headingAt(i int) (h sorting.Heading, row sorting.Row, is bool) {
	if r.now == nil || i < 0 || i >= r.now.Rows() {
		return h, row, false
	}
	if row = r.now.Row(i); row.Heading < 0 {
		return h, row, false
	}
	return r.now.Heading(row.Heading), row, true
}

// standIn returns the exchange for which a heading is taken: the one that began the workflow, or the first.
func (r rows) standIn(h *sorting.Heading) uint64 {
	if r.now.Place(h.Workflow) >= 0 {
		return h.Workflow
	}
	return h.First
}

// described returns the exchange that a line says something of, 0 if there is none.
func (r rows) described(i int) uint64 {
	if h, _, is := r.headingAt(i); is {
		return h.Workflow
	}
	return r.at(i)
}

// beside returns the exchange that follows one, or that comes before it if step is -1; 0 if there is none.
func (r rows) beside(seq uint64, step int) uint64 {
	if r.now != nil {
		if place := r.now.Place(seq) + step; place >= 0 && place < r.now.Len() {
			return r.now.At(place)
		}
		return 0
	}
	i := r.position(seq, 0)
	if i < r.length() && r.at(i) == seq || step < 0 {
		i += step
	}
	if i < 0 || i >= r.length() {
		return 0
	}
	return r.at(i)
}

// Beside returns the exchange that follows one in the list, or that comes before it if step is -1; 0 if there is none.
func (l *Panel) Beside(seq uint64, step int) uint64 { return l.rows().beside(seq, step) }

// hold remembers what is under the cursor: the cursor stays at it.
func (o *order) hold() {
	l := o.list
	s := o
	h, row, is := l.rows().headingAt(l.window.Cursor)
	s.key = sorting.Key{}
	if is {
		s.key, s.keyNear = h.Key, row.Heading
	}
	l.anchor = l.Selected()
	s.keyOf = l.anchor
}

// anchored returns the position of what the cursor stays at.
func (o *order) anchored() int {
	l := o.list
	s := o
	if s.now != nil && s.key.Kind != sorting.None && s.keyOf == l.anchor {
		if row, there := s.now.RowOfHeading(s.key, s.keyNear); there {
			return row
		}
	}
	return l.rows().position(l.anchor, l.window.Cursor)
}

// Fold folds or unfolds the heading under the cursor. It returns false if none is there.
func (l *Panel) Fold() (tea.Cmd, bool) {
	h, row, is := l.rows().headingAt(l.window.Cursor)
	if !is {
		return nil, false
	}
	s := &l.sorting
	l.sorting.hold()
	s.now.Fold(row.Heading, !s.folds.Folded(h.Key), &s.folds)
	return l.Reposition(), true
}

// foldAll folds all headings, or unfolds them if they are folded.
func (o *order) foldAll() tea.Cmd {
	l := o.list
	s := o
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
		if h, row, is := l.rows().headingAt(l.window.Cursor); is && l.rows().standIn(&h) == seq {
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
