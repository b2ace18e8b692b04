package filter

import "strings"

const (
	uuidLength = 36
	uuidDigits = 6 // of the beginning, which are enough
)

// beginsUUID reports whether a word can be the beginning of a UUID that stands for the whole one (RFC 9562 section 4).
func beginsUUID(word string) bool {
	if len(word) < uuidDigits || len(word) >= uuidLength {
		return false
	}
	for i := range len(word) {
		if !uuidHas(i, word[i]) {
			return false
		}
	}
	return true
}

func isUUID(id string) bool {
	return len(id) == uuidLength && uuidHas(uuidLength-1, id[uuidLength-1]) && beginsUUID(id[:uuidLength-1])
}

// uuidHas reports whether a UUID can have a character at an index.
func uuidHas(i int, c byte) bool {
	switch i {
	case 8, 13, 18, 23:
		return c == '-'
	}
	return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0
}
