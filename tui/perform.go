package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/coverage"
	"a2atap/tui/detail"
	"a2atap/tui/diff"
	"a2atap/tui/find"
	"a2atap/tui/findings"
	"a2atap/tui/keys"
	"a2atap/tui/ladder"
	"a2atap/tui/load"
	"a2atap/tui/menu"
	"a2atap/tui/page"
	"a2atap/tui/panel"
	"a2atap/tui/textview"
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

func (m *inspector) push(p panel.Panel) tea.Cmd {
	m.stack = append(m.stack, p)
	return m.panes.fit(p)
}

// back goes one step back. On the list, esc takes the filter off, and q quits.
func (m *inspector) back(a keys.Action) tea.Cmd {
	if d, is := m.top().(*detail.Panel); is && a == keys.Back && d.CancelSearch() {
		m.shared.Message = "the search was stopped; . goes on with it"
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

// leaveTop ends what the top panel has under way, since it goes. A pane stays, without the focus.
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

// openFromText opens an event in the detail from which the text was opened, or in a new one.
func (m *inspector) openFromText(at analyzer.Place) tea.Cmd {
	cmd := m.back(keys.Back)
	if d, is := m.top().(*detail.Panel); is && d.Seq == at.Exchange {
		return tea.Batch(cmd, d.TurnTo(at))
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

// showFinding moves to the next finding in the detail, or to the next exchange that has one.
func (m *inspector) showFinding(d *detail.Panel, step int) tea.Cmd {
	if cmd, there := d.Jump(step); there {
		return cmd
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

// showFailed shows the next or previous exchange of the list that failed in the detail, if that is still there then.
func (m *inspector) showFailed(d *detail.Panel, step int) tea.Cmd {
	return m.list.NextFailed(d.Seq, step, func(seq uint64) tea.Cmd {
		if m.top() != panel.Panel(d) {
			return nil
		}
		m.list.Follow = false
		m.list.Reveal(seq)
		return m.replace(d, analyzer.Place{Exchange: seq})
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
		return m.replace(d, analyzer.Place{Exchange: seq})
	}
	m.shared.Message = "no further exchange in the list"
	return m.list.Choose(d.Seq)
}

// replace shows another exchange in place of the detail.
func (m *inspector) replace(d *detail.Panel, at analyzer.Place) tea.Cmd {
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

// diff compares the selected exchange, in a ladder its task, with the one that was chosen before: with this key, or by
// the only mark on another one. If there is none it is chosen itself.
func (m *inspector) diff(at analyzer.Place) tea.Cmd {
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
		m.shared.Message = fmt.Sprintf("D on another one compares it with %s; D on %d again forgets it", now.Words(), now.Seq)
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

func (m *inspector) openDiff(was, now diff.Side) tea.Cmd {
	d := diff.New(m.shared, was, now)
	return tea.Batch(m.push(d), d.Begin())
}

// choose makes a choice of the menu on top, and takes the menu away. One that needs what is above it to have been read
// is not made where there is no room for that.
func (m *inspector) choose(c *menu.Choice) tea.Cmd {
	if c.Off != "" {
		m.shared.Message = c.Off
		return nil
	}
	if menu, is := m.top().(*menu.Menu); is && c.Informed && menu.Cut() {
		m.shared.Message = "there is no room to say what this does; make the window larger"
		return nil
	}
	m.stack = m.stack[:len(m.stack)-1]
	return tea.Batch(m.panes.fit(m.top()), c.Do())
}

// why returns why a key does nothing now, or "": in the top panel or, if it is not one of that, in the list.
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
		return m.shared.WhyNoFindings()
	case keys.NeedPattern:
		return panel.Unless(m.shared.Pattern != nil, "nothing is searched for; s searches")
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
			return "something is being sent; esc ends it"
		}
		return m.whyNoSelection()
	case keys.NeedExporter:
		if m.options.Exporter == nil {
			return "export is not available here"
		}
		return m.whyNoSelection()
	case keys.NeedSelection:
		return m.whyNoSelection()
	}
	return ""
}

func (m *inspector) whyNoSelection() string {
	return panel.Unless(m.top().Target().Exchange > 0, "nothing is selected")
}

// otherTickets is where the tickets of another capture's panels begin, so that none is taken for one of ours.
const otherTickets = 1 << 40

// openOther opens an exchange of another capture.
func (m *inspector) openOther(src *load.Part, seq uint64, file string) tea.Cmd {
	s := m.shared
	m.others++
	other := &panel.Shared{
		Load: load.New(s.Load.Context, src, s.Load.Rules, s.Load.Keys...), Opened: true, Theme: s.Theme,
		Deltas: s.Deltas, Tickets: m.others * otherTickets,
	}
	e := detail.NewOther(other, seq, file)
	return tea.Batch(m.push(e), e.Begin())
}

// shownDetail returns the detail on top, also of another capture.
func (m *inspector) shownDetail() (*detail.Panel, bool) {
	switch p := m.top().(type) {
	case *detail.Panel:
		return p, true
	case *detail.Other:
		return p.Panel, true
	}
	return nil, false
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

// searchWords searches the top panel or, if that has nothing to search, the list.
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

// searchFor searches a panel, and has the detail beside it show the matches, too; nil ends the search.
func (m *inspector) searchFor(in panel.Searcher, p *find.Pattern) tea.Cmd {
	m.shared.Pattern = p
	cmd := in.LookFor(p)
	if d := m.panes.detail; d != nil && in != panel.Searcher(d) {
		return tea.Batch(cmd, d.Light(p))
	}
	return cmd
}
