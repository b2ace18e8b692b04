package detail

import (
	"slices"

	"a2atap/tui/document"
)

// A zone is a part of the detail.
type zone uint8

const (
	zoneBefore zone = iota // request, and head of the answer
	zoneEvents             // rows of events, and lines below them
	zoneAfter              // how it ended
)

// A spot identifies a line of the detail, also when lines are added or removed elsewhere.
type spot struct {
	zone  zone
	index int // of the line, or of the event
	sub   int // of the line below the row of an event; -1 is the row
}

// A layout says which line of the detail is what: the document's lines before the events, the row of each event with the
// lines below it, and the lines after the events.
type layout struct {
	doc    *document.Document
	extra  []int // indices of the events that have lines below their rows, in order
	events int   // rows of events, as far as they were read
}

// layout returns the layout as it is now.
func (d *Panel) layout() layout { return layout{&d.doc, d.extra, d.Events.Length()} }

// Length returns how many lines there are.
func (d *Panel) Length() int { return d.layout().length() }

// CursorLine returns the line under the cursor, or nil if that is the row of an event.
func (d *Panel) CursorLine() *document.Line { return d.layout().lineAt(d.spot()) }

// below returns the lines below the row of an event: its content if it is open, what is wrong with it otherwise.
func (t layout) below(i int) []document.Line {
	if lines, open := t.doc.Open[i]; open {
		return lines
	}
	return t.doc.Marks[i]
}

// length returns how many lines there are.
func (t layout) length() int {
	n := len(t.doc.Before) + t.events + len(t.doc.After)
	for _, i := range t.extra {
		n += len(t.below(i))
	}
	return n
}

// spotAt returns the spot of a line.
func (t layout) spotAt(n int) spot {
	if n < len(t.doc.Before) {
		return spot{zoneBefore, n, -1}
	}
	n -= len(t.doc.Before)
	lines := 0 // below the rows that were passed
	for _, i := range t.extra {
		if n <= i+lines {
			break
		}
		if below := len(t.below(i)); n <= i+lines+below {
			return spot{zoneEvents, i, n - i - lines - 1}
		}
		lines += len(t.below(i))
	}
	if n-lines < t.events {
		return spot{zoneEvents, n - lines, -1}
	}
	return spot{zoneAfter, n - lines - t.events, -1}
}

// lineOf is the inverse of spotAt.
func (t layout) lineOf(s spot) int {
	if s.zone == zoneBefore {
		return min(s.index, len(t.doc.Before))
	}
	n := len(t.doc.Before) + s.index
	if s.zone == zoneAfter {
		n += t.events
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
func (t layout) lineAt(s spot) *document.Line {
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

// part returns the lines of the part of the detail that a spot is in, the line of the detail that is the first of them,
// and the spot's index among them: -1 for the row of an event, which stands above its part.
func (t layout) part(s spot) (lines []document.Line, first, index int) {
	switch s.zone {
	case zoneBefore:
		return t.doc.Before, 0, s.index
	case zoneAfter:
		return t.doc.After, t.lineOf(spot{zoneAfter, 0, -1}), s.index
	}
	return t.below(s.index), t.lineOf(spot{zoneEvents, s.index, -1}) + 1, s.sub
}

// skip returns the line to examine after n; rows of events without content or findings below them are skipped.
func (t layout) skip(n, step int, s spot) int {
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
