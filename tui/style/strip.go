package style

import "strings"

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

// Put puts a sign of one column into a cell, if there is such a cell.
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
