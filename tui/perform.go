package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/keys"
	"a2atap/tui/panel"
)

// perform performs the actions that concern the whole screen, and passes all others to the top panel.
func (m *inspector) perform(a keys.Action) tea.Cmd {
	top := m.top()
	at := top.Target()
	switch a {
	case keys.Quit:
		return m.quit()
	case keys.QuitNow:
		return tea.Quit
	case keys.Suspend:
		return tea.Suspend
	case keys.OpenCommand:
		return m.openCommand("")
	case keys.ShowPalette:
		return m.openPalette()
	case keys.Leave, keys.Back:
		return m.back(a)
	case keys.ShowHelp:
		if _, there := top.(*page); there {
			return nil
		}
		return m.push(newHelp(top.Scope()))
	case keys.ShowDetail:
		return m.openDetail(at)
	case keys.Open:
		if f, is := top.(panel.Folder); is {
			if cmd, folded := f.Fold(); folded {
				return cmd
			}
		}
		if c, is := top.(*coveragePanel); is {
			if rule := c.rule(); rule != nil {
				return m.push(newRulePage(rule))
			}
			return nil
		}
		if _, is := top.(*textPanel); is {
			return m.openFromText(at)
		}
		if top.Scope()&(keys.InDetail|keys.InElsewhere) == 0 {
			return m.openDetail(at)
		}
	case keys.ShowText:
		p := newTextPanel(m.shared, at)
		return tea.Batch(m.push(p), p.begin())
	case keys.ShowLadder:
		return m.openLadder(at.Exchange)
	case keys.ShowWorkflow:
		return m.openWorkflow(at.Exchange)
	case keys.ShowCoverage:
		c := newCoverage(m.shared)
		return tea.Batch(m.push(c), c.begin())
	case keys.ShowFindings:
		return m.openFindings(at.Exchange)
	case keys.NextPane:
		if m.split() {
			return m.focusNext(1)
		}
		if top == panel.Panel(m.list) {
			return m.openFindings(0)
		}
	case keys.PreviousPane:
		return m.focusNext(-1)
	case keys.NextPart:
		return top.Update(keys.NextPane)
	case keys.OnePane:
		return m.onePane()
	case keys.NextFinding, keys.PreviousFinding, keys.NextExchange, keys.PreviousExchange:
		if d, ok := top.(*detail); ok && (d.ready || d.err != nil) {
			return m.step(d, a)
		}
	case keys.SearchText:
		return m.editSearch()
	case keys.CopyMenu:
		return m.push(newMenu("copy", at, m.copyChoices()))
	case keys.ChangeClock, keys.ChangeTimes, keys.ChangeTheme, keys.ToggleMouse:
		return m.changeDisplay(a)
	}
	if cmd, was := m.do(a, at); was {
		return cmd
	}
	return top.Update(a)
}

// performPending performs the keys that were pressed while the detail was loading, now that its document is there. One
// of them may lead to another exchange, where those after it wait in turn.
func (m *inspector) performPending() tea.Cmd {
	d, is := m.shownDetail()
	if !is {
		return nil
	}
	var cmds []tea.Cmd
	for _, a := range d.takeKeys() {
		cmds = append(cmds, m.perform(a))
	}
	return tea.Batch(cmds...)
}

// changeDisplay changes how everything is shown.
func (m *inspector) changeDisplay(a keys.Action) tea.Cmd {
	switch a {
	case keys.ChangeClock:
		m.shared.Deltas = !m.shared.Deltas
	case keys.ChangeTimes:
		m.shared.Message = m.shared.NextTimes()
		return m.shared.NeedFirst()
	case keys.ChangeTheme:
		m.shared.Theme = m.shared.Theme.Next()
		m.shared.Message = "theme: " + string(m.shared.Theme)
	case keys.ToggleMouse:
		return m.toggleMouse()
	}
	return nil
}

// step moves the detail to the next or previous finding or exchange.
func (m *inspector) step(d *detail, a keys.Action) tea.Cmd {
	switch a {
	case keys.NextFinding:
		return m.showFinding(d, 1)
	case keys.PreviousFinding:
		return m.showFinding(d, -1)
	case keys.NextExchange:
		return m.showNeighbour(d, keys.Down)
	}
	return m.showNeighbour(d, keys.Up)
}

func (m *inspector) push(p panel.Panel) tea.Cmd {
	m.stack = append(m.stack, p)
	return m.fit(p)
}

// back goes one step back. On the list, esc takes the filter off, and q quits.
func (m *inspector) back(a keys.Action) tea.Cmd {
	if d, is := m.top().(*detail); is && a == keys.Back && d.cancelSearch() {
		m.shared.Message = "the search was stopped; . goes on with it"
		return nil
	}
	switch {
	case len(m.stack) > 1:
		m.leaveTop()
		m.stack = m.stack[:len(m.stack)-1]
		return tea.Batch(m.fit(m.top()), m.showThird())
	case a == keys.Leave:
		return m.quit()
	}
	if m.list.stopSearch() {
		return nil
	}
	if m.list.isSearching() {
		return m.searchFor(m.list, nil)
	}
	return m.list.Update(a)
}

// leaveTop ends what the top panel has under way, since it goes. A pane stays, without the focus.
func (m *inspector) leaveTop() {
	if top := m.top(); !m.isPane(top) {
		leavePanel(top)
	}
}

func leavePanel(p panel.Panel) {
	if l, is := p.(panel.Leaver); is {
		l.Leave()
	}
}

// openFromText opens an event in the detail from which the text was opened, or in a new one.
func (m *inspector) openFromText(at analyzer.Place) tea.Cmd {
	cmd := m.back(keys.Back)
	if d, is := m.top().(*detail); is && d.seq == at.Exchange {
		return tea.Batch(cmd, d.turnTo(at))
	}
	return tea.Batch(cmd, m.openDetail(at))
}

// quit leaves the inspector after a question, which also says whether that ends a recording.
func (m *inspector) quit() tea.Cmd {
	words := "Quit?"
	if m.options.QuitEnds != "" {
		words = m.options.QuitEnds
	}
	leave := func() tea.Cmd { return tea.Quit }
	return m.ask(words+" q again to quit, any other key to stay",
		map[string]func() tea.Cmd{"q": leave, "Q": leave, "y": leave})
}

func (m *inspector) openDetail(at analyzer.Place) tea.Cmd {
	if m.split() {
		return m.openBeside(at)
	}
	d := newDetail(m.shared, at)
	return tea.Batch(m.push(d), d.begin())
}

func (m *inspector) openLadder(seq uint64) tea.Cmd {
	f := newLadderPanel(m.shared, seq)
	return tea.Batch(m.push(f), f.begin())
}

func (m *inspector) openWorkflow(seq uint64) tea.Cmd {
	w := newWorkflowPanel(m.shared, seq)
	return tea.Batch(m.push(w), w.begin())
}

func (m *inspector) openFindings(seq uint64) tea.Cmd {
	f := newFindings(m.shared)
	cmd := m.push(f)
	f.first(seq)
	f.fitPanes()
	return cmd
}

// showFinding moves to the next finding in the detail, or to the next exchange that has one.
func (m *inspector) showFinding(d *detail, step int) tea.Cmd {
	if cmd, there := d.jump(step); there {
		return cmd
	}
	s := m.shared
	seq := m.list.findingFrom(d.seq, step)
	found := s.Found.Of(seq)
	if seq == 0 || len(found) == 0 {
		m.shared.Message = s.NoFurther(step, m.list.findingFrom(d.seq, -step) != 0)
		return nil
	}
	at := found[0].Place
	if step < 0 {
		at = found[len(found)-1].Place
	}
	return m.replace(d, at)
}

// showNeighbour shows the next or previous exchange of the list in the detail.
func (m *inspector) showNeighbour(d *detail, a keys.Action) tea.Cmd {
	step := 1
	if a == keys.Up {
		step = -1
	}
	if seq := m.list.beside(d.seq, step); seq != 0 {
		m.list.follow = m.list.follow && step > 0
		m.list.reveal(seq)
		return m.replace(d, analyzer.Place{Exchange: seq})
	}
	m.shared.Message = "no further exchange in the list"
	return m.list.choose(d.seq)
}

// replace shows another exchange in place of the detail.
func (m *inspector) replace(d *detail, at analyzer.Place) tea.Cmd {
	chosen := m.list.choose(at.Exchange)
	if d == m.panes.detail {
		return tea.Batch(chosen, m.showBeside(at))
	}
	m.leaveTop()
	m.stack = m.stack[:len(m.stack)-1]
	next := newDetail(m.shared, at)
	next.showAs(d)
	return tea.Batch(chosen, m.push(next), next.begin())
}
