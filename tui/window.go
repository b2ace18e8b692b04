package tui

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
func (w *window) act(a action) bool {
	page := max(w.height-1, 1)
	switch a {
	case goDown:
		w.move(w.cursor + 1)
	case goUp:
		w.move(w.cursor - 1)
	case pageDown:
		w.top += page
		w.move(w.cursor + page)
	case pageUp:
		w.top = max(w.top-page, 0)
		w.move(w.cursor - page)
	case goTop:
		w.move(0)
	case goBottom:
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
