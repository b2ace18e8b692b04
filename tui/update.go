package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture/notes"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/list"
	"a2atap/tui/internal/menu"
	"a2atap/tui/internal/panel"
	"a2atap/tui/load"
)

func newInspector(l *load.Loader, o Options) *inspector {
	l.View, l.Reading = o.View, load.NewReading(o.View)
	l.Notes = notes.NewKeeper(o.Notes)
	s := &panel.Shared{Load: l, Theme: o.Theme, Location: o.Location}
	m := &inspector{options: o, shared: s, list: list.New(s, o.Hints)}
	m.stack = []panel.Panel{m.list}
	m.panes.inspector, m.screen.inspector, m.follower.inspector = m, m, m
	m.commands.inspector, m.notebook.inspector, m.exporting.inspector, m.clipboard.inspector = m, m, m, m
	m.mouse = mouse{inspector: m, on: o.Mouse}
	m.outbox = outbox{inspector: m, exec: tea.ExecProcess}
	m.holding.inspector = m
	return m
}

// Init implements tea.Model.
func (m *inspector) Init() tea.Cmd {
	begin := tea.Batch(readNotes(m.shared.Load), m.shared.Load.Open(), m.shared.Load.WatchServer(false), m.holding.watch(),
		m.follower.awaitNotice())
	if m.mouse.on {
		return tea.Batch(tea.EnableMouseCellMotion, begin)
	}
	return begin
}

// Update implements tea.Model. It leaves slow work to the commands that it returns.
func (m *inspector) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.handle(msg)
	return m, tea.Batch(cmd, m.panes.followList())
}

func (m *inspector) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m.panes.arrange()
	case tea.KeyMsg:
		return m.key(msg)
	case tea.MouseMsg:
		return m.mouse.event(msg)
	case load.Grown:
		return m.follower.grow(msg)
	case load.Judged:
		return m.follower.judge(msg)
	case copied:
		return m.clipboard.copied(msg)
	case settled:
		return m.panes.settle(msg)
	case notice:
		m.shared.Message = string(msg)
		return m.follower.awaitNotice()
	case load.Reached:
		return m.follower.reached(msg)
	case panel.FirstStarted:
		return m.follower.knowFirst(msg)
	case panel.CardsLearned:
		return m.follower.learned(msg)
	case panel.Known:
		return m.broadcast(panel.CardsLearned{})
	case panel.Status:
		m.shared.Message = string(msg)
		return nil
	case noted:
		return m.notebook.noted(msg)
	case prepared:
		return m.outbox.prepared(msg)
	case editable:
		return m.outbox.openEditor(msg)
	case cameBack:
		return m.outbox.cameBack(msg)
	case exported:
		return m.exporting.exported(msg)
	}
	if cmd, mine := m.holding.take(msg); mine {
		return cmd
	}
	return tea.Batch(m.broadcast(msg), m.performPending())
}

// key looks up a key in the table and performs its action.
func (m *inspector) key(msg tea.KeyMsg) tea.Cmd {
	m.shared.Message, m.outbox.preparing, m.mouse.clicked = "", 0, clickedAt{}
	if k := keys.Lookup(msg.String(), m.top().Scope()); k != nil {
		switch k.Action {
		case keys.QuitNow:
			return tea.Quit
		case keys.Suspend:
			return tea.Suspend
		}
	}
	if len(msg.Runes) > 1 && !msg.Paste && m.prompt == nil && !m.typing() {
		return m.oneByOne(msg)
	}
	if q := m.question; q != nil {
		m.question = nil
		if answer := q.answers[msg.String()]; answer != nil {
			return answer()
		}
		return nil
	}
	if p := m.prompt; p != nil {
		cmd, over := p.key(msg)
		if over && m.prompt == p {
			m.prompt = nil
		}
		return cmd
	}
	if m.typing() {
		return m.list.Filter.Type(msg)
	}
	if msg.Paste {
		return nil
	}
	if msg.String() == "esc" && m.outbox.stopSending() {
		return nil
	}
	if menu, is := m.top().(*menu.Menu); is {
		if c := menu.Chosen(msg.String()); c != nil {
			return m.choose(c)
		}
	}
	k := keys.Lookup(msg.String(), m.top().Scope())
	if k == nil {
		m.shared.Message = m.nothing(msg.String())
		return nil
	}
	if why := m.why(k); why != "" {
		m.shared.Message = k.Names[0] + ": " + why
		return nil
	}
	return m.perform(k.Action)
}

// oneByOne handles several keys that the terminal library has read as one.
func (m *inspector) oneByOne(msg tea.KeyMsg) tea.Cmd {
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}))
	}
	return tea.Batch(cmds...)
}

// nothing explains why a key does nothing in the top panel. It mentions the help for keys once.
func (m *inspector) nothing(name string) string {
	if in := keys.ScopesOf(name); in != 0 {
		return name + ": not here; in " + in.String()
	}
	if m.unknown {
		return name + ": no such key"
	}
	m.unknown = true
	return name + ": no such key; ? for help"
}

// View implements tea.Model.
func (m *inspector) View() string {
	var b strings.Builder
	for i, l := range m.screen.frame() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Paint(m.shared.Theme))
	}
	return b.String()
}
