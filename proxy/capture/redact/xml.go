package redact

import (
	"bytes"
	"html"
	"strings"

	"a2atap/proxy/capture/credential"
)

// xml returns the edits that hide the secrets of XML or HTML: the text of elements and the values of attributes that
// have the name of a secret, with a prefix or without, and the value beside such a name. It needs no well-formed text.
func (s search) xml(text []byte) []edit {
	var edits []edit
	secret, depth := "", 0 // the element whose text is hidden, and how many of that name are open in it
	for at := 0; ; {
		t, ok := nextTag(text, at)
		if secret != "" {
			edits = s.xmlText(edits, text[at:t.start], at)
		}
		if !ok {
			return edits
		}
		at = t.end
		switch {
		case t.cdata:
			stop := len(text)
			if n := bytes.Index(text[at:], []byte("]]>")); n >= 0 {
				stop = at + n
			}
			if secret != "" {
				edits = s.xmlText(edits, text[at:stop], at)
			}
			at = min(stop+len("]]>"), len(text))
		case t.closes:
			if t.name == secret {
				depth--
			}
			if depth == 0 {
				secret = ""
			}
		default:
			edits = s.attributes(edits, text, t)
			if secret == "" && credential.Member(t.name) {
				secret = t.name
			}
			if t.name == secret && !t.empty {
				depth++
			}
			if depth == 0 {
				secret = ""
			}
		}
	}
}

// A tag is one in XML.
type tag struct {
	start, end    int    // in the text
	name          string // without its prefix
	closes, empty bool
	cdata         bool // no tag, but what begins character data
	attributes    int  // where they begin
}

// nextTag finds the first tag that begins at i or later. Without one, it starts at the end of the text. Comments and
// instructions are text.
func nextTag(text []byte, i int) (t tag, ok bool) {
	for {
		n := bytes.IndexByte(text[i:], '<')
		if n < 0 {
			return tag{start: len(text)}, false
		}
		t.start = i + n
		rest := text[t.start:]
		if bytes.HasPrefix(rest, []byte("<![CDATA[")) {
			return tag{start: t.start, end: t.start + len("<![CDATA["), cdata: true}, true
		}
		at := t.start + 1
		if t.closes = at < len(text) && text[at] == '/'; t.closes {
			at++
		}
		begin := at
		for at < len(text) && (nameByte(text[at]) || text[at] == ':' || text[at] == '.') {
			at++
		}
		if at == begin {
			i = t.start + 1
			continue
		}
		t.name = string(text[begin:at])
		t.name = t.name[strings.LastIndexByte(t.name, ':')+1:]
		t.attributes = at
		t.end = tagEnd(text, at)
		t.empty = t.end-2 >= at && text[t.end-1] == '>' && text[t.end-2] == '/'
		return t, true
	}
}

// tagEnd returns where the tag ends whose attributes begin at i. A quote that is open does not hide a tag that follows.
func tagEnd(text []byte, i int) int {
	quote := byte(0)
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '<':
			return i
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(text)
}

// xmlText appends the edit that hides a run of text that begins at an offset.
func (s search) xmlText(edits []edit, text []byte, at int) []edit {
	front := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	inner := bytes.TrimRight(text[front:], " \t\r\n")
	was := string(inner)
	if now := s.hide(html.UnescapeString(was)); now != was && was != "" {
		edits = append(edits, edit{at + front, at + front + len(inner), now})
	}
	return edits
}

// attributes appends the edits that the attributes of a tag need.
func (s search) attributes(edits []edit, text []byte, t tag) []edit {
	named := false // an attribute says that the value is a secret
	valueStart, valueEnd := 0, 0
	for i := t.attributes; i < t.end; {
		if !nameByte(text[i]) {
			i++
			continue
		}
		begin := i
		for i < t.end && nameByte(text[i]) {
			i++
		}
		name := string(text[begin:i])
		at := skipBlanks(text[:t.end], i)
		if at == t.end || text[at] != '=' {
			continue
		}
		start := skipBlanks(text[:t.end], at+1)
		if start == t.end || text[start] != '"' && text[start] != '\'' {
			i = start
			continue
		}
		stop := t.end
		if n := bytes.IndexByte(text[start+1:t.end], text[start]); n >= 0 {
			stop = start + 1 + n
		}
		i = stop + 1
		value := html.UnescapeString(string(text[start+1 : stop]))
		switch lower := strings.ToLower(name); {
		case credential.Member(name):
			edits = s.attribute(edits, text, start+1, stop)
		case lower == "value":
			valueStart, valueEnd = start+1, stop
		case lower == "name" || lower == "key" || lower == "type" || lower == "id":
			named = named || credential.Member(value)
		}
	}
	if named {
		edits = s.attribute(edits, text, valueStart, valueEnd)
	}
	return edits
}

// attribute appends the edit that hides the value of an attribute.
func (s search) attribute(edits []edit, text []byte, start, stop int) []edit {
	was := string(text[start:stop])
	if now := s.hide(html.UnescapeString(was)); now != was {
		edits = append(edits, edit{start, stop, now})
	}
	return edits
}
