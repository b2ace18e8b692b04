package safetext

import (
	"strings"
	"unicode/utf8"
)

// Plain returns a text with U+FFFD in place of each character that a terminal or an editor would obey rather than show:
// those that [JSON] replaces, the control characters of C0, and bytes that are not UTF-8. Tabs stay, and so do the ends
// of lines, CR LF too.
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
