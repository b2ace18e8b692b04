package refagent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds the nesting of arrays and objects in a request.
const maxDepth = 200

// An object is a JSON object whose members keep their order and may repeat a name.
//
// The values of this package's JSON trees are nil, bool, json.Number, int, string, []any and object. Keeping order
// makes answers readable and stable; allowing repeats lets a fault write what an encoder for structs would refuse.
type object []member

// A member is one name and value of an object.
type member = struct {
	name  string
	value any
}

// get returns the value of the named member; of several, the last.
func (o object) get(name string) (value any, found bool) {
	for _, m := range slices.Backward(o) {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// with returns o with the member set, in place if the name exists and at the end if not. It does not change o.
func (o object) with(name string, value any) object {
	c := slices.Clone(o)
	for i := range c {
		if c[i].name == name {
			c[i].value = value
			return c
		}
	}
	return append(c, member{name, value})
}

// without returns o less every member of that name. It does not change o.
func (o object) without(name string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.name == name })
}

// optional appends a string member unless the value is empty, as ProtoJSON does with fields of implicit presence.
func (o object) optional(name, value string) object {
	if value == "" {
		return o
	}
	return append(o, member{name, value})
}

// flag appends a boolean member if it is true.
func (o object) flag(name string, value bool) object {
	if !value {
		return o
	}
	return append(o, member{name, true})
}

// list appends an array member unless the array is empty.
func (o object) list(name string, values []any) object {
	if len(values) == 0 {
		return o
	}
	return append(o, member{name, values})
}

// nested appends an object member unless the object is empty.
func (o object) nested(name string, value object) object {
	if len(value) == 0 {
		return o
	}
	return append(o, member{name, value})
}

// merge returns o with every member of more set. It does not change o.
func (o object) merge(more object) object {
	for _, m := range more {
		o = o.with(m.name, m.value)
	}
	return o
}

// values turns a slice into a JSON array, one element at a time.
func values[T any](in []T, encode func(T) any) []any {
	out := make([]any, len(in))
	for i, v := range in {
		out[i] = encode(v)
	}
	return out
}

// texts turns strings into a JSON array.
func texts(in ...string) []any { return values(in, func(s string) any { return s }) }

// parseJSON reads exactly one JSON value. Numbers keep their spelling, objects their order and repeated names.
// It refuses what RFC 8259 §8.1 refuses: text that is not UTF-8, and a byte order mark.
func parseJSON(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("the text is not UTF-8")
	}
	if !json.Valid(data) {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return nil, err
		}
		return nil, errors.New("the text is not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := parseValue(d, 0)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return v, err
}

func parseValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("more than %d levels of nesting", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		return parseArray(d, depth)
	case json.Delim('{'):
		return parseObject(d, depth)
	}
	return t, nil
}

func parseArray(d *json.Decoder, depth int) (any, error) {
	a := []any{}
	for d.More() {
		v, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, err := d.Token()
	return a, err
}

func parseObject(d *json.Decoder, depth int) (any, error) {
	o := object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		o = append(o, member{name.(string), v})
	}
	_, err := d.Token()
	return o, err
}

// appendJSON appends the JSON text of v, without white space.
func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case json.Number:
		return append(dst, v...)
	case string:
		return appendString(dst, v)
	case []any:
		return appendArray(dst, v)
	case object:
		return appendObject(dst, v)
	}
	panic(fmt.Sprintf("refagent: %T is no JSON value", v))
}

func appendArray(dst []byte, a []any) []byte {
	dst = append(dst, '[')
	for i, v := range a {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(dst, v)
	}
	return append(dst, ']')
}

func appendObject(dst []byte, o object) []byte {
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, m.name)
		dst = append(dst, ':')
		dst = appendJSON(dst, m.value)
	}
	return append(dst, '}')
}

// appendString quotes s. Unlike json.Marshal it leaves <, > and & readable.
func appendString(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("refagent: encode a string: " + err.Error()) // a string always encodes
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
