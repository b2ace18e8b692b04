package textview

import (
	"slices"
	"strings"
	"unicode/utf8"

	"a2atap/tui/document"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A flow lays out text in lines of at most this many columns, broken at blanks if possible. It records which event
// delivered each piece.
type flow struct {
	columns int
	indent  int // columns, of each line
	lines   []flowLine
	more    bool // there were more lines than the limit

	line  []flowSpan // the current line
	used  int        // number of its columns in use
	word  int        // where the current word begins in it
	ahead int        // columns before that word
	inked bool       // something other than blanks precedes that word
}

// A flowLine is a line of laid out text.
type flowLine struct {
	indent int
	spans  []flowSpan
}

// A flowSpan is a piece of a line: clean text, with its style and events.
type flowSpan struct {
	text   string
	style  style.Style
	events eventRange
}

// An eventRange is the events that delivered a piece, by index, both included.
type eventRange struct{ from, to int }

// noEvent is the range of text that no event delivered.
var noEvent = eventRange{-1, -1}

func oneEvent(i int) eventRange { return eventRange{i, i} }

// has reports whether an event is in the range; -1 is in none.
func (r eventRange) has(i int) bool { return i >= 0 && r.from <= i && i <= r.to }

// maxSegment bounds how much text is scanned repeatedly while it is cut into lines.
const maxSegment = 1 << 10

// write adds text of an event, which may have several lines. Control characters other than line ends are made visible;
// a tab is four blanks.
func (f *flow) write(by eventRange, look style.Style, words string) {
	words = strings.ReplaceAll(strings.ReplaceAll(words, "\r\n", "\n"), "\t", "    ")
	for {
		piece, rest, more := strings.Cut(words, "\n")
		f.put(by, look, text.Clean(piece))
		if !more || f.more {
			return
		}
		f.end()
		words = rest
	}
}

// put adds clean text to the line, and starts new lines as needed.
func (f *flow) put(by eventRange, look style.Style, words string) {
	for words != "" && !f.more {
		n := segment(words)
		f.segment(flowSpan{words[:n], look, by})
		words = words[n:]
	}
}

// segment returns the length in bytes of the blanks or the word at the start of a clean text. For long ones, it returns
// the length of a part that ends between two cells.
func segment(words string) int {
	end := len(words)
	if end > maxSegment {
		for end = maxSegment; !utf8.RuneStart(words[end]); end-- {
		}
		last := 0 // the length of the last cell, which may grow
		for cell := range text.Cells(words[:end]) {
			last = len(cell)
		}
		end -= last
	}
	blank := words[0] == ' '
	if n := strings.IndexFunc(words[:end], func(r rune) bool { return (r == ' ') != blank }); n >= 0 {
		return n
	}
	return end
}

func (f *flow) segment(s flowSpan) {
	room := max(f.columns-f.indent, 2)
	if s.text[0] == ' ' { // a blank at the end of the line would be invisible
		s.text = s.text[:min(len(s.text), max(room-f.used, 0))]
		f.inked = f.inked || f.word < len(f.line)
		f.add(s, len(s.text))
		f.word, f.ahead = len(f.line), f.used
		return
	}
	w := text.Width(s.text)
	for f.used+w > room {
		if f.inked && f.word > 0 {
			f.wrap()
			continue
		}
		part := flowSpan{text.Take(s.text, room-f.used), s.style, s.events}
		if part.text != "" {
			n := text.Width(part.text)
			f.add(part, n)
			w -= n
			s.text = s.text[len(part.text):]
		}
		f.end()
		if f.more {
			return
		}
	}
	f.add(s, w)
}

// add adds a span that fits.
func (f *flow) add(s flowSpan, columns int) {
	if s.text == "" {
		return
	}
	f.line = append(f.line, s)
	f.used += columns
}

// wrap ends the line before the current word.
func (f *flow) wrap() {
	word, used := slices.Clone(f.line[f.word:]), f.used-f.ahead
	f.line = f.line[:f.word]
	f.end()
	f.line, f.used = append(f.line, word...), used
}

// end ends the line.
func (f *flow) end() {
	if len(f.lines) >= document.MaxLines {
		f.more = true
	} else {
		f.lines = append(f.lines, flowLine{f.indent, merged(f.line)})
	}
	f.line, f.used, f.word, f.ahead, f.inked = f.line[:0], 0, 0, 0, false
}

// ended ends the line if it is not empty.
func (f *flow) ended() {
	if len(f.line) > 0 {
		f.end()
	}
}

// merged merges adjacent spans with the same attributes.
func merged(spans []flowSpan) []flowSpan {
	var all []flowSpan
	for i := 0; i < len(spans); {
		s, n := spans[i], i+1
		for n < len(spans) && spans[n].events == s.events && spans[n].style == s.style {
			n++
		}
		if n > i+1 {
			var b strings.Builder
			for _, part := range spans[i:n] {
				b.WriteString(part.text)
			}
			s.text = b.String()
		}
		all = append(all, s)
		i = n
	}
	return all
}

// putLine adds an already laid out line, wrapped with a hanging indent.
func (f *flow) putLine(by eventRange, l style.Line, hang int) {
	f.ended()
	for _, piece := range l.Wrap(max(f.columns-f.indent, 2), hang) {
		for _, s := range piece.Spans {
			f.line = append(f.line, flowSpan{s.Text, s.Style, by})
		}
		f.end()
	}
}

// has reports whether an event delivered a piece of the line.
func (l *flowLine) has(event int) bool {
	return slices.ContainsFunc(l.spans, func(s flowSpan) bool { return s.events.has(event) })
}

// drawn draws the line, with the pieces that an event delivered in reverse.
func (l *flowLine) drawn(event int) style.Line {
	drawn := style.Line{}.Add(style.Normal, text.Blanks(l.indent))
	for _, s := range l.spans {
		if s.events.has(event) {
			s.style = style.Cursor
		}
		drawn = drawn.Add(s.style, s.text)
	}
	return drawn
}
