package panel

import (
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/style"
)

// Scroll moves a window over text, which has no cursor.
func (w *Window) Scroll(a keys.Action) {
	last := max(w.Length-w.Height, 0)
	page := max(w.Height-1, 1)
	lines := map[keys.Action]int{
		keys.Down: 1, keys.Up: -1, keys.PageDown: page, keys.PageUp: -page, keys.Top: -w.Length, keys.Bottom: w.Length,
	}
	w.Top = min(max(w.Top+lines[a], 0), last)
	w.Cursor = w.Top
}

// Click moves the cursor to a line of the window, if the line is not empty.
func (w *Window) Click(y int) bool {
	if y < 0 || w.Top+y >= w.Bottom() {
		return false
	}
	w.Move(w.Top + y)
	return true
}

// A Window is the visible part of a list that may be longer than the panel.
type Window struct {
	Cursor, Top   int // positions in the list
	Length        int // of the list
	Width, Height int // of the panel, without its heading
}

// Move moves the cursor, and scrolls to it. A position outside the list becomes the nearest one in it.
func (w *Window) Move(to int) {
	w.Cursor = min(max(to, 0), max(w.Length-1, 0))
	w.Reveal()
}

// Reveal scrolls until the cursor is visible.
func (w *Window) Reveal() {
	w.Top = min(w.Top, w.Cursor)
	w.Top = max(w.Top, w.Cursor-max(w.Height, 1)+1)
	w.Top = max(min(w.Top, w.Length-w.Height), 0)
}

// Act performs an action that moves the cursor, and reports whether it was one.
func (w *Window) Act(a keys.Action) bool {
	page := max(w.Height-1, 1)
	switch a {
	case keys.Down:
		w.Move(w.Cursor + 1)
	case keys.Up:
		w.Move(w.Cursor - 1)
	case keys.PageDown:
		w.Top += page
		w.Move(w.Cursor + page)
	case keys.PageUp:
		w.Top = max(w.Top-page, 0)
		w.Move(w.Cursor - page)
	case keys.Top:
		w.Move(0)
	case keys.Bottom:
		w.Move(w.Length - 1)
	default:
		return false
	}
	return true
}

// Bottom returns the position after the last visible one.
func (w *Window) Bottom() int { return min(w.Top+max(w.Height, 0), w.Length) }

// Below returns the number of positions below the window.
func (w *Window) Below() int { return max(w.Length-w.Bottom(), 0) }

// Row begins the line of a position. At the cursor, the line has a mark and is selected.
func (w *Window) Row(i int) style.Line { return w.RowIf(i, true) }

// RowIf is Row for panels that may not have the focus. Without it, the line has the mark, but is not selected.
func (w *Window) RowIf(i int, focused bool) style.Line {
	if i != w.Cursor {
		return style.Text(style.Strong, " ")
	}
	return style.Line{Selected: focused}.Add(style.Strong, ">")
}
