package credential

import (
	"strings"
	"unicode/utf8"
)

// words is a set of positions at which the words in a name indicate a secret; 0 means that no word does.
type words uint8

const (
	anywhere  words = 1 << iota // in any name they may say who is asking
	inHeaders                   // in the name of a header field they denote a secret
	inParams                    // the same of a parameter
	alone                       // only as a separate word: not the "pin" in "mapping"
	secret    = anywhere | inHeaders | inParams
)

// vocabulary has the words by their first letters, and the meaning of each.
var vocabulary = [utf8.RuneSelf][]struct {
	word string
	says words
}{
	'a': {{"auth", secret}},
	'b': {{"bearer", secret}},
	'c': {{"cookie", secret}, {"credential", secret}},
	'd': {{"dpop", anywhere}},
	'j': {{"jwt", secret}},
	'k': {{"key", secret}},
	'o': {{"otp", secret | alone}},
	'p': {
		{"password", secret},
		{"passwd", secret},
		{"passphrase", secret},
		{"passcode", secret},
		{"pin", secret | alone},
		{"pwd", secret | alone},
	},
	's': {
		{"secret", secret},
		{"session", secret},
		{"sessid", secret},
		{"sid", secret | alone},
		{"signature", secret},
	},
	't': {{"token", secret}, {"totp", secret | alone}},
}

// wordsOf returns the meanings of the words in a name. If it is loose, separators between letters are ignored.
func wordsOf(name string, loose bool) (found words) {
	for i := range len(name) {
		first := lower(name[i])
		if first >= utf8.RuneSelf {
			continue
		}
		for _, v := range vocabulary[first] {
			switch {
			case found&v.says == v.says:
			case v.says&alone != 0:
				if beginsWith(name[i:], v.word, false) && isWord(name, i, i+len(v.word)) {
					found |= v.says
				}
			case beginsWith(name[i:], v.word, loose):
				found |= v.says
			}
		}
	}
	return found &^ alone
}

// isWord reports whether the letters of a name from start to end are a word: they are surrounded by separators or
// digits, or the next word begins with a capital, as in pinCode.
func isWord(name string, start, end int) bool {
	begins := start == 0 || !isLetter(name[start-1]) || isLower(name[start-1]) && !isLower(name[start])
	return begins && (end == len(name) || !isLetter(name[end]) || isLower(name[end-1]) && !isLower(name[end]))
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isLetter(c byte) bool { return isLower(c | 0x20) }

// beginsWith reports whether a name begins with a word of lower-case letters, in any case.
func beginsWith(name, word string, loose bool) bool {
	at := 0
	for i := 0; at < len(word) && i < len(name); i++ {
		switch c := name[i]; {
		case loose && separates(c):
		case lower(c) != word[at]:
			return false
		default:
			at++
		}
	}
	return at == len(word)
}

func separates(c byte) bool { return c == '_' || c == '-' || c == '.' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func equal(name, want string) bool { return len(name) == len(want) && beginsWith(name, want, false) }

func hasPrefix(name, prefix string) bool { return beginsWith(name, prefix, false) }

func hasSuffix(name, suffix string) bool {
	return len(name) >= len(suffix) && beginsWith(name[len(name)-len(suffix):], suffix, false)
}

func contains(name, word string) bool {
	for i := 0; i+len(word) <= len(name); i++ {
		if beginsWith(name[i:], word, false) {
			return true
		}
	}
	return false
}

// ascii replaces letters in a name whose lower case is an ASCII letter: K, the sign of Kelvin, becomes k.
func ascii(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return strings.ToLower(name)
		}
	}
	return name
}

// Normal returns a name in lower case without what separates its words: access_token and accessToken are the same.
func Normal(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, name))
}

// normalised is room for the normal form of a name. No name in a table is longer.
type normalised [64]byte

// normalise returns the normal form of a name in ASCII; ok is false if it is too long for a table.
func normalise[T string | []byte](room *normalised, name T) (normal []byte, ok bool) {
	normal = room[:0]
	for i := range len(name) {
		if c := name[i]; !separates(c) {
			if len(normal) == len(room) {
				return nil, false
			}
			normal = append(normal, lower(c))
		}
	}
	return normal, true
}

// table turns lists of names around.
func table[K comparable](lists map[K]string) map[string]K {
	all := make(map[string]K)
	for kind, list := range lists {
		for _, name := range strings.Fields(list) {
			all[name] = kind
		}
	}
	return all
}
