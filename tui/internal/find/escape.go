package find

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape returns a line of a JSON text with its escapes decoded, and for each byte of the result, and its end, the
// position in the line. Without escapes, the second result is nil.
//
// Source: RFC 8259 section 7.
func unescape(line string) (string, []int) {
	if !strings.Contains(line, `\`) {
		return line, nil
	}
	var plain strings.Builder
	at := make([]int, 0, len(line)+1)
	for i := 0; i < len(line); {
		text, size := character(line[i:])
		for range len(text) {
			at = append(at, i)
		}
		plain.WriteString(text)
		i += size
	}
	return plain.String(), append(at, len(line))
}

// character decodes the first character of a line, and returns its length there. Invalid escapes are returned
// unchanged.
func character(line string) (text string, size int) {
	if line[0] != '\\' || len(line) < 2 {
		return line[:1], 1
	}
	if i := strings.IndexByte(`"\/bfnrt`, line[1]); i >= 0 {
		return "\"\\/\b\f\n\r\t"[i : i+1], 2
	}
	r, ok := unit(line)
	if !ok {
		return line[:1], 1
	}
	if !utf16.IsSurrogate(r) {
		return string(r), 6
	}
	low, ok := unit(line[6:])
	if both := utf16.DecodeRune(r, low); ok && both != utf8.RuneError {
		return string(both), 12
	}
	return line[:1], 1
}

// unit returns the number in the escape \uXXXX at the beginning of a text.
func unit(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}
