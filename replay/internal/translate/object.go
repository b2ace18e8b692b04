package translate

import (
	"encoding/json"
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
)

// An object is a JSON object that is being written.
type object struct{ text []byte }

// add writes a member whose value is JSON already.
func (o *object) add(name string, value []byte) {
	if o.text == nil {
		o.text = append(o.text, '{')
	} else {
		o.text = append(o.text, ',')
	}
	o.text = append(append(append(o.text, quote(name)...), ':'), value...)
}

// addText writes a member that is a string.
func (o *object) addText(name, value string) { o.add(name, quote(value)) }

// empty reports whether nothing was added.
func (o *object) empty() bool { return o.text == nil }

// json returns the text of the object.
func (o *object) json() []byte {
	if o.text == nil {
		return []byte("{}")
	}
	return append(o.text[:len(o.text):len(o.text)], '}')
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

// A writer says a value in other words, into an object.
type writer func(out *object, v a2a.Value) error

// A member says what stands in an object for a member of another one.
type member func(out *object, name string, v a2a.Value) error

// A table has what stands for the members of an object, by their names. What is not in it has no translation.
type table map[string]member

// write is a writer of objects.
func (t table) write(out *object, v a2a.Value) error {
	if v.Kind() != a2a.Object {
		return fmt.Errorf("%s is %s where an object belongs", at(v), v.Kind())
	}
	for name, m := range v.Members() {
		say, known := t[name]
		switch {
		case m.IsNull():
		case !known:
			return fmt.Errorf("nothing there stands for the member %s", at(m))
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

// keep is a member that both have.
func keep(out *object, name string, v a2a.Value) error {
	out.add(name, v.Raw())
	return nil
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
		var inner object
		if err := w(&inner, v); err != nil {
			return err
		}
		out.add(name, inner.json())
		return nil
	}
}

// spread is a member that holds an object whose members stand beside the others.
func spread(w writer) member {
	return func(out *object, _ string, v a2a.Value) error { return w(out, v) }
}

// each is a member that holds a list of objects.
func each(name string, w writer) member {
	return func(out *object, _ string, v a2a.Value) error {
		if v.Kind() != a2a.Array {
			return fmt.Errorf("%s is %s where a list belongs", at(v), v.Kind())
		}
		list := []byte{'['}
		for i, e := range v.Elems() {
			var inner object
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

// only is a member that goes without saying if it is the text given.
func only(text string) member {
	return func(_ *object, _ string, v a2a.Value) error {
		if v.Is(text) {
			return nil
		}
		return fmt.Errorf("nothing there stands for %s in the member %s", short(v), at(v))
	}
}

// unset is a member that may be there if it is empty.
func unset(_ *object, _ string, v a2a.Value) error {
	if v.Is("") || (v.Kind() == a2a.Object || v.Kind() == a2a.Array) && v.Len() == 0 {
		return nil
	}
	return fmt.Errorf("nothing there stands for the member %s", at(v))
}

// drop is a member that is said elsewhere, or by itself.
func drop(*object, string, a2a.Value) error { return nil }

// unlessTrue is a truth value that is said the other way round, and only where it is false and not dropped.
func unlessTrue(dropped bool, name string) member {
	return func(out *object, _ string, v a2a.Value) error {
		b, ok := v.Bool()
		switch {
		case !ok:
			return fmt.Errorf("%s is %s where true or false belongs", at(v), v.Kind())
		case !b && !dropped:
			out.add(name, []byte("true"))
		}
		return nil
	}
}

// unlessEmpty is a member that holds an object, and is left out if nothing is in it.
func unlessEmpty(name string, w writer) member {
	return func(out *object, _ string, v a2a.Value) error {
		var inner object
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
func short(v a2a.Value) string {
	const most = 40
	raw := string(v.Raw())
	if len(raw) > most {
		return raw[:most] + "…"
	}
	return raw
}
