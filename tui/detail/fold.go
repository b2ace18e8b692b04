package detail

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/document"
)

// nodeUnderCursor says how the object or array that begins in the line under the cursor is shown.
func (d *Panel) nodeUnderCursor() document.Node {
	if l := d.LineAt(d.Spot()); d.Ready && l != nil {
		return l.Node
	}
	return document.NoNode
}

// canFold reports whether there is an object or array to fold under or around the cursor.
func (d *Panel) canFold() bool {
	lines, _, i := d.part(d.Spot())
	return d.Ready && document.NodeAround(lines, i) >= 0
}

// fold folds the object or array under or around the cursor.
func (d *Panel) fold() tea.Cmd {
	lines, first, i := d.part(d.Spot())
	if i = document.NodeAround(lines, i); i < 0 {
		return nil
	}
	d.Window.Move(first + i)
	return d.toggleNode()
}

// toggleNode folds or unfolds the object or array that begins under the cursor.
func (d *Panel) toggleNode() tea.Cmd {
	l := d.LineAt(d.Spot())
	if l == nil || l.Node == document.NoNode {
		return nil
	}
	d.folds.Toggle(l.Place)
	return d.build()
}

// foldAll folds what is below the first level, or unfolds all if that was done before. The cursor stays at its place
// or, if that is folded then, goes to what is around it.
func (d *Panel) foldAll() tea.Cmd {
	d.folds = document.Folding{All: !d.folds.All}
	s := d.Spot()
	if l := d.LineAt(s); l != nil && l.Place.HasPointer {
		d.near, d.nearTo = s, l.Place
	}
	return d.build()
}

// seekNear moves to what is left of the place where the cursor was before foldAll.
func (d *Panel) seekNear() {
	at := d.nearTo
	d.nearTo = analyzer.Place{}
	if at.Exchange == 0 {
		return
	}
	lines, first, _ := d.part(d.near)
	best, length := -1, -1
	for i := range lines {
		l := &lines[i]
		outer := l.Place.Pointer
		if l.Found != nil || len(outer) <= length || l.Place.At(at.Pointer) != at || !l.Place.HasPointer {
			continue
		}
		if at.Pointer == outer || strings.HasPrefix(at.Pointer, outer+"/") {
			best, length = i, len(outer)
		}
	}
	if best >= 0 {
		d.show(first + best)
	}
}

// reveal unfolds what a finding is in, and goes there.
func (d *Panel) reveal(at analyzer.Place) tea.Cmd {
	d.folds.UnfoldAround(at)
	d.goal, d.sought = at, false
	return d.build()
}
