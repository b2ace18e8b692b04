package canonical

import (
	"regexp"
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

// tempRoots match the folders of systems for temporary files at the beginning of a text, with the slash after them: of
// Linux, macOS, and Windows.
var tempRoots = [...]*regexp.Regexp{
	regexp.MustCompile(`^(?:/private)?(?:/var)?/tmp/`),
	regexp.MustCompile(`^(?:/private)?/var/folders/\w{1,10}/\w{1,50}/T/`),
	regexp.MustCompile(`^[A-Z]:\\Users\\[^\\/:*?"<>|\r\n]{1,100}\\AppData\\Local\\Temp\\`),
}

// tempRoot returns the length of a system's folder for temporary files with which a text begins; 0 for other texts.
func tempRoot(s string) int {
	if s[0] == '/' && !strings.HasPrefix(s, "/tmp") && !strings.HasPrefix(s, "/var") && !strings.HasPrefix(s, "/private") {
		return 0
	}
	for _, root := range tempRoots {
		if at := root.FindStringIndex(s); at != nil {
			return at[1]
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
	for end > 0 && (isDigit(name[end-1]) || isLetter(name[end-1])) {
		end--
	}
	last := name[end:]
	if len(last) < 6 {
		return false
	}
	digits := len(last) - len(strings.TrimRight(last, "0123456789"))
	if digits == len(last) {
		return digits >= 8 && end > 0
	}
	if digits >= 9 { // Go and Java
		return true
	}
	if isWords(last) {
		return false
	}
	upper, lower, interleaved := false, false, false
	for i := range len(last) {
		upper = upper || i > 0 && last[i] >= 'A' && last[i] <= 'Z'
		lower = lower || last[i] >= 'a'
		interleaved = interleaved || i > 0 && isDigit(last[i-1]) && !isDigit(last[i])
	}
	return upper && lower || interleaved
}

// words matches names that people write: Report, myReport, getURL, s3bucket, report2.
var words = regexp.MustCompile(`^(?:[A-Za-z]{1,3}\d{1,3})?((?:[A-Z]*[a-z]{2,})+(?:[A-Z]{2,})?)\d*$`)

// isWords reports whether a name seems to consist of words, of which a quarter are vowels.
func isWords(name string) bool {
	m := words.FindStringSubmatch(name)
	if m == nil || len(m[1]) < 4 {
		return false
	}
	vowels := 0
	for _, c := range []byte(m[1]) {
		if strings.IndexByte("aeiou", c|0x20) >= 0 {
			vowels++
		}
	}
	return vowels >= (len(m[1])+3)/4
}
