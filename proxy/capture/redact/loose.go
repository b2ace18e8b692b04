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

// loose returns the edits that hide secrets in text without reliable structure: plain text, and JSON that is cut off,
// misses a quote, has other quotes or is escaped twice. It looks for names of secrets that are followed by a colon or
// an equals sign and a value, regardless of the text around them. It hides the value up to where it could end.
// The last names of the places count as well, and secrets that are recognizable by their form are hidden as in text.
func (s search) loose(text []byte) []edit {
	extra := s.lastNames()
	edits := s.tokens(s.looseURLs(text), text, marksOf(text))
	left := maxGroupScans * len(text)
	for i := 0; i < len(text); i++ {
		if !nameByte(text[i]) {
			continue
		}
		end := i
		for end < len(text) && nameByte(text[end]) {
			end++
		}
		name := text[max(i, end-maxLooseName):end]
		hide := extra[credential.Normal(string(name))]
		if hide == hideNothing && credential.Member(name) {
			hide = hideStrings
			if credential.PasswordMember(name) {
				hide = hideNumbers
			}
		}
		if hide != hideNothing {
			if _, to := authorizationAt(text, end-len("uthorization"), end); to > 0 {
				end = to // tokens has it
			} else {
				edits, end = s.looseMember(edits, text, end, hide, &left)
			}
		}
		i = end // the byte there is no part of a name, or of a value that is done with
	}
	return edits
}

// lastNames returns the last names of places, normalised, and what is hidden there. Page tokens are never hidden.
func (s search) lastNames() map[string]hiding {
	if len(s.set.list)+len(s.places) == 0 {
		return nil
	}
	names := make(map[string]hiding)
	for _, p := range slices.Concat(s.set.list, s.places) {
		name := lastName(p.pointer)
		if name == "" || credential.PageToken(name) {
			continue
		}
		hide := hideStrings
		if p.numbers {
			hide = hideNumbers
		}
		names[credential.Normal(name)] = max(hide, names[credential.Normal(name)])
	}
	return names
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

// looseURLs returns the edits for the secrets of all URLs in a text, regardless of the text around them. Their slashes
// may be escaped.
func (s search) looseURLs(text []byte) []edit {
	var edits []edit
	for i := 0; i < len(text); {
		n := bytes.IndexAny(text[i:], "?#@")
		if n < 0 {
			return edits
		}
		start, stop := i+n, i+n+1
		for start > i && !endsURL(text, start-1) {
			start--
		}
		for stop < len(text) && !endsURL(text, stop) {
			stop++
		}
		was := strings.ReplaceAll(string(text[start:stop]), `\/`, "/")
		if now := s.url(was); now != was {
			edits = append(edits, edit{start, stop, now})
		}
		i = stop
	}
	return edits
}

// endsURL reports whether the byte at i can be none of a URL.
func endsURL(text []byte, i int) bool {
	if c := text[i]; c == '\\' {
		return i+1 == len(text) || text[i+1] != '/'
	} else if c == '\'' {
		return true
	} else {
		return strings.IndexByte(urlEnds, c) >= 0
	}
}

// maxLooseName bounds the names that are compared. No name of a secret is nearly as long.
const maxLooseName = 64

// maxGroupScans is how often a text is searched for groups, since groups in groups are searched again. What is left then
// is hidden as a whole.
const maxGroupScans = 8

// looseMember appends the edits for the value that belongs to a name that ends at i, if one follows, and returns where
// it ends. It takes the bytes of a group that it searches from left.
func (s search) looseMember(edits []edit, text []byte, i int, hide hiding, left *int) ([]edit, int) {
	begin, sign := looseValue(text, i)
	switch {
	case sign == 0:
		return edits, i
	case begin < len(text) && (text[begin] == '[' || text[begin] == '{'):
		if *left <= 0 {
			return append(edits, edit{begin, len(text), s.hide(string(text[begin:]))}), len(text)
		}
		edits, end := s.looseGroup(edits, text, begin, hide)
		*left -= end - begin
		return edits, i
	}
	start, stop, quoted := looseScalar(text, begin, sign)
	if start < stop {
		edits = s.looseEdit(edits, text, start, stop, quoted, hide)
	}
	return edits, max(stop, i)
}

// looseGroup appends the edits for all strings in the object or the list that begins at i, but names, and returns where it
// ends.
func (s search) looseGroup(edits []edit, text []byte, i int, hide hiding) ([]edit, int) {
	for depth := 0; i < len(text); {
		switch text[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return edits, i
			}
		default:
			if start := skipQuote(text, i); start > i {
				stop := quoteEnd(text, start, text[i:start])
				i = min(len(text), stop+start-i)
				if next := skipBlanks(text, i); (next == len(text) || text[next] != ':') && start < stop {
					edits = s.looseEdit(edits, text, start, stop, true, hide)
				}
				continue
			}
		}
		i++
	}
	return edits, i
}

func (s search) looseEdit(edits []edit, text []byte, start, stop int, quoted bool, hide hiding) []edit {
	was := string(text[start:stop])
	if quoted {
		if plain, err := jsontext.AppendUnquote(nil, `"`+was+`"`); err == nil {
			was = string(plain)
		}
	} else if jsontext.Value(was).IsValid() { // no string, and what it should be
		if hide != hideNumbers || was == "0" || jsontext.Value(was).Kind() != '0' {
			return edits
		}
		return append(edits, edit{start, stop, "0"})
	}
	if now := s.hide(was); now != was {
		edits = append(edits, edit{start, stop, now})
	}
	return edits
}

// looseValue returns the start of the value that belongs to a name ending at i, and the sign between them; 0 if the
// name has no value.
func looseValue(text []byte, i int) (start int, sign byte) {
	i = skipBlanks(text, skipQuote(text, i))
	switch {
	case i >= len(text) || text[i] != ':' && text[i] != '=':
		return 0, 0
	case i+1 < len(text) && strings.IndexByte("=>", text[i+1]) >= 0: // "==" or "=>" in a program
		return 0, 0
	}
	return skipBlanks(text, i+1), text[i]
}

// looseScalar returns where the value that begins at i starts and stops without its quotes, and whether it has some.
// Without, it is all of the line behind a colon, and one word behind an equals sign.
func looseScalar(text []byte, i int, sign byte) (start, stop int, quoted bool) {
	start = skipQuote(text, i)
	if start > i {
		return start, quoteEnd(text, start, text[i:start]), true
	}
	stop = len(text)
	ends := ",}]&<\r\n\"\\"
	if sign == '=' {
		ends += " \t;>'"
	}
	if n := bytes.IndexAny(text[start:], ends); n >= 0 {
		stop = start + n
	}
	return start, start + len(bytes.TrimRight(text[start:stop], " \t")), false
}

// quoteEnd returns where the string that begins at i ends, which is the end of the text if its quote is missing.
func quoteEnd(text []byte, i int, quote []byte) int {
	if len(quote) > 1 { // escaped twice: the same sequence ends it
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
