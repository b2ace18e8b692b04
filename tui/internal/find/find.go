// Package find implements the inspector's search: a text or a regular expression, and where it occurs in a line.
//
// A search text in lower case ignores case; one with an uppercase letter respects it. Text between two slashes is a
// regular expression (RE2, as in package regexp), with the same rule for case. JSON is searched both as sent and with
// its escapes decoded.
package find

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Pattern is a parsed search text. It is safe for concurrent use.
type Pattern struct {
	text  string
	re    *regexp.Regexp
	exact bool   // case matters
	probe string // ASCII letters and digits that every match contains, in lower case unless exact; empty if unknown
}

// A Range is a part of a line, in bytes: from From up to, but not including, To.
type Range struct{ From, To int }

// Parse parses a search text. An error describes the problem in a regular expression.
func Parse(text string) (*Pattern, error) {
	if text == "" {
		return nil, errors.New("the search text is empty")
	}
	p := &Pattern{text: text}
	expr, isExpr := expression(text)
	if isExpr {
		p.exact = hasUpper(expr)
	} else {
		p.exact = strings.ContainsFunc(text, unicode.IsUpper)
		expr = regexp.QuoteMeta(text)
		p.probe = longestWord(text)
	}
	re, err := regexp.Compile(expr)
	if err == nil && !p.exact {
		re, err = regexp.Compile("(?i)" + expr)
	}
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression: %s",
			strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	p.re = re
	return p, nil
}

// String returns the typed text.
func (p *Pattern) String() string { return p.text }

// expression returns the text between the slashes of a regular expression.
func expression(text string) (string, bool) {
	if len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/' {
		return text[1 : len(text)-1], true
	}
	return "", false
}

// hasUpper reports whether a regular expression has an upper-case letter that is not part of an escape, such as \S.
func hasUpper(expr string) bool {
	for expr != "" {
		r, size := utf8.DecodeRuneInString(expr)
		switch {
		case unicode.IsUpper(r):
			return true
		case r == '\\':
			size = escapeLength(expr)
		}
		expr = expr[size:]
	}
	return false
}

// escapeLength returns the length in bytes of the escape at the beginning of an expression, such as \S or \p{Lu}.
func escapeLength(expr string) int {
	if len(expr) < 2 {
		return len(expr)
	}
	_, size := utf8.DecodeRuneInString(expr[1:])
	size++
	if !strings.ContainsRune("pPx", rune(expr[1])) || size == len(expr) {
		return size
	}
	if expr[size] != '{' {
		return size + 1
	}
	if end := strings.IndexByte(expr, '}'); end > 0 {
		return end + 1
	}
	return len(expr)
}

// longestWord returns the longest run of ASCII letters and digits, in lower case unless the case matters.
func longestWord(text string) string {
	longest := ""
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}

// In returns where the pattern occurs in a line, in order and without overlaps. A match is never empty.
func (p *Pattern) In(line string) []Range {
	var found []Range
	for _, at := range p.re.FindAllStringIndex(line, -1) {
		if at[0] < at[1] {
			found = append(found, Range{at[0], at[1]})
		}
	}
	return found
}

// InJSON is In for a line of a JSON text. It also matches decoded escapes: ü for \u00fc, and the quote in \".
// Overlapping matches of both readings are one match.
func (p *Pattern) InJSON(line string) []Range {
	found := p.In(line)
	plain, at := unescape(line)
	if at == nil {
		return found
	}
	for _, r := range p.In(plain) {
		found = append(found, Range{at[r.From], at[r.To]})
	}
	return merged(found)
}

// merged sorts ranges, and merges overlapping ones.
func merged(ranges []Range) []Range {
	slices.SortFunc(ranges, func(a, b Range) int { return a.From - b.From })
	var out []Range
	for _, r := range ranges {
		if n := len(out); n > 0 && r.From < out[n-1].To {
			out[n-1].To = max(out[n-1].To, r.To)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Absent reports whether the pattern certainly does not occur in the display of some bytes, as headers or as formatted
// JSON. It is fast, and may report false for bytes without a match.
func (p *Pattern) Absent(raw []byte) bool {
	if p.probe == "" {
		return false
	}
	for _, c := range raw {
		if c >= utf8.RuneSelf || c == '\\' { // it may be shown as something else
			return false
		}
	}
	if p.exact {
		return !bytes.Contains(raw, []byte(p.probe))
	}
	return !containsFold(raw, p.probe)
}

// containsFold reports whether a text contains a lowercase word, ignoring case.
func containsFold(text []byte, word string) bool {
	first := word[0]
	upper := first
	if 'a' <= first && first <= 'z' {
		upper -= 'a' - 'A'
	}
	for i := 0; i+len(word) <= len(text); i++ {
		if (text[i] == first || text[i] == upper) && hasPrefixFold(text[i:], word) {
			return true
		}
	}
	return false
}

func hasPrefixFold(text []byte, word string) bool {
	for i := range len(word) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
