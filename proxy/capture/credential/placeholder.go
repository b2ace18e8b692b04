package credential

import (
	"bytes"
	"strings"
)

// A placeholder, which stands in a record for a secret, is PlaceholderPrefix and so many lower-case hexadecimal digits.
const (
	PlaceholderPrefix = "redacted."
	PlaceholderDigits = 16
)

// IsPlaceholder reports whether a text is a placeholder.
func IsPlaceholder(s string) bool {
	digits, ok := strings.CutPrefix(s, PlaceholderPrefix)
	return ok && len(digits) == PlaceholderDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

// HasPlaceholder reports whether a text has a placeholder in it: then it is not the text that passed.
func HasPlaceholder(text []byte) bool {
	for {
		i := bytes.Index(text, []byte(PlaceholderPrefix))
		if i < 0 {
			return false
		}
		text = text[i+len(PlaceholderPrefix):]
		if len(text) >= PlaceholderDigits && IsPlaceholder(PlaceholderPrefix+string(text[:PlaceholderDigits])) {
			return true
		}
	}
}
