package noise

import (
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/a2a"
)

// A found is a value that a rule names.
type found struct {
	rule  scoped
	value a2a.Value
	path  []string
}

func (f *found) pointer() string {
	pointer := ""
	for _, name := range f.path {
		pointer = a2a.Ptr(pointer, name)
	}
	return pointer
}

// find returns the values that rules name, those inside others before these.
func (s *Scope) find(t Text) []found {
	if s == nil {
		return nil
	}
	var all []found
	w := walker{scope: s, in: t.layout()}
	w.named = func(f found) { all = append(all, f) }
	w.value(t.Root)
	return all
}

// Without returns a text without the values that rules name, to compare the rest. Members are left out, and values that
// become empty by that count as absent. Elements become null, so that later elements keep their places, and are left
// out at the end of an array. The object of the text is never left out.
func (s *Scope) Without(t Text) a2a.Value {
	if s == nil || !t.Root.Exists() {
		return t.Root
	}
	w := walker{scope: s, in: t.layout()}
	changed := false
	w.named = func(found) { changed = true }
	text, _ := w.value(t.Root)
	if !changed {
		return t.Root
	}
	return a2a.Parse(text).Root
}

// walker writes a text without the values that rules name.
type walker struct {
	scope *Scope
	in    layout
	path  []string
	named func(found)
}

// value returns the text of a value without the named values, and whether anything is left.
func (w *walker) value(v a2a.Value) (text []byte, left bool) {
	switch v.Kind() {
	case a2a.Object:
		return w.object(v)
	case a2a.Array:
		return w.array(v)
	}
	return v.Raw(), true
}

// child returns the text of the value under a name without the named values, and whether anything is left.
func (w *walker) child(name string, v a2a.Value) (text []byte, left bool) {
	w.path = append(w.path, name)
	defer func() { w.path = w.path[:len(w.path)-1] }()
	text, left = w.value(v) // also for a named value: another rule may name a place inside
	for _, r := range w.scope.rules {
		if r.names(w.path, w.in) {
			w.named(found{r, v, slices.Clone(w.path)})
			text, left = nil, false
		}
	}
	return text, left
}

func (w *walker) object(o a2a.Value) (text []byte, left bool) {
	text = append(text, '{')
	members := 0
	for name, v := range o.Pairs() {
		members++
		member, ok := w.child(name.Text(), v)
		if !ok && w.aroundPayload(name.Text()) {
			member, ok = []byte("{}"), true
		}
		if !ok {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(append(text, name.Raw()...), ':'), member...)
	}
	return append(text, '}'), members == 0 || len(text) > 1
}

// aroundPayload reports whether a member of the current object is the object of the text, or contains it.
func (w *walker) aroundPayload(name string) bool {
	n := len(w.path)
	return n < len(w.in.payload) && w.in.payload[n] == name && slices.Equal(w.path, w.in.payload[:n])
}

func (w *walker) array(a a2a.Value) (text []byte, left bool) {
	text = append(text, '[')
	end, missing := 1, 0 // of the kept text; omitted elements since then
	for i, v := range a.Elems() {
		element, ok := w.child(strconv.Itoa(i), v)
		if !ok {
			missing++
			continue
		}
		for ; missing > 0; missing-- {
			text = append(separate(text), "null"...)
		}
		text = append(separate(text), element...)
		end = len(text)
	}
	return append(text[:end], ']'), a.Len() == 0 || end > 1
}

func separate(text []byte) []byte {
	if len(text) > 1 {
		return append(text, ',')
	}
	return text
}

// HidesError reports whether a rule names a member that identifies an error: its code, its status or its reason. At is
// the error's JSON Pointer.
func (s *Scope) HidesError(t Text, at string) bool {
	hidden := false
	for _, place := range s.find(t) {
		switch place.path[len(place.path)-1] {
		case "code", "status", "reason":
			hidden = hidden || place.rule.exactly() && strings.HasPrefix(place.pointer(), at+"/")
		}
	}
	return hidden
}
