package model

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"a2atap/replay/refagent/internal/jsonvalue"
)

// Fields reads the members of a JSON object as ProtoJSON parsers do: null is absent, unknown members are ignored, and a
// field may be spelled in camelCase or in snake_case. Invalid members are noted, once, with their paths.
type Fields struct {
	Object jsonvalue.Object
	Path   string       // of the object, empty at the top
	Bad    *[]Violation // shared by all fields of one request
	Exact  bool         // only camelCase is read
}

// ReadFields returns the fields of an object.
func ReadFields(o jsonvalue.Object) Fields { return Fields{Object: o, Bad: new([]Violation)} }

// Failure returns the noted problems, or nil.
func (f Fields) Failure() *Failure {
	if len(*f.Bad) == 0 {
		return nil
	}
	return invalidParams(*f.Bad...)
}

func (f Fields) join(name string) string {
	if f.Path == "" {
		return name
	}
	return f.Path + "." + name
}

// at returns the fields of an object inside of f.
func (f Fields) at(o jsonvalue.Object, name string) Fields {
	f.Object, f.Path = o, f.join(name)
	return f
}

// Reject notes a problem of the object itself.
func (f Fields) Reject(description string) { *f.Bad = append(*f.Bad, Violation{f.Path, description}) }

// Complain notes a problem of a member.
func (f Fields) Complain(name, description string) {
	*f.Bad = append(*f.Bad, Violation{f.join(name), description})
}

// Value returns the member, or nil if it is absent or null.
func (f Fields) Value(name string) any {
	v, found := f.Object.Get(name)
	if !found && !f.Exact {
		v, _ = f.Object.Get(snakeCase(name))
	}
	return v
}

// Has reports whether the member exists, even if null: a data part may be null.
func (f Fields) Has(name string) bool {
	_, found := f.Object.Get(name)
	return found
}

func snakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// As returns the member if it has the Go type T, which represents a JSON type, and complains if it has another type.
func As[T any](f Fields, name, want string) (T, bool) {
	v := f.Value(name)
	t, ok := v.(T)
	if !ok && v != nil {
		f.Complain(name, "must be "+want)
	}
	return t, ok
}

// Text returns a string member, empty if it is absent.
func (f Fields) Text(name string) string {
	s, _ := As[string](f, name, "a string")
	return s
}

// Required returns a string member that must not be empty.
func (f Fields) Required(name string) string {
	s, ok := As[string](f, name, "a string")
	if (ok || f.Value(name) == nil) && s == "" {
		f.Complain(name, "is required")
	}
	return s
}

// Boolean returns a member that is true or false; false if it is absent.
func (f Fields) Boolean(name string) bool {
	b, _ := As[bool](f, name, "true or false")
	return b
}

// Integer returns an int32 member, nil if it is absent. A string or an integral float is accepted too.
func (f Fields) Integer(name string) *int {
	var spelled string
	switch v := f.Value(name).(type) {
	case nil:
		return nil
	case json.Number:
		spelled = string(v)
	case string:
		spelled = v
	default:
		f.Complain(name, "must be an integer")
		return nil
	}
	n, err := strconv.ParseFloat(spelled, 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
		f.Complain(name, "must be an integer")
		return nil
	}
	return new(int(n))
}

// Count is an integer that must not be negative.
func (f Fields) Count(name string) *int {
	n := f.Integer(name)
	if n != nil && *n < 0 {
		f.Complain(name, "must not be negative")
		return nil
	}
	return n
}

// Time returns a member that is an instant; the zero time if it is absent.
func (f Fields) Time(name string) time.Time {
	s := f.Text(name)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		f.Complain(name, "must be an RFC 3339 timestamp")
	}
	return t
}

// Bytes returns base64 in either alphabet, padded or not.
func (f Fields) Bytes(name string) []byte {
	s := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(f.Text(name)), "=")
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		f.Complain(name, "must be base64")
	}
	return b
}

// Free returns an object of free content, such as metadata.
func (f Fields) Free(name string) jsonvalue.Object {
	o, _ := As[jsonvalue.Object](f, name, "an object")
	return o
}

// Nested returns the fields of an object member and whether it exists.
func (f Fields) Nested(name string) (Fields, bool) {
	o, ok := As[jsonvalue.Object](f, name, "an object")
	return f.at(o, name), ok
}

// Texts returns an array of strings.
func (f Fields) Texts(name string) []string {
	var out []string
	a, _ := As[[]any](f, name, "an array of strings")
	for i, v := range a {
		s, ok := v.(string)
		if !ok {
			f.Complain(fmt.Sprintf("%s[%d]", name, i), "must be a string")
		}
		out = append(out, s)
	}
	return out
}

// Each yields the objects of an array.
func (f Fields) Each(name string) iter.Seq[Fields] {
	return func(yield func(Fields) bool) {
		a, _ := As[[]any](f, name, "an array")
		for i, v := range a {
			at := fmt.Sprintf("%s[%d]", name, i)
			o, ok := v.(jsonvalue.Object)
			if !ok {
				f.Complain(at, "must be an object")
				continue
			}
			if !yield(f.at(o, at)) {
				return
			}
		}
	}
}
