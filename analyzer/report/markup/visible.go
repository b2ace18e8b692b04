package markup

import (
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks bounds how many marks may be put on one character: some texts pile them up over the lines around.
const maxMarks = 4

// Visible returns a text as one line in which everything is seen and nothing is obeyed: control characters are their
// pictures (␊), bytes that are no UTF-8 are written as \xff, and characters that change the direction of writing, have
// no width or are not assigned as \u{202e}.
func Visible(s string) string {
	if isPlain(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + 16)
	marks := 0
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, s[0])
		case r < ' ':
			out.WriteRune(0x2400 + r)
		case r == 0x7f:
			out.WriteRune('\u2421')
		case !unicode.IsPrint(r) || marks > maxMarks:
			fmt.Fprintf(&out, `\u{%x}`, r)
		default:
			out.WriteRune(r)
		}
		s = s[size:]
	}
	return out.String()
}

// isPlain reports whether a text is printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// HTML returns a text, made visible, for HTML: as the content of an element, or in the quotes of an attribute that
// holds no address and no code.
func HTML(s string) string { return html.EscapeString(Visible(s)) }
