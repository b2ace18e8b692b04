package detail

import (
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/document"
)

// toggle folds or unfolds the object or array, or opens or closes the event, under the cursor.
func (d *Panel) toggle() tea.Cmd {
	if d.folds.underCursor() != document.NoNode {
		return d.folds.toggleNode()
	}
	i := d.EventAtCursor()
	if i < 0 {
		return nil
	}
	if d.search.opened == i {
		d.search.opened = -1
	}
	row := d.layout().lineOf(spot{zoneEvents, i, -1})
	if _, open := d.doc.Open[i]; open {
		d.doc.Open = maps.Clone(d.doc.Open)
		delete(d.doc.Open, i)
	} else {
		if row > d.Window.Top+d.Window.Height/2 { // make the content visible
			d.Window.Top = row - d.Window.Height/3
		}
		d.doc.Open = maps.Clone(d.doc.Open)
		d.doc.Open[i] = d.doc.Marks[i]
	}
	d.Window.Cursor = row
	return d.build()
}

// nextSection moves to the response, to the end, and back to the request.
func (d *Panel) nextSection() {
	answer := max(slices.IndexFunc(d.doc.Before, func(l document.Line) bool { return l.Place.Response }), 0)
	switch {
	case d.Window.Cursor < answer:
		d.Window.Top = answer
		d.Window.Move(answer)
	case d.Window.Cursor < d.Window.Length-1:
		d.Window.Move(d.Window.Length - 1)
	default:
		d.Window.Move(0)
	}
}

// Jump moves to the next finding in a direction, and reports whether there is one. One that is folded is unfolded.
func (d *Panel) Jump(step int) (tea.Cmd, bool) {
	d.sought, d.toEnd = true, false
	n := d.Window.Cursor
	if l := d.CursorLine(); step < 0 || l == nil || len(l.Hidden) == 0 { // what is folded stands behind its line
		n += step
	}
	for n >= 0 && n < d.Window.Length {
		s := d.layout().spotAt(n)
		switch l := d.layout().lineAt(s); {
		case l == nil:
		case len(l.Hidden) > 0 && step > 0:
			return d.folds.reveal(l.Hidden[0]), true
		case len(l.Hidden) > 0:
			return d.folds.reveal(l.Hidden[len(l.Hidden)-1]), true
		case l.Finding:
			d.show(n)
			return d.rows.read(), true
		}
		n = d.layout().skip(n, step, s)
	}
	return nil, false
}

// seek moves to a place: to its finding if there is one, else to the place itself. What it is folded in is unfolded.
func (d *Panel) seek(at analyzer.Place) tea.Cmd {
	d.Window.Move(0)
	if at.Part == "" && !at.Response {
		return nil
	}
	exact, near, hidden := -1, -1, false
	consider := func(n int, l *document.Line) {
		hidden = hidden || slices.Contains(l.Hidden, at)
		switch {
		case l.Finding && l.Place == at && exact < 0:
			exact = n
		case l.Place.Response == at.Response && l.Place.Part == at.Part && near < 0:
			near = n
		}
	}
	for i := range d.doc.Before {
		consider(i, &d.doc.Before[i])
	}
	if i := d.indexOf(at); i >= 0 {
		near = d.layout().lineOf(spot{zoneEvents, i, -1})
		for sub := range d.layout().below(i) {
			consider(near+1+sub, &d.layout().below(i)[sub])
		}
	}
	if exact >= 0 {
		near = exact
	}
	if near >= 0 {
		d.show(near)
	}
	if hidden && exact < 0 {
		return d.folds.reveal(at)
	}
	return nil
}

// show moves the cursor to a line, and scrolls so that the lines around it are visible.
func (d *Panel) show(n int) {
	if n < d.Window.Top+3 || n > d.Window.Bottom()-5 {
		d.Window.Top = max(n-d.Window.Height/2, 0)
	}
	d.Window.Move(n)
}

// indexOf returns the index of the event that a place names, or -1.
func (d *Panel) indexOf(at analyzer.Place) int {
	return d.Excerpt.Events.IndexOf(at.Part)
}
