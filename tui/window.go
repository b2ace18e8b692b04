package tui

import "a2atap/tui/keys"

// A window is the visible part of a list that may be longer than the panel.
type window struct {
	cursor, top   int // positions in the list
	length        int // of the list
	width, height int // of the panel, without its heading
}

// move moves the cursor, and scrolls to it. A position outside the list becomes the nearest one in it.
func (w *window) move(to int) {
	w.cursor = min(max(to, 0), max(w.length-1, 0))
	w.reveal()
}

// reveal scrolls until the cursor is visible.
func (w *window) reveal() {
	w.top = min(w.top, w.cursor)
	w.top = max(w.top, w.cursor-max(w.height, 1)+1)
	w.top = max(min(w.top, w.length-w.height), 0)
}

// act performs an action that moves the cursor, and reports whether it was one.
func (w *window) act(a keys.Action) bool {
	page := max(w.height-1, 1)
	switch a {
	case keys.Down:
		w.move(w.cursor + 1)
	case keys.Up:
		w.move(w.cursor - 1)
	case keys.PageDown:
		w.top += page
		w.move(w.cursor + page)
	case keys.PageUp:
		w.top = max(w.top-page, 0)
		w.move(w.cursor - page)
	case keys.Top:
		w.move(0)
	case keys.Bottom:
		w.move(w.length - 1)
	default:
		return false
	}
	return true
}

// bottom returns the position after the last visible one.
func (w *window) bottom() int { return min(w.top+max(w.height, 0), w.length) }

// below returns the number of positions below the window.
func (w *window) below() int { return max(w.length-w.bottom(), 0) }
