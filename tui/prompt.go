package tui

import (
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A prompt is the last line of the screen while the user types in it, such as a word to search or a comment. While it
// is open, it receives all keys.
type prompt struct {
	label    string
	input    textinput.Model
	wrong    string                              // why the input is invalid
	changed  func(value string) tea.Cmd          // after each change; nil for nothing
	done     func(value string) (tea.Cmd, error) // on enter; an error is shown, and the prompt stays open
	canceled func() tea.Cmd                      // on esc; nil for nothing
	other    func(key string) (tea.Cmd, bool)    // handles keys that do not edit, such as tab; reports whether it did
	above    func(columns int) []style.Line      // shown over the lines above unless there is an error; nil for nothing
}

// newPrompt returns a prompt with an initial text.
func newPrompt(label, value string, done func(value string) (tea.Cmd, error)) *prompt {
	p := &prompt{label: label, input: panel.NewInput(), done: done}
	p.input.SetValue(value)
	p.input.CursorEnd()
	return p
}

// key handles a key. It reports whether typing is over.
func (p *prompt) key(msg tea.KeyMsg) (cmd tea.Cmd, over bool) {
	switch msg.String() {
	case "enter":
		cmd, err := p.done(p.input.Value())
		if err != nil {
			p.wrong = err.Error()
		}
		return cmd, err == nil
	case "esc":
		if p.canceled != nil {
			cmd = p.canceled()
		}
		return cmd, true
	}
	if p.other != nil {
		if cmd, took := p.other(msg.String()); took {
			return cmd, false
		}
	}
	before := p.input.Value()
	p.input, cmd = p.input.Update(msg)
	if p.input.Value() == before {
		return cmd, false
	}
	p.wrong = ""
	if p.changed != nil {
		cmd = tea.Batch(cmd, p.changed(p.input.Value()))
	}
	return cmd, false
}

// line draws the prompt.
func (p *prompt) line(columns int) style.Line {
	remark := ""
	if p.wrong != "" && p.fits(columns) {
		remark = " ! " + p.wrong
	}
	return panel.InputLine(p.label, p.input, columns, text.Clean(remark))
}

// fits reports whether the error fits on the line after the input.
func (p *prompt) fits(columns int) bool {
	return p.above == nil && text.Columns(p.label+p.input.Value()+p.wrong)+8 <= columns
}

// over returns the lines that cover those above the prompt.
func (p *prompt) over(columns int) []style.Line {
	switch {
	case p.wrong != "" && !p.fits(columns):
	case p.above != nil:
		return p.above(columns)
	default:
		return nil
	}
	var lines []style.Line
	mark := " ! "
	for _, piece := range text.Prose(p.wrong, max(columns-4, 8)) {
		lines = append(lines, style.Text(style.Error, mark+piece))
		mark = text.Blanks(len(mark))
	}
	return lines
}

// set replaces the input.
func (p *prompt) set(value string) {
	p.input.SetValue(value)
	p.input.CursorEnd()
	p.wrong = ""
}

// A question waits in the last line for one key. Any key that is not an answer cancels the question.
type question struct {
	words   string
	answers map[string]func() tea.Cmd // by key
}

// ask asks a question.
func (m *inspector) ask(words string, answers map[string]func() tea.Cmd) tea.Cmd {
	m.question = &question{words, answers}
	return nil
}
