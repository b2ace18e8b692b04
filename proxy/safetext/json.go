package safetext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// JSON escapes the characters of a JSON text that a terminal or an editor would interpret rather than show: DEL and the
// control characters of C1, line and paragraph separators, and the marks that change the direction of writing. The
// meaning of the text does not change. Control characters of C0 are in a JSON text only as white space. A text without
// such characters is returned unchanged.
func JSON(text []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(text); {
		n, r := obeyed(text[i:])
		if n == 0 {
			i++
			continue
		}
		out = fmt.Appendf(append(out, text[done:i]...), `\u%04x`, r)
		i += n
		done = i
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// obeyed returns the character with which a text begins and how many bytes it has, if it is one that JSON replaces,
// else 0.
func obeyed(text []byte) (int, rune) {
	switch text[0] {
	case 0x7f:
		return 1, 0x7f
	case 0xc2: // U+0080 to U+00BF
		if len(text) > 1 && text[1] >= 0x80 && text[1] < 0xa0 {
			return 2, rune(text[1])
		}
	case 0xd8:
		if bytes.HasPrefix(text, []byte("\u061c")) {
			return 2, 0x61c
		}
	case 0xe2: // U+2000 to U+2FFF
		if len(text) < 3 || text[1] != 0x80 && text[1] != 0x81 || text[2]&0xc0 != 0x80 {
			return 0, 0
		}
		switch r := 0x2000 | rune(text[1]&0x3f)<<6 | rune(text[2]&0x3f); {
		case r == 0x200e, r == 0x200f, 0x2028 <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
			return 3, r
		}
	}
	return 0, 0
}

// NewEncoder returns an encoder of JSON that is safe to look at, as JSON makes it, and has an indent for each level. What
// HTML gives a meaning stays as it is.
func NewEncoder(w io.Writer, indent string) *json.Encoder {
	e := json.NewEncoder(escaper{w})
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e
}

// An escaper writes JSON texts as escaped by JSON. Each Write must end with a complete character, as an encoder's do.
type escaper struct{ w io.Writer }

func (e escaper) Write(p []byte) (int, error) {
	if _, err := e.w.Write(JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
