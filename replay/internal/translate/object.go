package translate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/safetext"
)

// An object is a JSON object that is being written.
type object struct {
	text    []byte
	lenient bool // what has no counterpart is left out; else it is an error
}

// inner returns an object that will be a member.
func (o *object) inner() object { return object{lenient: o.lenient} }

// lacks returns an error about a value without a counterpart, or nil if the object is lenient.
func (o *object) lacks(format string, args ...any) error {
	if o.lenient {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// add writes a member whose value is JSON already.
func (o *object) add(name string, value []byte) {
	if o.text == nil {
		o.text = append(o.text, '{')
	} else {
		o.text = append(o.text, ',')
	}
	o.text = append(append(o.text, quote(name)...), ':')
	o.text = append(slices.Grow(o.text, len(value)+1), value...)
}

// addText writes a member that is a string.
func (o *object) addText(name, value string) { o.add(name, quote(value)) }

// empty reports whether nothing was added.
func (o *object) empty() bool { return o.text == nil }

// json returns the text of the object, to which nothing may be added then.
func (o *object) json() []byte {
	if o.text == nil {
		return []byte("{}")
	}
	return append(o.text, '}')
}

// quote writes a string as JSON. Characters of HTML stay as they are.
func quote(s string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return []byte(`""`) // no string fails to encode
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// A writer converts a value into an object.
type writer func(out *object, v a2a.Value) error

// A member writes the counterpart of a member of another object.
type member func(out *object, name string, v a2a.Value) error

// A table has the translations of an object's members by name. Other members have no translation.
type table map[string]member

// write is a writer of objects.
func (t table) write(out *object, v a2a.Value) error {
	if v.Kind() != a2a.Object {
		return fmt.Errorf("%s is %s instead of an object", at(v), v.Kind())
	}
	for name, m := range v.Members() {
		say, known := t[name]
		switch {
		case m.IsNull():
		case !known:
			if err := out.lacks("it has no equivalent of the member %s", at(m)); err != nil {
				return err
			}
		default:
			if err := say(out, name, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// at names the place of a value in a request.
func at(v a2a.Value) string {
	if p := v.Pointer(); p != "" {
		return p
	}
	return "the body"
}

// keep is a member that both dialects have.
func keep(out *object, name string, v a2a.Value) error {
	out.add(name, v.Raw())
	return nil
}

// keeping returns a table with further members, listed with spaces between them, that both dialects have.
func keeping(names string, t table) table {
	for name := range strings.FieldsSeq(names) {
		t[name] = keep
	}
	return t
}

// as is a member that has another name.
func as(name string) member {
	return func(out *object, _ string, v a2a.Value) error {
		out.add(name, v.Raw())
		return nil
	}
}

// within is a member that holds an object.
func within(name string, w writer) member {
	return func(out *object, _ string, v a2a.Value) error {
		inner := out.inner()
		if err := w(&inner, v); err != nil {
			return err
		}
		out.add(name, inner.json())
		return nil
	}
}

// spread is a member whose object's members are written next to the others.
func spread(w writer) member {
	return func(out *object, _ string, v a2a.Value) error { return w(out, v) }
}

// each is a member that holds a list of objects.
func each(name string, w writer) member {
	return func(out *object, _ string, v a2a.Value) error {
		if v.Kind() != a2a.Array {
			return fmt.Errorf("%s is %s instead of a list", at(v), v.Kind())
		}
		list := []byte{'['}
		for i, e := range v.Elems() {
			inner := out.inner()
			if err := w(&inner, e); err != nil {
				return err
			}
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, inner.json()...)
		}
		out.add(name, append(list, ']'))
		return nil
	}
}

// only is a member that is implied if it has the given text.
func only(text string) member {
	return func(out *object, _ string, v a2a.Value) error {
		if v.Is(text) {
			return nil
		}
		return out.lacks("it has no equivalent of %s in the member %s", short(v), at(v))
	}
}

// unset is a member that is allowed only if it is empty.
func unset(out *object, _ string, v a2a.Value) error {
	if v.Is("") || (v.Kind() == a2a.Object || v.Kind() == a2a.Array) && v.Len() == 0 {
		return nil
	}
	return out.lacks("it has no equivalent of the member %s", at(v))
}

// drop is a member that is written elsewhere or is implied.
func drop(*object, string, a2a.Value) error { return nil }

// unlessTrue is an inverted boolean, written only if it is false and not dropped.
func unlessTrue(dropped bool, name string) member {
	return func(out *object, _ string, v a2a.Value) error {
		b, ok := v.Bool()
		switch {
		case !ok:
			return fmt.Errorf("%s is %s instead of true or false", at(v), v.Kind())
		case !b && !dropped:
			out.add(name, []byte("true"))
		}
		return nil
	}
}

// unlessEmpty is a member that holds an object, and is left out if the object is empty.
func unlessEmpty(name string, w writer) member {
	return func(out *object, _ string, v a2a.Value) error {
		inner := out.inner()
		if err := w(&inner, v); err != nil {
			return err
		}
		if !inner.empty() {
			out.add(name, inner.json())
		}
		return nil
	}
}

// short returns the JSON of a value, shortened for a message.
func short(v a2a.Value) string { return safetext.Short(string(v.Raw()), 40) }
