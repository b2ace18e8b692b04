package page

import (
	"strings"

	"a2atap/analyzer"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A chapter is a part of the text on a rule.
type chapter struct{ Name, Words string }

// RuleChapters returns what a rule is about, apart from its title.
func RuleChapters(r *analyzer.Rule) []chapter {
	return []chapter{{"Why", r.Doc}, {"Fix", r.Fix}, {"Not reported", r.Silent}}
}

// NewRule returns a page about a rule.
func NewRule(r *analyzer.Rule) *Page {
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
