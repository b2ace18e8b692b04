package tui

import tea "github.com/charmbracelet/bubbletea"

func (m *inspector) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.message = "mouse on: the wheel moves, a click selects; m turns it off"
		return tea.EnableMouseCellMotion
	}
	m.message = "mouse off: the terminal selects text"
	return tea.DisableMouse
}

// A clickable panel selects what is at a line of it.
type clickable interface{ click(y int) tea.Cmd }

// mouseEvent handles the mouse: the wheel moves in the panel under the pointer, and a click gives a pane the focus and
// selects.
func (m *inspector) mouseEvent(msg tea.MouseMsg) tea.Cmd {
	p, y := m.under(msg.X, msg.Y)
	if d, is := p.(*detail); p == nil || is && !d.ready {
		return nil
	}
	switch {
	case msg.Button == tea.MouseButtonWheelUp:
		return p.update(goUp)
	case msg.Button == tea.MouseButtonWheelDown:
		return p.update(goDown)
	case msg.Button != tea.MouseButtonLeft || msg.Action != tea.MouseActionPress:
		return nil
	}
	var cmd tea.Cmd
	if m.split() && p != m.top() && !m.typing() && m.prompt == nil && m.question == nil {
		cmd = m.focus(p)
		p = m.top()
	}
	if c, is := p.(clickable); is && y >= 0 {
		cmd = tea.Batch(cmd, c.click(y))
	}
	return cmd
}

// under returns the panel under a position of the screen, and the line of the panel; -1 is its title. A panel that has
// the whole screen is under all of it.
func (m *inspector) under(x, y int) (panel, int) {
	y-- // the title of the screen
	if !m.split() {
		return m.top(), y
	}
	for _, at := range m.layout() {
		if x >= at.x && x < at.x+at.width && y >= at.y && y < at.y+at.height {
			return at.panel, y - at.y - 1
		}
	}
	return nil, 0
}

// clicked moves the cursor to a line of the window, if there is something at it.
func (w *window) clicked(y int) bool {
	if y < 0 || w.top+y >= w.bottom() {
		return false
	}
	w.move(w.top + y)
	return true
}

func (l *list) click(y int) tea.Cmd {
	if l.window.clicked(y - 1) { // below the heading
		l.hold()
	}
	return nil
}

func (d *detail) click(y int) tea.Cmd {
	d.sought = d.window.clicked(y) || d.sought
	return nil
}

func (f *ladderPanel) click(y int) tea.Cmd {
	if f.falls {
		f.fall.window.clicked(y - 1) // below the heading
		return nil
	}
	f.window.clicked(y - 1) // below the names
	return f.showMessage(false)
}

func (f *findingsPanel) click(y int) tea.Cmd {
	if f.list.clicked(y) {
		f.inRule = false
		f.moved()
	}
	return nil
}

func (m *menu) click(y int) tea.Cmd {
	m.window.clicked(y)
	return nil
}
