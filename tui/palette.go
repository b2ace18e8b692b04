package tui

import (
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/command"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A palette is a panel of all actions, narrowed to those that match the typed words.
type palette struct {
	of     analysis.Place // the previous selection
	all    []deed
	shown  []int // indices into all
	window panel.Window
}

// A deed is a row of the palette.
type deed struct {
	verb  verb
	key   string // as displayed; empty without a key
	words string
	off   string // why it is unavailable now, or ""
}

// openPalette opens the palette, and a prompt for the words.
func (c *commands) openPalette() tea.Cmd {
	p := &palette{of: c.top().Target(), all: c.deeds()}
	p.narrow("")
	prompt := newPrompt("do", "", func(string) (tea.Cmd, error) { return c.doSelected(p) })
	prompt.changed = func(words string) tea.Cmd {
		p.narrow(words)
		return nil
	}
	prompt.canceled = func() tea.Cmd { return c.back(keys.Back) }
	prompt.other = func(name string) (tea.Cmd, bool) {
		moves := map[string]keys.Action{
			"down": keys.Down, "up": keys.Up, "ctrl+n": keys.Down, "ctrl+p": keys.Up, "tab": keys.Down, "shift+tab": keys.Up,
			"pgdown": keys.PageDown, "pgup": keys.PageUp,
		}
		return nil, p.window.Act(moves[name])
	}
	c.prompt = prompt
	return c.push(p)
}

// deeds returns the actions available in the top panel, and then the unavailable ones, with the reasons.
func (c *commands) deeds() []deed {
	var can, cannot []deed
	in := c.top().Scope()
	for _, v := range verbs() {
		if v.do == keys.ShowPalette {
			continue
		}
		d := deed{verb: v, words: v.words}
		if v.do != keys.None {
			where := in
			if v.ofList {
				where = keys.InList
			}
			if k := keys.Of(v.do, where); k != nil {
				d.key, d.words, d.off = k.Label, k.Words, c.why(k)
			} else {
				d.off = c.unable(v.do)
			}
		}
		if d.off == "" {
			can = append(can, d)
		} else {
			cannot = append(cannot, d)
		}
	}
	return append(can, cannot...)
}

// doSelected closes the palette and runs the selected verb. A verb that needs an argument opens the command line.
func (c *commands) doSelected(p *palette) (tea.Cmd, error) {
	if p.window.Cursor >= len(p.shown) {
		return nil, errors.New("no action matches; esc goes back")
	}
	d := &p.all[p.shown[p.window.Cursor]]
	if d.off != "" {
		return nil, errors.New(d.off)
	}
	cmd := c.back(keys.Back)
	if d.verb.do == keys.None && d.verb.argument != "" {
		return tea.Batch(cmd, c.open(d.verb.name+" ")), nil
	}
	done, err := c.perform(&d.verb, "")
	if err != nil {
		c.shared.Message = d.verb.name + ": " + err.Error()
	}
	return tea.Batch(cmd, done), nil
}

// narrow shows the rows that have all of the words. Available actions come before unavailable ones. Within both groups,
// rows with the words in their name come before rows with the words elsewhere.
func (p *palette) narrow(words string) {
	var tiers [6][]int
	for i := range p.all {
		d := &p.all[i]
		texts := []string{d.verb.name, d.key + " " + d.words, d.verb.words + " " + strings.Join(d.verb.also, " ")}
		tier := 0
		if d.off != "" {
			tier = len(texts)
		}
		for k := range texts {
			if command.Matches(words, strings.Join(texts[:k+1], " ")) {
				tiers[tier+k] = append(tiers[tier+k], i)
				break
			}
		}
	}
	p.shown = slices.Concat(tiers[:]...)
	p.window.Length = len(p.shown)
	p.window.Move(0)
}

func (p *palette) Scope() keys.Scope { return keys.InMenu }

func (p *palette) Title() string { return "actions" }

func (p *palette) Status() string {
	return text.Number(len(p.shown)) + " of " + text.Number(len(p.all))
}

func (p *palette) Target() analysis.Place { return p.of }

func (p *palette) Resize(width, height int) tea.Cmd {
	p.window.Width, p.window.Height = width, max(height, 0)
	p.window.Reveal()
	return nil
}

func (p *palette) Update(msg tea.Msg) tea.Cmd {
	if a, ok := msg.(keys.Action); ok {
		p.window.Act(a)
	}
	return nil
}

func (p *palette) View() []style.Line {
	if len(p.shown) == 0 {
		return []style.Line{style.Text(style.Dim, "  no action matches")}
	}
	var lines []style.Line
	for i := p.window.Top; i < p.window.Bottom(); i++ {
		d := &p.all[p.shown[i]]
		cursor, look := " ", style.Normal
		if i == p.window.Cursor {
			cursor = ">"
		}
		if d.off != "" {
			look = style.Dim
		}
		row := style.Line{Selected: i == p.window.Cursor}.Add(style.Strong, cursor+" "+text.Pad(d.key, 13))
		if p.window.Width >= 70 {
			row = row.Add(style.Name, text.Pad(":"+d.verb.name, 19))
		}
		if d.off != "" {
			row = row.Add(style.Dim, "("+d.off+") ")
		}
		lines = append(lines, row.Add(look, d.words))
	}
	return lines
}

func (p *palette) Click(y int) tea.Cmd {
	p.window.Click(y)
	return nil
}
