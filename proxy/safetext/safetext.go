// Package safetext makes untrusted texts safe to display: their contents are shown, and never interpreted. A terminal
// acts on control characters, a pager and an editor on some more, and marks that change the direction of writing make a
// text look like another.
//
// There are four ways, for four purposes:
//
//   - [OneLine] for a text in one of a2atap's lines: white space becomes blanks, all else that is not printable U+FFFD;
//   - [Visible] for a text whose every character matters: each is shown, or spelled, such as ␊ or \u{202e};
//   - [Plain] for a text of several lines, such as an answer of an agent: lines and tabs stay;
//   - [JSON] for a JSON text, which means the same afterwards; [NewEncoder] writes values as such texts.
//
// It is a leaf: proxy, analyzer, inspector and commands use it. Writers of a format add the format's own escapes, such
// as those of HTML.
package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine puts a text on one line and replaces what a terminal might act on, with one character for each.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// IsControl reports whether a character may act as a command where a text is pasted or printed: a control character
// other than a tab and the end of a line.
func IsControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// maxMarks bounds how many marks may be put on one character: some texts pile them up over the lines around.
const maxMarks = 4

// Visible returns a text as one line in which everything is seen and nothing is obeyed: control characters are their
// pictures (␊), bytes that are not UTF-8 are written as \xff, and characters that change the direction of writing, have
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
		case !unicode.IsPrint(r) || marks > maxMarks:
			out.WriteString(spelled(r))
		default:
			out.WriteRune(r)
		}
		s = s[size:]
	}
	return out.String()
}

// spelled returns the visible form of a character that cannot be shown: the picture of a control character (␊), and
// \u{202e} for others.
func spelled(r rune) string {
	switch {
	case r < ' ':
		return string(0x2400 + r)
	case r == 0x7f:
		return "\u2421"
	}
	return fmt.Sprintf(`\u{%x}`, r)
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

// Cut returns the beginning of a text, at most n bytes, without half a character at its end.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Short is Cut with an ellipsis where something is cut off.
func Short(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return Cut(text, n) + "…"
}

// Hex returns bytes as the lines of a table: offset, sixteen bytes, and what of them is ASCII.
func Hex(data []byte) (lines []string) {
	for at := 0; at < len(data); at += 16 {
		row := data[at:min(at+16, len(data))]
		ascii := make([]byte, len(row))
		for i, c := range row {
			if ascii[i] = '.'; c >= ' ' && c <= '~' {
				ascii[i] = c
			}
		}
		lines = append(lines, fmt.Sprintf("%06x  %-47s  %s", at, fmt.Sprintf("% x", row), ascii))
	}
	return lines
}
