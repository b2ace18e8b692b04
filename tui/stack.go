package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/diff"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/findings"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/ladder"
	"a2atap/tui/internal/panel"
	"a2atap/tui/load"
)

func (m *inspector) push(p panel.Panel) tea.Cmd {
	m.stack = append(m.stack, p)
	return m.panes.fit(p)
}

// back goes one step back. On the list, esc clears the filter, and q quits.
func (m *inspector) back(a keys.Action) tea.Cmd {
	if d, is := m.top().(*detail.Panel); is && a == keys.Back && d.CancelSearch() {
		m.shared.Message = "the search was stopped; . continues it"
		return nil
	}
	switch {
	case len(m.stack) > 1:
		m.leaveTop()
		m.stack = m.stack[:len(m.stack)-1]
		return tea.Batch(m.panes.fit(m.top()), m.panes.showThird())
	case a == keys.Leave:
		return m.quit()
	}
	if m.list.StopSearch() {
		return nil
	}
	if m.list.Searching() {
		return m.searchFor(m.list, nil)
	}
	return m.list.Update(a)
}

// leaveTop cancels the work of the top panel before it closes. A pane stays open, without the focus.
func (m *inspector) leaveTop() {
	if top := m.top(); !m.panes.isPane(top) {
		leavePanel(top)
	}
}

func leavePanel(p panel.Panel) {
	if l, is := p.(panel.Leaver); is {
		l.Leave()
	}
}

// openFromText opens an event in the detail whose text is shown, or in a new one.
func (m *inspector) openFromText(at analysis.Place) tea.Cmd {
	cmd := m.back(keys.Back)
	if d, is := m.top().(*detail.Panel); is && d.Seq == at.Exchange {
		return tea.Batch(cmd, d.TurnTo(at))
	}
	return tea.Batch(cmd, m.openDetail(at))
}

// quit leaves the inspector after a question, which also mentions a recording that would end.
func (m *inspector) quit() tea.Cmd {
	words := "Quit?"
	if m.options.QuitEnds != "" {
		words = m.options.QuitEnds
	}
	leave := func() tea.Cmd { return tea.Quit }
	return m.ask(words+" q again to quit, any other key to stay",
		map[string]func() tea.Cmd{"q": leave, "Q": leave, "y": leave})
}

func (m *inspector) openDetail(at analysis.Place) tea.Cmd {
	if m.panes.split() {
		return m.panes.openBeside(at)
	}
	d := detail.New(m.shared, at)
	return tea.Batch(m.push(d), d.Begin())
}

func (m *inspector) openLadder(seq uint64) tea.Cmd {
	f := ladder.New(m.shared, seq)
	return tea.Batch(m.push(f), f.Begin())
}

func (m *inspector) openWorkflow(seq uint64) tea.Cmd {
	w := ladder.NewWorkflow(m.shared, seq)
	return tea.Batch(m.push(w), w.Begin())
}

func (m *inspector) openFindings(seq uint64) tea.Cmd {
	f := findings.New(m.shared)
	cmd := m.push(f)
	f.First(seq)
	f.FitPanes()
	return cmd
}

// replace shows another exchange in the detail.
func (m *inspector) replace(d *detail.Panel, at analysis.Place) tea.Cmd {
	chosen := m.list.Choose(at.Exchange)
	if d == m.panes.detail {
		return tea.Batch(chosen, m.panes.showBeside(at))
	}
	m.leaveTop()
	m.stack = m.stack[:len(m.stack)-1]
	next := detail.New(m.shared, at)
	next.ShowAs(d)
	return tea.Batch(chosen, m.push(next), next.Begin())
}

func (m *inspector) openDiff(was, now diff.Side) tea.Cmd {
	d := diff.New(m.shared, was, now)
	return tea.Batch(m.push(d), d.Begin())
}

// openOther opens an exchange of another capture.
func (m *inspector) openOther(src *load.Selection, seq uint64, file string) tea.Cmd {
	s := m.shared
	m.others++
	other := &panel.Shared{
		Load: load.New(s.Load.Context, src, s.Load.Rules), Opened: true, Theme: s.Theme,
		Deltas: s.Deltas, Tickets: m.others * otherTickets,
	}
	e := detail.NewOther(other, seq, file)
	return tea.Batch(m.push(e), e.Begin())
}

// shownDetail returns the detail on top, even one of another capture.
func (m *inspector) shownDetail() (*detail.Panel, bool) {
	switch p := m.top().(type) {
	case *detail.Panel:
		return p, true
	case *detail.Other:
		return p.Panel, true
	}
	return nil, false
}

// home returns to the list.
func (m *inspector) home() tea.Cmd {
	var cmds []tea.Cmd
	for range len(m.stack) - 1 {
		cmds = append(cmds, m.back(keys.Leave))
	}
	return tea.Batch(cmds...)
}

// otherTickets is the first ticket of another capture's panels, so that they never collide with this capture's.
const otherTickets = 1 << 40

// searchFor searches a panel. It also highlights matches in the detail next to it. A nil pattern ends the search.
func (m *inspector) searchFor(in panel.Searcher, p *find.Pattern) tea.Cmd {
	m.shared.Pattern = p
	cmd := in.LookFor(p)
	if d := m.panes.detail; d != nil && in != panel.Searcher(d) {
		return tea.Batch(cmd, d.Light(p))
	}
	return cmd
}
