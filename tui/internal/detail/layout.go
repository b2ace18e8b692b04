package detail

import (
	"maps"
	"slices"

	"a2atap/proxy/a2a"
	"a2atap/tui/document"
	"a2atap/tui/internal/panel"
	"a2atap/tui/load"
)

// A zone is a part of the detail.
type zone uint8

const (
	zoneBefore zone = iota // request, and head of the response
	zoneEvents             // rows of events, and lines below them
	zoneAfter              // how it ended
)

// A spot identifies a line of the detail, even when lines are added or removed elsewhere.
type spot struct {
	zone  zone
	index int // of the line, or of the event
	sub   int // of the line below the row of an event; -1 is the row
}

// A Layout is a laid-out exchange with a cursor: the document's lines before the events, the row of each event with the
// lines below it, and the lines after the events.
type Layout struct {
	load.Excerpt
	Window panel.Window
	Ready  bool // doc is set
	doc    document.Document
	extra  []int // indices of the events that have lines below their rows, in order
	toEnd  bool  // the user asked for the end before it was ready
}

// set replaces the document, and keeps the cursor at the same content.
func (t *Layout) set(doc document.Document) {
	at := t.spot()
	t.doc = doc
	t.index()
	if t.Ready {
		t.grow(at)
		return
	}
	t.Window.Length = t.Length()
	t.Ready = true
	t.Window.Move(0)
}

// grow adds new events. It keeps the cursor at the same content, or at the end if the user asked for the end.
func (t *Layout) grow(at spot) {
	t.Window.Length = t.Length()
	if t.toEnd {
		t.Window.Move(t.Window.Length - 1)
		t.toEnd = t.More
		return
	}
	t.Window.Move(t.lineOf(at))
}

// index finds the events with lines below their rows.
func (t *Layout) index() {
	keys := make(map[int]bool)
	for i := range t.doc.Marks {
		keys[i] = true
	}
	for i := range t.doc.Open {
		keys[i] = true
	}
	t.extra = slices.Sorted(maps.Keys(keys))
}

// call returns the decoded request.
func (t *Layout) call() *a2a.Call {
	if t.doc.Reading == nil {
		return &a2a.Call{}
	}
	return &t.doc.Reading.Call
}

// spot returns the spot under the cursor.
func (t *Layout) spot() spot { return t.spotAt(t.Window.Cursor) }

// CursorLine returns the line under the cursor, or nil if that is the row of an event.
func (t *Layout) CursorLine() *document.Line { return t.lineAt(t.spot()) }

// EventAtCursor returns the index of the event whose row or content the cursor is on, or -1.
func (t *Layout) EventAtCursor() int {
	if s := t.spot(); t.Ready && s.zone == zoneEvents && s.index < t.Events.Length() {
		return s.index
	}
	return -1
}

// show moves the cursor to a line, and scrolls so that the lines around it are visible.
func (t *Layout) show(n int) {
	if n < t.Window.Top+3 || n > t.Window.Bottom()-5 {
		t.Window.Top = max(n-t.Window.Height/2, 0)
	}
	t.Window.Move(n)
}

// nextSection moves to the response, to the end, and back to the request.
func (t *Layout) nextSection() {
	answer := max(slices.IndexFunc(t.doc.Before, func(l document.Line) bool { return l.Place.Response }), 0)
	switch {
	case t.Window.Cursor < answer:
		t.Window.Top = answer
		t.Window.Move(answer)
	case t.Window.Cursor < t.Window.Length-1:
		t.Window.Move(t.Window.Length - 1)
	default:
		t.Window.Move(0)
	}
}

// below returns the lines below the row of an event: its content if it is open, otherwise its findings.
func (t *Layout) below(i int) []document.Line {
	if lines, open := t.doc.Open[i]; open {
		return lines
	}
	return t.doc.Marks[i]
}

// Length returns the number of lines.
func (t *Layout) Length() int {
	n := len(t.doc.Before) + t.Events.Length() + len(t.doc.After)
	for _, i := range t.extra {
		n += len(t.below(i))
	}
	return n
}

// spotAt returns the spot of a line.
func (t *Layout) spotAt(n int) spot {
	if n < len(t.doc.Before) {
		return spot{zoneBefore, n, -1}
	}
	n -= len(t.doc.Before)
	lines := 0 // below the rows passed
	for _, i := range t.extra {
		if n <= i+lines {
			break
		}
		if below := len(t.below(i)); n <= i+lines+below {
			return spot{zoneEvents, i, n - i - lines - 1}
		}
		lines += len(t.below(i))
	}
	if n-lines < t.Events.Length() {
		return spot{zoneEvents, n - lines, -1}
	}
	return spot{zoneAfter, n - lines - t.Events.Length(), -1}
}

// lineOf is the inverse of spotAt.
func (t *Layout) lineOf(s spot) int {
	if s.zone == zoneBefore {
		return min(s.index, len(t.doc.Before))
	}
	n := len(t.doc.Before) + s.index
	if s.zone == zoneAfter {
		n += t.Events.Length()
	}
	for _, i := range t.extra {
		if s.zone == zoneEvents && i >= s.index {
			break
		}
		n += len(t.below(i))
	}
	if s.sub >= 0 {
		n += 1 + min(s.sub, len(t.below(s.index))-1)
	}
	return n
}

// lineAt returns the line at a spot, or nil if it is the row of an event.
func (t *Layout) lineAt(s spot) *document.Line {
	var lines []document.Line
	i := s.index
	switch s.zone {
	case zoneBefore:
		lines = t.doc.Before
	case zoneAfter:
		lines = t.doc.After
	default:
		lines, i = t.below(s.index), s.sub
	}
	if i < 0 || i >= len(lines) {
		return nil
	}
	return &lines[i]
}

// part returns the lines of a spot's part of the detail, the detail line where the part begins, and the spot's index in
// the part. The index is -1 for the row of an event, which is above its part.
func (t *Layout) part(s spot) (lines []document.Line, first, index int) {
	switch s.zone {
	case zoneBefore:
		return t.doc.Before, 0, s.index
	case zoneAfter:
		return t.doc.After, t.lineOf(spot{zoneAfter, 0, -1}), s.index
	}
	return t.below(s.index), t.lineOf(spot{zoneEvents, s.index, -1}) + 1, s.sub
}

// skip returns the line to examine after n; rows of events without content or findings below them are skipped.
func (t *Layout) skip(n, step int, s spot) int {
	if s.zone != zoneEvents || s.sub >= 0 {
		return n + step
	}
	i, there := slices.BinarySearch(t.extra, s.index)
	switch {
	case step > 0 && there:
		return n + 1
	case step > 0 && i < len(t.extra):
		return t.lineOf(spot{zoneEvents, t.extra[i], -1}) + 1
	case step > 0:
		return t.lineOf(spot{zoneAfter, 0, -1})
	case i > 0:
		before := t.extra[i-1]
		return t.lineOf(spot{zoneEvents, before, len(t.below(before)) - 1})
	}
	return len(t.doc.Before) - 1
}
