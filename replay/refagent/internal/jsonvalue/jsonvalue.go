// Package jsonvalue has JSON trees whose objects keep the order of their members: as agents read them, and write them
// byte for byte.
package jsonvalue

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

// An Object is a JSON object whose members keep their order and may repeat a name.
//
// The values of this package's JSON trees are nil, bool, json.Number, int, string, []any and object. Keeping order
// makes answers readable and stable; allowing repeats lets a fault write what an encoder for structs would refuse.
type Object []Member

// A Member is one name and value of an object.
type Member = struct {
	Name  string
	Value any
}

// Get returns the value of the named member; of several, the last.
func (o Object) Get(name string) (value any, found bool) {
	for _, m := range slices.Backward(o) {
		if m.Name == name {
			return m.Value, true
		}
	}
	return nil, false
}

// Has reports whether there is a member of that name.
func (o Object) Has(name string) bool {
	_, found := o.Get(name)
	return found
}

// With returns o with the member set, in place if the name exists and at the end if not. It does not change o.
func (o Object) With(name string, value any) Object {
	c := slices.Clone(o)
	for i := range c {
		if c[i].Name == name {
			c[i].Value = value
			return c
		}
	}
	return append(c, Member{name, value})
}

// Without returns o less every member of that name. It does not change o.
func (o Object) Without(name string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(m Member) bool { return m.Name == name })
}

// Optional appends a string member unless the value is empty, as ProtoJSON does with fields of implicit presence.
func (o Object) Optional(name, value string) Object {
	if value == "" {
		return o
	}
	return append(o, Member{name, value})
}

// Flag appends a boolean member if it is true.
func (o Object) Flag(name string, value bool) Object {
	if !value {
		return o
	}
	return append(o, Member{name, true})
}

// List appends an array member unless the array is empty.
func (o Object) List(name string, values []any) Object {
	if len(values) == 0 {
		return o
	}
	return append(o, Member{name, values})
}

// Nested appends an object member unless the object is empty.
func (o Object) Nested(name string, value Object) Object {
	if len(value) == 0 {
		return o
	}
	return append(o, Member{name, value})
}

// Merge returns o with every member of more set. It does not change o.
func (o Object) Merge(more Object) Object {
	for _, m := range more {
		o = o.With(m.Name, m.Value)
	}
	return o
}

// Values turns a slice into a JSON array, one element at a time.
func Values[T any](in []T, encode func(T) any) []any {
	out := make([]any, len(in))
	for i, v := range in {
		out[i] = encode(v)
	}
	return out
}

// Texts turns strings into a JSON array.
func Texts(in ...string) []any { return Values(in, func(s string) any { return s }) }

// Parse reads exactly one JSON value. Numbers keep their spelling, objects their order and repeated names. As in RFC
// 8259 §8.1, it rejects text that is not UTF-8, and a byte order mark.
func Parse(data []byte) (any, error) {
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
	o := Object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		o = append(o, Member{name.(string), v})
	}
	_, err := d.Token()
	return o, err
}

// Append appends the JSON text of v, without white space.
func Append(dst []byte, v any) []byte {
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
	case Object:
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
		dst = Append(dst, v)
	}
	return append(dst, ']')
}

func appendObject(dst []byte, o Object) []byte {
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, m.Name)
		dst = append(dst, ':')
		dst = Append(dst, m.Value)
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
