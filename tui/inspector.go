package tui

import (
	"io"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
)

// An inspector is the whole screen: a stack of panels, of which the top one is seen, between a title and a last line. It
// tells panels of keys and of what was loaded, keeps the scene, and knows nothing of what panels show.
type inspector struct {
	options Options
	scene   *scene
	list    *list
	stack   []panel // from the list up
	width   int
	height  int
	said    string // in the last line, until the next key
	asking  bool   // whether to quit, since that ends a recording
	mouse   bool
	engine  *analyzer.Engine
	out     io.Writer // the terminal, for what is not drawn; nil if there is none
}

// saying is something to be said in the last line.
type saying string

// say returns a command that says something in the last line.
func say(words string) tea.Cmd { return func() tea.Msg { return saying(words) } }

func newInspector(load *loader, o Options) *inspector {
	s := &scene{load: load, theme: o.Theme}
	m := &inspector{options: o, scene: s, list: newList(s, o.Hints), engine: analyzer.NewEngine(load.rules)}
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
		return s.load.watch(msg.next)
	}
	first, was := !s.opened, s.info.Live
	s.trouble, m.list.err = "", nil
	s.info, s.opened = msg.info, true
	s.info.Live = msg.info.Live && !msg.ended
	s.wasLive = s.wasLive || s.info.Live
	var cmds []tea.Cmd
	if first {
		m.list.newest()
		cmds = append(cmds, m.list.apply(m.options.Filter))
		s.judged.behind = s.info.Arrivals > 0
		cmds = append(cmds, s.load.judge(m.engine, 1))
	}
	if was && !s.info.Live {
		m.said = "the recording has ended; this is all of it"
		m.list.follow = false
	}
	if s.info.Live {
		cmds = append(cmds, s.load.watch(msg.next))
	}
	return tea.Batch(append(cmds, m.tell(changed{msg.seqs}))...)
}

// judge takes what the rules found, and lets them go on.
func (m *inspector) judge(msg judged) tea.Cmd {
	s := m.scene
	s.found.add(msg.findings)
	findings := msg.findings
	msg.findings = nil
	s.judged = msg
	if msg.err != nil {
		s.trouble = "the rules stopped: " + msg.err.Error()
	}
	var cmds []tea.Cmd
	if !msg.ended {
		cmds = append(cmds, s.load.judge(m.engine, msg.next))
	}
	if len(findings) > 0 {
		cmds = append(cmds, m.tell(learned{exchangesOf(findings)}))
	}
	return tea.Batch(cmds...)
}

// key looks a key up in the table and does what it says.
func (m *inspector) key(msg tea.KeyMsg) tea.Cmd {
	m.said = ""
	switch msg.String() {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
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

// do does what is for the whole screen, and tells the top panel of everything else.
func (m *inspector) do(a action) tea.Cmd {
	top, s := m.top(), m.scene
	at := top.target()
	switch a {
	case quit:
		return m.quit()
	case leave, goBack:
		return m.back(a)
	case showHelp:
		if _, there := top.(*page); there {
			return nil
		}
		return m.push(newHelp(top.place()))
	case showDetail:
		return m.openDetail(at)
	case openIt:
		if _, there := top.(*detail); !there {
			return m.openDetail(at)
		}
	case showLadder:
		f := newFlow(s, at.Exchange)
		return tea.Batch(m.push(f), f.begin())
	case showFindings:
		return m.openFindings(at.Exchange)
	case nextPane:
		if top == panel(m.list) {
			return m.openFindings(0)
		}
	case nextFinding, previousFinding:
		if d, ok := top.(*detail); ok && d.ready {
			return m.leap(d, map[action]int{nextFinding: 1, previousFinding: -1}[a])
		}
	case nextExchange, previousExchange:
		return m.neighbour(map[action]action{nextExchange: goDown, previousExchange: goUp}[a])
	case copyCurl:
		return s.load.curl(at.Exchange, m.options.Curl)
	case changeClock:
		s.deltas = !s.deltas
		return m.tell(retimed{})
	case changeTheme:
		s.theme = s.theme.next()
		m.said = "theme: " + string(s.theme)
		return nil
	case toggleMouse:
		return m.toggleMouse()
	}
	return top.update(a)
}

func (m *inspector) push(p panel) tea.Cmd {
	m.stack = append(m.stack, p)
	return p.resize(m.width, m.room())
}

// typing reports whether keys go to the line of the filter.
func (m *inspector) typing() bool { return m.list.bar != nil && len(m.stack) == 1 }

// back goes one step back. On the list, esc takes the filter off, and q quits.
func (m *inspector) back(a action) tea.Cmd {
	switch {
	case len(m.stack) > 1:
		m.stack = m.stack[:len(m.stack)-1]
		return m.top().resize(m.width, m.room())
	case a == leave:
		return m.quit()
	}
	return m.list.update(a)
}

// quit leaves, but asks first where that ends more than the looking.
func (m *inspector) quit() tea.Cmd {
	if m.options.QuitEnds == "" {
		return tea.Quit
	}
	m.asking = true
	return nil
}

func (m *inspector) openDetail(at analyzer.Place) tea.Cmd {
	d := newDetail(m.scene, at)
	return tea.Batch(m.push(d), d.begin())
}

func (m *inspector) openFindings(seq uint64) tea.Cmd {
	f := newFindings(m.scene)
	cmd := m.push(f)
	f.first(seq)
	f.settle()
	return cmd
}

// leap goes to the next finding in the detail, or to the next exchange that has one.
func (m *inspector) leap(d *detail, step int) tea.Cmd {
	if d.jump(step) {
		return d.summarise()
	}
	s := m.scene
	seq := s.found.next(d.seq, step)
	if m.list.search != nil {
		seq = s.found.nextOf(m.list.search.matches, d.seq, step)
	}
	found := s.found.of(seq)
	if seq == 0 || len(found) == 0 {
		m.said = "no further finding in this direction"
		return nil
	}
	at := found[0].Place
	if step < 0 {
		at = found[len(found)-1].Place
	}
	return m.replace(d, at)
}

// neighbour shows the exchange beside the one in the detail, in the order of the list.
func (m *inspector) neighbour(a action) tea.Cmd {
	d, ok := m.top().(*detail)
	if !ok {
		return nil
	}
	m.list.anchor = d.seq
	cmd := m.list.settle()
	cmd = tea.Batch(cmd, m.list.act(a))
	if seq := m.list.selected(); seq != d.seq && seq != 0 {
		return tea.Batch(cmd, m.replace(d, analyzer.Place{Exchange: seq}))
	}
	m.said = "that is the last one of the list"
	return cmd
}

// replace shows another exchange in place of one.
func (m *inspector) replace(d *detail, at analyzer.Place) tea.Cmd {
	m.stack = m.stack[:len(m.stack)-1]
	m.list.anchor = at.Exchange
	next := newDetail(m.scene, at)
	next.mode = d.mode
	return tea.Batch(m.list.settle(), m.push(next), next.begin())
}

func (m *inspector) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.said = "mouse on: the wheel moves, a click selects; m gives it back to the terminal"
		return tea.EnableMouseCellMotion
	}
	m.said = "mouse off: the terminal selects text"
	return tea.DisableMouse
}

// point takes the mouse: the wheel moves, and a click on the list selects.
func (m *inspector) point(msg tea.MouseMsg) tea.Cmd {
	switch {
	case msg.Button == tea.MouseButtonWheelUp:
		return m.top().update(goUp)
	case msg.Button == tea.MouseButtonWheelDown:
		return m.top().update(goDown)
	case msg.Button == tea.MouseButtonLeft && msg.Action == tea.MouseActionPress && m.top() == panel(m.list):
		if i := m.list.window.top + msg.Y - 2; msg.Y >= 2 && i < m.list.window.bottom() {
			m.list.window.move(i)
			m.list.anchor = m.list.selected()
		}
	}
	return nil
}

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
