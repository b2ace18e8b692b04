package relay

import (
	"bytes"
	"math"
)

// fields collects what the fields of a head declare about its framing.
type fields struct {
	hosts             int
	hostStart, hostTo int
	length            int64 // -1: not said
	coding            bool  // Transfer-Encoding is there
	chunked           bool  // chunked is the last coding
	upgrade           bool
	expect            bool
}

// scan reads the field lines of a head from offset at to its blank line.
func (f *fields) scan(head []byte, at int) error {
	for rest := head[at:]; len(rest) > 0; at = len(head) - len(rest) {
		var line []byte
		if line, rest = cutLine(rest); len(line) == 0 {
			return nil
		}
		name, value, err := cutField(line)
		if err != nil {
			return err
		}
		if err := f.take(name, value); err != nil {
			return err
		}
		if equalFold(name, "host") {
			f.hosts++
			f.hostStart = at + len(name) + len(":") + blanks(line[len(name)+1:])
			f.hostTo = f.hostStart + len(value)
		}
	}
	return nil
}

// blanks counts the white space that b begins with.
func blanks(b []byte) (n int) {
	for n < len(b) && (b[n] == ' ' || b[n] == '\t') {
		n++
	}
	return n
}

// take records what one field declares about framing.
func (f *fields) take(name, value []byte) error {
	switch len(name) {
	case len("expect"):
		f.expect = f.expect || equalFold(name, "expect")
	case len("upgrade"):
		f.upgrade = f.upgrade || equalFold(name, "upgrade")
	case len("content-length"):
		if equalFold(name, "content-length") {
			return f.takeLength(value)
		}
	case len("transfer-encoding"):
		if equalFold(name, "transfer-encoding") {
			return f.takeCoding(value)
		}
	}
	return nil
}

// takeLength notes a Content-Length. A list of equal numbers says the same as one: RFC 9110 section 8.6.
func (f *fields) takeLength(value []byte) error {
	for more := true; more; {
		var number []byte
		number, value, more = bytes.Cut(value, comma)
		n, err := parseLength(trimBlanks(number))
		if err != nil {
			return err
		}
		if f.length >= 0 && f.length != n {
			return errTwoLengths
		}
		f.length = n
	}
	return nil
}

var comma = []byte{','}

func parseLength(b []byte) (n int64, err error) {
	if len(b) == 0 {
		return 0, errBadLength
	}
	for _, c := range b {
		if c < '0' || c > '9' || n > (math.MaxInt64-9)/10 {
			return 0, errBadLength
		}
		n = n*10 + int64(c-'0')
	}
	return n, nil
}

// takeCoding notes a Transfer-Encoding: RFC 9112 section 6.1. Several fields are one list.
func (f *fields) takeCoding(value []byte) error {
	f.coding = true
	for more := true; more; {
		var coding []byte
		coding, value, more = bytes.Cut(value, comma)
		coding = trimBlanks(coding)
		name, _, _ := bytes.Cut(coding, semicolon)
		if name = trimBlanks(name); !isToken(name) || len(name) == 0 {
			return errBadCoding
		}
		if f.chunked { // nothing may follow chunked, chunked least of all
			return errBadCoding
		}
		if equalFold(name, "chunked") {
			if len(name) != len(coding) {
				return errBadCoding
			}
			f.chunked = true
		}
	}
	return nil
}

var semicolon = []byte{';'}

// isToken reports whether b consists only of token characters: RFC 9110 section 5.6.2.
func isToken(b []byte) bool {
	for _, c := range b {
		if !tokenChar[c] {
			return false
		}
	}
	return true
}

// validHost reports whether b may be the value of Host: RFC 9110 section 7.2, RFC 3986 section 3.2. It may be empty.
func validHost(b []byte) bool {
	for _, c := range b {
		if !hostChar[c] {
			return false
		}
	}
	return true
}

const alphanumeric = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

var (
	tokenChar = charSet(alphanumeric + "!#$%&'*+-.^_`|~")
	hostChar  = charSet(alphanumeric + "-._~%!$&'()*+,;=:[]")
)

func charSet(chars string) (set [256]bool) {
	for _, c := range []byte(chars) {
		set[c] = true
	}
	return set
}
