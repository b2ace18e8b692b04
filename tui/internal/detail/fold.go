package detail

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/document"
	"a2atap/tui/internal/keys"
)

// folds are the folded objects and arrays of JSON texts.
type folds struct {
	in     *content
	near   spot           // where the cursor was when everything was folded
	nearTo analysis.Place // the cursor's place after that; none otherwise
}

// underCursor returns the state of the object or array that begins in the line under the cursor.
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

// foldAll folds everything below the first level, or unfolds everything if it is folded. The cursor stays at its place,
// or moves to the value around it if its place is folded.
func (f *folds) foldAll() tea.Cmd {
	f.in.folding = document.Folding{All: !f.in.folding.All}
	s := f.in.spot()
	if l := f.in.lineAt(s); l != nil && l.Place.HasPointer {
		f.near, f.nearTo = s, l.Place
	}
	return f.in.build()
}

// seekNear moves as close as possible to where the cursor was before foldAll.
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

// reveal unfolds everything around a finding, and moves to the finding.
func (f *folds) reveal(at analysis.Place) tea.Cmd {
	f.in.folding.UnfoldAround(at)
	f.in.goal, f.in.sought = at, false
	return f.in.build()
}

// whyNot returns why a key cannot fold or unfold anything now, or "".
func (f *folds) whyNot(a keys.Action) string {
	switch {
	case f.in.mode != document.JSON:
		return "only JSON can be folded; v changes the view"
	case a == keys.FoldNode && f.in.Ready && !f.can():
		return "the selected line is not in an object or array"
	case a == keys.UnfoldNode && f.in.Ready && f.underCursor() != document.NodeFolded:
		return "the selected line is not folded"
	}
	return ""
}
