package document

import (
	"fmt"
	"maps"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A Node states whether an object or an array begins in a line of the detail, and how it is shown.
type Node uint8

const (
	NoNode Node = iota
	nodeOpen
	NodeFolded
)

// A Folding has the folded objects and arrays of JSON texts. The zero value folds none.
type Folding struct {
	All  bool                    // folds all below the first level
	flip map[analysis.Place]bool // exceptions from the default; never changed, since commands read it
}

// folded reports whether the object or array at a place is folded. depth is its level in its text.
func (f Folding) folded(at analysis.Place, depth int) bool { return (f.All && depth > 0) != f.flip[at] }

// Toggle folds or unfolds the object or array at a place.
func (f *Folding) Toggle(at analysis.Place) {
	flip := maps.Clone(f.flip)
	if flip == nil {
		flip = make(map[analysis.Place]bool)
	}
	if flip[at] {
		delete(flip, at)
	} else {
		flip[at] = true
	}
	f.flip = flip
}

// UnfoldAround unfolds everything that contains a place.
func (f *Folding) UnfoldAround(at analysis.Place) {
	depth := 0
	for i := 0; i < len(at.Pointer); i++ {
		if at.Pointer[i] != '/' {
			continue
		}
		if outer := at.At(at.Pointer[:i]); f.folded(outer, depth) {
			f.Toggle(outer)
		}
		depth++
	}
}

// foldable reports whether a value that begins in the line can be folded.
func (l *JSONLine) foldable() bool { return l.opens && l.begins && l.Depth < MaxPointed }

// jsonLine writes a line of a JSON text, with the findings below it. It returns the last line covered, since a folded
// value takes one line.
func (w *writer) jsonLine(at analysis.Place, lines []JSONLine, i int, below map[int][]*analysis.Finding) (last int) {
	l := &lines[i]
	found := w.inJSON(l)
	if w.counting {
		w.matched += len(found)
		return i
	}
	if l.begins || l.closes {
		at = at.At(l.pointer)
	}
	indent := min(2*l.Depth, w.Width/3)
	for n := range found {
		found[n].From += indent
		found[n].To += indent
	}
	row := style.Text(style.Normal, text.Blanks(indent)).Join(l.Line)
	end, matched, how := i, 0, NoNode
	var hidden []analysis.Place
	if l.foldable() {
		how = nodeOpen
	}
	if l.foldable() && w.Folds.folded(at, l.Depth) {
		how, end = NodeFolded, min(l.end, len(lines)-1)
		for j := i + 1; j <= end; j++ {
			matched += len(w.inJSON(&lines[j]))
			for _, f := range below[j] {
				hidden = append(hidden, f.Place)
			}
		}
		row = row.Join(insideOf(l, len(hidden), matched))
		if l.closed && end == l.end {
			row = row.Join(lines[end].Line)
		}
	}
	first := len(w.lines)
	w.write(at, row, indent+4, found)
	w.matched += matched
	w.lines[len(w.lines)-1].Upto = w.matched
	for _, f := range below[i] {
		w.finding(f)
	}
	for n := first; n < len(w.lines); n++ {
		d := &w.lines[n]
		d.depth = l.Depth
		if l.closes || d.Found != nil {
			d.depth++
		} else {
			d.Node, d.Hidden = how, hidden
		}
	}
	return end
}

func (w *writer) inJSON(l *JSONLine) []find.Range {
	if w.Pattern == nil {
		return nil
	}
	return w.Pattern.InJSON(l.String())
}

// insideOf summarizes the contents of a folded value.
func insideOf(l *JSONLine, findings, matches int) style.Line {
	noun := "member"
	if l.array {
		noun = "element"
	}
	inside := style.Text(style.Dim, "… "+text.Plural(l.inside, noun))
	if findings > 0 {
		inside = inside.Add(style.Warning, ", "+text.Plural(findings, "finding"))
	}
	if matches > 0 {
		words := ", 1 match"
		if matches > 1 {
			words = fmt.Sprintf(", %s matches", text.Number(matches))
		}
		inside = inside.Add(style.Match, words)
	}
	return inside
}

// NodeAround returns the line where the innermost object or array around line i begins, as an index into the lines of a
// part of the detail. If one begins in line i, it returns i. It returns -1 outside a foldable part.
func NodeAround(lines []Line, i int) int {
	if i < 0 || i >= len(lines) {
		return -1
	}
	from := &lines[i]
	for ; i >= 0; i-- {
		l := &lines[i]
		if l.Place.Part != from.Place.Part || l.Place.Response != from.Place.Response {
			return -1
		}
		if l.Node == nodeOpen && (l == from || l.depth < from.depth) {
			for i > 0 && lines[i-1].Node == nodeOpen && lines[i-1].Place == l.Place { // the start of a wrapped line
				i--
			}
			return i
		}
	}
	return -1
}
