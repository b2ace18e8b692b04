package relay

import (
	"bytes"
	"strings"
)

// A Head is a request or answer head taken apart, order and case of its fields kept.
type Head struct {
	Line   string // the start line without its line end: "POST /rpc HTTP/1.1" or "HTTP/1.1 200 OK"
	Fields []Field
}

// A Field is one field line of a head or of a trailer section.
type Field struct {
	Name  string // as sent
	Value string // as sent, without the blanks around it
}

// Get returns the value of the first field of that name, in any case; "" if there is none.
func (h Head) Get(name string) string {
	for _, f := range h.Fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Values returns the values of all fields of that name, in any case, in order.
func (h Head) Values(name string) []string {
	var values []string
	for _, f := range h.Fields {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// Split returns the three words of the start line: method, target and version of a request; version, status and
// reason of an answer, whose reason may hold blanks or be empty.
func (h Head) Split() (first, second, third string) {
	first, rest, _ := strings.Cut(h.Line, " ")
	second, third, _ = strings.Cut(rest, " ")
	return first, second, third
}

// ParseHead takes a raw head apart, as an Observer is given it. Blank lines before the start line are skipped, the
// closing blank line may be absent, as it is in a head that broke off. It returns what it could read with the first
// error: a line that no field line can be (RFC 9112 section 5). The result does not share memory with raw.
func ParseHead(raw []byte) (Head, error) {
	line, rest := cutLine(raw)
	for len(line) == 0 && len(rest) > 0 {
		line, rest = cutLine(rest)
	}
	h := Head{Line: string(line)}
	var err error
	h.Fields, err = ParseTrailer(rest)
	return h, err
}

// ParseTrailer takes a trailer section apart, as an Observer is given it.
func ParseTrailer(raw []byte) ([]Field, error) {
	var fields []Field
	var line []byte
	for len(raw) > 0 {
		if line, raw = cutLine(raw); len(line) == 0 {
			break
		}
		name, value, err := cutField(line)
		if err != nil {
			return fields, err
		}
		fields = append(fields, Field{string(name), string(value)})
	}
	return fields, nil
}

// cutLine returns the first line without its CRLF or LF, and what follows it.
func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return b, nil
	}
	return bytes.TrimSuffix(b[:i], crByte), b[i+1:]
}

var crByte = []byte{'\r'}

// cutField takes a field line apart: RFC 9112 section 5. A name need not be a token, since that leaves no doubt where
// a message ends; the receiver may judge it.
func cutField(line []byte) (name, value []byte, err error) {
	if line[0] == ' ' || line[0] == '\t' {
		return nil, nil, errFold
	}
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return nil, nil, errNoColon
	}
	if colon == 0 {
		return nil, nil, errNoName
	}
	name = line[:colon]
	for _, c := range name {
		if c <= ' ' || c == 0x7f {
			return nil, nil, errNameBlank
		}
	}
	value = trimBlanks(line[colon+1:])
	for _, c := range value {
		if c == '\r' {
			return nil, nil, errBareCR
		}
		if c == 0 {
			return nil, nil, errNUL
		}
	}
	return name, value, nil
}

// trimBlanks removes the optional white space around a value: SP and HTAB only (RFC 9110 section 5.6.3).
func trimBlanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// equalFold tells whether b is the name, which is given in lower case.
func equalFold(b []byte, name string) bool {
	if len(b) != len(name) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != name[i] {
			return false
		}
	}
	return true
}
