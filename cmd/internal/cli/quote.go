package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote quotes a word for a shell: in plain quotes, or as $'…' if it has bytes that a terminal would obey, or that are
// not text. POSIX has had the latter since 2024; bash, zsh and ksh have had it for long.
func Quote(word string) string {
	if !strings.ContainsFunc(word, Obeyed) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i, r := range word {
		size := max(1, utf8.RuneLen(r))
		if r == utf8.RuneError && !strings.HasPrefix(word[i:], string(utf8.RuneError)) {
			size = 1 // a byte that is not text
		}
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case Obeyed(r):
			for _, c := range []byte(word[i : i+size]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// Obeyed reports whether a terminal acts on a character instead of showing it, or may be unable to show it.
func Obeyed(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError
}
