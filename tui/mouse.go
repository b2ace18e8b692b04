package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/keys"
)

func (m *inspector) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.shared.message = "mouse on: the wheel moves, a click selects, a second one opens; m turns it off"
		return tea.EnableMouseCellMotion
	}
	m.shared.message = "mouse off: the terminal selects text"
	return tea.DisableMouse
}

// A clickable panel selects what is at a line of it.
type clickable interface{ click(y int) tea.Cmd }

// A clickedAt is a line of a panel that was clicked. The next click on it opens what is there, unless a key or the wheel
// came between.
type clickedAt struct {
	panel panel
	y     int
}

// mouseEvent handles the mouse: the wheel moves in the panel under the pointer; a click gives a pane the focus and
// selects, a second one opens, and a click on a name in the first line goes back to that panel.
func (m *inspector) mouseEvent(msg tea.MouseMsg) tea.Cmd {
	p, y := m.under(msg.X, msg.Y)
	_, choosing := m.top().(*palette)
	if m.question != nil || m.prompt != nil && !choosing || p == nil {
		return nil
	}
	if d, is := p.(*detail); is && !d.ready {
		return nil
	}
	wheel := map[tea.MouseButton]keys.Action{tea.MouseButtonWheelUp: keys.Up, tea.MouseButtonWheelDown: keys.Down}
	if a := wheel[msg.Button]; a != keys.None {
		m.clicked = clickedAt{}
		return p.update(a)
	}
	if msg.Button != tea.MouseButtonLeft || msg.Action != tea.MouseActionPress {
		return nil
	}
	if msg.Y == 0 && m.prompt == nil && !m.typing() {
		return m.backTo(m.crumbAt(msg.X))
	}
	return m.click(p, y)
}

// click handles a click on a line of a panel.
func (m *inspector) click(p panel, y int) tea.Cmd {
	var cmd tea.Cmd
	if m.split() && p != m.top() && !m.typing() {
		cmd = m.focus(p)
		p = m.top()
	}
	c, is := p.(clickable)
	if !is || y < 0 {
		return cmd
	}
	cmd = tea.Batch(cmd, c.click(y))
	before := m.clicked
	m.clicked = clickedAt{p, y}
	if before != m.clicked || m.typing() || !cursorAt(p, y) {
		return cmd
	}
	return tea.Batch(cmd, m.key(tea.KeyMsg{Type: tea.KeyEnter}))
}

// cursorAt reports whether the cursor of a panel is at one of its lines: there is nothing at all below the last one.
func cursorAt(p panel, y int) bool {
	lines := p.view()
	return y < len(lines) && strings.HasPrefix(lines[y].String(), ">")
}

// backTo goes back to a panel of the stack; -1 is none.
func (m *inspector) backTo(i int) tea.Cmd {
	var cmds []tea.Cmd
	for range len(m.stack) - 1 {
		if i >= 0 && i < len(m.stack)-1 {
			cmds = append(cmds, m.back(keys.Leave))
		}
	}
	return tea.Batch(cmds...)
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

func (p *textPanel) click(y int) tea.Cmd {
	switch {
	case p.shown == nil || !p.shown.stream:
	case y <= p.rows.height && p.rows.clicked(y-1): // below the heading
		p.inText, p.follow, p.goal = false, false, analyzer.Place{}
		p.reveal()
	case !p.beside() && y > p.rows.height:
		p.inText = true
	}
	return nil
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

func (p *palette) click(y int) tea.Cmd {
	p.window.clicked(y)
	return nil
}

func (w *workflowPanel) click(y int) tea.Cmd {
	if !w.asTree {
		return w.ladder.click(y)
	}
	w.tree.clicked(y - 1) // below the heading
	return nil
}
