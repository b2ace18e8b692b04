package tui

import (
	"io"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture/notes"
	"a2atap/tui/command"
	"a2atap/tui/keys"
	"a2atap/tui/list"
	"a2atap/tui/load"
	"a2atap/tui/menu"
	"a2atap/tui/panel"
)

// learned shows what is known better by now.
func (m *inspector) learned(msg panel.CardsLearned) tea.Cmd {
	s := m.shared
	s.Learning, s.Learnt = false, msg.UpTo
	if msg.Err != nil && s.Load.Context.Err() == nil {
		s.Message = "agent cards cannot be read: " + msg.Err.Error()
	}
	if !msg.Any {
		return s.LearnCards()
	}
	return tea.Batch(s.LearnCards(), m.broadcast(msg))
}

// knowFirst takes when the first exchange began.
func (m *inspector) knowFirst(msg panel.FirstStarted) tea.Cmd {
	if msg.Err != nil {
		m.shared.Message = "T: " + msg.Err.Error()
	}
	m.shared.First = msg.At
	return nil
}

// An inspector is the whole screen: a stack of panels, of which the top one is visible, between a title and a last line.
// On a wide screen the first of them stand side by side, and the top one has the focus. It passes keys and messages to
// panels and owns the state that they share, but not what they show.
type inspector struct {
	options  Options
	shared   *panel.Shared
	list     *list.Panel
	stack    []panel.Panel // from the list up
	width    int
	height   int
	notice   string    // the last one that came with a verdict
	question *question // that waits for a key; nil if none does
	prompt   *prompt   // in which something is typed; nil if nothing is
	history  command.History
	unknown  bool // a key that is none was explained
	clicked  clickedAt
	followed bool  // the list was following when the recording ended
	panes    panes // that stand beside the list on a wide screen
	mouse    bool
	doing    doing     // what was begun with the keys that do something
	out      io.Writer // the terminal, for what is not drawn; nil if there is none
}

func newInspector(l *load.Loader, o Options) *inspector {
	if l.Verdicts = o.Verdicts; l.Verdicts != nil {
		l.Links = &o.Verdicts.Links
	}
	l.Notes = notes.NewKeeper(o.Notes)
	if o.Reading != nil && o.Verdicts == nil {
		l.Reading = load.NewReading(o.Reading)
	}
	s := &panel.Shared{Load: l, Theme: o.Theme, Location: o.Location}
	m := &inspector{options: o, shared: s, list: list.New(s, o.Hints), mouse: o.Mouse, doing: doing{exec: tea.ExecProcess}}
	m.stack = []panel.Panel{m.list}
	return m
}

func (m *inspector) top() panel.Panel { return m.stack[len(m.stack)-1] }

// Init implements tea.Model.
func (m *inspector) Init() tea.Cmd {
	begin := tea.Batch(readNotes(m.shared.Load), m.shared.Load.Open(), m.shared.Load.WatchServer(false))
	if m.mouse {
		return tea.Batch(tea.EnableMouseCellMotion, begin)
	}
	return begin
}

// Update implements tea.Model. Whatever takes time is left to the commands that it returns.
func (m *inspector) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.handle(msg)
	return m, tea.Batch(cmd, m.followList())
}

func (m *inspector) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m.arrange()
	case tea.KeyMsg:
		return m.key(msg)
	case tea.MouseMsg:
		return m.mouseEvent(msg)
	case load.Grown:
		return m.grow(msg)
	case load.Judged:
		return m.judge(msg)
	case copied:
		return m.copied(msg)
	case settled:
		return m.settle(msg)
	case load.Reached:
		return m.reach(msg)
	case panel.FirstStarted:
		return m.knowFirst(msg)
	case panel.CardsLearned:
		return m.learned(msg)
	case panel.Status:
		m.shared.Message = string(msg)
		return nil
	}
	if cmd, was := m.done(msg); was {
		return cmd
	}
	return tea.Batch(m.broadcast(msg), m.performPending())
}

// broadcast passes a message to all panels, since those below the top one may be loading, too.
func (m *inspector) broadcast(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.panels() {
		cmds = append(cmds, p.Update(msg))
	}
	return tea.Batch(cmds...)
}

// panelHeight is the height of a panel that has the whole screen, in lines.
func (m *inspector) panelHeight() int { return max(m.height-2, 0) }

// grow updates the state of the capture, and continues to watch it if it is growing.
func (m *inspector) grow(msg load.Grown) tea.Cmd {
	s := m.shared
	if msg.Err != nil {
		s.FollowErr = msg.Err.Error()
		m.list.Err = msg.Err
		if !s.Opened {
			return nil
		}
		return m.watch(msg.Next)
	}
	first, was := !s.Opened, s.Info.Live
	s.FollowErr, m.list.Err = "", nil
	if !s.Judged.Ended {
		s.Judged.Err = nil
	}
	s.Info, s.Opened = msg.Info, true
	s.Info.Live = msg.Info.Live && !msg.Ended
	s.WasLive = s.WasLive || s.Info.Live
	var cmds []tea.Cmd
	if first {
		m.list.Newest()
		cmds = append(cmds, m.list.Apply(m.options.Filter))
		s.Judged.Behind = s.Info.Arrivals > 0
		cmds = append(cmds, s.Load.Judge(), s.Load.AwaitJudged())
	}
	m.liveChanged(first, was)
	return tea.Batch(append(cmds, s.LearnCards(), s.NeedFirst(), m.watch(msg.Next), m.broadcast(panel.ExchangesChanged{Seqs: msg.Seqs}))...)
}

// judge adds new findings, and waits for the next.
func (m *inspector) judge(msg load.Judged) tea.Cmd {
	s := m.shared
	findings, further := msg.Findings, msg.Further
	msg.Findings, msg.Further = nil, load.Findings{}
	touched := findings
	if msg.Restarted {
		touched = append(s.Found.List, findings...) // those that were dropped have changed, too
		s.Found = load.Findings{}
	}
	s.Found.Add(findings)
	s.Found.Merge(&further)
	m.noticed(&msg)
	s.Judged = msg
	var cmds []tea.Cmd
	if msg.Lost != "" {
		s.Message = msg.Lost
		cmds = append(cmds, s.LearnCards())
	}
	if !msg.Ended || s.Load.Resumes() || s.Load.Reading.Now() != nil {
		cmds = append(cmds, s.Load.AwaitJudged())
	}
	if changed := exchangesOf(touched, further.Marks); len(changed) > 0 {
		cmds = append(cmds, m.broadcast(panel.FindingsChanged{Seqs: changed}))
		if _, mine := slices.BinarySearch(changed, m.panes.seq); mine {
			cmds = append(cmds, m.showThird())
		}
	}
	if len(msg.Rows) > 0 {
		cmds = append(cmds, m.broadcast(panel.RowsChanged{Seqs: msg.Rows}))
	}
	cmds = append(cmds, m.broadcast(panel.LinksChanged{}))
	return tea.Batch(cmds...)
}

// noticed shows the notice of a message. An earlier one that is still shown goes when nothing waits to be judged.
func (m *inspector) noticed(msg *load.Judged) {
	if !msg.Behind && m.shared.Message == m.notice {
		m.shared.Message = ""
	}
	if msg.Notice != "" {
		m.shared.Message, m.notice = msg.Notice, msg.Notice
	}
}

// key looks up a key in the table and performs its action.
func (m *inspector) key(msg tea.KeyMsg) tea.Cmd {
	m.shared.Message, m.doing.preparing, m.clicked = "", 0, clickedAt{}
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
		return m.list.Type(msg)
	}
	if msg.Paste {
		return nil
	}
	if msg.String() == "esc" && m.stopSending() {
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
	if why := m.Why(k); why != "" {
		m.shared.Message = k.Names[0] + ": " + why
		return nil
	}
	return m.perform(k.Action)
}

// oneByOne handles keys that were pressed faster than they were read, and come as one.
func (m *inspector) oneByOne(msg tea.KeyMsg) tea.Cmd {
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}))
	}
	return tea.Batch(cmds...)
}

// nothing says why a key does nothing in the top panel. Where to find the keys that there are it says once.
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

// typing reports whether keys go to the filter line.
func (m *inspector) typing() bool { return m.list.Typing() && len(m.stack) == 1 }

// View implements tea.Model.
func (m *inspector) View() string {
	var b strings.Builder
	for i, l := range m.frame() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Paint(m.shared.Theme))
	}
	return b.String()
}
