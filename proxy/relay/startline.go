package relay

import "bytes"

// firstLine returns the start line of a head, after any blank lines, and where the line after it begins.
func firstLine(head []byte) (line []byte, next int) {
	rest := head
	for len(line) == 0 && len(rest) > 0 {
		line, rest = cutLine(rest)
	}
	return line, len(head) - len(rest)
}

// requestLine reads "METHOD target HTTP/1.x". RFC 9112 section 3.
func requestLine(line []byte) (m method, minor byte, err error) {
	version := bytes.LastIndexByte(line, ' ') + 1
	major, minor, ok := httpVersion(line[version:])
	switch {
	case !ok || version == 0:
		return m, 0, errNotHTTP
	case bytes.Equal(line, prefaceLine):
		return m, 0, errPreface
	}
	name, target, ok := bytes.Cut(line[:version-1], space)
	if !ok || len(name) == 0 || len(target) == 0 || !isToken(name) {
		return m, 0, errRequestLine
	}
	for _, c := range target {
		if c <= ' ' || c == 0x7f {
			return m, 0, errRequestLine
		}
	}
	if major != 1 {
		return m, 0, errVersion
	}
	switch string(name) {
	case "HEAD":
		m = methodHead
	case "CONNECT":
		m = methodConnect
	}
	return m, minor, nil
}

var (
	space = []byte{' '}
	// prefaceLine begins every HTTP/2 connection: RFC 9113 section 3.4.
	prefaceLine = []byte("PRI * HTTP/2.0")
)

// statusLine reads "HTTP/1.x 200 reason". The blank before an empty reason may be absent. RFC 9112 section 4.
func statusLine(line []byte) (status int, minor byte, err error) {
	if len(line) < 12 || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return 0, 0, errStatusLine
	}
	major, minor, ok := httpVersion(line[:8])
	if !ok || major != 1 {
		return 0, 0, errStatusLine
	}
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return 0, 0, errStatusLine
		}
		status = status*10 + int(c-'0')
	}
	if status < 100 {
		return 0, 0, errStatusLine
	}
	for _, c := range line[12:] {
		if c == '\r' || c == 0 {
			return 0, 0, errStatusLine
		}
	}
	return status, minor, nil
}

// httpVersion reads "HTTP/d.d". RFC 9112 section 2.3.
func httpVersion(b []byte) (major, minor byte, ok bool) {
	if len(b) != 8 || string(b[:5]) != "HTTP/" || b[6] != '.' {
		return 0, 0, false
	}
	major, minor = b[5]-'0', b[7]-'0'
	return major, minor, major <= 9 && minor <= 9
}
