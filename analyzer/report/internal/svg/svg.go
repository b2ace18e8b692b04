// Package svg draws ladders and trees as SVG for an HTML page: with the page's links, fonts and, by the classes of its
// elements, colors. The input is plain data, and its texts are untrusted: they are shown, and never interpreted.
package svg

import (
	"fmt"
	"strings"
	"unicode"

	"a2atap/analyzer/report/markup"
)

// Sizes in pixels. Fonts differ, so drawings leave room for a wider font.
const (
	charWidth = 7.3 // of a character of the font, at 12 pixels
	rowHeight = 22
	markRow   = 16
	margin    = 8
)

// A Mark is a finding next to a drawn element.
type Mark struct {
	Severity string // its class: "error", "warning" or "note"
	Text     string
	Href     string // link target, such as "#f3"; none if empty
}

// signs show a severity without color.
var signs = map[string]string{"error": "✗", "warning": "!", "note": "·"}

// A drawing is an SVG as it is written.
type drawing struct{ b strings.Builder }

// printf writes markup: texts in it must have gone through markup.HTML.
func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

// text writes a text at a place.
func (d *drawing) text(x, y float64, class, text string) {
	d.printf(`<text class="%s" x="%.1f" y="%.1f">%s</text>`, class, x, y, markup.HTML(text))
}

// link begins a link, if there is one, and returns the text that ends it.
func (d *drawing) link(href string) (end string) {
	if href == "" {
		return ""
	}
	d.printf(`<a href="%s">`, markup.HTML(href))
	return "</a>"
}

// mark writes a mark, and returns where it ends.
func (d *drawing) mark(x, y float64, m Mark) float64 {
	text := signs[m.Severity] + " " + m.Text
	end := d.link(m.Href)
	d.text(x, y, "mark "+m.Severity, text)
	d.printf("%s", end)
	return x + float64(columns(text))*charWidth
}

// document returns the drawing as a complete SVG element.
func (d *drawing) document(class, label string, width, height float64) string {
	return fmt.Sprintf(`<svg class="%s" role="group" aria-label="%s" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`,
		class, markup.HTML(label), width, height, width, height) + d.b.String() + "</svg>\n"
}

// columns returns the approximate width of a text in columns of a monospaced font.
func columns(s string) int {
	n := 0
	for _, r := range markup.Visible(s) {
		switch {
		case unicode.Is(unicode.M, r):
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func isWide(r rune) bool {
	return r >= 0x1f300 || r >= 0xff01 && r <= 0xff60 ||
		r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana)
}

// clip makes a text visible, and cuts it to some columns.
func clip(s string, most int) string {
	if len(s) > 8*most+8 {
		s = s[:8*most+8] // the rest is cut anyway
	}
	s = markup.Visible(s)
	if columns(s) <= most {
		return s
	}
	var out strings.Builder
	n := 0
	for _, r := range s {
		w := 1
		if isWide(r) {
			w = 2
		}
		if n += w; n > most-1 {
			break
		}
		out.WriteRune(r)
	}
	return out.String() + "…"
}
