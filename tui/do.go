package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
)

// do does what is for the whole screen, and tells the top panel of everything else.
func (m *inspector) do(a action) tea.Cmd {
	top := m.top()
	at := top.target()
	switch a {
	case quit:
		return m.quit()
	case leave, goBack:
		return m.back(a)
	case showHelp:
		if _, there := top.(*page); there {
			return nil
		}
		return m.push(newHelp(top.place()))
	case showDetail:
		return m.openDetail(at)
	case openIt:
		if _, there := top.(*detail); !there {
			return m.openDetail(at)
		}
	case showLadder:
		f := newFlow(m.scene, at.Exchange)
		return tea.Batch(m.push(f), f.begin())
	case showFindings:
		return m.openFindings(at.Exchange)
	case nextPane:
		if top == panel(m.list) {
			return m.openFindings(0)
		}
	case nextFinding, previousFinding, nextExchange, previousExchange:
		if d, ok := top.(*detail); ok && d.ready {
			return m.onward(d, a)
		}
	case copyCurl:
		return m.scene.load.curl(at.Exchange, m.options.Curl)
	case changeClock, changeTheme, toggleMouse:
		return m.change(a)
	}
	return top.update(a)
}

// change changes how everything is shown.
func (m *inspector) change(a action) tea.Cmd {
	switch a {
	case changeClock:
		m.scene.deltas = !m.scene.deltas
	case changeTheme:
		m.scene.theme = m.scene.theme.next()
		m.said = "theme: " + string(m.scene.theme)
	case toggleMouse:
		return m.toggleMouse()
	}
	return nil
}

// onward goes from what the detail shows to the next, or to the one before.
func (m *inspector) onward(d *detail, a action) tea.Cmd {
	switch a {
	case nextFinding:
		return m.leap(d, 1)
	case previousFinding:
		return m.leap(d, -1)
	case nextExchange:
		return m.neighbour(d, goDown)
	}
	return m.neighbour(d, goUp)
}

func (m *inspector) push(p panel) tea.Cmd {
	m.stack = append(m.stack, p)
	return p.resize(m.width, m.room())
}

// back goes one step back. On the list, esc takes the filter off, and q quits.
func (m *inspector) back(a action) tea.Cmd {
	switch {
	case len(m.stack) > 1:
		m.stack = m.stack[:len(m.stack)-1]
		return m.top().resize(m.width, m.room())
	case a == leave:
		return m.quit()
	}
	return m.list.update(a)
}

// quit leaves, but asks first where that ends more than the looking.
func (m *inspector) quit() tea.Cmd {
	if m.options.QuitEnds == "" {
		return tea.Quit
	}
	m.asking = true
	return nil
}

func (m *inspector) openDetail(at analyzer.Place) tea.Cmd {
	d := newDetail(m.scene, at)
	return tea.Batch(m.push(d), d.begin())
}

func (m *inspector) openFindings(seq uint64) tea.Cmd {
	f := newFindings(m.scene)
	cmd := m.push(f)
	f.first(seq)
	f.settle()
	return cmd
}

// leap goes to the next finding in the detail, or to the next exchange that has one.
func (m *inspector) leap(d *detail, step int) tea.Cmd {
	if d.jump(step) {
		return d.summarise()
	}
	s := m.scene
	seq := s.found.next(d.seq, step)
	if m.list.search != nil {
		seq = s.found.nextOf(m.list.search.matches, d.seq, step)
	}
	found := s.found.of(seq)
	if seq == 0 || len(found) == 0 {
		m.said = "no further finding in this direction"
		return nil
	}
	at := found[0].Place
	if step < 0 {
		at = found[len(found)-1].Place
	}
	return m.replace(d, at)
}

// neighbour shows the exchange beside the one in the detail, in the order of the list.
func (m *inspector) neighbour(d *detail, a action) tea.Cmd {
	m.list.anchor = d.seq
	cmd := m.list.settle()
	cmd = tea.Batch(cmd, m.list.act(a))
	if seq := m.list.selected(); seq != d.seq && seq != 0 {
		return tea.Batch(cmd, m.replace(d, analyzer.Place{Exchange: seq}))
	}
	m.said = "that is the last one of the list"
	return cmd
}

// replace shows another exchange in place of one.
func (m *inspector) replace(d *detail, at analyzer.Place) tea.Cmd {
	m.stack = m.stack[:len(m.stack)-1]
	m.list.anchor = at.Exchange
	next := newDetail(m.scene, at)
	next.mode = d.mode
	return tea.Batch(m.list.settle(), m.push(next), next.begin())
}

func (m *inspector) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.said = "mouse on: the wheel moves, a click selects; m gives it back to the terminal"
		return tea.EnableMouseCellMotion
	}
	m.said = "mouse off: the terminal selects text"
	return tea.DisableMouse
}

// point takes the mouse: the wheel moves, and a click on the list selects.
func (m *inspector) point(msg tea.MouseMsg) tea.Cmd {
	switch {
	case msg.Button == tea.MouseButtonWheelUp:
		return m.top().update(goUp)
	case msg.Button == tea.MouseButtonWheelDown:
		return m.top().update(goDown)
	case msg.Button == tea.MouseButtonLeft && msg.Action == tea.MouseActionPress && m.top() == panel(m.list):
		if i := m.list.window.top + msg.Y - 2; msg.Y >= 2 && i < m.list.window.bottom() {
			m.list.window.move(i)
			m.list.anchor = m.list.selected()
		}
	}
	return nil
}
