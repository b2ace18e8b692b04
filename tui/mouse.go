package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
)

func (ms *mouse) toggle() tea.Cmd {
	m := ms.inspector
	ms.on = !ms.on
	if ms.on {
		m.shared.Message = "mouse on: the wheel moves, a click selects, a second one opens; m turns it off"
		return tea.EnableMouseCellMotion
	}
	m.shared.Message = "mouse off: the terminal selects text"
	return tea.DisableMouse
}

// event handles the mouse: the wheel moves in the panel under the pointer; a click gives a pane the focus and
// selects, a second one opens, and a click on a name in the first line goes back to that panel.
func (ms *mouse) event(msg tea.MouseMsg) tea.Cmd {
	m := ms.inspector
	p, y := ms.under(msg.X, msg.Y)
	_, choosing := m.top().(*palette)
	if m.question != nil || m.prompt != nil && !choosing || p == nil {
		return nil
	}
	if d, is := p.(*detail.Panel); is && !d.Ready {
		return nil
	}
	wheel := map[tea.MouseButton]keys.Action{tea.MouseButtonWheelUp: keys.Up, tea.MouseButtonWheelDown: keys.Down}
	if a := wheel[msg.Button]; a != keys.None {
		ms.clicked = clickedAt{}
		return p.Update(a)
	}
	if msg.Button != tea.MouseButtonLeft || msg.Action != tea.MouseActionPress {
		return nil
	}
	if msg.Y == 0 && m.prompt == nil && !m.typing() {
		return ms.backTo(m.screen.crumbAt(msg.X))
	}
	return m.Click(p, y)
}

// Click handles a click on a line of a panel.
func (m *inspector) Click(p panel.Panel, y int) tea.Cmd {
	var cmd tea.Cmd
	if m.panes.split() && p != m.top() && !m.typing() {
		cmd = m.panes.focus(p)
		p = m.top()
	}
	c, is := p.(panel.Clickable)
	if !is || y < 0 {
		return cmd
	}
	cmd = tea.Batch(cmd, c.Click(y))
	before := m.mouse.clicked
	m.mouse.clicked = clickedAt{p, y}
	if before != m.mouse.clicked || m.typing() || !cursorAt(p, y) {
		return cmd
	}
	return tea.Batch(cmd, m.key(tea.KeyMsg{Type: tea.KeyEnter}))
}

// cursorAt reports whether the cursor of a panel is at one of its lines: there is nothing at all below the last one.
func cursorAt(p panel.Panel, y int) bool {
	lines := p.View()
	return y < len(lines) && strings.HasPrefix(lines[y].String(), ">")
}

// backTo goes back to a panel of the stack; -1 is none.
func (ms *mouse) backTo(i int) tea.Cmd {
	m := ms.inspector
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
func (ms *mouse) under(x, y int) (panel.Panel, int) {
	m := ms.inspector
	y-- // the title of the screen
	if !m.panes.split() {
		return m.top(), y
	}
	for _, at := range m.panes.layout() {
		if x >= at.x && x < at.x+at.width && y >= 0 && y < m.panelHeight() {
			return at.panel, y - 1
		}
	}
	return nil, 0
}
