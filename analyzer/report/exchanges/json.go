package exchanges

import (
	"slices"
	"strings"

	"a2atap/proxy/jsondoc"
	"a2atap/proxy/safetext"
)

const (
	maxParsed = 4 << 20 // bytes of a text that is laid out as JSON
	maxString = 2000    // bytes of one string of it
	maxIndent = 30      // levels by which lines are indented
)

// A layout lays a JSON text out: one member or element a line, findings below the line where their value begins. When
// there is no more room, only values with findings are written.
type layout struct {
	*page
	notes   map[int][]*finding // by the offset of the value
	offsets []int              // of notes, in order
	end     int                // of the page, in bytes: beyond it, only values with findings are written
	left    int                // values that were left out since one was written
	cut     bool               // some were
}

// json writes a JSON text with its findings, in at most about so many bytes, and reports whether all of it was written.
func (p *page) json(doc *jsondoc.Doc, found []*finding, room int) (whole bool) {
	j := layout{page: p, notes: make(map[int][]*finding), end: p.len() + room}
	for _, f := range found {
		at := nearest(doc.Root, f.Place.Pointer).Offset()
		if len(j.notes[at]) == 0 {
			j.offsets = append(j.offsets, at)
		}
		j.notes[at] = append(j.notes[at], f)
	}
	slices.Sort(j.offsets)
	p.raw("<pre>")
	j.value(doc.Root, 0, "", "")
	j.gap(0)
	p.raw("</pre>\n")
	return !j.cut
}

// nearest returns the value that a pointer names or, if it is absent, the nearest one around it.
func nearest(root jsondoc.Value, pointer string) jsondoc.Value {
	for {
		if v := root.At(pointer); v.Exists() {
			return v
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return root
		}
		pointer = pointer[:cut]
	}
}

// concerned reports whether a value has a finding.
func (j *layout) concerned(v jsondoc.Value) bool {
	from := v.Offset()
	i, there := slices.BinarySearch(j.offsets, from)
	return there || i < len(j.offsets) && j.offsets[i] < from+len(v.Raw())
}

// value writes a value behind the name that it has, if any, and before a comma, if one follows.
func (j *layout) value(v jsondoc.Value, depth int, name, comma string) {
	if j.len() > j.end && !j.concerned(v) {
		j.left++
		j.cut = true
		return
	}
	switch v.Kind() {
	case jsondoc.Object:
		j.children(v, depth, name, "{", "}"+comma)
	case jsondoc.Array:
		j.children(v, depth, name, "[", "]"+comma)
	default:
		j.begin(v, depth, name)
		j.scalar(v)
		j.finish(v, comma)
	}
}

// children writes an object or an array.
func (j *layout) children(v jsondoc.Value, depth int, name, open, end string) {
	n := v.Len()
	j.begin(v, depth, name)
	j.raw(open)
	if n == 0 {
		j.raw(end[:1])
		j.finish(v, end[1:])
		return
	}
	j.finish(v, "")
	child := func(name string, v jsondoc.Value) {
		comma := ","
		if n--; n == 0 {
			comma = ""
		}
		j.value(v, depth+1, name, comma)
	}
	for name, member := range v.Pairs() {
		child(string(name.Raw()), member)
	}
	for _, element := range v.Elems() {
		child("", element)
	}
	j.gap(depth + 1)
	j.indent(depth)
	j.raw(end + "\n")
}

// begin begins the line of a value; one with findings is lit.
func (j *layout) begin(v jsondoc.Value, depth int, name string) {
	j.gap(depth)
	j.indent(depth)
	if len(j.notes[v.Offset()]) > 0 {
		j.raw("<mark>")
	}
	if name != "" {
		j.string("n", name)
		j.raw(": ")
	}
}

// finish ends the line of a value, and writes its findings.
func (j *layout) finish(v jsondoc.Value, end string) {
	notes := j.notes[v.Offset()]
	if len(notes) > 0 {
		j.raw("</mark>")
	}
	j.raw(end + "\n")
	for _, f := range notes {
		j.note(f)
	}
}

func (j *layout) indent(depth int) { j.raw(strings.Repeat("  ", min(depth, maxIndent))) }

// gap writes how many values were left out before this line.
func (j *layout) gap(depth int) {
	if j.left > 0 {
		j.indent(depth)
		j.span("left", leftWords(j.left, "value"))
		j.raw("\n")
		j.left = 0
	}
}

func (j *layout) scalar(v jsondoc.Value) {
	if v.Kind() == jsondoc.String {
		j.string("s", string(v.Raw()))
		return
	}
	j.string("v", string(v.Raw()))
}

// string writes raw as it is in the text, cut if it is long.
func (j *layout) string(class, raw string) {
	if len(raw) <= maxString {
		j.span(class, raw)
		return
	}
	j.span(class, safetext.Cut(raw, maxString))
	j.span("left", "… "+size(int64(len(raw)))+" in all")
	j.cut = true
}
