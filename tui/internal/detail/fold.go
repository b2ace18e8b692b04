package detail

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/document"
	"a2atap/tui/internal/keys"
)

// folds are the objects and arrays of JSON texts that are folded.
type folds struct {
	in     *content
	near   spot           // where the cursor was when all was folded
	nearTo analysis.Place // what it was at; none otherwise
}

// underCursor says how the object or array that begins in the line under the cursor is shown.
func (f *folds) underCursor() document.Node {
	if l := f.in.CursorLine(); f.in.Ready && l != nil {
		return l.Node
	}
	return document.NoNode
}

// can reports whether there is an object or array to fold under or around the cursor.
func (f *folds) can() bool {
	lines, _, i := f.in.part(f.in.spot())
	return f.in.Ready && document.NodeAround(lines, i) >= 0
}

// fold folds the object or array under or around the cursor.
func (f *folds) fold() tea.Cmd {
	lines, first, i := f.in.part(f.in.spot())
	if i = document.NodeAround(lines, i); i < 0 {
		return nil
	}
	f.in.Window.Move(first + i)
	return f.toggleNode()
}

// toggleNode folds or unfolds the object or array that begins under the cursor.
func (f *folds) toggleNode() tea.Cmd {
	l := f.in.CursorLine()
	if l == nil || l.Node == document.NoNode {
		return nil
	}
	f.in.folding.Toggle(l.Place)
	return f.in.build()
}

// foldAll folds what is below the first level, or unfolds all if that was done before. The cursor stays at its place
// or, if that is folded then, goes to what is around it.
func (f *folds) foldAll() tea.Cmd {
	f.in.folding = document.Folding{All: !f.in.folding.All}
	s := f.in.spot()
	if l := f.in.lineAt(s); l != nil && l.Place.HasPointer {
		f.near, f.nearTo = s, l.Place
	}
	return f.in.build()
}

// seekNear moves to what is left of the place where the cursor was before foldAll.
func (f *folds) seekNear() {
	at := f.nearTo
	f.nearTo = analysis.Place{}
	if at.Exchange == 0 {
		return
	}
	lines, first, _ := f.in.part(f.near)
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
		f.in.show(first + best)
	}
}

// reveal unfolds what a finding is in, and goes there.
func (f *folds) reveal(at analysis.Place) tea.Cmd {
	f.in.folding.UnfoldAround(at)
	f.in.goal, f.in.sought = at, false
	return f.in.build()
}

// whyNot says why a key folds or unfolds nothing now, or "".
func (f *folds) whyNot(a keys.Action) string {
	switch {
	case f.in.mode != document.JSON:
		return "only JSON can be folded; v changes the view"
	case a == keys.FoldNode && f.in.Ready && !f.can():
		return "the selected line is in no object or array"
	case a == keys.UnfoldNode && f.in.Ready && f.underCursor() != document.NodeFolded:
		return "the selected line is not folded"
	}
	return ""
}
