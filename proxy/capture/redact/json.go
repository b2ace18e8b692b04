package redact

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/jsondoc"
)

// json returns the edits that hide the secrets of a JSON text, given its parsed form. It searches the given places, the
// user's places, members whose names mark a secret, and strings with a recognizable secret. It replaces only string
// tokens, and numbers if the user points at them or a password is one, so that JSON stays JSON. If the text has several
// values, each on its own line, it searches each one. All other text that is not JSON is searched loosely.
func (s search) json(doc *jsondoc.Doc, text []byte) []edit {
	if doc == nil {
		doc = new(jsondoc.Parse(text))
	}
	if doc.Err == nil {
		return s.walk(doc, text, 0)
	}
	var edits []edit
	for start := 0; start < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n + 1
		}
		if line := text[start:end]; len(trimFront(line)) > 0 {
			value := jsondoc.Parse(line)
			if value.Err != nil {
				return append(edits, shifted(s.loose(text[start:]), start)...)
			}
			edits = append(edits, shifted(s.walk(&value, line, 0), start)...)
		}
		start = end
	}
	return edits
}

// walk returns the edits of one well-formed value.
func (s search) walk(doc *jsondoc.Doc, text []byte, depth int) []edit {
	w := docWalk{mask: s.mask, depth: depth, found: marksOf(text)}
	if escapesASCII(text) {
		w.found = allMarks
	}
	root := [...]*placeTree{&s.set.tree}
	w.value(doc.Root, hideNothing, anywhere, root[:])
	return w.edits
}

// docWalk walks a parsed text along all places at the same time.
type docWalk struct {
	mask  *mask
	depth int   // how many JSON strings enclose it
	found marks // what the text may have in it
	room  placeWalk
	edits []edit
}

// A where is the part of a card that contains a value.
type where uint8

const (
	anywhere  where = iota
	inSchemes       // of security schemes and requirements, whose members have arbitrary names
	inScopes        // of an OAuth flow, where names are explained
)

// value searches a value that may contain the active places.
func (w *docWalk) value(v jsondoc.Value, hide hiding, in where, active []*placeTree) {
	for _, a := range active {
		hide = max(hide, a.hide)
	}
	switch v.Kind() {
	case jsondoc.Object:
		for name, member := range v.Pairs() {
			w.member(v, name, member, hide, in, active)
		}
	case jsondoc.Array:
		for i, e := range v.Elems() {
			mark := len(w.room)
			w.value(e, hide, in, w.room.followIndex(active, i))
			w.room = w.room[:mark]
		}
	case jsondoc.String:
		w.str(v.Raw(), v.Offset(), hide)
	case jsondoc.Number:
		if raw := v.Raw(); hide == hideNumbers && string(raw) != "0" {
			w.edits = append(w.edits, edit{v.Offset(), v.Offset() + len(raw), "0"})
		}
	}
}

func (w *docWalk) member(of, name, member jsondoc.Value, hide hiding, in where, active []*placeTree) {
	raw := name.Raw()
	plain := raw[1 : len(raw)-1]
	if slices.ContainsFunc(plain, func(c byte) bool { return c == '\\' || c >= utf8.RuneSelf }) {
		plain = []byte(capture.ValueText(raw))
	}
	hide = max(hide, secretMember(plain, member, in))
	if string(plain) == "value" {
		hide = max(hide, secretValue(of, member))
	}
	mark := len(w.room)
	w.value(member, hide, in.within(plain, member), w.room.follow(active, plain))
	w.room = w.room[:mark]
}

// secretMember returns what to hide in a member because of its name. The name of a security scheme does not count, nor
// does the name of a member that a JSON Schema describes.
func secretMember(name []byte, v jsondoc.Value, in where) hiding {
	switch kind := v.Kind(); {
	case kind == jsondoc.Null, kind == jsondoc.Bool, in == inScopes, !credential.Member(name):
		return hideNothing
	case kind == jsondoc.String:
		return hideStrings
	case kind == jsondoc.Number:
		if !credential.PasswordMember(name) {
			return hideNothing
		}
		return hideNumbers
	case in == inSchemes, isSchema(v):
		return hideNothing
	case credential.PasswordMember(name):
		return hideNumbers
	}
	return hideStrings
}

// secretValue returns what to hide in the member value of an object that has a name next to it. Header fields and
// attributes are often written that way.
func secretValue(of, value jsondoc.Value) hiding {
	for _, beside := range [...]string{"name", "key"} {
		if name := of.Get(beside).Text(); credential.Member(name) || credential.Header(name).Hidden() && beside == "name" {
			return secretMember([]byte("password"), value, anywhere)
		}
	}
	return hideNothing
}

// isSchema reports whether an object describes a value rather than being one.
//
// Source: JSON Schema, draft 2020-12, core section 8.2.3 and validation section 6.1.
func isSchema(v jsondoc.Value) bool {
	if v.Kind() != jsondoc.Object {
		return false
	}
	switch v.Get("type").Text() {
	case "string", "object", "array", "number", "integer", "boolean", "null":
		return true
	}
	for _, name := range [...]string{"$ref", "anyOf", "oneOf", "allOf"} {
		if v.Get(name).Exists() {
			return true
		}
	}
	return false
}

// within returns the part of a card that a member of that name is in.
func (in where) within(name []byte, v jsondoc.Value) where {
	if len(name) < len("scopes") || name[0] != 's' {
		return in
	}
	switch string(name) {
	case "securitySchemes", "security_schemes":
		return inSchemes
	case "security", "securityRequirements", "security_requirements":
		if v.Kind() == jsondoc.Array {
			return inSchemes
		}
	case "scopes":
		if in == inSchemes {
			return inScopes
		}
	}
	return in
}

// maxDepth is the maximum depth at which JSON inside strings of JSON is searched.
const maxDepth = 4

// str adds the edit that a string token needs.
func (w *docWalk) str(raw []byte, start int, hide hiding) {
	text := raw[1 : len(raw)-1]
	nested := hide == hideNothing && len(text) > 4 && (text[0] == '{' || text[0] == '[') && w.depth < maxDepth
	if hide == hideNothing && !nested && (w.found == 0 || marksOf(text) == 0 && !escapesASCII(text)) {
		return
	}
	was := capture.ValueText(raw)
	now := was
	switch {
	case hide != hideNothing:
		now = w.mask.hide(was)
	case nested:
		now = w.nested(was)
	default:
		now = w.mask.text(was)
	}
	if now == was {
		return
	}
	quoted, _ := jsontext.AppendQuote(nil, now) // the error is about bytes that are not UTF-8, which became U+FFFD
	w.edits = append(w.edits, edit{start, start + len(raw), string(quoted)})
}

// nested hides the secrets of a string that looks like JSON.
func (w *docWalk) nested(s string) string {
	if text := []byte(s); bytes.IndexByte(text, '"') >= 0 {
		if doc := jsondoc.Parse(text); doc.Err == nil {
			return string(splice(text, search{w.mask, new(placeSet)}.walk(&doc, text, w.depth+1)))
		}
	}
	return w.mask.text(s)
}

// escapesASCII reports whether a raw string or text may contain letters that are escaped without need.
func escapesASCII(raw []byte) bool {
	for {
		i := bytes.Index(raw, []byte(`\u00`))
		if i < 0 || i+5 > len(raw) {
			return false
		}
		if c := raw[i+4]; '2' <= c && c <= '7' {
			return true
		}
		raw = raw[i+4:]
	}
}
