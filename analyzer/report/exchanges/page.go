package exchanges

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/report/markup"
)

// A page is HTML output. Untrusted text goes through the method text.
type page struct{ b strings.Builder }

// raw writes markup.
func (p *page) raw(s string) { p.b.WriteString(s) }

// text writes a text, so that it is seen and means nothing.
func (p *page) text(s string) { p.b.WriteString(markup.HTML(s)) }

// span writes a text of a class.
func (p *page) span(class, s string) {
	p.raw(`<span class="` + class + `">`)
	p.text(s)
	p.raw("</span>")
}

// line writes a paragraph of a class, if there is anything in it.
func (p *page) line(class, s string) {
	if s == "" {
		return
	}
	p.raw(`<p class="` + class + `">`)
	p.text(s)
	p.raw("</p>\n")
}

// note writes a finding at its place, with a link to its rule.
func (p *page) note(f *finding) {
	if f.placed {
		return
	}
	f.placed = true
	severity := f.Severity.String()
	p.raw(`<span class="found ` + severity + `" id="` + f.id + `"><b class="severity">` + severity + "</b> ")
	p.text(f.Message())
	p.raw(` <a href="#` + markup.HTML(f.Rule.ID) + `">`)
	p.text(f.Rule.ID)
	p.raw("</a>\n</span>") // the end of the line inside: after a block it would be a blank line
}

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

func (p *page) len() int { return p.b.Len() }

func (p *page) take() string {
	s := p.b.String()
	p.b.Reset()
	return s
}

// flush writes the buffered output.
func (p *page) flush(w io.Writer) error {
	_, err := io.WriteString(w, p.take())
	return err
}
