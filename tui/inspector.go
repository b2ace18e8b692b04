package tui

import (
	"io"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture/notes"
	"a2atap/tui/command"
)

// An inspector is the whole screen: a stack of panels, of which the top one is visible, between a title and a last line.
// On a wide screen the first of them stand side by side, and the top one has the focus. It passes keys and messages to
// panels and owns the state that they share, but not what they show.
type inspector struct {
	options  Options
	shared   *shared
	list     *list
	stack    []panel // from the list up
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

// A statusMessage is shown in the last line.
type statusMessage string

// showMessage returns a command that shows words in the last line.
func showMessage(words string) tea.Cmd { return func() tea.Msg { return statusMessage(words) } }

func newInspector(load *loader, o Options) *inspector {
	if load.verdicts = o.Verdicts; load.verdicts != nil {
		load.links = &o.Verdicts.links
	}
	load.notes = notes.NewKeeper(o.Notes)
	if o.Reading != nil && o.Verdicts == nil {
		load.kept = newKeptReading(o.Reading)
		load.kept.making = o.Making
	}
	s := &shared{load: load, theme: o.Theme, location: o.Location}
	m := &inspector{options: o, shared: s, list: newList(s, o.Hints), mouse: o.Mouse, doing: doing{exec: tea.ExecProcess}}
	m.stack = []panel{m.list}
	return m
}

func (m *inspector) top() panel { return m.stack[len(m.stack)-1] }

// Init implements tea.Model.
func (m *inspector) Init() tea.Cmd {
	begin := tea.Batch(m.shared.load.readNotes(), m.shared.load.open(), m.shared.load.watchServer(false))
	if m.mouse {
		return tea.Batch(tea.EnableMouseCellMotion, begin)
	}
	return begin
}

// Update implements tea.Model. Whatever takes time is left to the commands that it returns.
func (m *inspector) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.shared.spinner++
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
	case grown:
		return m.grow(msg)
	case judged:
		return m.judge(msg)
	case copied:
		return m.copied(msg)
	case settled:
		return m.settle(msg)
	case reached:
		return m.reach(msg)
	case firstStarted:
		return m.knowFirst(msg)
	case cardsLearned:
		return m.learned(msg)
	case statusMessage:
		m.shared.message = string(msg)
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
		cmds = append(cmds, p.update(msg))
	}
	return tea.Batch(cmds...)
}

// panelHeight is the height of a panel that has the whole screen, in lines.
func (m *inspector) panelHeight() int { return max(m.height-2, 0) }

// grow updates the state of the capture, and continues to watch it if it is growing.
func (m *inspector) grow(msg grown) tea.Cmd {
	s := m.shared
	if msg.err != nil {
		s.followErr = msg.err.Error()
		m.list.err = msg.err
		if !s.opened {
			return nil
		}
		return m.watch(msg.next)
	}
	first, was := !s.opened, s.info.Live
	s.followErr, m.list.err = "", nil
	if !s.judged.ended {
		s.judged.err = nil
	}
	s.info, s.opened = msg.info, true
	s.info.Live = msg.info.Live && !msg.ended
	s.wasLive = s.wasLive || s.info.Live
	var cmds []tea.Cmd
	if first {
		m.list.newest()
		cmds = append(cmds, m.list.apply(m.options.Filter))
		s.judged.behind = s.info.Arrivals > 0
		cmds = append(cmds, s.load.judge(), s.load.awaitJudged())
	}
	m.liveChanged(first, was)
	return tea.Batch(append(cmds, s.learnCards(), s.needFirst(), m.watch(msg.next), m.broadcast(exchangesChanged{msg.seqs}))...)
}

// judge adds new findings, and waits for the next.
func (m *inspector) judge(msg judged) tea.Cmd {
	s := m.shared
	findings, further := msg.findings, msg.further
	msg.findings, msg.further = nil, findingIndex{}
	touched := findings
	if msg.restarted {
		touched = append(s.found.list, findings...) // those that were dropped have changed, too
		s.found = findingIndex{}
	}
	s.found.add(findings)
	s.found.merge(&further)
	m.noticed(&msg)
	s.judged = msg
	var cmds []tea.Cmd
	if msg.lost != "" {
		s.message = msg.lost
		cmds = append(cmds, s.learnCards())
	}
	if !msg.ended || s.load.resumes() || s.load.kept.reading() != nil {
		cmds = append(cmds, s.load.awaitJudged())
	}
	if changed := exchangesOf(touched, further.marks); len(changed) > 0 {
		cmds = append(cmds, m.broadcast(findingsChanged{changed}))
		if _, mine := slices.BinarySearch(changed, m.panes.seq); mine {
			cmds = append(cmds, m.showThird())
		}
	}
	if len(msg.rows) > 0 {
		cmds = append(cmds, m.broadcast(rowsChanged{msg.rows}))
	}
	cmds = append(cmds, m.broadcast(linksChanged{}))
	return tea.Batch(cmds...)
}

// noticed shows the notice of a message. An earlier one that is still shown goes when nothing waits to be judged.
func (m *inspector) noticed(msg *judged) {
	if !msg.behind && m.shared.message == m.notice {
		m.shared.message = ""
	}
	if msg.notice != "" {
		m.shared.message, m.notice = msg.notice, msg.notice
	}
}

// key looks up a key in the table and performs its action.
func (m *inspector) key(msg tea.KeyMsg) tea.Cmd {
	m.shared.message, m.doing.preparing, m.clicked = "", 0, clickedAt{}
	if k := lookup(msg.String(), m.top().place()); k != nil {
		switch k.do {
		case quitNow:
			return tea.Quit
		case suspend:
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
		return m.list.typing(msg)
	}
	if msg.Paste {
		return nil
	}
	if msg.String() == "esc" && m.stopSending() {
		return nil
	}
	if menu, is := m.top().(*menu); is {
		if c := menu.chosen(msg.String()); c != nil {
			return m.choose(c)
		}
	}
	k := lookup(msg.String(), m.top().place())
	if k == nil {
		m.shared.message = m.nothing(msg.String())
		return nil
	}
	if why := k.why(m); why != "" {
		m.shared.message = k.names[0] + ": " + why
		return nil
	}
	return m.perform(k.do)
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
	if in := placesOf(name); in != 0 {
		return name + ": not here; in " + in.String()
	}
	if m.unknown {
		return name + ": no such key"
	}
	m.unknown = true
	return name + ": no such key; ? for help"
}

// typing reports whether keys go to the filter line.
func (m *inspector) typing() bool { return m.list.bar != nil && len(m.stack) == 1 }

// View implements tea.Model.
func (m *inspector) View() string {
	var b strings.Builder
	for i, l := range m.frame() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.paint(m.shared.theme))
	}
	return b.String()
}
