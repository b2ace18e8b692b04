package document

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/safetext"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// body writes a body, and how much of it is missing.
func (w *writer) body(at analysis.Place, b *capture.Body, head *capture.Head) {
	mine := func(p analysis.Place) bool { return p.Response == at.Response && p.Part == "body" }
	if len(b.Data) == 0 {
		if b.Size != 0 {
			w.say(at, style.Text(style.Dim, absent(b)), 0)
		}
		w.found(mine)
		return
	}
	w.say(analysis.Place{}, style.Line{}, 0)
	data, err := b.Data, error(nil)
	if w.View != Raw {
		data, err = b.Decode(head)
	}
	if w.View == Decoded {
		w.decoded(at)
		w.found(mine)
	} else {
		w.content(at, data, mine)
	}
	if err != nil {
		w.say(at, style.Text(style.Warning, "? "+err.Error()), 2)
	}
	if b.Dropped > 0 {
		w.say(at, style.Text(style.Warning, "? "+text.Plural(b.Dropped, "more byte")+" were not recorded"), 2)
	} else if !b.Complete && w.Exchange.State != capture.StateOpen {
		w.say(at, style.Text(style.Warning, "? the body was cut off"), 2)
	}
}

func absent(b *capture.Body) string {
	switch {
	case b.Size > 0 || b.Dropped > 0:
		return "the body was not recorded: " + text.Size(max(b.Size, b.Dropped))
	case b.Complete:
		return "no body"
	}
	return "no body was seen"
}

// content writes bytes in the selected view, cut to the limit, with findings below their lines.
func (w *writer) content(at analysis.Place, data []byte, mine func(analysis.Place) bool) {
	whole := len(data)
	if whole > w.Limit {
		data = data[:w.Limit]
		w.doc.Cut = true
	}
	switch {
	case w.counting && w.Pattern.Absent(data):
	case w.View == Raw:
		w.found(mine)
		w.plain(at, rawLines(data))
	case jsondoc.Looks(data):
		w.json(at, data, mine)
	case utf8.Valid(data) && (len(data) == 0 || data[0] > 1): // smaller first bytes begin gRPC messages
		w.found(mine)
		w.plain(at, strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"))
	default:
		w.found(mine)
		w.plain(at, safetext.Hex(data))
	}
	if len(data) < whole {
		w.say(at, style.Text(style.Title, fmt.Sprintf("… %s of %s; + shows more", text.Size(int64(len(data))), text.Size(int64(whole)))), 0)
	}
}

func (w *writer) plain(at analysis.Place, pieces []string) {
	for i, piece := range pieces {
		if i == MaxLines && !w.whole {
			w.tooManyLines(at, len(pieces))
			return
		}
		w.put(at, style.Text(style.Normal, piece), 0)
	}
}

func (w *writer) tooManyLines(at analysis.Place, lines int) {
	w.say(at, style.Text(style.Title, fmt.Sprintf("… %s of %s lines; a2atap show prints all", text.Number(MaxLines),
		text.Number(lines))), 0)
}

// json writes a JSON text. A finding is written below the line where its value begins. If the value is absent, it is
// below the line where the nearest enclosing value begins.
func (w *writer) json(at analysis.Place, data []byte, mine func(analysis.Place) bool) {
	lines := LayJSON(data)
	where := make(map[string]int, len(lines))
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].begins {
			where[lines[i].pointer] = i
		}
	}
	below := make(map[int][]*analysis.Finding)
	for i := range w.Findings {
		if f := &w.Findings[i]; mine(f.Place) {
			n := nearest(where, f.Place.Pointer)
			below[n] = append(below[n], f)
		}
	}
	shown := len(lines)
	if !w.whole {
		shown = min(shown, MaxLines)
	}
	for i := 0; i < shown; i++ {
		i = w.jsonLine(at, lines[:shown], i, below)
	}
	if shown < len(lines) {
		w.tooManyLines(at, len(lines))
	}
}

// nearest returns the line of a pointer, or of the nearest enclosing value.
func nearest(where map[string]int, pointer string) int {
	for {
		if i, there := where[pointer]; there {
			return i
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return 0
		}
		pointer = pointer[:cut]
	}
}

// rawLines cuts bytes after each LF, which stays visible; bytes that are not text become a hex table.
func rawLines(data []byte) []string {
	message := capture.Event{Raw: data}
	if !utf8.Valid(data) && bytes.Count(data, []byte{0}) > 0 || message.IsMessage() {
		return safetext.Hex(data)
	}
	var pieces []string
	for piece := range strings.Lines(string(data)) {
		pieces = append(pieces, piece)
	}
	return pieces
}
