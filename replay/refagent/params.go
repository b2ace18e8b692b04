package refagent

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
)

// Fields reads the members of a JSON object as ProtoJSON parsers do: null is absent, unknown members are ignored,
// and a field may be spelled in camelCase or in snake_case. What does not fit is noted, once, with its path.
type fields struct {
	object object
	path   string       // of the object, empty at the top
	bad    *[]violation // shared by all fields of one request
	exact  bool         // only camelCase is read
}

func readFields(o object) fields { return fields{object: o, bad: new([]violation)} }

// failure returns what was wrong, or nil.
func (f fields) failure() *failure {
	if len(*f.bad) == 0 {
		return nil
	}
	return invalidParams(*f.bad...)
}

func (f fields) join(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

// at returns the fields of an object inside of f.
func (f fields) at(o object, name string) fields {
	f.object, f.path = o, f.join(name)
	return f
}

func (f fields) complain(name, description string) {
	*f.bad = append(*f.bad, violation{f.join(name), description})
}

// value returns the member, or nil if it is absent or null.
func (f fields) value(name string) any {
	v, found := f.object.get(name)
	if !found && !f.exact {
		v, _ = f.object.get(snakeCase(name))
	}
	return v
}

// has says whether the member is there, null included: a data part may hold null.
func (f fields) has(name string) bool {
	_, found := f.object.get(name)
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

// as returns the member if it has the Go type T that stands for a JSON type, and complains if it has another.
func as[T any](f fields, name, want string) (T, bool) {
	v := f.value(name)
	t, ok := v.(T)
	if !ok && v != nil {
		f.complain(name, "must be "+want)
	}
	return t, ok
}

// text returns a string member, empty if it is absent.
func (f fields) text(name string) string {
	s, _ := as[string](f, name, "a string")
	return s
}

// required returns a string member that must not be empty.
func (f fields) required(name string) string {
	s, ok := as[string](f, name, "a string")
	if (ok || f.value(name) == nil) && s == "" {
		f.complain(name, "is required")
	}
	return s
}

func (f fields) boolean(name string) bool {
	b, _ := as[bool](f, name, "true or false")
	return b
}

// integer returns an int32 member, nil if it is absent. A string or an integral float is accepted too.
func (f fields) integer(name string) *int {
	var spelled string
	switch v := f.value(name).(type) {
	case nil:
		return nil
	case json.Number:
		spelled = string(v)
	case string:
		spelled = v
	default:
		f.complain(name, "must be an integer")
		return nil
	}
	n, err := strconv.ParseFloat(spelled, 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
		f.complain(name, "must be an integer")
		return nil
	}
	i := int(n)
	return &i
}

// count is an integer that must not be negative.
func (f fields) count(name string) *int {
	n := f.integer(name)
	if n != nil && *n < 0 {
		f.complain(name, "must not be negative")
		return nil
	}
	return n
}

func (f fields) time(name string) time.Time {
	s := f.text(name)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		f.complain(name, "must be an RFC 3339 timestamp")
	}
	return t
}

// bytes returns base64 in either alphabet, padded or not.
func (f fields) bytes(name string) []byte {
	s := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(f.text(name)), "=")
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		f.complain(name, "must be base64")
	}
	return b
}

// free returns an object of free content, such as metadata.
func (f fields) free(name string) object {
	o, _ := as[object](f, name, "an object")
	return o
}

// nested returns the fields of an object member and whether it is there.
func (f fields) nested(name string) (fields, bool) {
	o, ok := as[object](f, name, "an object")
	return f.at(o, name), ok
}

// texts returns an array of strings.
func (f fields) texts(name string) []string {
	var out []string
	a, _ := as[[]any](f, name, "an array of strings")
	for i, v := range a {
		s, ok := v.(string)
		if !ok {
			f.complain(fmt.Sprintf("%s[%d]", name, i), "must be a string")
		}
		out = append(out, s)
	}
	return out
}

// each yields the objects of an array.
func (f fields) each(name string) iter.Seq[fields] {
	return func(yield func(fields) bool) {
		a, _ := as[[]any](f, name, "an array")
		for i, v := range a {
			at := fmt.Sprintf("%s[%d]", name, i)
			o, ok := v.(object)
			if !ok {
				f.complain(at, "must be an object")
				continue
			}
			if !yield(f.at(o, at)) {
				return
			}
		}
	}
}
