package capture

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Head is the reading of a raw head: the request or status line and the fields. Nothing the wire brought makes the
// reading fail; what could not be read is in Bad.
//
// Source: RFC 9112 sections 2 to 5, with LF for CRLF as section 2.2 allows.
type Head struct {
	Line    string // the request or status line, unmodified, without its line ending
	Method  string // of a request
	Target  string // of a request, unmodified: origin, absolute, authority or asterisk form
	Version string // such as "HTTP/1.1"
	Status  int    // of an answer: 100 to 999, or 0 if the status line has none
	Reason  string // of an answer; often empty
	Fields  Fields
	Bad     []BadLine
}

// A BadLine is a line of a head that breaks the grammar.
type BadLine struct {
	N    int    // number of the line in the head, from 1
	Text string // the line without its end
	Why  string // such as "no colon"
}

// A Field is one field of a head: its name as written, and its value without surrounding blanks.
type Field struct {
	Name  string
	Value string
}

// Fields are the fields of a head, in the order of the wire.
type Fields []Field

// Get returns the value of the first field of that name, in any case, or "".
func (f Fields) Get(name string) string {
	for i := range f {
		if f[i].is(name) {
			return f[i].Value
		}
	}
	return ""
}

// Has reports whether there is a field with that name, in any case.
func (f Fields) Has(name string) bool {
	for i := range f {
		if f[i].is(name) {
			return true
		}
	}
	return false
}

// All returns the values of all fields of that name, in any case and in order.
func (f Fields) All(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range f {
			if f[i].is(name) && !yield(f[i].Value) {
				return
			}
		}
	}
}

// Values returns what All does, as a slice.
func (f Fields) Values(name string) []string { return slices.Collect(f.All(name)) }

// is reports whether the field has that name, in any case. Names of fields are ASCII.
func (f *Field) is(name string) bool {
	return len(f.Name) == len(name) && strings.EqualFold(f.Name, name)
}

// MediaType returns the essence of the first Content-Type field, or "".
func (f Fields) MediaType() string { return MediaType(f.Get("Content-Type")) }

// MediaType returns the essence of a media type in lower case: "application/json" of "Application/JSON; charset=utf-8".
//
// Source: RFC 9110 section 8.3.1.
func MediaType(value string) string {
	essence, _, _ := strings.Cut(value, ";")
	return strings.ToLower(trimBlanks(essence))
}

// trimBlanks takes off the blanks around a value.
func trimBlanks(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// ParseRequestHead reads the raw head of a request.
func ParseRequestHead(raw []byte) Head {
	h, fields := startHead(raw)
	if h.Line == "" {
		h.bad(1, "", "no request line")
		return h
	}
	rest := h.Line
	var found bool
	h.Method, rest, found = strings.Cut(rest, " ")
	h.Target = rest
	if i := strings.LastIndexByte(rest, ' '); i >= 0 {
		h.Target, h.Version = rest[:i], rest[i+1:]
	}
	switch {
	case !found || h.Version == "" || !strings.HasPrefix(h.Version, "HTTP/"):
		h.bad(1, h.Line, "not a method, a target and a version")
	case h.Method == "" || h.Target == "" || strings.ContainsAny(h.Target, " \t"):
		h.bad(1, h.Line, "spaces where none are allowed")
	}
	h.fields(fields, 2)
	return h
}

// ParseResponseHead reads the raw head of an answer.
func ParseResponseHead(raw []byte) Head {
	h, fields := startHead(raw)
	if h.Line == "" {
		h.bad(1, "", "no status line")
		return h
	}
	var rest, status string
	h.Version, rest, _ = strings.Cut(h.Line, " ")
	status, h.Reason, _ = strings.Cut(rest, " ")
	if h.Status = statusCode(status); h.Status == 0 || !strings.HasPrefix(h.Version, "HTTP/") {
		h.bad(1, h.Line, "not a version and a status code")
	}
	h.fields(fields, 2)
	return h
}

// SplitTarget splits the target of a request into its path, as it is written, and its query. origin is the scheme and the
// authority of a target in absolute form, and "" otherwise. A target that begins with a slash is its own path, even if a
// URL follows in it.
//
// Source: RFC 9112 section 3.2.
func SplitTarget(target string) (origin, path, query string) {
	path, query, _ = strings.Cut(target, "?")
	scheme, rest, found := strings.Cut(path, "://")
	if !found || strings.Contains(scheme, "/") {
		return "", path, query
	}
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		return path, "/", query
	}
	end += len(scheme) + len("://")
	return path[:end], path[end:], query
}

// ParseFields reads raw fields without a first line, such as a trailer.
func ParseFields(raw []byte) (Fields, []BadLine) {
	var h Head
	h.fields(string(raw), 1)
	return h.Fields, h.Bad
}

// startHead sets Line to the first line of a head, and returns the rest.
func startHead(raw []byte) (Head, string) {
	line, fields := cutLine(string(raw))
	return Head{Line: line}, fields
}

// cutLine takes a line off a head, without its end.
func cutLine(head string) (line, rest string) {
	line, rest, _ = strings.Cut(head, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// statusCode reads a status code of three digits, or returns 0.
func statusCode(s string) int {
	if len(s) != 3 {
		return 0
	}
	code := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0
		}
		code = code*10 + int(s[i]-'0')
	}
	if code < 100 {
		return 0
	}
	return code
}

// fields reads the lines of fields up to a blank one; n is the number of the first in the head.
func (h *Head) fields(lines string, n int) {
	h.Fields = make(Fields, 0, strings.Count(lines, "\n"))
	for ; ; n++ {
		var line string
		if line, lines = cutLine(lines); line == "" {
			return
		}
		if line[0] == ' ' || line[0] == '\t' {
			h.bad(n, line, "a continuation of the previous line")
			if last := len(h.Fields) - 1; last >= 0 {
				h.Fields[last].Value = strings.Trim(h.Fields[last].Value+" "+strings.Trim(line, " \t"), " ")
			}
			continue
		}
		name, value, found := strings.Cut(line, ":")
		if !found {
			h.bad(n, line, "no colon")
			continue
		}
		if !IsToken(name) {
			h.bad(n, line, "the name is not a token")
		} else if strings.IndexByte(value, '\r') >= 0 || strings.IndexByte(value, 0) >= 0 {
			h.bad(n, line, fmt.Sprintf("the value contains %q", value[strings.IndexAny(value, "\r\x00")]))
		}
		h.Fields = append(h.Fields, Field{Name: name, Value: trimBlanks(value)})
	}
}

func (h *Head) bad(n int, text, why string) {
	h.Bad = append(h.Bad, BadLine{N: n, Text: text, Why: why})
}

// IsToken reports whether s is a token in the sense of RFC 9110 section 5.6.2.
func IsToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || !tokenBytes[c] {
			return false
		}
	}
	return s != ""
}

// tokenBytes are those that a token may hold.
var tokenBytes = func() (all [utf8.RuneSelf]bool) {
	for _, c := range []byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-!#$%&'*+.^_`|~") {
		all[c] = true
	}
	return all
}()
