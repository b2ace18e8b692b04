package redact

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/jsondoc"
)

// parsed returns the edits that hide the secrets of a JSON text, as json does, along what the text was parsed to. Where
// it is not one well-formed value, or was not parsed, the text is read again.
func (m *mask) parsed(doc *jsondoc.Doc, text []byte, places []secretPlace) []edit {
	if doc == nil || doc.Err != nil {
		return m.json(text, places)
	}
	w := docWalk{m: m}
	for i := range places {
		w.follows = append(w.follows, activePlace{place: &places[i]})
	}
	for i := range m.places {
		w.follows = append(w.follows, activePlace{place: &m.places[i]})
	}
	w.value(doc.Root, hideNothing, w.follows)
	return w.edits
}

// docWalk goes through a parsed text along all places at the same time.
type docWalk struct {
	m       *mask
	follows []activePlace // room for those of all values around the one at hand
	edits   []edit
}

// value looks at a value, in which the active places may lie.
func (w *docWalk) value(v jsondoc.Value, hide hiding, active []activePlace) {
	for _, a := range active {
		if a.depth == len(a.place.pointer.Names()) {
			hide = max(hide, hideStrings)
			if a.place.numbers {
				hide = hideNumbers
			}
		}
	}
	switch v.Kind() {
	case jsondoc.Object:
		for name, member := range v.Pairs() {
			w.member(name, member, hide, active)
		}
	case jsondoc.Array:
		for i, e := range v.Elems() {
			if len(active) == 0 {
				w.value(e, hide, nil)
				continue
			}
			mark := len(w.follows)
			w.value(e, hide, w.follow(active, strconv.Itoa(i)))
			w.follows = w.follows[:mark]
		}
	case jsondoc.String:
		w.edits = w.m.str(w.edits, v.Raw(), v.Offset(), hide)
	case jsondoc.Number:
		if raw := v.Raw(); hide == hideNumbers && string(raw) != "0" {
			w.edits = append(w.edits, edit{v.Offset(), v.Offset() + len(raw), "0"})
		}
	}
}

func (w *docWalk) member(name, member jsondoc.Value, hide hiding, active []activePlace) {
	raw := name.Raw()
	plain := raw[1 : len(raw)-1]
	if slices.ContainsFunc(plain, func(c byte) bool { return c == '\\' || c >= utf8.RuneSelf }) {
		plain = []byte(capture.ValueText(raw))
	}
	if member.Kind() == jsondoc.String && credential.Member(plain) {
		hide = max(hide, hideStrings)
	}
	if len(active) == 0 {
		w.value(member, hide, nil)
		return
	}
	mark := len(w.follows)
	w.value(member, hide, w.follow(active, string(plain)))
	w.follows = w.follows[:mark]
}

// follow returns those places that go on with a name.
func (w *docWalk) follow(places []activePlace, name string) []activePlace {
	start := len(w.follows)
	for _, a := range places {
		names := a.place.pointer.Names()
		if a.depth < len(names) && (names[a.depth] == name || names[a.depth] == capture.AnyName) {
			w.follows = append(w.follows, activePlace{a.place, a.depth + 1})
		}
	}
	return w.follows[start:]
}
