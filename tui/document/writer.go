package document

import (
	"math"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A writer lays one exchange out.
type writer struct {
	Source
	doc      Document
	lines    []Line
	matched  int  // matches in the part of the detail that is being written
	counting bool // only matched is needed
}

// part returns the lines written since the last call: a part in which matches are counted.
func (w *writer) part() []Line {
	lines, upto := w.lines, 0
	for i := range lines {
		upto = max(upto, lines[i].Upto)
		lines[i].Upto = upto
	}
	w.lines, w.matched = nil, 0
	return lines
}

// put writes a line of the exchange, which is searched.
func (w *writer) put(at analysis.Place, l style.Line, indent int) {
	var found []find.Range
	if w.Pattern != nil {
		found = w.Pattern.In(l.String())
	}
	w.write(at, l, indent, found)
}

// say writes a remark about the exchange, which is not searched.
func (w *writer) say(at analysis.Place, l style.Line, indent int) { w.write(at, l, indent, nil) }

// write writes a line with its matches.
func (w *writer) write(at analysis.Place, l style.Line, indent int, found []find.Range) {
	if w.counting {
		w.matched += len(found)
		return
	}
	if w.whole {
		w.lines = append(w.lines, Line{Line: l, Place: at})
		return
	}
	first := len(w.lines)
	for _, piece := range l.Wrap(w.Width-1, indent) {
		w.lines = append(w.lines, Line{Line: piece, Place: at})
	}
	highlight(w.lines[first:], style.WrapIndent(w.Width-1, indent), found, w.matched)
	w.matched += len(found)
}

// found writes the findings that choose selects by their place.
func (w *writer) found(choose func(analysis.Place) bool) {
	for i := range w.Findings {
		if f := &w.Findings[i]; choose(f.Place) {
			w.finding(f)
		}
	}
}

// finding writes a finding.
func (w *writer) finding(f *analysis.Finding) {
	columns := w.Width - 1
	if w.whole {
		columns = math.MaxInt
	}
	w.lines = append(w.lines, FindingLines(f, columns)...)
}

// FindingLines returns a finding, wrapped to a width.
func FindingLines(f *analysis.Finding, columns int) []Line {
	mark, look := style.OfSeverity(f.Severity)
	var lines []Line
	for i, piece := range text.Prose(f.Message()+" ["+f.Rule.ID+"]", columns-2) {
		if i > 0 {
			mark = " "
		}
		lines = append(lines, Line{Line: style.Text(look, mark+" "+piece), Place: f.Place, Finding: i == 0, Found: f})
	}
	return lines
}
