package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/document"
	"a2atap/tui/keys"
	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A page is a panel of text: the help, or what was copied.
type page struct {
	name   string
	write  func(width int) []style.Line
	lines  []style.Line
	window panel.Window
}

func (p *page) Scope() keys.Scope { return keys.InPage }

func (p *page) Title() string { return p.name }

func (p *page) Status() string { return "" }

func (p *page) Target() analyzer.Place { return analyzer.Place{} }

func (p *page) Resize(width, height int) tea.Cmd {
	p.lines = p.write(width)
	p.window.Length, p.window.Height = len(p.lines), max(height, 0)
	p.window.Scroll(keys.None)
	return nil
}

func (p *page) Update(msg tea.Msg) tea.Cmd {
	if a, ok := msg.(keys.Action); ok {
		p.window.Scroll(a)
	}
	return nil
}

func (p *page) View() []style.Line { return p.lines[min(p.window.Top, len(p.lines)):p.window.Bottom()] }

// definition returns a name and what it means, in as many lines as that takes.
func definition(name string, column int, words string, columns int) []style.Line {
	var lines []style.Line
	for _, piece := range text.Prose(words, max(columns-column-4, 8)) {
		lines = append(lines, style.Text(style.Strong, "  "+text.Pad(name, column)).Add(style.Normal, piece))
		name = ""
	}
	return lines
}

// newCopied returns the page that shows what was copied, so that it can be selected where the terminal has no
// clipboard.
func newCopied(name, words string) *page {
	return &page{name: name, write: func(columns int) []style.Line {
		lines := []style.Line{
			style.Text(style.Dim, " The terminal was asked to copy this. If it did not, select it here:"), {},
		}
		for paragraph := range strings.SplitSeq(words[:min(len(words), document.MaxShown)], "\n") {
			for _, piece := range text.Fold(paragraph, columns) {
				lines = append(lines, style.Text(style.Normal, piece))
			}
		}
		return lines
	}}
}
