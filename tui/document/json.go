package document

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"a2atap/tui/internal/style"
)

// A JSONLine is one line of a formatted JSON text.
type JSONLine struct {
	style.Line
	Depth   int
	pointer string // RFC 6901, of the value that begins here, or that a bracket closes here
	begins  bool   // a value begins here; if not, the line is a closing bracket
	closes  bool   // it begins with the closing bracket of the value at pointer
	opens   bool   // it ends with an opening bracket; the value continues below
	array   bool   // the opening bracket is an array's
	end     int    // if the line opens a value: the last line of that value
	closed  bool   // the last line is the closing bracket, not the end of the text
	inside  int    // number of members or elements below
}

// LayJSON formats a JSON text with one member or element per line. Except for blanks between tokens, everything stays
// as it was sent: duplicate names, digits of numbers, escapes. It accepts any bytes. It shows truncated or invalid
// texts as far as possible.
func LayJSON(data []byte) []JSONLine {
	w := jsonWriter{data: data}
	for w.next() {
	}
	w.flush()
	for _, f := range w.stack {
		w.lines[f.line].end = len(w.lines) - 1
	}
	return w.lines
}

type jsonWriter struct {
	data  []byte
	lines []JSONLine
	line  JSONLine
	stack []jsonFrame
	named bool // the name of the next value in an object has been read
}

type jsonFrame struct {
	line  int // line of the opening bracket
	array bool
	index int
	name  string
}

// next writes one token, and reports whether it found one.
func (w *jsonWriter) next() bool {
	before := len(w.data)
	w.data = bytes.TrimLeft(w.data, " \t\r\n")
	if len(w.data) == 0 {
		return false
	}
	if n := len(w.line.Spans); n > 0 && len(w.data) < before && w.line.Spans[n-1].Text != " " &&
		strings.IndexByte("{}[],:", w.data[0]) < 0 { // JSON does not allow values separated only by blanks
		w.line.Line = w.line.Add(style.Normal, " ")
	}
	switch c := w.data[0]; c {
	case '{', '[':
		w.open(c)
	case '}', ']':
		w.close()
	case ',':
		w.token(style.Normal, 1)
		if len(w.stack) > 0 {
			w.stack[len(w.stack)-1].index++
		}
		w.named = false
		w.flush()
	case ':':
		w.token(style.Normal, 1)
		w.line.Line = w.line.Add(style.Normal, " ")
	case '"':
		w.text()
	default:
		w.begin()
		w.token(style.Number, literalLength(w.data))
	}
	return true
}

// token moves the next n bytes of the data to the line.
func (w *jsonWriter) token(s style.Style, n int) {
	w.line.Line = w.line.Add(s, string(w.data[:n]))
	w.data = w.data[n:]
}

// MaxPointed bounds the depth to which values get a JSON Pointer, since pointers grow with the depth.
const MaxPointed = 64

// begin records where a value begins, if it is the first in its line.
func (w *jsonWriter) begin() {
	if w.line.begins || len(w.stack) > MaxPointed {
		return
	}
	w.line.begins = true
	if n := len(w.stack); n > 0 {
		w.lines[w.stack[n-1].line].inside++
	}
	var b strings.Builder
	for _, f := range w.stack {
		b.WriteByte('/')
		if f.array {
			b.WriteString(strconv.Itoa(f.index))
		} else {
			b.WriteString(pointerEscapes.Replace(f.name))
		}
	}
	w.line.pointer = b.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// text writes a string: the name of a member, or a value.
func (w *jsonWriter) text() {
	n := stringLength(w.data)
	top := len(w.stack) - 1
	if top < 0 || w.stack[top].array || w.named {
		w.begin()
		w.token(style.String, n)
		return
	}
	name := string(bytes.Trim(w.data[:n], `"`))
	if strings.Contains(name, `\`) || !utf8.ValidString(name) {
		var decoded string
		if json.Unmarshal(w.data[:n], &decoded) == nil {
			name = decoded
		}
	}
	w.stack[top].name, w.named = name, true
	w.begin()
	w.token(style.Name, n)
}

func (w *jsonWriter) open(c byte) {
	w.begin()
	w.token(style.Normal, 1)
	w.data = bytes.TrimLeft(w.data, " \t\r\n")
	if len(w.data) > 0 && (w.data[0] == '}' || w.data[0] == ']') {
		w.token(style.Normal, 1)
		return
	}
	w.line.opens, w.line.array = true, c == '['
	w.flush()
	w.stack = append(w.stack, jsonFrame{line: len(w.lines) - 1, array: c == '['})
	w.line.Depth, w.named = len(w.stack), false
}

func (w *jsonWriter) close() {
	w.flush()
	if n := len(w.stack) - 1; n >= 0 {
		opened := &w.lines[w.stack[n].line]
		opened.end, opened.closed = len(w.lines), true
		w.line.pointer, w.line.closes = opened.pointer, true
		w.stack = w.stack[:n]
	}
	w.line.Depth, w.named = len(w.stack), true
	w.token(style.Normal, 1)
}

// flush ends the line.
func (w *jsonWriter) flush() {
	if len(w.line.Spans) > 0 {
		w.lines = append(w.lines, w.line)
	}
	w.line = JSONLine{Depth: len(w.stack)}
}

// stringLength returns how many bytes the string at the beginning of data has, quotes included.
func stringLength(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// literalLength returns the length in bytes of the number, true, false or null at the beginning of data.
func literalLength(data []byte) int {
	if n := bytes.IndexAny(data, " \t\r\n{}[],:\""); n > 0 {
		return n
	}
	return len(data)
}
