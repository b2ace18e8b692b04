package canonical

import (
	"strings"
)

// folder recognizes temporary folders and the random names in them.
func folder(s string) (n int, word string) {
	n = tempRoot(s)
	if n == 0 {
		return 0, ""
	}
	for {
		rest := s[n:]
		end := 0
		for end < len(rest) && (isWord(rest[end]) || strings.IndexByte("-.+~", rest[end]) >= 0) {
			end++
		}
		if !isRandom(strings.TrimRight(rest[:end], ".")) {
			return n, "<temp>/"
		}
		if n += end; n < len(s) && (s[n] == '/' || s[n] == '\\') {
			n++
			continue
		}
		return n, "<temp>/"
	}
}

// tempRoot returns the length of a system's folder for temporary files with which a text begins, with the slash after
// it.
func tempRoot(s string) int {
	for _, root := range [...]string{"/tmp/", "/var/tmp/", "/private/tmp/"} {
		if strings.HasPrefix(s, root) {
			return len(root)
		}
	}
	for _, root := range [...]string{"/var/folders/", "/private/var/folders/"} {
		if strings.HasPrefix(s, root) { // macOS: two names, and T
			if i := strings.Index(s, "/T/"); i > 0 && i < len(root)+50 {
				return i + len("/T/")
			}
		}
	}
	if s[0] >= 'A' && s[0] <= 'Z' && s[1] == ':' {
		const temp = `\AppData\Local\Temp\`
		if i := strings.Index(s[:min(len(s), 200)], temp); i > 0 && !strings.ContainsAny(s[:i], "\n\"") {
			return i + len(temp)
		}
	}
	return 0
}

// isRandom reports whether the name of a file was made for one run: those of Python, Go, Node.js, mktemp and pytest.
func isRandom(name string) bool {
	if rest, ok := strings.CutPrefix(name, "pytest-"); ok && !strings.HasPrefix(rest, "of-") {
		return strings.Trim(rest, "0123456789") == ""
	}
	if strings.HasPrefix(name, "pytest-of-") {
		return true
	}
	if rest, ok := strings.CutPrefix(name, "tmp"); ok && len(rest) == 8 && !strings.ContainsAny(rest, "-.") {
		return true // Python
	}
	end := len(name)
	for end > 0 && (isDigit(name[end-1]) || name[end-1]|0x20 >= 'a' && name[end-1]|0x20 <= 'z') {
		end--
	}
	last := name[end:]
	if len(last) < 6 {
		return false
	}
	upper, lower, interleaved := false, false, false
	for i := range len(last) {
		upper = upper || i > 0 && last[i] >= 'A' && last[i] <= 'Z'
		lower = lower || last[i] >= 'a'
		interleaved = interleaved || i > 0 && isDigit(last[i-1]) && !isDigit(last[i])
	}
	number := strings.Trim(last, "0123456789") == ""
	return upper && lower || interleaved || number && len(last) >= 8 && end > 0
}
