package safetext

import (
	"strings"
	"unicode/utf8"
)

// Plain replaces each character that a terminal or an editor would interpret rather than show with U+FFFD: those that
// [JSON] escapes, the control characters of C0, and bytes that are not UTF-8. Tabs and line ends, including CR LF,
// stay.
func Plain(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch obeys, _ := obeyed([]byte(text[i : i+n])); {
		case r == '\t', r == '\n', r == '\r' && strings.HasPrefix(text[i+1:], "\n"):
			out.WriteByte(text[i])
		case obeys > 0, r < ' ', r == utf8.RuneError:
			out.WriteRune(utf8.RuneError)
		default:
			out.WriteString(text[i : i+n])
		}
		i += n
	}
	return out.String()
}
