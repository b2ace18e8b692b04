package tui

import (
	"io"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// An inspector is the whole screen: a stack of panels, of which the top one is seen, between a title and a last line. It
// tells panels of keys and of what was loaded, keeps the scene, and knows nothing of what panels show.
type inspector struct {
	options  Options
	scene    *scene
	list     *list
	stack    []panel // from the list up
	width    int
	height   int
	said     string // in the last line, until the next key
	asking   bool   // whether to quit, since that ends a recording
	followed bool   // the list followed the recording when that ended
	mouse    bool
	out      io.Writer // the terminal, for what is not drawn; nil if there is none
}

// saying is something to be said in the last line.
type saying string

// say returns a command that says something in the last line.
func say(words string) tea.Cmd { return func() tea.Msg { return saying(words) } }

func newInspector(load *loader, o Options) *inspector {
	s := &scene{load: load, theme: o.Theme}
	m := &inspector{options: o, scene: s, list: newList(s, o.Hints)}
	m.stack = []panel{m.list}
	return m
}

func (m *inspector) top() panel { return m.stack[len(m.stack)-1] }

// Init implements tea.Model.
func (m *inspector) Init() tea.Cmd { return m.scene.load.open() }

// Update implements tea.Model. It does nothing that takes time: that is for the commands that it returns.
func (m *inspector) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.scene.spinner++
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, m.resize()
	case tea.KeyMsg:
		return m, m.key(msg)
	case tea.MouseMsg:
		return m, m.point(msg)
	case grown:
		return m, m.grow(msg)
	case judged:
		return m, m.judge(msg)
	case copied:
		return m, m.copied(msg)
	case saying:
		m.said = string(msg)
		return m, nil
	}
	return m, m.tell(msg)
}

// tell tells all panels, since those below the top one go on loading.
func (m *inspector) tell(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.stack {
		cmds = append(cmds, p.update(msg))
	}
	return tea.Batch(cmds...)
}

func (m *inspector) resize() tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.stack {
		cmds = append(cmds, p.resize(m.width, m.room()))
	}
	return tea.Batch(cmds...)
}

// room is the height of a panel.
func (m *inspector) room() int { return max(m.height-2, 0) }

// grow takes the capture as it is now, and goes on watching it if it is growing.
func (m *inspector) grow(msg grown) tea.Cmd {
	s := m.scene
	if msg.err != nil {
		s.trouble = msg.err.Error()
		m.list.err = msg.err
		if !s.opened {
			return nil
		}
		return m.watch(msg.next)
	}
	first, was := !s.opened, s.info.Live
	s.trouble, m.list.err, s.judged.err = "", nil, nil
	s.info, s.opened = msg.info, true
	s.info.Live = msg.info.Live && !msg.ended
	s.wasLive = s.wasLive || s.info.Live
	var cmds []tea.Cmd
	if first {
		m.list.newest()
		cmds = append(cmds, m.list.apply(m.options.Filter))
		s.judged.behind = s.info.Arrivals > 0
		cmds = append(cmds, s.load.judge(), s.load.hear())
	}
	m.relive(first, was)
	return tea.Batch(append(cmds, m.watch(msg.next), m.tell(changed{msg.seqs}))...)
}

// judge takes what the rules found, and lets them go on.
func (m *inspector) judge(msg judged) tea.Cmd {
	s := m.scene
	findings := msg.findings
	msg.findings = nil
	touched := findings
	if msg.anew {
		touched = append(s.found.list, findings...) // those that are no more are learned too
		s.found = ledger{}
	}
	s.found.add(findings)
	s.judged = msg
	var cmds []tea.Cmd
	if !msg.ended || s.load.resumes() {
		cmds = append(cmds, s.load.hear())
	}
	if len(touched) > 0 {
		cmds = append(cmds, m.tell(learned{exchangesOf(touched)}))
	}
	return tea.Batch(cmds...)
}

// key looks a key up in the table and does what it says.
func (m *inspector) key(msg tea.KeyMsg) tea.Cmd {
	m.said = ""
	if k := lookup(msg.String(), m.top().place()); k != nil {
		switch k.do {
		case quitNow:
			return tea.Quit
		case suspend:
			return tea.Suspend
		}
	}
	if m.asking {
		m.asking = false
		if msg.String() == "Q" || msg.String() == "y" {
			return tea.Quit
		}
		return nil
	}
	if m.typing() {
		return m.list.typing(msg)
	}
	if msg.Paste {
		return nil
	}
	if len(msg.Runes) > 1 { // keys that were struck faster than they were read come as one
		var cmds []tea.Cmd
		for _, r := range msg.Runes {
			cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}))
		}
		return tea.Batch(cmds...)
	}
	k := lookup(msg.String(), m.top().place())
	if k == nil {
		return nil
	}
	if why := k.why(m); why != "" {
		m.said = k.names[0] + ": " + why
		return nil
	}
	return m.do(k.do)
}

// typing reports whether keys go to the line of the filter.
func (m *inspector) typing() bool { return m.list.bar != nil && len(m.stack) == 1 }

// View implements tea.Model.
func (m *inspector) View() string {
	var b strings.Builder
	for i, l := range m.frame() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.paint(m.scene.theme))
	}
	return b.String()
}
