package tui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/findings"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/ladder"
	"a2atap/tui/internal/list"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// Minimum sizes of the screen for panels side by side.
const (
	twoPanes        = 110 // columns: the list, and the detail of the selected exchange
	threePanes      = 160 // columns: room for the ladder or the findings of the exchange, too
	panesHigh       = 6   // lines of panels
	roomyList       = 92  // columns of a list with room for everything that it shows at 80
	settlePause     = 120 * time.Millisecond
	settleAtTheMost = time.Second
)

// settled reports that the selection in the list has not moved for a moment.
type settled struct{ ticket uint64 }

// A pane is the area of a panel on the screen. It uses the full height; its first line is its title.
type pane struct {
	panel    panel.Panel
	x, width int
}

// count returns how many panels fit side by side.
func (ps *panes) count() int {
	switch {
	case ps.alone || ps.width < twoPanes || ps.panelHeight() < panesHigh:
		return 1
	case ps.width < threePanes:
		return 2
	}
	return 3
}

// layout divides the screen: the list on the left, then the detail, and on the right the exchange's ladder or findings.
// It returns nil if there is room for only one panel.
func (ps *panes) layout() []pane {
	count := ps.count()
	if count == 1 {
		return nil
	}
	list := []pane{{panel: ps.list, width: ps.width * 13 / 25}, {panel: nothing{}}}
	if ps.detail != nil {
		list[1].panel = ps.detail
	}
	if count == 3 {
		list[0].width = ps.width * 2 / 5
		if list[0].width < roomyList {
			list[0].width = min(list[0].width, 79) // enough for the list's columns up to the outcome
		}
		third := pane{panel: nothing{}, width: ps.width * 13 / 50}
		if ps.third != nil {
			third.panel = ps.third
		}
		list = append(list, third)
	}
	list[1].width = ps.width
	for i := range list {
		if i != 1 {
			list[1].width -= list[i].width + 1
		}
	}
	for i := 1; i < len(list); i++ {
		list[i].x = list[i-1].x + list[i-1].width + 1
	}
	return list
}

// split reports whether several panes are visible: there is room, and no other panel is open above them.
func (ps *panes) split() bool {
	return ps.count() > 1 && (len(ps.stack) == 1 || len(ps.stack) == 2 && ps.isPane(ps.stack[1]))
}

func (ps *panes) isPane(p panel.Panel) bool {
	return p == panel.Panel(ps.list) || ps.detail != nil && p == panel.Panel(ps.detail) ||
		ps.third != nil && p == ps.third
}

// panels returns all open panels: the stack, and the panes that are not on it.
func (ps *panes) panels() []panel.Panel {
	all := slices.Clone(ps.stack)
	if d := ps.detail; d != nil && !slices.Contains(all, panel.Panel(d)) {
		all = append(all, d)
	}
	if p := ps.third; p != nil && !slices.Contains(all, p) {
		all = append(all, p)
	}
	return all
}

// fit sets the size of a panel: that of its pane, or the whole screen.
func (ps *panes) fit(p panel.Panel) tea.Cmd {
	for _, at := range ps.layout() {
		if at.panel == p {
			return p.Resize(at.width, ps.panelHeight()-1)
		}
	}
	return p.Resize(ps.width, ps.panelHeight())
}

// arrange adapts the panes to the size of the screen. A detail that was opened alone becomes one of them, and a pane
// that has the focus when the screen becomes narrow fills it.
func (ps *panes) arrange() tea.Cmd {
	count := ps.count()
	switch {
	case count == 1:
		ps.dropPanes()
	case len(ps.stack) > 1:
		ps.adopt(ps.stack[1])
	}
	if count < 3 {
		ps.dropThird()
	}
	var cmds []tea.Cmd
	for _, q := range ps.panels() {
		cmds = append(cmds, ps.fit(q))
	}
	if ps.detail != nil && ps.third == nil {
		cmds = append(cmds, ps.showThird())
	}
	return tea.Batch(cmds...)
}

// adopt makes a pane of a panel that was opened from the list.
func (ps *panes) adopt(opened panel.Panel) {
	if d, is := opened.(*detail.Panel); is && ps.detail == nil {
		ps.detail, ps.seq = d, d.Seq
	}
	if opened == ps.before && ps.third == nil && ps.count() == 3 {
		ps.third = opened
	}
}

// dropPanes cancels the work of the panes, except for a focused one.
func (ps *panes) dropPanes() {
	if d := ps.detail; d != nil && !slices.Contains(ps.stack, panel.Panel(d)) {
		d.Leave()
	}
	ps.dropThird()
	*ps = panes{inspector: ps.inspector, alone: ps.alone, before: ps.before}
}

func (ps *panes) dropThird() {
	switch p := ps.third; {
	case p == nil:
		return
	case slices.Contains(ps.stack, p):
		ps.before = p
	default:
		leavePanel(p)
	}
	ps.third = nil
}

// followList updates the panes to the exchange selected in the list, once the selection has rested for a moment or a
// second has passed. While the detail is being read, it does not change.
func (ps *panes) followList() tea.Cmd {
	seq := ps.list.Selected()
	switch {
	case ps.count() == 1 || seq == ps.seq || ps.detail != nil && slices.Contains(ps.stack, panel.Panel(ps.detail)):
		return nil
	case seq == 0:
		if len(ps.stack) == 1 {
			ps.dropPanes()
		}
		return nil
	case ps.detail == nil:
		return ps.showBeside(analysis.Place{Exchange: seq})
	}
	ps.seq = seq
	if ps.since.IsZero() {
		ps.since = time.Now()
	}
	if time.Since(ps.since) > settleAtTheMost {
		return ps.showBeside(analysis.Place{Exchange: seq})
	}
	ps.ticket = ps.shared.Ticket()
	load, rested := ps.shared.Load, settled{ps.ticket}
	return func() tea.Msg {
		load.Pause(settlePause)
		return rested
	}
}

// settle shows the selected exchange at the end of the pause.
func (ps *panes) settle(msg settled) tea.Cmd {
	if msg.ticket != ps.ticket || ps.detail == nil {
		return nil
	}
	return ps.showBeside(analysis.Place{Exchange: ps.seq})
}

// showBeside shows a place in the detail pane, and the third pane for its exchange.
func (ps *panes) showBeside(at analysis.Place) tea.Cmd {
	ps.seq, ps.since, ps.ticket = at.Exchange, time.Time{}, 0
	if d := ps.detail; d != nil && d.Seq == at.Exchange && d.Err == nil {
		return tea.Batch(d.TurnTo(at), ps.showThird())
	}
	next := detail.New(ps.shared, at)
	if old := ps.detail; old != nil {
		next.ShowAs(old)
		old.Leave()
		if i := slices.Index(ps.stack, panel.Panel(old)); i >= 0 {
			ps.stack[i] = next
		}
	}
	ps.detail = next
	return tea.Batch(ps.fit(next), next.Begin(), ps.showThird())
}

// showThird fills the third pane: with the findings if the exchange has any, otherwise with its ladder. While the third
// pane has the focus, it does not change.
func (ps *panes) showThird() tea.Cmd {
	if ps.count() < 3 || ps.seq == 0 || ps.third != nil && slices.Contains(ps.stack, ps.third) {
		return nil
	}
	if len(ps.shared.Found.ByExchange[ps.seq]) > 0 {
		f, is := ps.third.(*findings.Panel)
		if !is {
			ps.dropThird()
			f = findings.New(ps.shared)
			ps.third = f
		}
		cmd := ps.fit(f)
		f.First(ps.seq)
		f.FitPanes()
		return cmd
	}
	if f, is := ps.third.(*ladder.Panel); is && f.TurnTo(ps.seq) {
		return f.ShowMessage(false)
	}
	ps.dropThird()
	f := ladder.New(ps.shared, ps.seq)
	ps.third = f
	return tea.Batch(ps.fit(f), f.Begin())
}

// focusNext moves the focus from pane to pane, in a direction.
func (ps *panes) focusNext(step int) tea.Cmd {
	list := ps.layout()
	i := slices.IndexFunc(list, func(at pane) bool { return at.panel == ps.top() })
	return ps.focus(list[(i+step+len(list))%len(list)].panel)
}

// focus gives a pane the focus.
func (ps *panes) focus(p panel.Panel) tea.Cmd {
	ps.stack = ps.stack[:1]
	var cmd tea.Cmd
	if p != ps.third {
		cmd = ps.showThird()
	}
	if p == panel.Panel(ps.list) || !ps.isPane(p) {
		return cmd
	}
	if p == panel.Panel(ps.detail) && ps.seq != ps.detail.Seq { // the selection in the list moved a moment ago
		cmd = tea.Batch(cmd, ps.showBeside(analysis.Place{Exchange: ps.seq}))
		p = ps.detail
	}
	ps.stack = append(ps.stack, p)
	return cmd
}

// openBeside shows a place in the detail next to the list, and focuses it.
func (ps *panes) openBeside(at analysis.Place) tea.Cmd {
	var cmd tea.Cmd
	if at.Exchange != ps.list.Selected() {
		ps.list.Reveal(at.Exchange)
		cmd = ps.list.Choose(at.Exchange)
	}
	cmd = tea.Batch(cmd, ps.showBeside(at))
	ps.stack = append(ps.stack[:1], ps.detail)
	return cmd
}

// onePane shows only the focused panel, or all panes again.
func (ps *panes) onePane() tea.Cmd {
	ps.alone = !ps.alone
	return ps.arrange()
}

// nothing is the contents of an empty pane.
type nothing struct{}

func (nothing) Resize(int, int) tea.Cmd { return nil }

func (nothing) Update(tea.Msg) tea.Cmd { return nil }

func (nothing) View() []style.Line {
	return []style.Line{style.Text(style.Dim, "  nothing is selected")}
}

func (nothing) Scope() keys.Scope { return keys.InPage }

func (nothing) Title() string { return "" }

func (nothing) Status() string { return "" }

func (nothing) Target() analysis.Place { return analysis.Place{} }

// whyOnePane explains why the screen has only one pane.
func (ps *panes) whyOnePane() string {
	switch {
	case ps.alone:
		return "only one pane is shown; z shows the others again"
	case ps.count() == 1:
		return "there is room for only one pane; two need 110 columns and 8 lines"
	case !ps.split():
		return "this panel has the whole screen"
	}
	return ""
}

// draw draws the panes, each below its title. The focused pane's title is in brackets, on a heavy line.
func (ps *panes) draw() []style.Line {
	rows := make([]style.Line, ps.panelHeight())
	for i, at := range ps.layout() {
		bar := "┬"
		for y := range rows {
			if i > 0 {
				rows[y] = rows[y].Add(style.Dim, bar)
			}
			bar = "│"
		}
		ps.drawPane(rows, at)
	}
	return rows
}

// drawPane adds the lines of a pane to rows of the screen.
func (ps *panes) drawPane(rows []style.Line, at pane) {
	focused := at.panel == ps.top()
	lines := append([]style.Line{ps.drawTitle(at, focused)}, at.panel.View()...)
	for y := range rows {
		l := style.Line{}
		if y < len(lines) {
			l = lines[y]
		}
		rows[y] = rows[y].Join(l.InPane(at.width, focused))
	}
}

// drawTitle draws the title of a pane. The counts of the list are in the title of the screen.
func (ps *panes) drawTitle(at pane, focused bool) style.Line {
	name, status := at.panel.Title(), at.panel.Status()
	switch p := at.panel.(type) {
	case *list.Panel:
		status = ""
	case *detail.Panel:
		name = "exchange " + p.Title()
	}
	rule, look := "─", style.Dim
	title := " " + text.Clip(name, at.width-6) + " "
	if focused {
		rule, look = "━", style.Title
		title = "┫" + title + "┣"
	}
	if name == "" {
		title = ""
	}
	title = rule + title
	if status != "" {
		status = " " + text.Clip(status, at.width-text.Width(title)-6) + " "
	}
	room := at.width - text.Width(title) - text.Width(status) - 1
	if room < 1 {
		status, room = "", at.width-text.Width(title)-1
	}
	return style.Text(look, title+strings.Repeat(rule, max(room, 0))).Add(style.Dim, status).Add(look, rule)
}
