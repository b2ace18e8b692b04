package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/detail"
	"a2atap/tui/findings"
	"a2atap/tui/keys"
	"a2atap/tui/ladder"
	"a2atap/tui/panel"
	"a2atap/tui/style"
)

// Sizes of the screen from which panels stand side by side.
const (
	twoPanes        = 110 // columns: the list, and the detail of the selected exchange
	twoPanesHigh    = 6   // lines of panels
	threePanes      = 160 // columns: the ladder or the findings of the exchange below the list
	threePanesHigh  = 16  // lines of panels
	roomyList       = 92  // columns of a list that has room for everything that it shows at 80
	settlePause     = 120 * time.Millisecond
	settleAtTheMost = time.Second
)

// panes are the panels that stand beside the list on a wide screen, and show the exchange that is selected in it. The
// one that has the focus is on the stack as well, above the list.
type panes struct {
	detail *detail.Panel // nil on a narrow screen, and while nothing is selected
	third  panel.Panel   // the ladder of the exchange, or the findings; nil if there is no room
	before panel.Panel   // a third one that had the focus when it lost its place: it fills the screen now
	alone  bool          // one panel alone was asked for, however wide the screen is
	seq    uint64        // the exchange that they show, or will after the pause
	since  time.Time     // when the selection left what is shown; zero if it has not
	ticket uint64        // of the pause under way
}

// settled says that the selection in the list has rested.
type settled struct{ ticket uint64 }

// A pane is where a panel stands on the screen. Its first line is its title.
type pane struct {
	panel         panel.Panel
	x, y          int // y from below the title of the screen
	width, height int
}

// paneCount returns how many panels there is room for side by side.
func (m *inspector) paneCount() int {
	switch high := m.panelHeight(); {
	case m.panes.alone || m.width < twoPanes || high < twoPanesHigh:
		return 1
	case m.width < threePanes || high < threePanesHigh:
		return 2
	}
	return 3
}

// layout divides the screen: the list on the left, the third pane below it, the detail on the right. It returns nothing
// where there is room for one panel only.
func (m *inspector) layout() []pane {
	count, high := m.paneCount(), m.panelHeight()
	if count == 1 {
		return nil
	}
	left, listHigh := m.width*13/25, high
	if count == 3 {
		left, listHigh = m.width/2, high/2
		if left < roomyList {
			left = min(left, 79) // where the list writes whom was called, and has room for what came of it
		}
	}
	list := []pane{
		{panel: m.list, width: left, height: listHigh},
		{panel: nothing{}, x: left + 1, width: m.width - left - 1, height: high},
	}
	if m.panes.detail != nil {
		list[1].panel = m.panes.detail
	}
	if count == 3 {
		third := pane{panel: nothing{}, y: listHigh, width: left, height: high - listHigh}
		if m.panes.third != nil {
			third.panel = m.panes.third
		}
		list = append(list, third)
	}
	return list
}

// split reports whether several panes are on the screen: there is room, and nothing else was opened above them.
func (m *inspector) split() bool {
	return m.paneCount() > 1 && (len(m.stack) == 1 || len(m.stack) == 2 && m.isPane(m.stack[1]))
}

func (m *inspector) isPane(p panel.Panel) bool {
	return p == panel.Panel(m.list) || m.panes.detail != nil && p == panel.Panel(m.panes.detail) ||
		m.panes.third != nil && p == m.panes.third
}

// panels returns all that are open: the stack, and the panes that are not on it.
func (m *inspector) panels() []panel.Panel {
	all := slices.Clone(m.stack)
	if d := m.panes.detail; d != nil && !slices.Contains(all, panel.Panel(d)) {
		all = append(all, d)
	}
	if p := m.panes.third; p != nil && !slices.Contains(all, p) {
		all = append(all, p)
	}
	return all
}

// fit gives a panel the room that it has: its pane, or the whole screen.
func (m *inspector) fit(p panel.Panel) tea.Cmd {
	for _, at := range m.layout() {
		if at.panel == p {
			return p.Resize(at.width, at.height-1)
		}
	}
	return p.Resize(m.width, m.panelHeight())
}

// arrange adapts the panes to the size of the screen. A detail that was opened alone becomes one of them, and a pane
// that has the focus when the screen becomes narrow fills it.
func (m *inspector) arrange() tea.Cmd {
	p, count := &m.panes, m.paneCount()
	switch {
	case count == 1:
		m.dropPanes()
	case len(m.stack) > 1:
		m.adopt(m.stack[1])
	}
	if count < 3 {
		m.dropThird()
	}
	var cmds []tea.Cmd
	for _, q := range m.panels() {
		cmds = append(cmds, m.fit(q))
	}
	if p.detail != nil && p.third == nil {
		cmds = append(cmds, m.showThird())
	}
	return tea.Batch(cmds...)
}

// adopt makes a pane of what was opened from the list.
func (m *inspector) adopt(opened panel.Panel) {
	p := &m.panes
	if d, is := opened.(*detail.Panel); is && p.detail == nil {
		p.detail, p.seq = d, d.Seq
	}
	if opened == p.before && p.third == nil && m.paneCount() == 3 {
		p.third = opened
	}
}

// dropPanes ends what the panes have under way, but for one that has the focus.
func (m *inspector) dropPanes() {
	if d := m.panes.detail; d != nil && !slices.Contains(m.stack, panel.Panel(d)) {
		d.Leave()
	}
	m.dropThird()
	m.panes = panes{alone: m.panes.alone, before: m.panes.before}
}

func (m *inspector) dropThird() {
	switch p := m.panes.third; {
	case p == nil:
		return
	case slices.Contains(m.stack, p):
		m.panes.before = p
	default:
		leavePanel(p)
	}
	m.panes.third = nil
}

// followList has the panes show the exchange that is selected in the list, when the selection has rested for a moment
// or a second has passed. While the detail is being read it stays.
func (m *inspector) followList() tea.Cmd {
	p, seq := &m.panes, m.list.Selected()
	switch {
	case m.paneCount() == 1 || seq == p.seq || p.detail != nil && slices.Contains(m.stack, panel.Panel(p.detail)):
		return nil
	case seq == 0:
		if len(m.stack) == 1 {
			m.dropPanes()
		}
		return nil
	case p.detail == nil:
		return m.showBeside(analyzer.Place{Exchange: seq})
	}
	p.seq = seq
	if p.since.IsZero() {
		p.since = time.Now()
	}
	if time.Since(p.since) > settleAtTheMost {
		return m.showBeside(analyzer.Place{Exchange: seq})
	}
	p.ticket = m.shared.Ticket()
	load, rested := m.shared.Load, settled{p.ticket}
	return func() tea.Msg {
		load.Pause(settlePause)
		return rested
	}
}

// settle shows the selected exchange at the end of the pause.
func (m *inspector) settle(msg settled) tea.Cmd {
	if msg.ticket != m.panes.ticket || m.panes.detail == nil {
		return nil
	}
	return m.showBeside(analyzer.Place{Exchange: m.panes.seq})
}

// showBeside shows a place in the pane of the detail, and what belongs to its exchange in the third one.
func (m *inspector) showBeside(at analyzer.Place) tea.Cmd {
	p := &m.panes
	p.seq, p.since, p.ticket = at.Exchange, time.Time{}, 0
	if d := p.detail; d != nil && d.Seq == at.Exchange && d.Err == nil {
		return tea.Batch(d.TurnTo(at), m.showThird())
	}
	next := detail.New(m.shared, at)
	if old := p.detail; old != nil {
		next.ShowAs(old)
		old.Leave()
		if i := slices.Index(m.stack, panel.Panel(old)); i >= 0 {
			m.stack[i] = next
		}
	}
	p.detail = next
	return tea.Batch(m.fit(next), next.Begin(), m.showThird())
}

// showThird fills the third pane: with the findings if the exchange has some, else with its ladder. While it has the
// focus it stays as it is.
func (m *inspector) showThird() tea.Cmd {
	p := &m.panes
	if m.paneCount() < 3 || p.seq == 0 || p.third != nil && slices.Contains(m.stack, p.third) {
		return nil
	}
	if len(m.shared.Found.ByExchange[p.seq]) > 0 {
		f, is := p.third.(*findings.Panel)
		if !is {
			m.dropThird()
			f = findings.New(m.shared)
			p.third = f
		}
		cmd := m.fit(f)
		f.First(p.seq)
		f.FitPanes()
		return cmd
	}
	if f, is := p.third.(*ladder.Panel); is && f.TurnTo(p.seq) {
		return f.ShowMessage(false)
	}
	m.dropThird()
	f := ladder.New(m.shared, p.seq)
	p.third = f
	return tea.Batch(m.fit(f), f.Begin())
}

// focusNext moves the focus from pane to pane, in a direction.
func (m *inspector) focusNext(step int) tea.Cmd {
	list := m.layout()
	i := slices.IndexFunc(list, func(at pane) bool { return at.panel == m.top() })
	return m.focus(list[(i+step+len(list))%len(list)].panel)
}

// focus gives a pane the focus.
func (m *inspector) focus(p panel.Panel) tea.Cmd {
	m.stack = m.stack[:1]
	var cmd tea.Cmd
	if p != m.panes.third {
		cmd = m.showThird()
	}
	if p == panel.Panel(m.list) || !m.isPane(p) {
		return cmd
	}
	if p == panel.Panel(m.panes.detail) && m.panes.seq != m.panes.detail.Seq { // the list has moved on a moment ago
		cmd = tea.Batch(cmd, m.showBeside(analyzer.Place{Exchange: m.panes.seq}))
		p = m.panes.detail
	}
	m.stack = append(m.stack, p)
	return cmd
}

// openBeside shows a place in the detail beside the list, and gives it the focus.
func (m *inspector) openBeside(at analyzer.Place) tea.Cmd {
	var cmd tea.Cmd
	if at.Exchange != m.list.Selected() {
		m.list.Reveal(at.Exchange)
		cmd = m.list.Choose(at.Exchange)
	}
	cmd = tea.Batch(cmd, m.showBeside(at))
	m.stack = append(m.stack[:1], m.panes.detail)
	return cmd
}

// onePane shows the panel that has the focus alone, or the others again.
func (m *inspector) onePane() tea.Cmd {
	m.panes.alone = !m.panes.alone
	return m.arrange()
}

// nothing is what stands in a pane that has nothing to show.
type nothing struct{}

func (nothing) Resize(int, int) tea.Cmd { return nil }

func (nothing) Update(tea.Msg) tea.Cmd { return nil }

func (nothing) View() []style.Line {
	return []style.Line{style.Text(style.Dim, "  nothing is selected")}
}

func (nothing) Scope() keys.Scope { return keys.InPage }

func (nothing) Title() string { return "" }

func (nothing) Status() string { return "" }

func (nothing) Target() analyzer.Place { return analyzer.Place{} }
