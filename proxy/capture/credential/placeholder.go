package credential

import (
	"bytes"
	"encoding/hex"
	"strings"
)

// A placeholder stands for a secret in a record: a word, and digits that are the same wherever the same secret stood.
const (
	placeholderWord   = "redacted."
	placeholderDigits = 16
)

// Placeholder returns what stands for a secret with that keyed digest, of which the first 8 bytes show. It is a token and
// may stand in URLs, headers, cookies and JSON as it is.
func Placeholder(digest []byte) string {
	return placeholderWord + hex.EncodeToString(digest[:placeholderDigits/2])
}

// IsPlaceholder reports whether a text is a placeholder, and nothing else.
func IsPlaceholder(text string) bool {
	digits, ok := strings.CutPrefix(text, placeholderWord)
	return ok && len(digits) == placeholderDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

// HasPlaceholder reports whether a text has a placeholder in it: then it is not the text that passed.
func HasPlaceholder(text []byte) bool {
	for {
		i := bytes.Index(text, []byte(placeholderWord))
		if i < 0 {
			return false
		}
		size := len(placeholderWord) + placeholderDigits
		if len(text)-i >= size && IsPlaceholder(string(text[i:i+size])) {
			return true
		}
		text = text[i+len(placeholderWord):]
	}
}
