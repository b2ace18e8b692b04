package detail

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/document"
)

// folds are the objects and arrays of JSON texts that are folded.
type folds struct {
	panel *Panel
	document.Folding
	near   spot           // where the cursor was when all was folded
	nearTo analyzer.Place // what it was at; none otherwise
}

// underCursor says how the object or array that begins in the line under the cursor is shown.
func (f *folds) underCursor() document.Node {
	d := f.panel
	if l := d.CursorLine(); d.Ready && l != nil {
		return l.Node
	}
	return document.NoNode
}

// can reports whether there is an object or array to fold under or around the cursor.
func (f *folds) can() bool {
	d := f.panel
	lines, _, i := d.layout().part(d.spot())
	return d.Ready && document.NodeAround(lines, i) >= 0
}

// fold folds the object or array under or around the cursor.
func (f *folds) fold() tea.Cmd {
	d := f.panel
	lines, first, i := d.layout().part(d.spot())
	if i = document.NodeAround(lines, i); i < 0 {
		return nil
	}
	d.Window.Move(first + i)
	return f.toggleNode()
}

// toggleNode folds or unfolds the object or array that begins under the cursor.
func (f *folds) toggleNode() tea.Cmd {
	d := f.panel
	l := d.CursorLine()
	if l == nil || l.Node == document.NoNode {
		return nil
	}
	f.Toggle(l.Place)
	return d.build()
}

// foldAll folds what is below the first level, or unfolds all if that was done before. The cursor stays at its place
// or, if that is folded then, goes to what is around it.
func (f *folds) foldAll() tea.Cmd {
	d := f.panel
	f.Folding = document.Folding{All: !f.All}
	s := d.spot()
	if l := d.layout().lineAt(s); l != nil && l.Place.HasPointer {
		f.near, f.nearTo = s, l.Place
	}
	return d.build()
}

// seekNear moves to what is left of the place where the cursor was before foldAll.
func (f *folds) seekNear() {
	d := f.panel
	at := f.nearTo
	f.nearTo = analyzer.Place{}
	if at.Exchange == 0 {
		return
	}
	lines, first, _ := d.layout().part(f.near)
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
func (f *folds) reveal(at analyzer.Place) tea.Cmd {
	d := f.panel
	f.UnfoldAround(at)
	d.goal, d.sought = at, false
	return d.build()
}
