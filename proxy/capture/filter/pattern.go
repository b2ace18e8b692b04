package filter

import (
	"regexp"
	"strings"
	"unicode"
)

// A pattern is the set of texts that a filter's value matches.
type pattern struct {
	parts []string       // the texts between the wildcards; one part alone is a literal
	re    *regexp.Regexp // instead of parts
	expr  string         // re as the user wrote it
}

// A patternPlace is the place of a pattern. It decides the meaning of a leading slash, and how the pattern is printed.
type patternPlace uint8

const (
	nameLike patternPlace = iota // a slash begins a regular expression
	pathLike                     // a slash begins one only if another slash ends the word
	bareWord                     // for printing: a word without a key
)

// literal returns the text that the pattern matches, if there is only one.
func (p pattern) literal() (string, bool) {
	if len(p.parts) == 1 {
		return p.parts[0], true
	}
	return "", false
}

func (p pattern) empty() bool {
	return p.re == nil && strings.Join(p.parts, "") == ""
}

// matches reports whether the pattern matches s; exact respects case.
func (p pattern) matches(s string, exact bool) bool {
	if p.re != nil {
		return p.re.MatchString(s)
	}
	parts := p.parts
	if !exact {
		s = strings.ToLower(s)
		parts = lowered(parts)
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return s == first
	}
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(s, part)
		if at < 0 {
			return false
		}
		s = s[at+len(part):]
	}
	return true
}

// within reports whether text contains a match of the pattern, ignoring case.
func (p pattern) within(text []byte) bool {
	if p.re != nil {
		return p.re.Match(text)
	}
	for _, part := range lowered(p.parts) {
		if part == "" {
			continue
		}
		if !isASCII(part) {
			text = []byte(strings.ToLower(string(text))) // once is enough: lower case stays so
		}
		at := indexFold(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

func lowered(parts []string) []string {
	out := make([]string, len(parts))
	for i, part := range parts {
		out[i] = strings.ToLower(part)
	}
	return out
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] > unicode.MaxASCII {
			return false
		}
	}
	return true
}

// indexFold returns where word, which is in lower case, begins in text, minding the case of no ASCII letter; -1 if
// nowhere.
func indexFold(text []byte, word string) int {
search:
	for i := 0; i+len(word) <= len(text); i++ {
		for j := range len(word) {
			c := text[i+j]
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != word[j] {
				continue search
			}
		}
		return i
	}
	return -1
}

// pattern reads a value up to the end of the word or to one of the characters in stop.
func (p *parser) pattern(place patternPlace, stop string) (pattern, error) {
	if p.peek() == '/' {
		if end := p.expressionEnd(); end > 0 {
			return p.expression(end)
		}
		if place == nameLike {
			return pattern{}, p.errorf(p.pos, "this regular expression is not closed; it needs a slash at its end, and a "+
				"space in it is written \\s")
		}
	}
	chars, err := p.word(stop)
	if err != nil {
		return pattern{}, err
	}
	pat := pattern{parts: []string{""}}
	for _, c := range chars {
		if c.r == '*' && !c.quoted {
			pat.parts = append(pat.parts, "")
			continue
		}
		pat.parts[len(pat.parts)-1] += string(c.r)
	}
	return pat, nil
}

// expressionEnd returns the position of the slash that ends the regular expression that begins here, or 0. It is the
// first slash that is followed only by closing parentheses in the word, so that both /(a|b)/ and (/a/) are possible.
func (p *parser) expressionEnd() int {
	end := p.pos
	for end < len(p.in) && !unicode.IsSpace(p.in[end]) {
		end++
	}
	rest := end
	for rest > p.pos && p.in[rest-1] == ')' {
		rest--
	}
	for i := p.pos + 1; i < end; i++ {
		switch {
		case p.in[i] == '\\':
			i++
		case p.in[i] == '/' && i+1 >= rest:
			return i
		}
	}
	return 0
}

func (p *parser) expression(end int) (pattern, error) {
	expr := string(p.in[p.pos+1 : end])
	if expr == "" {
		return pattern{}, p.errorf(p.pos, "this regular expression is empty; quote slashes to search for them")
	}
	re, err := regexp.Compile("(?i)" + expr)
	if err != nil {
		// The package's error describes and quotes the problem; its prefix would only repeat ours.
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return pattern{}, p.errorf(p.pos, "invalid regular expression: %s", why)
	}
	p.pos = end + 1
	return pattern{re: re, expr: expr}, nil
}

// A wordRune is a character of a value, quotes and their escapes taken off.
type wordRune struct {
	r      rune
	quoted bool
}

// word consumes characters up to the end of the word or an unquoted one in stop.
func (p *parser) word(stop string) ([]wordRune, error) {
	var chars []wordRune
	for !p.delimiter(p.pos) && !strings.ContainsRune(stop, p.peek()) {
		if p.peek() != '"' {
			chars = append(chars, wordRune{r: p.peek()})
			p.pos++
			continue
		}
		open := p.pos
		for p.pos++; p.peek() != '"'; p.pos++ {
			if p.peek() == '\\' && p.pos+1 < len(p.in) && strings.ContainsRune(`"\`, p.in[p.pos+1]) {
				p.pos++
			}
			if p.end() {
				return nil, p.errorf(open, "this quote is not closed")
			}
			chars = append(chars, wordRune{r: p.peek(), quoted: true})
		}
		p.pos++
	}
	return chars, nil
}

// text consumes the rest of a word and returns it without its quotes.
func (p *parser) text(stop string) (string, error) {
	chars, err := p.word(stop)
	var b strings.Builder
	for _, c := range chars {
		b.WriteRune(c.r)
	}
	return b.String(), err
}

// format returns the pattern as it is written in an expression.
func (p pattern) format(place patternPlace) string {
	if p.re != nil {
		return "/" + p.expr + "/"
	}
	plain := strings.Join(p.parts, "")
	if place == bareWord && operatorWord(plain) != "" && len(p.parts) == 1 {
		return quote(plain)
	}
	out := make([]string, len(p.parts))
	for i, part := range p.parts {
		if out[i] = part; !plainValue(part, place) {
			out[i] = quote(part)
		}
	}
	if len(out) == 1 && plain == "" {
		return `""`
	}
	return strings.Join(out, "*")
}

// plainValue reports whether a text needs no quotes at any place in a value. A slash could begin a regular expression,
// a hyphen a negation, and a colon ends the key.
func plainValue(s string, place patternPlace) bool {
	for i, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_', r == '.', r == '@', r == '+', r == '%':
		case r == '-' && (i > 0 || place != bareWord):
		case r == '/' && place == pathLike && i < len(s)-1:
		case (r == ':' || r == '/' || r == '>') && place == nameLike && i > 0:
		default:
			return false
		}
	}
	return true
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

const (
	uuidLength = 36
	uuidDigits = 6 // of the beginning, which are enough
)

// beginsUUID reports whether a word can be an abbreviated UUID (RFC 9562 section 4).
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
