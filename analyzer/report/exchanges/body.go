package exchanges

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/safetext"
)

// Bounds of the HTML of one exchange.
const (
	maxHead  = 32 << 10 // bytes of a head
	maxBody  = 64 << 10 // bytes of a body
	maxData  = 16 << 10 // bytes of the data of an event
	hexBytes = 512      // of data that is not text
)

// A writer writes one exchange.
type writer struct {
	*page
	x     *capture.Exchange
	found []*finding
	cuts  *cuts
}

// leftWords reports that n were left out.
func leftWords(n int, noun string) string { return "… " + analysis.Plural(n, noun) + " left out" }

// of returns the findings whose place is on a side, in a part for which choose holds.
func (w *writer) of(response bool, choose func(part string) bool) []*finding {
	var list []*finding
	for _, f := range w.found {
		if f.Place.Response == response && choose(f.Place.Part) {
			list = append(list, f)
		}
	}
	return list
}

func (w *writer) notes(list []*finding) {
	for _, f := range list {
		w.note(f)
	}
}

func isFirst(part string) bool { return part == "" || part == "line" || part == "status" }

// headerOf returns the name of the field that a part is.
func headerOf(part string) (string, bool) {
	name, ok := strings.CutPrefix(part, "header[")
	return strings.TrimSuffix(name, "]"), ok
}

// head writes a head, with its findings below their lines.
func (w *writer) head(response bool, raw []byte) {
	room := maxHead
	w.raw(`<pre class="head">`)
	lines := strings.Split(strings.TrimRight(string(raw), "\r\n"), "\n")
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		if room -= len(line); room < 0 {
			w.span("left", leftWords(len(lines)-i, "line"))
			w.raw("\n")
			w.cuts.bodies++
			break
		}
		name, _, _ := strings.Cut(line, ":")
		found := w.of(response, func(part string) bool {
			field, is := headerOf(part)
			return i == 0 && isFirst(part) || i > 0 && is && strings.EqualFold(field, strings.TrimSpace(name))
		})
		w.field(line, i == 0, slices.ContainsFunc(found, func(f *finding) bool { return !f.placed }))
		w.notes(found)
	}
	w.notes(w.of(response, func(part string) bool { // fields that are not there
		_, is := headerOf(part)
		return is || isFirst(part)
	}))
	w.raw("</pre>\n")
}

// field writes a line of a head; one with findings is lit.
func (w *writer) field(line string, first, lit bool) {
	if lit {
		w.raw("<mark>")
	}
	name, value, ok := strings.Cut(line, ":")
	switch {
	case first:
		w.raw("<b>")
		w.text(line)
		w.raw("</b>")
	case ok:
		w.span("n", name)
		w.raw(":")
		w.text(value)
	default:
		w.text(line)
	}
	if lit {
		w.raw("</mark>")
	}
	w.raw("\n")
}

// body writes a body, and a note about its missing parts.
func (w *writer) body(response bool, b *capture.Body, head *capture.Head) {
	found := w.of(response, func(part string) bool { return part == "body" })
	if len(b.Data) == 0 {
		if b.Size > 0 || b.Dropped > 0 {
			w.line("left", "The body was not recorded: "+size(max(b.Size, b.Dropped)))
		} else if !b.Complete {
			w.line("left", "No body was seen")
		}
		w.alone(found)
		return
	}
	data, err := b.Decode(head)
	w.content(data, found, maxBody)
	if err != nil {
		w.line("left", err.Error())
	}
	if b.Dropped > 0 {
		w.line("left", size(b.Dropped)+" more were not recorded")
	} else if !b.Complete && w.x.State != capture.StateOpen {
		w.line("left", "The body was cut off")
	}
}

// alone writes findings that are not in any text.
func (w *writer) alone(list []*finding) {
	if len(list) > 0 {
		w.raw("<pre>")
		w.notes(list)
		w.raw("</pre>\n")
	}
}

// content writes a text: JSON with indentation, other texts unchanged, binary data in hexadecimal.
func (w *writer) content(data []byte, found []*finding, room int) {
	if len(data) <= maxParsed && jsondoc.Looks(data) {
		if doc := jsondoc.Parse(data); doc.Err == nil {
			if !w.json(&doc, found, room) {
				w.cuts.bodies++
			}
			return
		}
	}
	w.raw("<pre>")
	w.notes(found)
	shown := data[:min(len(data), room/4)] // escapes may be longer
	message := capture.Event{Raw: data}
	if !utf8.Valid(data) && bytes.IndexByte(data, 0) >= 0 || message.IsMessage() {
		shown = data[:min(len(data), hexBytes)]
		for _, line := range safetext.Hex(shown) {
			w.text(line)
			w.raw("\n")
		}
	} else {
		for line := range strings.Lines(string(shown)) {
			w.text(strings.TrimRight(line, "\r\n"))
			w.raw("\n")
		}
	}
	if n := len(data) - len(shown); n > 0 {
		w.span("left", "… "+size(int64(n))+" more left out")
		w.raw("\n")
		w.cuts.bodies++
	}
	w.raw("</pre>\n")
}
