package h2

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// fieldList is the header of one message, in the order of the wire.
type fieldList []hpack.HeaderField

// get returns the value of the first field with that name, and whether there is one.
func (l fieldList) get(name string) (value string, ok bool) {
	for i := range l {
		if l[i].Name == name {
			return l[i].Value, true
		}
	}
	return "", false
}

// set gives all fields of that name a value.
func (l fieldList) set(name, value string) {
	for i := range l {
		if l[i].Name == name {
			l[i].Value = value
		}
	}
}

// status returns the status of an answer; 0 without one.
func (l fieldList) status() (status int) {
	text, _ := l.get(":status")
	if len(text) != 3 {
		return 0
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0
		}
		status = status*10 + int(c-'0')
	}
	return status
}

// version is the version in the heads that the Observer gets.
const version = "HTTP/2"

// appendRequest appends a request to out in the form that the Observer gets: request line, Host, the other fields in
// their order, blank line. The authority becomes Host. The scheme and the pseudo-fields of extensions are omitted.
func (l fieldList) appendRequest(out []byte) []byte {
	method, _ := l.get(":method")
	path, _ := l.get(":path")
	authority, named := l.get(":authority")
	if path == "" && method == "CONNECT" { // RFC 9113 section 8.5
		path = authority
	}
	out = append(appendWord(out, method), ' ')
	out = append(appendWord(out, path), " "+version+"\r\n"...)
	if named {
		out = appendField(out, "host", authority)
	}
	for i := range l {
		if f := &l[i]; !f.IsPseudo() && !(named && f.Name == "host" && f.Value == authority) {
			out = appendField(out, f.Name, f.Value)
		}
	}
	return append(out, "\r\n"...)
}

// appendAnswer appends an answer to out in that form: status line, fields, blank line.
func (l fieldList) appendAnswer(out []byte) []byte {
	status, _ := l.get(":status")
	out = append(out, version+" "...)
	out = append(appendWord(out, status), "\r\n"...)
	return append(l.appendTrailer(out), "\r\n"...)
}

// appendTrailer appends the fields to out, without a blank line behind them.
func (l fieldList) appendTrailer(out []byte) []byte {
	for i := range l {
		if f := &l[i]; !f.IsPseudo() {
			out = appendField(out, f.Name, f.Value)
		}
	}
	return out
}

// notThere replaces what a peer has left out of a start line.
const notThere = "-"

// appendWord appends a word of a start line.
func appendWord(out []byte, word string) []byte {
	if word == "" {
		return append(out, notThere...)
	}
	return appendClean(out, word, " \t\r\n\x00")
}

// appendField appends one field. A gRPC library whose peer accepts it sends binary values unencoded, after a zero byte;
// appendField writes them in base64, as all other implementations do.
//
// Source: gRPC over HTTP2, "Custom-Metadata", and gRPC proposal G1, "True Binary Metadata".
func appendField(out []byte, name, value string) []byte {
	if raw, is := strings.CutPrefix(value, "\x00"); is && strings.HasSuffix(name, "-bin") {
		value = base64.RawStdEncoding.EncodeToString([]byte(raw))
	}
	out = appendClean(out, name, ":\r\n\x00")
	out = append(out, ": "...)
	return append(appendClean(out, value, "\r\n\x00"), "\r\n"...)
}

// appendClean appends text, and replaces each character that would split a field or line in two. HTTP/2 can carry such
// characters, but no message may contain them: RFC 9113 section 8.2.1.
func appendClean(out []byte, text, bad string) []byte {
	if !strings.ContainsAny(text, bad) {
		return append(out, text...)
	}
	for _, c := range []byte(text) {
		if strings.IndexByte(bad, c) >= 0 {
			out = append(out, "\ufffd"...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// edited returns the fields of a message whose head was edited in the form that the Observer gets. Pseudo-fields that
// this form omits stay, and so do the marks of never-indexed values.
func (l fieldList) edited(head []byte) fieldList {
	start, rest, _ := bytes.Cut(head, []byte("\n"))
	words := strings.Fields(string(start))
	var out fieldList
	for i := range l {
		f := l[i]
		if !f.IsPseudo() {
			continue
		}
		switch {
		case f.Name == ":path" && len(words) == 3 && f.Value != "":
			f.Value = words[1]
		case f.Name == ":status" && len(words) > 1:
			f.Value = words[1]
		}
		out = append(out, f)
	}
	_, named := l.get(":authority")
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		name, value, ok := strings.Cut(string(bytes.TrimRight(line, "\r")), ":")
		if !ok {
			break // the blank line
		}
		f := hpack.HeaderField{Name: strings.ToLower(name), Value: strings.Trim(value, " \t")}
		if f.Name == "host" && named {
			out.set(":authority", f.Value)
			named = false
			continue
		}
		f.Sensitive = l.sensitive(f)
		out = append(out, f)
	}
	return out
}

// sensitive reports whether the list contains the field, marked as never-indexed.
func (l fieldList) sensitive(f hpack.HeaderField) bool {
	f.Sensitive = true
	return slices.Contains(l, f)
}

// isMalformed reports whether the form or order of the fields breaks RFC 9113 section 8.2.1 or 8.3. An Editor would
// repair them.
func (l fieldList) isMalformed() bool {
	regular, seen := false, 0
	for i := range l {
		f := &l[i]
		if !f.IsPseudo() {
			regular = true
			if isMalformedName(f.Name) || isMalformedValue(f) {
				return true
			}
			continue
		}
		known := 0
		switch f.Name {
		case ":method":
			known = 1
		case ":scheme":
			known = 2
		case ":authority":
			known = 4
		case ":path":
			known = 8
		case ":status":
			known = 16
		}
		if regular || seen&known != 0 {
			return true
		}
		seen |= known
	}
	return false
}

func isMalformedName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c == ':' || c-'A' < 26 {
			return true
		}
	}
	return false
}

// isMalformedValue reports whether a value begins or ends with a blank, or has a byte that would end a line. Values in binary
// have any bytes.
func isMalformedValue(f *hpack.HeaderField) bool {
	v := f.Value
	if v == "" {
		return false
	}
	first, last := v[0], v[len(v)-1]
	if first == ' ' || first == '\t' || last == ' ' || last == '\t' {
		return true
	}
	return (strings.IndexByte(v, '\n') >= 0 || strings.IndexByte(v, '\r') >= 0 || strings.IndexByte(v, 0) >= 0) &&
		!strings.HasSuffix(f.Name, "-bin")
}

// isGRPC reports whether a request is a call of gRPC.
func isGRPC(list fieldList) bool {
	kind, _ := list.get("content-type")
	rest, ok := strings.CutPrefix(kind, "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}
