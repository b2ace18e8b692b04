package canonical

func isWord(c byte) bool {
	return isDigit(c) || isLetter(c) || c == '_' || c >= 0x80
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// shape reports whether a text begins with a pattern, in which 'x' is a hexadecimal digit, '9' a digit, and anything
// else itself, and ends there or continues outside a word.
func shape(s, pattern string) bool {
	return startsLike(s, pattern) && (len(s) == len(pattern) || !isWord(s[len(pattern)]))
}

func startsLike(s, pattern string) bool {
	if len(s) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		switch p := pattern[i]; {
		case p == 'x' && isHex(s[i]), p == '9' && isDigit(s[i]), p == s[i]:
		default:
			return false
		}
	}
	return true
}
