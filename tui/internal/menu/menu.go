// Package menu is the panel of choices. A key or enter selects a choice, and closes the menu.
package menu

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A Menu is a panel of choices. A key or enter selects a choice, and closes the menu.
type Menu struct {
	name    string
	of      analysis.Place // the subject of the choices
	Above   []style.Line   // text about the choices
	Choices []Choice
	Window  panel.Window
	height  int
}

// A Choice is a row of a menu.
type Choice struct {
	Key   string // one character, or empty
	Also  string // another key, which is not shown; or empty
	Words string
	Off   string // why it is unavailable now, or empty
	Do    func() tea.Cmd

	Informed bool // the user must have seen the text above the choices before choosing
}

// New returns a menu of choices about a place.
func New(name string, of analysis.Place, choices []Choice) *Menu {
	return &Menu{name: name, of: of, Choices: choices, Window: panel.Window{Length: len(choices)}}
}

func (m *Menu) Scope() keys.Scope { return keys.InMenu }

func (m *Menu) Title() string { return m.name }

func (m *Menu) Status() string { return "" }

func (m *Menu) Target() analysis.Place { return m.of }

func (m *Menu) Resize(width, height int) tea.Cmd {
	m.Window.Width, m.height = width, max(height, 0)
	m.Window.Height = max(m.height-len(m.heading()), min(len(m.Choices), m.height))
	m.Window.Reveal()
	return nil
}

// heading lays out the text above the choices.
func (m *Menu) heading() []style.Line {
	var lines []style.Line
	for _, l := range m.Above {
		lines = append(lines, style.Text(style.Normal, " ").Join(l).Wrap(max(m.Window.Width, 8), 3)...)
	}
	if len(lines) > 0 {
		lines = append(lines, style.Line{})
	}
	return lines
}

func (m *Menu) Update(msg tea.Msg) tea.Cmd {
	if a, ok := msg.(keys.Action); ok {
		m.Window.Act(a)
	}
	return nil
}

// Chosen returns the choice with a key, or nil.
func (m *Menu) Chosen(key string) *Choice {
	if key == "enter" && m.Window.Cursor < len(m.Choices) {
		return &m.Choices[m.Window.Cursor]
	}
	if i := slices.IndexFunc(m.Choices, func(c Choice) bool {
		return c.Key != "" && c.Key == key || c.Also != "" && c.Also == key
	}); i >= 0 {
		return &m.Choices[i]
	}
	return nil
}

func (m *Menu) View() []style.Line {
	lines := m.heading()
	lines = lines[:max(min(len(lines), m.height-m.Window.Height), 0)]
	for i := m.Window.Top; i < m.Window.Bottom(); i++ {
		c := &m.Choices[i]
		look, cursor := style.Normal, " "
		if c.Off != "" {
			look = style.Dim
		}
		if i == m.Window.Cursor {
			cursor = ">"
		}
		row := style.Line{Selected: i == m.Window.Cursor}.Add(style.Strong, cursor+" "+text.Pad(c.Key, 3)).Add(look, c.Words)
		if c.Off != "" {
			row = row.Add(style.Dim, " ("+c.Off+")")
		}
		lines = append(lines, row)
	}
	return lines
}

// Cut reports whether the text above the choices does not fit.
func (m *Menu) Cut() bool { return len(m.heading()) > m.height-m.Window.Height+1 }

func (m *Menu) Click(y int) tea.Cmd {
	m.Window.Click(y)
	return nil
}
