package redact

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// loose returns the edits that hide secrets in text that should be JSON and is none: cut off, with a quote missing,
// with other quotes, escaped once more. It looks for names of secrets that a colon and a value follow, whatever stands
// around them, and hides the value up to where it could end. The last names of the places count as well.
func (m *mask) loose(text []byte, places []secretPlace) []edit {
	extra := make(map[string]bool)
	for _, p := range places {
		if name := lastName(p.pointer); name != "" {
			extra[credential.Normal(name)] = true
		}
	}
	edits := m.looseURLs(text)
	for i := 0; i < len(text); i++ {
		if !nameByte(text[i]) {
			continue
		}
		end := i
		for end < len(text) && nameByte(text[end]) {
			end++
		}
		if name := text[i:min(end, i+maxLooseName)]; credential.LooseMember(name) || m.isExtra(extra, name) {
			if start, stop, quoted := looseValue(text, end); start < stop {
				edits = m.looseEdit(edits, text, start, stop, quoted)
				end = stop
			}
		}
		i = end // the byte there is no part of a name, or of a value that is done with
	}
	return edits
}

// lastName returns the last name of a pointer that is the name of a member, "" if none is.
func lastName(p capture.Pointer) string {
	for _, name := range slices.Backward(p.Names()) {
		if _, err := strconv.Atoi(name); err != nil && name != capture.AnyName {
			return name
		}
	}
	return ""
}

// isExtra reports whether a name is that of one of the places. Page tokens are never hidden.
func (m *mask) isExtra(extra map[string]bool, name []byte) bool {
	return len(extra) > 0 && extra[credential.Normal(string(name))] && !credential.PageToken(string(name))
}

// looseURLs returns the edits for the secrets of all URLs in a text, whatever stands around them. Their slashes may be
// escaped.
func (m *mask) looseURLs(text []byte) []edit {
	var edits []edit
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], ':')
		if n < 0 {
			return edits
		}
		start, stop := i+n, i+n+1
		if rest := text[stop:]; !bytes.HasPrefix(rest, []byte("//")) && !bytes.HasPrefix(rest, []byte(`\/\/`)) {
			i = stop
			continue
		}
		for start > i && nameByte(text[start-1]) {
			start--
		}
		for stop < len(text) && strings.IndexByte(urlEnds+"'", text[stop]) < 0 &&
			!(text[stop] == '\\' && !bytes.HasPrefix(text[stop:], []byte(`\/`))) {
			stop++
		}
		was := strings.ReplaceAll(string(text[start:stop]), `\/`, "/")
		if now := m.url(was); now != was {
			edits = append(edits, edit{start, stop, now})
		}
		i = stop
	}
}

// maxLooseName bounds the names that are compared. No name of a secret is nearly as long.
const maxLooseName = 64

func nameByte(c byte) bool {
	letter := c|0x20 >= 'a' && c|0x20 <= 'z'
	return letter || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func (m *mask) looseEdit(edits []edit, text []byte, start, stop int, quoted bool) []edit {
	was := string(text[start:stop])
	if quoted {
		if plain, err := jsontext.AppendUnquote(nil, `"`+was+`"`); err == nil {
			was = string(plain)
		}
	} else if isJSONLiteral(was) {
		return edits
	}
	if now := m.hide(was); now != was {
		edits = append(edits, edit{start, stop, now})
	}
	return edits
}

// isJSONLiteral reports whether a value without quotes is what it should be, and no string.
func isJSONLiteral(s string) bool {
	return jsontext.Value(s).IsValid()
}

// looseValue returns where the value begins and ends that belongs to a name that ends at i, and whether quotes stand
// around it. The value is empty if none follows.
func looseValue(text []byte, i int) (start, stop int, quoted bool) {
	i = skipQuote(text, i)
	i = skipBlanks(text, i)
	if i >= len(text) || text[i] != ':' {
		return 0, 0, false
	}
	i = skipBlanks(text, i+1)
	start = skipQuote(text, i)
	if start > i {
		return start, quoteEnd(text, start, text[i:start]), true
	}
	if i >= len(text) || text[i] == '{' || text[i] == '[' {
		return 0, 0, false
	}
	stop = len(text)
	if n := bytes.IndexAny(text[start:], ",}]\r\n"); n >= 0 {
		stop = start + n
	}
	return start, start + len(bytes.TrimRight(text[start:stop], " \t")), false
}

// skipQuote returns the position after the quote at i: single, double, or with backslashes in front.
func skipQuote(text []byte, i int) int {
	at := i
	for at < len(text) && text[at] == '\\' {
		at++
	}
	if at < len(text) && (text[at] == '"' || text[at] == '\'') {
		return at + 1
	}
	return i
}

func skipBlanks(text []byte, i int) int {
	for i < len(text) && bytes.IndexByte([]byte(" \t\r\n"), text[i]) >= 0 {
		i++
	}
	return i
}

// quoteEnd returns where the string that begins at i ends, which is the end of the text if its quote is missing.
func quoteEnd(text []byte, i int, quote []byte) int {
	if len(quote) > 1 { // escaped once more: the same again ends it
		if n := bytes.Index(text[i:], quote); n >= 0 {
			return i + n
		}
		return len(text)
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote[0]:
			return i
		}
	}
	return len(text)
}
