// Package style holds lines of styled text, and the themes that paint them. A style is the meaning of a piece of text,
// not its look; the theme chooses its color. Every text that enters a line is cleaned (see package text), and escape
// sequences are made in one place, Line.Paint, so that control characters of the traffic never reach the terminal.
//
// Color is never the only carrier of a meaning: OfSeverity, OfState and OfStatus give each a sign, too.
package style

import (
	"strings"

	"a2atap/tui/text"
)

// A Line is one line of the screen: pieces of clean text with their styles.
type Line struct {
	Spans    []Span
	Selected bool // it is drawn in reverse, over the whole width
}

// A Span is a piece of a line: clean text, and its style.
type Span struct {
	Text     string
	Style    Style
	Selected bool // it is drawn in reverse
}

// Text returns a line that begins with a text.
func Text(s Style, words string) Line { return Line{}.Add(s, words) }

// Add returns the line with a text appended. Every text of a line passes through Add, which cleans it.
func (l Line) Add(s Style, words string) Line {
	if words != "" {
		l.Spans = append(l.Spans[:len(l.Spans):len(l.Spans)], Span{Text: text.Clean(words), Style: s})
	}
	return l
}

// Join returns the line with another one appended.
func (l Line) Join(other Line) Line {
	l.Spans = append(l.Spans[:len(l.Spans):len(l.Spans)], other.Spans...)
	return l
}

// String returns the text of the line.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Fit returns the line cut to a width; a selected one is filled up to it.
func (l Line) Fit(columns int) Line {
	fitted := Line{Selected: l.Selected}
	used := 0
	for _, s := range l.Spans {
		s.Text = text.Take(s.Text, columns-used)
		used += text.Width(s.Text)
		fitted.Spans = append(fitted.Spans, s)
	}
	if l.Selected {
		fitted.Spans = append(fitted.Spans, Span{Text: text.Blanks(columns - used)})
	}
	return fitted
}

// InPane returns the line as a part of a screen line, cut and padded to a width. A selected line is drawn in reverse if
// its pane has the focus.
func (l Line) InPane(columns int, focused bool) Line {
	piece := l.Fit(columns)
	used := 0
	for i := range piece.Spans {
		piece.Spans[i].Selected = l.Selected && focused
		used += text.Width(piece.Spans[i].Text)
	}
	piece.Selected = false
	return piece.Add(Normal, text.Blanks(columns-used))
}

// Columns returns how many columns the line takes.
func (l Line) Columns() (n int) {
	for _, s := range l.Spans {
		n += text.Width(s.Text)
	}
	return n
}

// Paint returns the line as a terminal draws it in the theme. This is the only place where escape sequences are made.
func (l Line) Paint(t Theme) string {
	var b strings.Builder
	for _, s := range l.Spans {
		look := Looks[t][s.Style]
		if l.Selected || s.Selected {
			look = strings.TrimSuffix("7;"+look, ";")
		}
		if look == "" || s.Text == "" {
			b.WriteString(s.Text)
			continue
		}
		b.WriteString("\x1b[" + look + "m" + s.Text + "\x1b[0m")
	}
	return b.String()
}

// WrapWords is Wrap at blanks, if possible.
func (l Line) WrapWords(columns, indent int) []Line {
	indent = max(min(indent, columns/2), 0)
	columns = max(columns, indent+2)
	var pieces []Line
	piece, used := Line{}, 0
	for _, s := range l.Spans {
		for word := range strings.SplitAfterSeq(s.Text, " ") {
			if used > indent && used+text.Width(strings.TrimRight(word, " ")) > columns {
				last := &piece.Spans[len(piece.Spans)-1]
				last.Text = strings.TrimRight(last.Text, " ")
				pieces = append(pieces, piece)
				piece, used = Line{}.Add(Normal, text.Blanks(indent)), indent
			}
			part := s
			part.Text = word
			piece.Spans = append(piece.Spans, part)
			used += text.Width(word)
		}
	}
	var all []Line
	for _, p := range append(pieces, piece) {
		all = append(all, p.Wrap(columns, indent)...)
	}
	return all
}

// Wrap returns the line in pieces of at most this many columns. All but the first are indented.
func (l Line) Wrap(columns, indent int) []Line {
	indent = WrapIndent(columns, indent)
	columns = max(columns, indent+2)
	var pieces []Line
	piece, used := Line{}, 0
	for _, s := range l.Spans {
		for s.Text != "" {
			part := text.Take(s.Text, columns-used)
			if part == "" {
				pieces = append(pieces, piece)
				piece, used = Line{}.Add(Normal, text.Blanks(indent)), indent
				continue
			}
			piece.Spans = append(piece.Spans, Span{Text: part, Style: s.Style})
			used += text.Width(part)
			s.Text = s.Text[len(part):]
		}
	}
	return append(pieces, piece)
}

// WrapIndent returns the indent of Wrap in columns.
func WrapIndent(columns, indent int) int { return max(min(indent, columns/2), 0) }

// A Strip is a line of single cells, such as a bar.
type Strip []Span

// NewStrip returns a strip of blanks.
func NewStrip(columns int) Strip {
	s := make(Strip, max(columns, 0))
	for i := range s {
		s[i].Text = " "
	}
	return s
}

// Put puts a sign of one column into a cell, if the cell exists.
func (s Strip) Put(column int, look Style, sign string) {
	if column >= 0 && column < len(s) {
		s[column] = Span{Text: sign, Style: look}
	}
}

// Fill puts a sign into the cells from one to another, both included.
func (s Strip) Fill(from, to int, look Style, sign string) {
	for i := max(from, 0); i <= to && i < len(s); i++ {
		s.Put(i, look, sign)
	}
}

// Line returns the strip as a line.
func (s Strip) Line() Line {
	var l Line
	for i := 0; i < len(s); {
		var b strings.Builder
		n := i
		for ; n < len(s) && s[n].Style == s[i].Style; n++ {
			b.WriteString(s[n].Text)
		}
		l = l.Add(s[i].Style, b.String())
		i = n
	}
	return l
}
