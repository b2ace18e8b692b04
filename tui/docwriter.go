package tui

import (
	"math"

	"a2atap/analyzer"
	"a2atap/tui/find"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A docWriter lays one exchange out.
type docWriter struct {
	docSource
	doc      document
	lines    []docLine
	matched  int  // matches in the part of the detail that is being written
	counting bool // only matched is asked for
}

// part returns the lines that were written since it was called last: one of the parts in which matches are counted.
func (w *docWriter) part() []docLine {
	lines, upto := w.lines, 0
	for i := range lines {
		upto = max(upto, lines[i].upto)
		lines[i].upto = upto
	}
	w.lines, w.matched = nil, 0
	return lines
}

// put writes a line of the exchange. It is searched.
func (w *docWriter) put(at analyzer.Place, l style.Line, indent int) {
	var found []find.Range
	if w.pattern != nil {
		found = w.pattern.In(l.String())
	}
	w.write(at, l, indent, found)
}

// say writes a line of our own about the exchange. It is not searched.
func (w *docWriter) say(at analyzer.Place, l style.Line, indent int) { w.write(at, l, indent, nil) }

// write writes a line with matches in it.
func (w *docWriter) write(at analyzer.Place, l style.Line, indent int, found []find.Range) {
	if w.counting {
		w.matched += len(found)
		return
	}
	if w.whole {
		w.lines = append(w.lines, docLine{Line: l, place: at})
		return
	}
	first := len(w.lines)
	for _, piece := range l.Wrap(w.width-1, indent) {
		w.lines = append(w.lines, docLine{Line: piece, place: at})
	}
	light(w.lines[first:], style.WrapIndent(w.width-1, indent), found, w.matched)
	w.matched += len(found)
}

// found writes the findings whose place matches a condition.
func (w *docWriter) found(choose func(analyzer.Place) bool) {
	for i := range w.findings {
		if f := &w.findings[i]; choose(f.Place) {
			w.finding(f)
		}
	}
}

// finding writes a finding.
func (w *docWriter) finding(f *analyzer.Finding) {
	columns := w.width - 1
	if w.whole {
		columns = math.MaxInt
	}
	w.lines = append(w.lines, findingLines(f, columns)...)
}

// findingLines returns a finding, wrapped to a width.
func findingLines(f *analyzer.Finding, columns int) []docLine {
	mark, look := style.OfSeverity(f.Severity)
	var lines []docLine
	for i, piece := range text.Prose(f.Message+" ["+f.Rule.ID+"]", columns-2) {
		if i > 0 {
			mark = " "
		}
		lines = append(lines, docLine{Line: style.Text(look, mark+" "+piece), place: f.Place, finding: i == 0, found: f})
	}
	return lines
}
