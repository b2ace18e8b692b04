package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/coverage"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/diff"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/ladder"
	"a2atap/tui/internal/menu"
	"a2atap/tui/internal/page"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/textview"
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
		return m.commands.open("")
	case keys.ShowPalette:
		return m.commands.openPalette()
	case keys.Leave, keys.Back:
		return m.back(a)
	case keys.ShowHelp:
		if _, there := top.(*page.Page); there {
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
		if c, is := top.(*coverage.Panel); is {
			if rule := c.Rule(); rule != nil {
				return m.push(page.NewRule(rule))
			}
			return nil
		}
		if _, is := top.(*textview.Panel); is {
			return m.openFromText(at)
		}
		if top.Scope()&(keys.InDetail|keys.InElsewhere) == 0 {
			return m.openDetail(at)
		}
	case keys.ShowText:
		p := textview.New(m.shared, at)
		return tea.Batch(m.push(p), p.Begin())
	case keys.ShowLadder:
		return m.openLadder(at.Exchange)
	case keys.ShowWorkflow:
		return m.openWorkflow(at.Exchange)
	case keys.ShowCoverage:
		c := coverage.New(m.shared)
		return tea.Batch(m.push(c), c.Begin())
	case keys.ShowFindings:
		return m.openFindings(at.Exchange)
	case keys.NextPane:
		if m.panes.split() {
			return m.panes.focusNext(1)
		}
		if top == panel.Panel(m.list) {
			return m.openFindings(0)
		}
	case keys.PreviousPane:
		return m.panes.focusNext(-1)
	case keys.NextPart:
		return top.Update(keys.NextPane)
	case keys.OnePane:
		return m.panes.onePane()
	case keys.NextFinding, keys.PreviousFinding, keys.NextExchange, keys.PreviousExchange, keys.NextFailed, keys.PreviousFailed:
		if d, ok := top.(*detail.Panel); ok && (d.Ready || d.Err != nil) {
			return m.step(d, a)
		}
	case keys.SearchText:
		return m.editSearch()
	case keys.CopyMenu:
		return m.push(menu.New("copy", at, m.clipboard.choices()))
	case keys.ChangeClock, keys.ChangeTimes, keys.ChangeTheme, keys.ToggleMouse:
		return m.changeDisplay(a)
	}
	switch a {
	case keys.Mark:
		return m.notebook.mark(at)
	case keys.Comment:
		return m.notebook.comment(at)
	case keys.Diff:
		return m.diff(at)
	case keys.Resend:
		return m.outbox.resend(at)
	case keys.Replay:
		return m.outbox.replayTask(at)
	case keys.Export:
		return m.exporting.begin(at)
	case keys.ShowHeld:
		return m.holding.show()
	}
	return top.Update(a)
}

// performPending performs the keys that were pressed while the detail was loading, once its document exists. If one of
// them leads to another exchange, the remaining keys wait for that one.
func (m *inspector) performPending() tea.Cmd {
	d, is := m.shownDetail()
	if !is {
		return nil
	}
	var cmds []tea.Cmd
	for _, a := range d.TakeKeys() {
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
		return m.mouse.toggle()
	}
	return nil
}

// step moves the detail to the next or previous finding or exchange.
func (m *inspector) step(d *detail.Panel, a keys.Action) tea.Cmd {
	switch a {
	case keys.NextFinding:
		return m.showFinding(d, 1)
	case keys.PreviousFinding:
		return m.showFinding(d, -1)
	case keys.NextExchange:
		return m.showNeighbour(d, keys.Down)
	case keys.NextFailed:
		return m.showFailed(d, 1)
	case keys.PreviousFailed:
		return m.showFailed(d, -1)
	}
	return m.showNeighbour(d, keys.Up)
}

// showFinding moves to the next finding in the detail, or to the next exchange that has one, or that failed.
func (m *inspector) showFinding(d *detail.Panel, step int) tea.Cmd {
	if cmd, there := d.Jump(step); there {
		return cmd
	}
	if m.list.SeeksFailed() {
		return m.showFailed(d, step)
	}
	s := m.shared
	seq, words := m.list.NextFinding(d.Seq, step)
	found := s.Found.Of(seq)
	if s.Message = words; len(found) == 0 {
		return nil
	}
	at := found[0].Place
	if step < 0 {
		at = found[len(found)-1].Place
	}
	return m.replace(d, at)
}

// showFailed shows the next or previous failed exchange of the list in the detail, if the detail is still open by then.
func (m *inspector) showFailed(d *detail.Panel, step int) tea.Cmd {
	return m.list.NextFailed(d.Seq, step, func(seq uint64) tea.Cmd {
		if m.top() != panel.Panel(d) {
			return nil
		}
		m.list.Follow = false
		m.list.Reveal(seq)
		return m.replace(d, analysis.Place{Exchange: seq})
	})
}

// showNeighbour shows the next or previous exchange of the list in the detail.
func (m *inspector) showNeighbour(d *detail.Panel, a keys.Action) tea.Cmd {
	step := 1
	if a == keys.Up {
		step = -1
	}
	if seq := m.list.Beside(d.Seq, step); seq != 0 {
		m.list.Follow = m.list.Follow && step > 0
		m.list.Reveal(seq)
		return m.replace(d, analysis.Place{Exchange: seq})
	}
	m.shared.Message = "no further exchange in the list"
	return m.list.Choose(d.Seq)
}

// diff compares the selected exchange, or in a ladder its task, with the one chosen before: with this key, or as the
// only marked one. If none was chosen, it chooses the selected exchange.
func (m *inspector) diff(at analysis.Place) tea.Cmd {
	_, inOneLadder := m.top().(*ladder.Panel)
	now := diff.Side{Seq: at.Exchange, IsTask: inOneLadder}
	was := m.chosen
	m.chosen = nil
	switch {
	case was == nil:
		var marked []uint64
		for _, note := range m.shared.Notes.All() {
			if note.Marked && note.Seq != now.Seq {
				marked = append(marked, note.Seq)
			}
		}
		if len(marked) == 1 && !now.IsTask {
			return m.openDiff(diff.Side{Seq: marked[0]}, now)
		}
		m.chosen = &now
		m.shared.Message = fmt.Sprintf("D on another one compares it with %s; D on %d again cancels", now.Words(), now.Seq)
		return nil
	case was.Seq == now.Seq:
		m.shared.Message = fmt.Sprintf("%s is not compared", was.Words())
		return nil
	}
	if !was.IsTask || !now.IsTask {
		was.IsTask, now.IsTask = false, false
	}
	return m.openDiff(*was, now)
}

// choose runs a choice of the menu on top, and closes the menu. If the screen has no room for the text above the
// choice, choose does not run a choice that requires reading it.
func (m *inspector) choose(c *menu.Choice) tea.Cmd {
	if c.Off != "" {
		m.shared.Message = c.Off
		return nil
	}
	if menu, is := m.top().(*menu.Menu); is && c.Informed && menu.Cut() {
		m.shared.Message = "the window is too small for the question; enlarge it"
		return nil
	}
	m.stack = m.stack[:len(m.stack)-1]
	return tea.Batch(m.panes.fit(m.top()), c.Do())
}

// why returns why a key does nothing now, or "". It looks in the top panel or, for keys of other panels, in the list.
func (m *inspector) why(k *keys.Key) string {
	in := m.top()
	if in.Scope()&k.In == 0 {
		in = m.list
	}
	switch k.Needs {
	case keys.AskPanel:
		if e, ok := in.(panel.Explainer); ok {
			return e.Why(k.Action)
		}
	case keys.NeedFindings:
		if in.Scope()&(keys.InList|keys.InDetail) != 0 && m.list.SeeksFailed() {
			return ""
		}
		return m.shared.WhyNoFindings()
	case keys.NeedPattern:
		return panel.Unless(m.shared.Pattern != nil, "there is no search; s starts one")
	case keys.NeedPanes:
		return m.panes.whyOnePane()
	case keys.NeedRoom:
		if !m.panes.alone {
			return m.panes.whyOnePane()
		}
	case keys.NeedSender:
		switch {
		case m.options.Sender == nil:
			return "nothing can be sent from here"
		case m.outbox.sending != nil:
			return "a request is being sent; esc cancels it"
		}
		return m.whyNoSelection()
	case keys.NeedExporter:
		if m.options.Exporter == nil {
			return "export is not available here"
		}
		return m.whyNoSelection()
	case keys.NeedHolder:
		return panel.Unless(m.options.Holder != nil, noHolder)
	case keys.NeedSelection:
		return m.whyNoSelection()
	}
	return ""
}

func (m *inspector) whyNoSelection() string {
	return panel.Unless(m.top().Target().Exchange > 0, "nothing is selected")
}

// editSearch asks what to search for in the top panel.
func (m *inspector) editSearch() tea.Cmd {
	in, ok := m.top().(panel.Searcher)
	if !ok {
		return nil
	}
	before := ""
	if m.shared.Pattern != nil {
		before = m.shared.Pattern.String()
	}
	m.prompt = newPrompt("search", before, func(value string) (tea.Cmd, error) {
		if value == "" {
			return m.searchFor(in, nil), nil
		}
		p, err := find.Parse(value)
		if err != nil {
			return nil, err
		}
		return m.searchFor(in, p), nil
	})
	return nil
}

// searchWords searches the top panel or, if that is not searchable, the list.
func searchWords(m *inspector, words string) (tea.Cmd, error) {
	p, err := find.Parse(words)
	if err != nil {
		return nil, err
	}
	if in, ok := m.top().(panel.Searcher); ok {
		return m.searchFor(in, p), nil
	}
	return tea.Batch(m.home(), m.searchFor(m.list, p)), nil
}
