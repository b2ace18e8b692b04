package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/replay/compare"
)

// A Row is a line of text for people, in pieces that are drawn in their inks. It is safe for a terminal.
type Row []Piece

// A Piece is a part of a line, and the ink in which it is drawn.
type Piece struct {
	Ink  report.Ink
	Text string
}

// Text writes Rows. Their pieces go through r.Paint.
func Text(w io.Writer, r *Report) error {
	_, err := io.WriteString(w, paint(r.Rows(), r.Paint))
	return err
}

// paint returns rows as text. Pieces go through ink, if that is not nil.
func paint(rows []Row, ink func(report.Ink, string) string) string {
	var b strings.Builder
	for _, row := range rows {
		for _, p := range row {
			if ink != nil {
				p.Text = ink(p.Ink, p.Text)
			}
			b.WriteString(p.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Rows returns the report for people: each cause with the numbers of its exchanges, the smallest JSON difference and its
// consequences; then omissions with reasons; then notes. It does not include the verdict.
func (r *Report) Rows() []Row {
	var t text
	for i, c := range r.causes() {
		if i > 0 {
			t.line(0)
		}
		t.cause(i+1, &c)
	}
	rest := r.rest()
	if len(t) > 0 && len(rest) > 0 {
		t.line(0)
	}
	for _, line := range rest {
		t.line(0, Piece{report.Plain, line})
	}
	return t
}

// A text is the rows that have been written.
type text []Row

func (t *text) line(indent int, pieces ...Piece) {
	row := Row{{report.Plain, strings.Repeat(" ", indent)}}
	for _, p := range pieces {
		row = append(row, Piece{p.Ink, analysis.Clean(p.Text)})
	}
	*t = append(*t, row)
}

func (t *text) cause(n int, c *causeText) {
	t.line(0, Piece{report.Heading, fmt.Sprintf("%d. %s", n, c.Headline)}, Piece{report.Aside, inBrackets(c.Kinds)})
	indent := len(fmt.Sprintf("%d. ", n))
	if c.Where != "" {
		t.line(indent, Piece{report.Plain, c.Where + atPlace(c.At)})
	}
	for _, d := range c.Changes {
		t.change(indent+2, d)
	}
	if len(c.Effects) > 0 {
		t.line(indent, Piece{report.Plain, "also: " + c.Also})
	}
	for _, q := range c.Effects {
		t.line(indent+2, Piece{report.Plain, q.Headline}, Piece{report.Aside, inBrackets(q.Kinds)})
		if q.Where != "" {
			t.line(indent+4, Piece{report.Aside, q.Where + atPlace(q.At)})
		}
	}
}

func (t *text) change(indent int, c compare.Change) {
	t.line(indent, Piece{report.Aside, c.Pointer})
	if c.Was != "" {
		t.line(indent, Piece{report.Was, "- " + c.Was})
	}
	if c.Now != "" {
		t.line(indent, Piece{report.Now, "+ " + c.Now})
	}
}

func inBrackets(kinds string) string {
	if kinds == "" {
		return ""
	}
	return " [" + kinds + "]"
}
