package credential

import (
	"bytes"
	"strings"
)

// A placeholder, which replaces a secret in a record, consists of placeholderPrefix, the lowercase hexadecimal digits
// of the secret's digest, and, after a full stop, those of the fingerprint of the digest's key. Up to format 1 of
// captures the key was the capture's own, and its fingerprint was left out.
const (
	placeholderPrefix = "redacted."
	PlaceholderDigits = 16
	FingerprintDigits = 8
)

// Placeholder returns the placeholder with a digest and a fingerprint, of as many digits as the constants say.
func Placeholder[T string | []byte](digest T, fingerprint string) string {
	return placeholderPrefix + string(digest) + "." + fingerprint
}

// IsPlaceholder reports whether a text is a placeholder.
func IsPlaceholder(s string) bool { return s != "" && placeholderLen(s) == len(s) }

// HasPlaceholder reports whether a text contains a placeholder, so that it is not the original text.
func HasPlaceholder(text []byte) bool {
	// The full stop at its end is much rarer in texts than the letters before it.
	for last := 0; ; last++ {
		n := bytes.IndexByte(text[last:], placeholderPrefix[len(placeholderPrefix)-1])
		if n < 0 {
			return false
		}
		last += n
		if start := last + 1 - len(placeholderPrefix); start >= 0 && string(text[start:last+1]) == placeholderPrefix &&
			placeholderLen(string(text[start:min(len(text), start+longest)])) > 0 {
			return true
		}
	}
}

// SameSecret reports whether two texts of one record may have been equal before redaction: the texts around the
// placeholders are equal, and so are placeholders with the same key. Placeholders with different keys count as equal,
// since they show only that there was a secret.
func SameSecret(a, b string) bool {
	if a == b {
		return true
	}
	for {
		startA, endA := nextPlaceholder(a)
		startB, endB := nextPlaceholder(b)
		if startA < 0 || startB < 0 || a[:startA] != b[:startB] {
			return startA < 0 && startB < 0 && a == b
		}
		p, q := a[startA:endA], b[startB:endB]
		if p != q && keyOf(p) == keyOf(q) {
			return false
		}
		a, b = a[endA:], b[endB:]
	}
}

// MayHold reports whether a text of the same record contains a secret or its placeholder, or may contain it, because
// the text has a placeholder with another key.
func MayHold(text, secret string) bool {
	if strings.Contains(text, secret) {
		return true
	}
	if !IsPlaceholder(secret) {
		return false
	}
	for start, end := nextPlaceholder(text); start >= 0; start, end = nextPlaceholder(text) {
		if keyOf(text[start:end]) != keyOf(secret) {
			return true
		}
		text = text[end:]
	}
	return false
}

// Hidden reports whether a text contains a placeholder, and returns the fingerprint of the first one's key, or "" if it
// has none.
func Hidden(text string) (fingerprint string, ok bool) {
	start, end := nextPlaceholder(text)
	if start < 0 {
		return "", false
	}
	return strings.TrimPrefix(keyOf(text[start:end]), "."), true
}

// Alike returns a text in which all placeholders are equal, so that all texts that may have been equal are equal. A
// text without placeholders is returned unchanged.
func Alike(text []byte) []byte {
	if !HasPlaceholder(text) {
		return text
	}
	var out []byte
	rest := string(text)
	for start, end := nextPlaceholder(rest); start >= 0; start, end = nextPlaceholder(rest) {
		out = append(append(out, rest[:start]...), placeholderPrefix...)
		rest = rest[end:]
	}
	return append(out, rest...)
}

// keyOf returns the key fingerprint of a placeholder.
func keyOf(placeholder string) string { return placeholder[shortest:] }

// Fits reports whether an unredacted text may be the original of a recorded one: they are equal except for
// placeholders, each of which matches any non-empty secret, hidden or not. It needs no key.
func Fits(recorded, text string) bool {
	start, end := nextPlaceholder(recorded)
	if start < 0 {
		return recorded == text
	}
	text, ok := strings.CutPrefix(text, recorded[:start])
	for ok {
		recorded = recorded[end:]
		if start, end = nextPlaceholder(recorded); start < 0 {
			return len(text) > len(recorded) && strings.HasSuffix(text, recorded)
		}
		// The secret ends at the next occurrence of the text that follows it, after at least one byte.
		next := -1
		if text != "" {
			next = strings.Index(text[1:], recorded[:start])
		}
		if ok = next >= 0; ok {
			text = text[1+next+start:]
		}
	}
	return false
}

// nextPlaceholder returns the bounds of the next placeholder in a text; start is -1 without one.
func nextPlaceholder(text string) (start, end int) {
	for from := 0; ; from += len(placeholderPrefix) {
		i := strings.Index(text[from:], placeholderPrefix)
		if i < 0 {
			return -1, -1
		}
		from += i
		if n := placeholderLen(text[from:]); n > 0 {
			return from, from + n
		}
	}
}

const (
	shortest = len(placeholderPrefix) + PlaceholderDigits
	longest  = shortest + len(".") + FingerprintDigits
)

// placeholderLen returns the length of the placeholder at the beginning of a text, or 0.
func placeholderLen(text string) int {
	if len(text) < shortest || !strings.HasPrefix(text, placeholderPrefix) ||
		!isHex(text[len(placeholderPrefix):shortest]) {
		return 0
	}
	if len(text) >= longest && text[shortest] == '.' && isHex(text[shortest+1:longest]) {
		return longest
	}
	return shortest
}

func isHex(digits string) bool { return strings.Trim(digits, "0123456789abcdef") == "" }
