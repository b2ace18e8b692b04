package relay

import "bytes"

// cutLine returns the first line without its CRLF or LF, and the rest.
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

// equalFold reports whether b is the name, which is given in lower case.
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
