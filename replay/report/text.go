package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/replay/compare"
)

// An Ink is what a piece of text is, for those who draw it in colours. No meaning is in the colour alone.
type Ink uint8

// The inks of a report.
const (
	Plain   Ink = iota
	Heading     // what changed
	Was         // a recorded value
	Now         // a value that came now
	Aside       // what matters less
)

// Text writes the report for people: each cause with the numbers of its exchanges, the smallest JSON difference and what
// follows from it; then what was left out and why; then notes. The verdict is not in it. What came from the wire is made
// safe for a terminal.
func Text(w io.Writer, r *Report) error {
	return Painted(w, r, func(_ Ink, text string) string { return text })
}

// Painted writes the report as Text does. Each piece of a line goes through paint, which may add colours.
func Painted(w io.Writer, r *Report, paint func(ink Ink, text string) string) error {
	t := &textWriter{Report: r, paint: paint}
	for i, c := range r.Causes() {
		if i > 0 {
			t.line(0)
		}
		t.cause(i+1, &c)
	}
	rest := r.rest()
	if t.b.Len() > 0 && len(rest) > 0 {
		t.line(0)
	}
	for _, line := range rest {
		t.line(0, text{Plain, line})
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

type textWriter struct {
	*Report
	paint func(Ink, string) string
	b     strings.Builder
}

// text is a piece of a line.
type text struct {
	ink Ink
	s   string
}

func (t *textWriter) line(indent int, pieces ...text) {
	t.b.WriteString(strings.Repeat(" ", indent))
	for _, p := range pieces {
		t.b.WriteString(t.paint(p.ink, analysis.Clean(p.s)))
	}
	t.b.WriteByte('\n')
}

func (t *textWriter) cause(n int, c *Cause) {
	t.line(0, text{Heading, fmt.Sprintf("%d. %s", n, headline(&c.Group))},
		text{Aside, inBrackets(label(&c.Differences[0]))})
	indent := len(fmt.Sprintf("%d. ", n))
	if where := t.where(&c.Group); where != "" {
		t.line(indent, text{Plain, where + atPlace(at(&c.Group))})
	}
	for _, d := range c.Differences[0].Changes {
		t.change(indent, d)
	}
	if len(c.Consequences)+len(c.NotSent) > 0 {
		t.line(indent, text{Plain, "also: " + t.following(c)})
	}
	for _, q := range t.consequences(c) {
		t.line(indent+2, text{Plain, q.headline}, text{Aside, inBrackets(q.kinds)})
		if q.where != "" {
			t.line(indent+4, text{Aside, q.where + atPlace(q.at)})
		}
	}
}

func (t *textWriter) change(indent int, c compare.Change) {
	was, now := compare.Excerpt(c.Was, c.Now, shown)
	t.line(indent+2, text{Aside, pointerOf(c)})
	if was != "" {
		t.line(indent+2, text{Was, "- " + was})
	}
	if now != "" {
		t.line(indent+2, text{Now, "+ " + now})
	}
}

func inBrackets(kinds string) string {
	if kinds == "" {
		return ""
	}
	return " [" + kinds + "]"
}
