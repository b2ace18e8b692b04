package capture

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Pointer selects values in a JSON text: a JSON Pointer in which the name "*" matches any one member or element. A
// member whose name is "*" can therefore be selected only together with its siblings.
//
// Source: RFC 6901.
type Pointer struct {
	names []string // reference tokens, unescaped
}

// AnyName is the reference token that matches any member or element.
const AnyName = "*"

var (
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
)

// ParsePointer parses a pointer: the empty string, which selects the whole text, or names that each follow a slash. In
// names a slash is written ~1 and a tilde ~0.
//
// Source: RFC 6901, section 3.
func ParsePointer(s string) (Pointer, error) {
	if s == "" {
		return Pointer{}, nil
	}
	if s[0] != '/' {
		return Pointer{}, fmt.Errorf("read JSON Pointer %q: it must begin with a slash, such as %q", s, "/"+s)
	}
	names := strings.Split(s[1:], "/")
	for i, name := range names {
		for j := range len(name) {
			if name[j] == '~' && !(j+1 < len(name) && (name[j+1] == '0' || name[j+1] == '1')) {
				return Pointer{}, fmt.Errorf("read JSON Pointer %q: a tilde in a name is written ~0, and a slash ~1", s)
			}
		}
		if strings.IndexByte(name, '~') >= 0 {
			names[i] = unescapePointer.Replace(name)
		}
	}
	return Pointer{names: names}, nil
}

// String returns the pointer as ParsePointer reads it.
func (p Pointer) String() string {
	var b strings.Builder
	for _, name := range p.names {
		b.WriteByte('/')
		b.WriteString(escapePointer.Replace(name))
	}
	return b.String()
}

// Names returns the reference tokens of the pointer, unescaped, AnyName for any member or element. They must not be
// changed.
func (p Pointer) Names() []string { return p.names }

// Values yields the values that the pointer selects in the JSON text data, as raw slices of data. Duplicate members are
// all yielded. Invalid JSON ends the search after the values before it.
func (p Pointer) Values(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		d := newJSONDecoder(data)
		for d.PeekKind() > 0 { // one text after another is not JSON, but JSON Lines are
			if !p.find(d, data, 0, yield) {
				return
			}
		}
	}
}

// newJSONDecoder returns a decoder that checks only the grammar: it accepts duplicate names and invalid UTF-8. Remove a
// byte order mark first, see TrimBOM.
func newJSONDecoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(data), jsonGrammar...)
}

var jsonGrammar = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// find yields the values in the next value of d to which the names from depth on lead. It reports whether to continue.
func (p Pointer) find(d *jsontext.Decoder, data []byte, depth int, yield func([]byte) bool) bool {
	if depth == len(p.names) {
		v, err := d.ReadValue()
		if err != nil {
			return false
		}
		end := int(d.InputOffset())
		return yield(data[end-len(v) : end : end])
	}
	switch d.PeekKind() {
	case '{':
		return p.findMember(d, data, depth, yield)
	case '[':
		return p.findElement(d, data, depth, yield)
	}
	return d.SkipValue() == nil
}

func (p Pointer) findMember(d *jsontext.Decoder, data []byte, depth int, yield func([]byte) bool) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	want := p.names[depth]
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return false
		}
		if want == AnyName || name.String() == want {
			if !p.find(d, data, depth+1, yield) {
				return false
			}
		} else if d.SkipValue() != nil {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil
}

func (p Pointer) findElement(d *jsontext.Decoder, data []byte, depth int, yield func([]byte) bool) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	want := p.names[depth]
	for i := 0; d.PeekKind() != ']'; i++ {
		if want == AnyName || strconv.Itoa(i) == want {
			if !p.find(d, data, depth+1, yield) {
				return false
			}
		} else if d.SkipValue() != nil {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil
}

// ValueText returns the text of a raw JSON value: a string without its quotes and escapes, any other value unmodified.
func ValueText(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return string(raw)
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // the error is about invalid UTF-8, which was replaced with U+FFFD
	return string(text)
}
