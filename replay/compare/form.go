package compare

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
)

// A deviation is one place where the form of two answers differs.
type deviation struct {
	kind    Kind
	at      located // in the live answer if only that has it
	onlyNow bool
	message string
	change  Change
}

// forms compares the forms of two answers: kinds of parts, types, names of members, media types. The elements of an
// array have one form together, so neither their number nor their distribution over chunks matters.
type forms struct {
	free   int  // how many members of free content are around the values at hand
	active bool // the task is unfinished: its contents so far depend on timing
	// canceled means that the task was canceled in both answers: how far it had come depends on timing.
	canceled bool
	more     bool // the live answer may have further members
	exact    bool // texts are compared too, if names cannot be
	founds   []deviation
}

// compare compares all values at one place.
func (f *forms) compare(name string, was, now []located) {
	was, now = present(was), present(now)
	if len(was) == 0 || len(now) == 0 {
		return // the missing member was reported already
	}
	if a, b := kindsOf(was), kindsOf(now); !slices.Equal(a, b) {
		f.find(DifferentType, was[0], now[0],
			fmt.Sprintf("%s is %s, recorded as %s", named(name), kindNames(b), kindNames(a)))
		return
	}
	if name == "parts" && f.free == 0 {
		a, b := partKinds(was), partKinds(now)
		if !slices.Equal(a, b) && !slices.Contains(append(a, b...), "of unknown kind") { // whose members say more
			one, other := differing(elementsOf(was), elementsOf(now), partKind)
			f.find(DifferentPart, one, other, fmt.Sprintf("the parts are %v, recorded %v", b, a))
			return
		}
	}
	if f.free == 0 && isWord(name) {
		if a, b := words(was), words(now); !slices.Equal(a, b) {
			kind := DifferentContent
			if isMediaType(name) {
				kind = DifferentMediaType
			}
			one, other := differing(was, now, located.Text)
			f.find(kind, one, other, fmt.Sprintf("%s is %q, recorded %q", name, b, a))
			return
		}
	}
	if isFreeContent(name) && name != "error" {
		f.free++
		defer func() { f.free-- }()
	}
	f.members(membersOf(was), membersOf(now))
	if a, b := elementsOf(was), elementsOf(now); len(a) > 0 && len(b) > 0 {
		f.compare(name+"[]", a, b)
	}
}

func (f *forms) find(kind Kind, was, now located, message string) {
	f.founds = append(f.founds, deviation{
		kind: kind, at: was, message: message,
		change: newChange(was.Pointer(), was.Value, now.Value),
	})
}

func (f *forms) missing(at located, what string) {
	f.find(DifferentMember, at, located{}, what+" is missing")
}

func (f *forms) new(at located, what string) {
	f.founds = append(f.founds, deviation{
		kind: DifferentMember, at: at, onlyNow: true, message: what + " is new",
		change: newChange(at.Pointer(), a2a.Value{}, at.Value),
	})
}

// together returns one difference for all deviations, with at most the given number of changes. The caller sets its
// places.
func together(founds []deviation, limit int, in string) Difference {
	first := founds[0]
	d := Difference{Kind: first.kind, Want: first.change.Was, Got: first.change.Now, Message: first.message + in}
	for _, f := range founds[:min(len(founds), limit)] {
		d.Changes = append(d.Changes, f.change)
	}
	if more := len(founds) - 1; more > 0 {
		d.Message += fmt.Sprintf(", and %d more", more)
	}
	return d
}

// members compares the members of objects, by name.
func (f *forms) members(was, now *members) {
	for _, name := range was.names {
		switch {
		case name == "id" && was.envelope, f.passing(name): // ids are compared as ids
		case now.of[name] != nil:
			f.compare(name, was.of[name], now.of[name])
		case !f.byChunk(name) && !f.late(name) && len(now.names) > 0:
			f.missing(was.of[name][0], fmt.Sprintf("member %q", name))
		}
	}
	for _, name := range now.names {
		if was.of[name] == nil && !f.more && !f.byChunk(name) && !f.late(name) && !f.passing(name) && len(was.names) > 0 {
			f.new(now.of[name][0], fmt.Sprintf("member %q", name))
		}
	}
}

// byChunk reports whether the presence of a member depends on the size of chunks.
func (f *forms) byChunk(name string) bool {
	return f.free == 0 && (name == "append" || name == "lastChunk" || name == "last_chunk")
}

// late reports whether a canceled task may have a member or not, depending on when it was canceled.
func (f *forms) late(name string) bool { return f.canceled && f.free == 0 && name == "artifacts" }

// passing reports whether a member of an unfinished or canceled task shows its progress, which depends on timing.
func (f *forms) passing(name string) bool {
	if !f.active && !f.canceled || f.free > 0 {
		return false
	}
	switch name {
	case "history":
		return true
	case "artifacts", "message", "metadata", "timestamp":
		return f.active
	}
	return false
}

// members are the members of several objects, together.
type members struct {
	names    []string // in order of appearance
	of       map[string][]located
	envelope bool // of JSON-RPC
}

func membersOf(values []located) *members {
	m := &members{of: map[string][]located{}}
	for _, o := range values {
		m.envelope = m.envelope || o.Has("jsonrpc")
		for name, v := range o.Members() {
			if Opaque(name) || isTime(name) || isDigits(name) {
				name = "*" // a table: its keys are contents
			}
			if !says(v) {
				continue
			}
			if m.of[name] == nil {
				m.names = append(m.names, name)
			}
			m.of[name] = append(m.of[name], located{v, o.event})
		}
	}
	return m
}

func elementsOf(values []located) []located {
	var all []located
	for _, list := range values {
		if list.Kind() == a2a.Array {
			for _, e := range list.Elems() {
				all = append(all, located{e, list.event})
			}
		}
	}
	return all
}

// says reports whether a value differs from an absent one: protobuf may write or omit empty values.
func says(v a2a.Value) bool {
	switch v.Kind() {
	case a2a.Null:
		return false
	case a2a.Object, a2a.Array:
		return v.Len() > 0
	}
	return v.Exists()
}

func present(values []located) []located {
	return slices.DeleteFunc(slices.Clone(values), func(v located) bool { return !says(v.Value) })
}

// kindsOf returns the types of values, each once, in a fixed order.
func kindsOf(values []located) []a2a.Kind {
	var kinds []a2a.Kind
	for _, v := range values {
		if !slices.Contains(kinds, v.Kind()) {
			kinds = append(kinds, v.Kind())
		}
	}
	slices.Sort(kinds)
	return kinds
}

// kindNames writes types for people, such as "number or string".
func kindNames(kinds []a2a.Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.String())
	}
	return strings.Join(names, " or ")
}

var partNames = map[a2a.PartKind]string{
	a2a.UnknownPart: "of unknown kind", a2a.TextPart: "text", a2a.RawPart: "raw", a2a.URLPart: "url", a2a.DataPart: "data",
	a2a.FilePart: "file",
}

// partKinds returns the kinds of parts in their order, several in a row as one.
func partKinds(lists []located) []string {
	var kinds []string
	for _, e := range elementsOf(lists) {
		kinds = append(kinds, partKind(e))
	}
	return slices.Compact(kinds)
}

func partKind(part located) string { return partNames[a2a.Part{Value: part.Value}.PartKind()] }

// differing returns the first two values that do not have the same key, or else, if there are more of one, the first
// values.
func differing(was, now []located, key func(located) string) (located, located) {
	for i := range min(len(was), len(now)) {
		if key(was[i]) != key(now[i]) {
			return was[i], now[i]
		}
	}
	return was[0], now[0]
}

// isWord reports whether a member holds one of the protocol's fixed words.
func isWord(name string) bool { return name == "role" || name == "kind" || isMediaType(name) }

func isMediaType(name string) bool { return name == "mediaType" || name == "mimeType" }

// words returns the texts of values, each once, in a fixed order.
func words(values []located) []string {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.Text())
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

func named(name string) string {
	if name == "" {
		return "it"
	}
	return fmt.Sprintf("%q", name)
}

// passing reports whether a place in a snapshot of an unfinished task shows its progress.
func passing(pointer string) bool { return (&forms{active: true}).passing(lastToken(pointer)) }

// withoutIDs returns a text with a star instead of each word that is an id or a time.
func withoutIDs(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;()[]{}\"'", r) })
	for _, w := range words {
		if w = strings.TrimRight(w, ".:!?"); Opaque(w) || isTime(w) {
			text = strings.ReplaceAll(text, w, "*")
		}
	}
	return text
}
