package relay

import "bytes"

// A framing is the method by which the end of a body is found: RFC 9112 section 6.3.
type framing uint8

const (
	framedNone    framing = iota // no body
	framedLength                 // a number of bytes
	framedChunked                // chunks
	framedClose                  // until the agent closes
)

// A body finds the end of one message body in bytes that arrive piece by piece. Copies are independent, so a copy can
// look ahead.
type body struct {
	framing framing
	left    int64 // bytes left where the length is known
	chunks  chunks
}

// newBody begins a body; its trailer section may have limit bytes.
func newBody(f framing, length int64, limit int) body {
	return body{framing: f, left: length, chunks: chunks{trailer: limit}}
}

// done reports whether the body is complete. A body that lasts until close is never complete.
func (b *body) done() bool {
	switch b.framing {
	case framedNone:
		return true
	case framedLength:
		return b.left == 0
	case framedChunked:
		return b.chunks.state == chunkEnd
	default:
		return false
	}
}

// next takes the longest stretch of one kind from the beginning of p. It takes nothing when the body is done.
func (b *body) next(p []byte) (n int, kind pieceKind, err error) {
	switch {
	case len(p) == 0 || b.done():
		return 0, pieceFrame, nil
	case b.framing == framedLength:
		n = int(min(b.left, int64(len(p))))
		b.left -= int64(n)
		return n, pieceData, nil
	case b.framing == framedClose:
		return len(p), pieceData, nil
	default:
		return b.chunks.next(p)
	}
}

// begun returns the beginning of a body of known length, given the bytes p after the head, and whether it is the whole
// body. For other framings it returns nothing.
func (b *body) begun(p []byte) (begun []byte, whole bool) {
	if b.framing != framedLength {
		return nil, b.framing == framedNone
	}
	n := min(b.left, int64(len(p)))
	return p[:n], n == b.left
}

// skip consumes the bytes of the body at the beginning of p and returns their number. With an error, it returns the
// number of valid bytes before it.
func (b *body) skip(p []byte) (n int, err error) {
	for n < len(p) && !b.done() {
		k, _, err := b.next(p[n:])
		n += k
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// describe reports the body bytes p, and returns the trailer section as far as it has arrived.
func describe(x int, b *body, bytes, trailer []byte, observe func(int, []byte)) []byte {
	for len(bytes) > 0 {
		n, kind, err := b.next(bytes)
		if n == 0 || err != nil {
			break
		}
		switch kind {
		case pieceData:
			observe(x, bytes[:n])
		case pieceTrailer:
			trailer = append(trailer, bytes[:n]...)
		}
		bytes = bytes[n:]
	}
	return trailer
}

// requestHead is what the relay needs to know of a request head.
type requestHead struct {
	method            method
	hostStart, hostTo int // the value of Host in the head; equal to 0 without Host
	hasHost           bool
	body              body
	upgrade           bool // asks for another protocol
	expect            bool // may wait for 100 before it sends its body
}

// A method is a request method, as far as it affects the framing of the answer.
type method uint8

const (
	methodOther method = iota
	methodHead
	methodConnect
)

// scanRequest reads a complete request head in place. RFC 9112 sections 3, 5 and 6.
func scanRequest(head []byte, limit int) (h requestHead, err error) {
	line, at := firstLine(head)
	m, minor, err := requestLine(line)
	if err != nil {
		return h, err
	}
	f := fields{length: -1}
	if err := f.scan(head, at); err != nil {
		return h, err
	}
	h = requestHead{
		method: m, hostStart: f.hostStart, hostTo: f.hostTo, hasHost: f.hosts > 0, upgrade: f.upgrade, expect: f.expect,
	}
	switch {
	case m == methodConnect:
		return h, errConnect
	case f.hosts > 1:
		return h, errTwoHosts
	case f.hosts == 0 && minor > 0:
		return h, errNoHost
	case f.hosts == 1 && !validHost(head[f.hostStart:f.hostTo]):
		return h, errBadHost
	case f.coding && f.length >= 0:
		return h, errLengthAndCoding
	case f.coding && minor == 0:
		return h, errOldCoding
	case f.coding && !f.chunked:
		return h, errLastCoding
	case f.coding:
		h.body = newBody(framedChunked, 0, limit)
	case f.length > 0:
		h.body = newBody(framedLength, f.length, limit)
	}
	return h, nil
}

// scanAnswer reads a complete answer head in place and returns the framing of its body, given the method of the
// request.
func scanAnswer(head []byte, m method, limit int) (status int, b body, err error) {
	line, at := firstLine(head)
	status, minor, err := statusLine(line)
	if err != nil {
		return 0, b, err
	}
	f := fields{length: -1}
	if err := f.scan(head, at); err != nil {
		return status, b, err
	}
	switch {
	case m == methodHead, status < 200, status == 204, status == 304:
		return status, newBody(framedNone, 0, limit), nil
	case f.coding && f.length >= 0:
		return status, b, errLengthAndCoding
	case f.coding && minor == 0:
		return status, b, errOldCoding
	case f.coding && f.chunked:
		return status, newBody(framedChunked, 0, limit), nil
	case f.length >= 0 && !f.coding:
		return status, newBody(framedLength, f.length, limit), nil
	default:
		return status, newBody(framedClose, 0, limit), nil
	}
}

// firstLine returns the start line of a head, after any blank lines, and the index of the line after it.
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
