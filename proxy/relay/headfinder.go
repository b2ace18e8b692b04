package relay

import "bytes"

// A headFinder finds the blank line that ends a head, in bytes that arrive piece by piece, and examines each byte once.
// Blank lines before the start line belong to the head (RFC 9112 section 2.2). The zero value is ready to use.
type headFinder struct {
	line int // where the current line begins
	seen int // bytes looked at
	lead int // length of the blank lines before the start line
}

// find returns the length of the head at the beginning of b, or 0 if it is incomplete. Each call receives the bytes of
// the previous call and more.
func (f *headFinder) find(b []byte) int {
	for {
		i := bytes.IndexByte(b[f.seen:], '\n')
		if i < 0 {
			f.seen = len(b)
			return 0
		}
		end := f.seen + i + 1
		blank := end-f.line == 1 || end-f.line == 2 && b[f.line] == '\r'
		switch {
		case !blank:
		case f.line > f.lead:
			return end
		default:
			f.lead = end
		}
		f.line, f.seen = end, end
	}
}

// within is find for a head that may have limit bytes.
func (f *headFinder) within(b []byte, limit int) (n int, err error) {
	if n = f.find(b); n > limit || n == 0 && len(b) > limit {
		return 0, errHeadHuge
	}
	return n, nil
}

// startLine returns the start line at the beginning of b, as far as it has arrived, and whether it is complete.
func (f *headFinder) startLine(b []byte) (line []byte, whole bool) {
	b = b[f.lead:]
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return b, false
	}
	return bytes.TrimSuffix(b[:i], crByte), true
}

// earlyRequest returns an error if an incomplete request head is already malformed, so that the relay does not wait for
// the end of bytes that are not HTTP.
func (f *headFinder) earlyRequest(b []byte) error {
	line, whole := f.startLine(b)
	if whole {
		_, _, err := requestLine(line)
		return err
	}
	for i, c := range line {
		if c == ' ' && i > 0 || c == '\r' && len(line) == 1 {
			break
		}
		if !tokenChar[c] {
			return errNotHTTP
		}
	}
	return nil
}

// earlyAnswer does the same for the head of an answer.
func (f *headFinder) earlyAnswer(b []byte) error {
	line, whole := f.startLine(b)
	if whole {
		_, _, err := statusLine(line)
		return err
	}
	const version = "HTTP/1."
	if n := min(len(line), len(version)); string(line[:n]) != version[:n] && !(len(line) == 1 && line[0] == '\r') {
		return errStatusLine
	}
	return nil
}
