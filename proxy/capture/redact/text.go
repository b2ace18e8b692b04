package redact

import (
	"bytes"
	"encoding/base64"
	"strings"

	"a2atap/proxy/capture/credential"
)

// marks say which credentials a text may have in it that show themselves by their form, not by a name.
type marks uint8

const (
	markURL           marks = 1 << iota // with a query, a fragment or user information
	markBearer                          // RFC 6750 section 2.1
	markBasic                           // RFC 7617 section 2
	markJWT                             // RFC 7519
	markAuthorization                   // the field, in a command or a log
	markKey                             // RFC 7468 section 10 and its like

	allMarks = marks(1<<iota - 1)
)

// marksOf returns what a text may have in it. Nearly all texts have nothing, and it is cheap to see.
func marksOf(text []byte) (found marks) {
	equals := bytes.IndexByte(text, '=') >= 0
	if equals && (bytes.IndexByte(text, '?') >= 0 || bytes.IndexByte(text, '#') >= 0) ||
		bytes.IndexByte(text, '@') >= 0 && (has(text, "//") || has(text, `\/`)) {
		found |= markURL
	}
	if anyBefore(text, 'J', "ey") {
		found |= markJWT
	}
	if anyBefore(text, 'z', "uthori") || anyBefore(text, 'Z', "UTHORI") {
		found |= markAuthorization
	}
	if has(text, "PRIVATE KEY-----") {
		found |= markKey
	}
	return found | schemesOf(text)
}

// schemesOf returns the schemes that occur in a text, followed by a blank.
func schemesOf(text []byte) (found marks) {
	for _, b := range [...]byte{'b', 'B'} {
		for rest := text; ; {
			n := bytes.IndexByte(rest, b)
			if n < 0 {
				break
			}
			switch rest = rest[n+1:]; {
			case beginsFold(rest, "earer "):
				found |= markBearer
			case beginsFold(rest, "asic "):
				found |= markBasic
			}
		}
	}
	return found
}

// beginsFold reports whether a text may begin with a word that is given in lower case, in any case.
func beginsFold(text []byte, lower string) bool {
	return len(text) >= len(lower) && equalFold(text[:len(lower)], lower)
}

// equalFold reports whether letters are others in lower case, in any case.
func equalFold(text []byte, lower string) bool {
	for i, c := range text {
		if c|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// anyBefore reports whether the rare letter occurs in a text, preceded by the letters in before. It is much faster than
// a search for the whole word.
func anyBefore(text []byte, rare byte, before string) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(text[at:], rare)
		if n < 0 {
			return false
		}
		if at += n; bytes.HasSuffix(text[:at], []byte(before)) {
			return true
		}
	}
}

func has(text []byte, part string) bool { return bytes.Contains(text, []byte(part)) }

// text hides the credentials in a text that show themselves by their form: in URLs, behind "Bearer" and "Basic", JSON
// Web Tokens, in a field Authorization, and private keys. It minds no names.
func (m *mask) text(s string) string {
	found := marksOf([]byte(s))
	if found == 0 {
		return s
	}
	if found&markURL != 0 {
		s = m.urls(s)
	}
	if edits := m.tokens(nil, []byte(s), found); len(edits) > 0 {
		s = string(splice([]byte(s), edits))
	}
	return s
}

// tokens appends the edits that hide what text hides, except for URLs. The text may be the contents of a quoted string,
// or unquoted.
func (m *mask) tokens(edits []edit, text []byte, found marks) []edit {
	if found&markAuthorization != 0 {
		edits = m.each(edits, text, "uthorization", authorizationAt)
		edits = m.each(edits, text, "UTHORIZATION", authorizationAt)
	}
	if found&markBearer != 0 {
		edits = m.each(edits, text, "earer ", bearerAt)
		edits = m.each(edits, text, "EARER ", bearerAt)
	}
	if found&markBasic != 0 {
		edits = m.each(edits, text, "asic ", basicAt)
		edits = m.each(edits, text, "ASIC ", basicAt)
	}
	if found&markJWT != 0 {
		edits = m.each(edits, text, "eyJ", jwtAt)
	}
	if found&markKey != 0 {
		edits = m.each(edits, text, "PRIVATE KEY-----", keyAt)
	}
	return edits
}

// each appends the edits for all occurrences of a word. at receives the start and end of an occurrence, and returns the
// range to hide: nothing if from >= to.
func (m *mask) each(
	edits []edit, text []byte, word string, at func(text []byte, i, end int) (from, to int),
) []edit {
	for i := 0; ; i += len(word) {
		n := bytes.Index(text[i:], []byte(word))
		if n < 0 {
			return edits
		}
		i += n
		from, to := at(text, i, i+len(word))
		if from >= to {
			continue
		}
		was := string(text[from:to])
		if now := m.hideWhole(was); now != was {
			edits = append(edits, edit{from, to, now})
		}
	}
}

// bearerAt finds the token behind "Bearer". What is only a word, as in "Bearer authentication", does not count.
func bearerAt(text []byte, i, end int) (from, to int) {
	if !wordBegins(text, i, 'b') {
		return 0, 0
	}
	from = skipBlanks(text, end)
	to = from + tokenLength(text[from:])
	if !mayBeSecret(text[from:to]) {
		return 0, 0
	}
	return from, to
}

// basicAt finds the user and the password behind "Basic": base64 with a colon in it.
func basicAt(text []byte, i, end int) (from, to int) {
	if !wordBegins(text, i, 'b') {
		return 0, 0
	}
	from = skipBlanks(text, end)
	to = from + tokenLength(text[from:])
	plain, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(text[from:to], "=")))
	if err != nil || bytes.IndexByte(plain, ':') < 0 {
		return 0, 0
	}
	return from, to
}

// jwtAt finds a JSON Web Token: at least three parts in base64url, the first of which begins as an object.
func jwtAt(text []byte, i, _ int) (from, to int) {
	if i > 0 && nameByte(text[i-1]) {
		return 0, 0
	}
	parts, at := 0, i
	for {
		start := at
		for at < len(text) && nameByte(text[at]) {
			at++
		}
		if parts == 0 && at-start < len("eyJhbGciOi") || parts == 1 && at-start < 2 {
			return 0, 0
		}
		parts++
		if at == len(text) || text[at] != '.' {
			break
		}
		at++
	}
	if parts < 3 {
		return 0, 0
	}
	return i, at
}

// authorizationAt finds the credentials behind the name of the field: the word after a scheme that is known, or else
// the first, if that may be a secret. Parameters, as Digest has them, are hidden up to the end of the line.
func authorizationAt(text []byte, i, end int) (from, to int) {
	if i <= 0 || text[i-1]|0x20 != 'a' || !equalFold(text[i:end], "uthorization") {
		return 0, 0
	}
	at := skipBlanks(text, skipQuote(text, end))
	if at >= len(text) || text[at] != ':' && text[at] != '=' {
		return 0, 0
	}
	from = skipQuote(text, skipBlanks(text, at+1))
	to = wordEnd(text, from)
	switch word := string(text[from:to]); {
	case knownSchemes[strings.ToLower(word)]:
	case credential.IsPlaceholder(word):
		return to, to
	case mayBeSecret(text[from:to]):
		return from, to
	default:
		return 0, 0
	}
	from = skipBlanks(text, to)
	to = wordEnd(text, from)
	quoted := to < len(text) && text[to] == '"' && to > from && text[to-1] == '='
	if quoted || bytes.IndexByte(bytes.TrimRight(text[from:to], "="), '=') > 0 {
		if n := bytes.IndexAny(text[from:], "\r\n\\"); n >= 0 {
			return from, from + n
		}
		return from, len(text)
	}
	return from, to
}

// wordEnd returns where the word ends that begins at i.
func wordEnd(text []byte, i int) int {
	for i < len(text) && strings.IndexByte(urlEnds+`',;\`, text[i]) < 0 {
		i++
	}
	return i
}

// keyAt finds the text between the lines around a private key.
func keyAt(text []byte, i, end int) (from, to int) {
	if line := bytes.LastIndex(text[:i], []byte("-----BEGIN ")); line < 0 || bytes.IndexByte(text[line:i], '\n') >= 0 {
		return 0, 0
	}
	from, to = end, len(text)
	if n := bytes.IndexAny(text[end:], `"<`); n >= 0 {
		to = end + n
	}
	if n := bytes.Index(text[end:to], []byte("-----END ")); n >= 0 {
		to = end + n
	}
	for from < to && isBlank(text[from]) {
		from++
	}
	for from < to && isBlank(text[to-1]) {
		to--
	}
	return from, to
}

// wordBegins reports whether a word begins before i, with that letter in either case.
func wordBegins(text []byte, i int, letter byte) bool {
	return i > 0 && text[i-1]|0x20 == letter && (i == 1 || !nameByte(text[i-2]))
}

// tokenLength returns how long the token68 is that a text begins with, without what ends a sentence.
//
// Source: RFC 9110 section 11.2.
func tokenLength(text []byte) int {
	n := 0
	for n < len(text) && (nameByte(text[n]) || strings.IndexByte("._~+/=", text[n]) >= 0) {
		n++
	}
	return len(bytes.TrimRight(text[:n], "."))
}

// mayBeSecret reports whether the text at the place of a secret is more than a word.
func mayBeSecret(text []byte) bool {
	const short, long = 6, 20
	if len(text) < short || credential.IsPlaceholder(string(text)) {
		return false
	}
	for i, c := range text {
		if c < 'a' || c > 'z' {
			if i > 0 || c < 'A' || c > 'Z' {
				return true
			}
		}
	}
	return len(text) >= long
}
