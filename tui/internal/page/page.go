// Package page is the panel of static text: the help, a rule, or copied text.
package page

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/document"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A Page is a panel of text: the help, or copied text.
type Page struct {
	Name   string
	Write  func(width int) []style.Line
	lines  []style.Line
	window panel.Window
}

func (p *Page) Scope() keys.Scope { return keys.InPage }

func (p *Page) Title() string { return p.Name }

func (p *Page) Status() string { return "" }

func (p *Page) Target() analysis.Place { return analysis.Place{} }

func (p *Page) Resize(width, height int) tea.Cmd {
	p.lines = p.Write(width)
	p.window.Length, p.window.Height = len(p.lines), max(height, 0)
	p.window.Scroll(keys.None)
	return nil
}

func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if a, ok := msg.(keys.Action); ok {
		p.window.Scroll(a)
	}
	return nil
}

func (p *Page) View() []style.Line { return p.lines[min(p.window.Top, len(p.lines)):p.window.Bottom()] }

// Definition returns a name and its meaning, in as many lines as needed.
func Definition(name string, column int, words string, columns int) []style.Line {
	var lines []style.Line
	for _, piece := range text.Prose(words, max(columns-column-4, 8)) {
		lines = append(lines, style.Text(style.Strong, "  "+text.Pad(name, column)).Add(style.Normal, piece))
		name = ""
	}
	return lines
}

// NewCopied returns a page with the copied text, so that users can select it if the terminal has no clipboard.
func NewCopied(name, words string) *Page {
	return &Page{Name: name, Write: func(columns int) []style.Line {
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

// A chapter is a part of the text about a rule.
type chapter struct{ Name, Words string }

// RuleChapters returns the text about a rule, without its title.
func RuleChapters(r *analysis.Rule) []chapter {
	return []chapter{{"Why", r.Doc}, {"Fix", r.Fix}, {"Not reported", r.Silent}}
}

// NewRule returns a page about a rule.
func NewRule(r *analysis.Rule) *Page {
	return &Page{Name: "rule " + r.ID, Write: func(columns int) []style.Line {
		var lines []style.Line
		paragraph := func(look style.Style, words string) {
			for _, piece := range text.Prose(words, max(columns-2, 8)) {
				lines = append(lines, style.Text(look, " "+piece))
			}
		}
		mark, look := style.OfSeverity(r.Severity())
		paragraph(look, mark+" "+r.ID+": "+r.Title)
		paragraph(style.Normal, r.Level.String()+", "+r.Severity().String()+"; "+strings.Join(r.Sections(r.Dialects()), ", "))
		for _, c := range RuleChapters(r) {
			if c.Words != "" {
				lines = append(lines, style.Line{}, style.Text(style.Name, " "+c.Name))
				paragraph(style.Normal, c.Words)
			}
		}
		return lines
	}}
}
