package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/keys"
	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A menu is a panel of choices. One is made with its key, or with enter; the menu is then gone.
type menu struct {
	name    string
	of      analyzer.Place // what the choices are about
	above   []style.Line   // what the choices are about, in words
	choices []choice
	window  panel.Window
	height  int
}

// A choice is a row of a menu.
type choice struct {
	key   string // one character, or empty
	also  string // another key, which is not shown; or empty
	words string
	off   string // why it cannot be chosen now, or empty
	do    func() tea.Cmd

	informed bool // what stands above the choices has to be seen before it is made
}

func newMenu(name string, of analyzer.Place, choices []choice) *menu {
	return &menu{name: name, of: of, choices: choices, window: panel.Window{Length: len(choices)}}
}

func (m *menu) Scope() keys.Scope { return keys.InMenu }

func (m *menu) Title() string { return m.name }

func (m *menu) Status() string { return "" }

func (m *menu) Target() analyzer.Place { return m.of }

func (m *menu) Resize(width, height int) tea.Cmd {
	m.window.Width, m.height = width, max(height, 0)
	m.window.Height = max(m.height-len(m.heading()), min(len(m.choices), m.height))
	m.window.Reveal()
	return nil
}

// heading lays out what is above the choices.
func (m *menu) heading() []style.Line {
	var lines []style.Line
	for _, l := range m.above {
		lines = append(lines, style.Text(style.Normal, " ").Join(l).Wrap(max(m.window.Width, 8), 3)...)
	}
	if len(lines) > 0 {
		lines = append(lines, style.Line{})
	}
	return lines
}

func (m *menu) Update(msg tea.Msg) tea.Cmd {
	if a, ok := msg.(keys.Action); ok {
		m.window.Act(a)
	}
	return nil
}

// chosen returns the choice that a key makes, or nil.
func (m *menu) chosen(key string) *choice {
	if key == "enter" && m.window.Cursor < len(m.choices) {
		return &m.choices[m.window.Cursor]
	}
	if i := slices.IndexFunc(m.choices, func(c choice) bool {
		return c.key != "" && c.key == key || c.also != "" && c.also == key
	}); i >= 0 {
		return &m.choices[i]
	}
	return nil
}

func (m *menu) View() []style.Line {
	lines := m.heading()
	lines = lines[:max(min(len(lines), m.height-m.window.Height), 0)]
	for i := m.window.Top; i < m.window.Bottom(); i++ {
		c := &m.choices[i]
		look, cursor := style.Normal, " "
		if c.off != "" {
			look = style.Dim
		}
		if i == m.window.Cursor {
			cursor = ">"
		}
		row := style.Line{Selected: i == m.window.Cursor}.Add(style.Strong, cursor+" "+text.Pad(c.key, 3)).Add(look, c.words)
		if c.off != "" {
			row = row.Add(style.Dim, " ("+c.off+")")
		}
		lines = append(lines, row)
	}
	return lines
}

// cut reports whether there is no room for what is above the choices.
func (m *menu) cut() bool { return len(m.heading()) > m.height-m.window.Height+1 }

// choose makes a choice of the menu on top, and takes the menu away. One that needs what is above it to have been read
// is not made where there is no room for that.
func (m *inspector) choose(c *choice) tea.Cmd {
	if c.off != "" {
		m.shared.Message = c.off
		return nil
	}
	if menu, is := m.top().(*menu); is && c.informed && menu.cut() {
		m.shared.Message = "there is no room to say what this does; make the window larger"
		return nil
	}
	m.stack = m.stack[:len(m.stack)-1]
	return tea.Batch(m.fit(m.top()), c.do())
}
