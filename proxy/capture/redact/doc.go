package redact

import (
	"slices"
	"unicode/utf8"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/jsondoc"
)

// parsed returns the edits that hide the secrets of a JSON text, as json does, along what the text was parsed to. Where
// it is not one well-formed value, or was not parsed, the text is read again.
func (m *mask) parsed(doc *jsondoc.Doc, text []byte, set *placeSet) []edit {
	if doc == nil || doc.Err != nil {
		return m.json(text, set.list)
	}
	w := docWalk{m: m}
	root := [...]*placeTree{&set.tree}
	w.value(doc.Root, hideNothing, root[:])
	return w.edits
}

// docWalk goes through a parsed text along all places at the same time.
type docWalk struct {
	m     *mask
	room  placeWalk
	edits []edit
}

// value looks at a value, in which the active places may lie.
func (w *docWalk) value(v jsondoc.Value, hide hiding, active []*placeTree) {
	for _, a := range active {
		hide = max(hide, a.hide)
	}
	switch v.Kind() {
	case jsondoc.Object:
		for name, member := range v.Pairs() {
			w.member(name, member, hide, active)
		}
	case jsondoc.Array:
		for i, e := range v.Elems() {
			mark := len(w.room)
			w.value(e, hide, w.room.followIndex(active, i))
			w.room = w.room[:mark]
		}
	case jsondoc.String:
		w.edits = w.m.str(w.edits, v.Raw(), v.Offset(), hide)
	case jsondoc.Number:
		if raw := v.Raw(); hide == hideNumbers && string(raw) != "0" {
			w.edits = append(w.edits, edit{v.Offset(), v.Offset() + len(raw), "0"})
		}
	}
}

func (w *docWalk) member(name, member jsondoc.Value, hide hiding, active []*placeTree) {
	raw := name.Raw()
	plain := raw[1 : len(raw)-1]
	if slices.ContainsFunc(plain, func(c byte) bool { return c == '\\' || c >= utf8.RuneSelf }) {
		plain = []byte(capture.ValueText(raw))
	}
	if member.Kind() == jsondoc.String && credential.Member(plain) {
		hide = max(hide, hideStrings)
	}
	mark := len(w.room)
	w.value(member, hide, w.room.follow(active, plain))
	w.room = w.room[:mark]
}
