package canonical

import (
	"regexp"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// Rules say what besides the form of values may differ. The zero Rules ignore nothing more.
type Rules struct {
	Ignore []*regexp.Regexp // what they match in a text may differ
}

// normal returns a text in which a word for their form replaces the values that every run generates. name is the name of
// the member or the parameter that has the text.
func (r *Rules) normal(name, text string) string { return ByForm(name, r.ignored(text)) }

func (r *Rules) ignored(text string) string {
	if r != nil {
		for _, e := range r.Ignore {
			text = e.ReplaceAllLiteralString(text, "<ignored>")
		}
	}
	return text
}

// path returns the path of a target in its normal form.
func (r *Rules) path(target string) string {
	_, path, _ := capture.SplitTarget(target)
	path = r.ignored(path)
	var out strings.Builder
	done := 0
	for _, at := range choices.FindAllStringIndex(path, -1) {
		out.WriteString(ByForm("", path[done:at[0]]) + path[at[0]:at[1]])
		done = at[1]
	}
	out.WriteString(ByForm("", path[done:]))
	return out.String()
}

// choices matches the parts of a path that choose a model or a version: /models/gpt-4o-2024-08-06, and a date with which a
// path begins.
var choices = regexp.MustCompile(`^/\d{4}-\d{2}-\d{2}(?:/|$)|/(?:[^/]*[-_])?(?:model|engine|deployment|version)s?/[^/]+`)

// Chooses reports whether a member or a parameter chooses a model or a version, such as model, api-version or
// protocolVersion. A date in it is part of the choice.
func Chooses(name string) bool {
	for _, word := range [...]string{
		"model", "models", "modelId", "model_id", "modelName", "model_name", "engine", "deployment", "version", "versions",
	} {
		i := len(name) - len(word)
		if i < 0 || !strings.EqualFold(name[i:], word) {
			continue
		}
		if i == 0 || !isLetter(name[i-1]) || name[i] < 'a' && name[i-1] >= 'a' {
			return true
		}
	}
	return false
}

// ByForm replaces the values that are recognized by their form alone. A text without any is returned as it is, and so is
// one whose name says that it chooses a model or a version.
func ByForm(name, text string) string {
	if Chooses(name) {
		return text
	}
	var out strings.Builder
	done := 0
	for i := 0; i < len(text); {
		if c := text[i]; !mayStart[c] || i > 0 && isWord(c) && isWord(text[i-1]) && !isEscape(text, i-1) {
			i++
			continue
		}
		n, word := formAt(text[i:])
		if n == 0 {
			i++
			continue
		}
		out.WriteString(text[done:i])
		out.WriteString(word)
		i += n
		done = i
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// isEscape reports whether a letter is part of an escaped line break or tab of JSON in a text.
func isEscape(text string, i int) bool {
	return i > 0 && text[i-1] == '\\' && (text[i] == 'n' || text[i] == 'r' || text[i] == 't')
}

// mayStart has the bytes with which values begin that formAt knows.
var mayStart = func() (bytes [256]bool) {
	for _, c := range []byte("/[0123456789abcdefABCDEFrl" + initials) {
		bytes[c] = true
	}
	for c := byte('A'); c <= 'Z'; c++ { // a drive
		bytes[c] = true
	}
	return bytes
}()

// initials are those of months and weekdays.
const initials = "JFMASONDTW"

// formAt returns the length of the value with which a text begins, and the word for its form; 0 for any other text.
func formAt(s string) (n int, word string) {
	switch c := s[0]; {
	case c == '/' || c >= 'A' && c <= 'Z' && len(s) > 2 && s[1] == ':':
		return folder(s)
	case c == '[':
		if strings.HasPrefix(s, "[::1]:") {
			return loopback(s, len("[::1]"))
		}
		return 0, ""
	case !isWord(c):
		return 0, ""
	case c >= '0' && c <= '9':
		if n := uuidAt(s); n > 0 {
			return n, "<uuid>"
		}
		if n := dateAt(s); n > 0 {
			return n + clockAfter(s[n:]), "<time>"
		}
		if n := clockAt(s); n > 0 {
			return n, "<time>"
		}
		if n := dayMonth(s); n > 0 {
			return n + clockAfter(s[n:]), "<time>"
		}
		if strings.HasPrefix(s, "127.0.0.1:") {
			return loopback(s, len("127.0.0.1"))
		}
		return 0, ""
	}
	if n := uuidAt(s); n > 0 {
		return n, "<uuid>"
	}
	switch s[0] {
	case 'r':
		if n := placeholderAt(s); n > 0 {
			return n, "<secret>"
		}
	case 'l':
		if strings.HasPrefix(s, "localhost:") {
			return loopback(s, len("localhost"))
		}
	}
	if strings.IndexByte(initials, s[0]) < 0 { // no month or weekday begins with another letter
		return 0, ""
	}
	if n := max(weekdayDate(s), monthDay(s)); n > 0 {
		return n + clockAfter(s[n:]), "<time>"
	}
	return 0, ""
}

// uuidAt recognizes UUIDs with hyphens, and random ones (version 4) without.
//
// Source: RFC 9562 sections 4 and 5.4.
func uuidAt(s string) int {
	switch {
	case len(s) < 32:
		return 0
	case s[8] == '-':
		if shape(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
			return 36
		}
		return 0
	case !isHex(s[8]):
		return 0
	}
	if shape(s, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") && s[12] == '4' && strings.IndexByte("89abAB", s[16]) >= 0 {
		return 32
	}
	return 0
}

// placeholderAt recognizes what replaces a secret in a record.
func placeholderAt(s string) int {
	const whole, short = len("redacted.") + credential.PlaceholderDigits + 1 + credential.FingerprintDigits,
		len("redacted.") + credential.PlaceholderDigits
	switch {
	case len(s) >= whole && credential.IsPlaceholder(s[:whole]):
		return whole
	case len(s) >= short && credential.IsPlaceholder(s[:short]):
		return short
	}
	return 0
}

// loopback recognizes a port of this machine. host is the length of its name, with which the text begins.
func loopback(s string, host int) (n int, word string) {
	n = host + 1
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if digits := n - host - 1; digits < 2 || digits > 5 {
		return 0, ""
	}
	return n, "<this machine>"
}
