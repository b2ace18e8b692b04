package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
)

func (ms *mouse) toggle() tea.Cmd {
	ms.on = !ms.on
	if ms.on {
		ms.shared.Message = "mouse on: the wheel moves, a click selects, a second one opens; m turns it off"
		return tea.EnableMouseCellMotion
	}
	ms.shared.Message = "mouse off: the terminal selects text"
	return tea.DisableMouse
}

// event handles the mouse. The wheel moves in the panel under the pointer. A click focuses a pane and selects a line; a
// second click opens it. A click on a name in the first line returns to that panel.
func (ms *mouse) event(msg tea.MouseMsg) tea.Cmd {
	p, y := ms.under(msg.X, msg.Y)
	_, choosing := ms.top().(*palette)
	if ms.question != nil || ms.prompt != nil && !choosing || p == nil {
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
	if msg.Y == 0 && ms.prompt == nil && !ms.typing() {
		return ms.backTo(ms.screen.crumbAt(msg.X))
	}
	return ms.Click(p, y)
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

// cursorAt reports whether a line of a panel has the cursor. It returns false below the last line of the panel.
func cursorAt(p panel.Panel, y int) bool {
	lines := p.View()
	return y < len(lines) && strings.HasPrefix(lines[y].String(), ">")
}

// backTo returns to a panel of the stack; -1 means none.
func (ms *mouse) backTo(i int) tea.Cmd {
	var cmds []tea.Cmd
	for range len(ms.stack) - 1 {
		if i >= 0 && i < len(ms.stack)-1 {
			cmds = append(cmds, ms.back(keys.Leave))
		}
	}
	return tea.Batch(cmds...)
}

// under returns the panel under a position of the screen, and the line of the panel; -1 is its title. A panel that
// fills the screen is under all positions.
func (ms *mouse) under(x, y int) (panel.Panel, int) {
	y-- // the title of the screen
	if !ms.panes.split() {
		return ms.top(), y
	}
	for _, at := range ms.panes.layout() {
		if x >= at.x && x < at.x+at.width && y >= 0 && y < ms.panelHeight() {
			return at.panel, y - 1
		}
	}
	return nil, 0
}
