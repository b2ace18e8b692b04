package list

import (
	"slices"

	"a2atap/tui/internal/sorting"
)

// rows maps lines of the list to their contents: exchanges by number, the matches of a filter, or an arrangement of
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

// at returns the exchange at a position, or 0 for a heading.
func (r rows) at(i int) uint64 {
	switch {
	case r.now != nil:
		return r.now.Row(i).Exchange
	case r.filtered:
		return r.matches[i]
	}
	return uint64(i) + 1
}

// position returns the position of an exchange, or of the heading that hides it. For an exchange that is not in the
// list, it returns the place where it would be inserted, or otherwise if that is unknown.
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

// headingAt returns the heading at a position, or false for an exchange.
func (r rows) headingAt(i int) (h sorting.Heading, row sorting.Row, is bool) {
	if r.now == nil || i < 0 || i >= r.now.Rows() {
		return h, row, false
	}
	if row = r.now.Row(i); row.Heading < 0 {
		return h, row, false
	}
	return r.now.Heading(row.Heading), row, true
}

// standIn returns the exchange that represents a heading: the one that began the workflow, or the first.
func (r rows) standIn(h *sorting.Heading) uint64 {
	if r.now.Place(h.Workflow) >= 0 {
		return h.Workflow
	}
	return h.First
}

// places returns the number of exchanges, including folded ones.
func (r rows) places() int {
	if r.now != nil {
		return r.now.Len()
	}
	return r.length()
}

// atPlace returns the exchange at a place in the sort order, counted from 0.
func (r rows) atPlace(place int) uint64 {
	if r.now != nil {
		return r.now.At(place)
	}
	return r.at(place)
}

// place is the inverse of atPlace. For an exchange that is not in the list, it returns a place near it.
func (r rows) place(seq uint64) int {
	if r.now != nil {
		return r.now.Place(seq)
	}
	return r.position(seq, 0)
}

// described returns the exchange that a line describes, or 0.
func (r rows) described(i int) uint64 {
	if h, _, is := r.headingAt(i); is {
		return h.Workflow
	}
	return r.at(i)
}

// beside returns the next exchange of the list, or the previous one if step is -1; 0 at either end.
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
