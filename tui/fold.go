package tui

import (
	"fmt"
	"maps"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/find"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A node says whether an object or an array begins in a line of the detail, and how it is shown.
type node uint8

const (
	noNode node = iota
	nodeOpen
	nodeFolded
)

// A folding says which objects and arrays of JSON texts are folded. The zero value says that none is.
type folding struct {
	all  bool                    // those below the first level
	flip map[analyzer.Place]bool // those of which the opposite holds; it is never changed, since commands read it
}

// folded reports whether the object or array at a place is folded, so many levels deep in its text.
func (f folding) folded(at analyzer.Place, depth int) bool { return (f.all && depth > 0) != f.flip[at] }

// toggle folds or unfolds.
func (f *folding) toggle(at analyzer.Place) {
	flip := maps.Clone(f.flip)
	if flip == nil {
		flip = make(map[analyzer.Place]bool)
	}
	if flip[at] {
		delete(flip, at)
	} else {
		flip[at] = true
	}
	f.flip = flip
}

// unfoldAround unfolds what a place is inside of.
func (f *folding) unfoldAround(at analyzer.Place) {
	depth := 0
	for i := 0; i < len(at.Pointer); i++ {
		if at.Pointer[i] != '/' {
			continue
		}
		if outer := at.At(at.Pointer[:i]); f.folded(outer, depth) {
			f.toggle(outer)
		}
		depth++
	}
}

// foldable reports whether a value that begins in the line can be folded.
func (l *jsonLine) foldable() bool { return l.opens && l.begins && l.depth < maxPointed }

// jsonLine writes a line of a JSON text, with the findings that belong below it, and returns the last line that it
// stands for: a folded value is one line.
func (w *docWriter) jsonLine(at analyzer.Place, lines []jsonLine, i int, below map[int][]*analyzer.Finding) (last int) {
	l := &lines[i]
	found := w.inJSON(l)
	if w.counting {
		w.matched += len(found)
		return i
	}
	if l.begins || l.closes {
		at = at.At(l.pointer)
	}
	indent := min(2*l.depth, w.width/3)
	for n := range found {
		found[n].From += indent
		found[n].To += indent
	}
	row := style.Text(style.Normal, text.Blanks(indent)).Join(l.Line)
	end, matched, how := i, 0, noNode
	var hidden []analyzer.Place
	if l.foldable() {
		how = nodeOpen
	}
	if l.foldable() && w.folds.folded(at, l.depth) {
		how, end = nodeFolded, min(l.end, len(lines)-1)
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
	w.lines[len(w.lines)-1].upto = w.matched
	for _, f := range below[i] {
		w.finding(f)
	}
	for n := first; n < len(w.lines); n++ {
		d := &w.lines[n]
		d.depth = l.depth
		if l.closes || d.found != nil {
			d.depth++
		} else {
			d.node, d.hidden = how, hidden
		}
	}
	return end
}

func (w *docWriter) inJSON(l *jsonLine) []find.Range {
	if w.pattern == nil {
		return nil
	}
	return w.pattern.InJSON(l.String())
}

// insideOf says what is in a folded value.
func insideOf(l *jsonLine, findings, matches int) style.Line {
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

// nodeAround returns the index, among the lines of a part of the detail, of the line where the object or array begins
// that begins in line i or, if none does, the one around it; -1 if there is none.
func nodeAround(lines []docLine, i int) int {
	if i < 0 || i >= len(lines) {
		return -1
	}
	from := &lines[i]
	for ; i >= 0; i-- {
		l := &lines[i]
		if l.place.Part != from.place.Part || l.place.Response != from.place.Response {
			return -1
		}
		if l.node == nodeOpen && (l == from || l.depth < from.depth) {
			for i > 0 && lines[i-1].node == nodeOpen && lines[i-1].place == l.place { // where the line was wrapped
				i--
			}
			return i
		}
	}
	return -1
}

// nodeUnderCursor says how the object or array that begins in the line under the cursor is shown.
func (d *detail) nodeUnderCursor() node {
	if l := d.docLine(d.spot()); d.ready && l != nil {
		return l.node
	}
	return noNode
}

// canFold reports whether there is an object or array to fold under or around the cursor.
func (d *detail) canFold() bool {
	lines, _, i := d.part(d.spot())
	return d.ready && nodeAround(lines, i) >= 0
}

// fold folds the object or array under or around the cursor.
func (d *detail) fold() tea.Cmd {
	lines, first, i := d.part(d.spot())
	if i = nodeAround(lines, i); i < 0 {
		return nil
	}
	d.window.Move(first + i)
	return d.toggleNode()
}

// toggleNode folds or unfolds the object or array that begins under the cursor.
func (d *detail) toggleNode() tea.Cmd {
	l := d.docLine(d.spot())
	if l == nil || l.node == noNode {
		return nil
	}
	d.folds.toggle(l.place)
	return d.build()
}

// foldAll folds what is below the first level, or unfolds all if that was done before. The cursor stays at its place
// or, if that is folded then, goes to what is around it.
func (d *detail) foldAll() tea.Cmd {
	d.folds = folding{all: !d.folds.all}
	s := d.spot()
	if l := d.docLine(s); l != nil && l.place.HasPointer {
		d.near, d.nearTo = s, l.place
	}
	return d.build()
}

// seekNear moves to what is left of the place where the cursor was before foldAll.
func (d *detail) seekNear() {
	at := d.nearTo
	d.nearTo = analyzer.Place{}
	if at.Exchange == 0 {
		return
	}
	lines, first, _ := d.part(d.near)
	best, length := -1, -1
	for i := range lines {
		l := &lines[i]
		outer := l.place.Pointer
		if l.found != nil || len(outer) <= length || l.place.At(at.Pointer) != at || !l.place.HasPointer {
			continue
		}
		if at.Pointer == outer || strings.HasPrefix(at.Pointer, outer+"/") {
			best, length = i, len(outer)
		}
	}
	if best >= 0 {
		d.show(first + best)
	}
}

// reveal unfolds what a finding is in, and goes there.
func (d *detail) reveal(at analyzer.Place) tea.Cmd {
	d.folds.unfoldAround(at)
	d.goal, d.sought = at, false
	return d.build()
}
