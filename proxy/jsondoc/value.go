package jsondoc

import (
	"iter"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Kind is the kind of a JSON value, or Absent.
type Kind uint8

// The kinds of values. Absent is not Null: A2A tells a member that is missing from one that is null.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Object
	Array
)

var kindNames = [...]string{
	Absent: "absent", Null: "null", Bool: "boolean", Number: "number", String: "string",
	Object: "object", Array: "array",
}

// String returns "absent", "null", "boolean", "number", "string", "object" or "array".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A tape is a parsed JSON text: its values in the order in which they begin. In an object each name is a separate node,
// right before the value.
type tape struct {
	data  []byte
	nodes []node
}

// A node is one value of a tape.
type node struct {
	start, end uint32 // in data
	after      uint32 // the first node that is not inside this one
	kind       Kind
	escaped    bool // the bytes of the string are not its text: it has an escape, or invalid UTF-8
}

// A Value is one value of a parsed JSON text, or the absence of one. The zero Value is Absent. Lookups in an Absent
// Value or in one of the wrong kind return Absent, too: members of a string, elements of an object. A Value is small,
// should be copied, and keeps the text that it is part of alive.
type Value struct {
	tape  *tape
	index uint32
}

func (v Value) node() *node { return &v.tape.nodes[v.index] }

// Kind returns the kind of the value.
func (v Value) Kind() Kind {
	if v.tape == nil {
		return Absent
	}
	return v.node().kind
}

// Exists reports whether there is a value; null is one.
func (v Value) Exists() bool { return v.tape != nil }

// IsNull reports whether the value is null, which an Absent one is not.
func (v Value) IsNull() bool { return v.Kind() == Null }

// Raw returns the bytes of the value in the text, or nil if it is Absent. They must not be changed.
func (v Value) Raw() []byte {
	if v.tape == nil {
		return nil
	}
	n := v.node()
	return v.tape.data[n.start:n.end:n.end]
}

// Offset returns where in the text the value begins, in bytes; -1 if it is Absent.
func (v Value) Offset() int {
	if v.tape == nil {
		return -1
	}
	return int(v.node().start)
}

// Str returns the text of a string without its escapes, and whether the value is a string. Invalid UTF-8 is replaced
// with U+FFFD. The text is a copy.
func (v Value) Str() (string, bool) {
	if v.Kind() != String {
		return "", false
	}
	n := v.node()
	if !n.escaped {
		return string(v.tape.data[n.start+1 : n.end-1]), true
	}
	return string(v.tape.unquote(n)), true
}

// Text returns the text of a string as Str does, and "" for any other value.
func (v Value) Text() string {
	text, _ := v.Str()
	return text
}

// Literal returns the bytes of a string without escapes, as they are in the text; ok is false if it has escapes, and
// for any other value.
func (v Value) Literal() (text []byte, ok bool) {
	if v.Kind() != String {
		return nil, false
	}
	n := v.node()
	return v.tape.data[n.start+1 : n.end-1], !n.escaped
}

// In reports whether the value is a string whose text is in the set.
func (v Value) In(set map[string]bool) bool {
	if text, ok := v.Literal(); ok {
		return set[string(text)]
	}
	return set[v.Text()] && v.Kind() == String
}

// Word returns the text of a string as Text does. If known maps that text to itself, nothing is copied, so words that
// are in nearly every message cost nothing.
func (v Value) Word(known map[string]string) string {
	if v.Kind() != String {
		return ""
	}
	if n := v.node(); !n.escaped {
		raw := v.tape.data[n.start+1 : n.end-1]
		if word, ok := known[string(raw)]; ok {
			return word
		}
		return string(raw)
	}
	return v.Text()
}

// Is reports whether the value is a string with that text.
func (v Value) Is(text string) bool { return v.Kind() == String && v.tape.equals(v.node(), text) }

// Bool returns the truth of a boolean, and whether the value is one.
func (v Value) Bool() (value, ok bool) {
	if v.Kind() != Bool {
		return false, false
	}
	return v.tape.data[v.node().start] == 't', true
}

// Get returns the first member of an object with exactly that name.
func (v Value) Get(name string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	t, size := v.tape, uint32(len(name)+2)
	nodes, data := t.nodes, t.data
	for i, end := v.index+1, v.node().after; i < end; i = nodes[i+1].after {
		switch n := &nodes[i]; {
		case n.escaped:
			if t.equals(n, name) {
				return Value{t, i + 1}
			}
		case n.end-n.start != size:
		case size == 2 || data[n.start+1] == name[0] && string(data[n.start+1:n.end-1]) == name: // most begin otherwise
			return Value{t, i + 1}
		}
	}
	return Value{}
}

// Has reports whether an object has a member of that name, be it null.
func (v Value) Has(name string) bool { return v.Get(name).Exists() }

// Len returns how many members an object has, or elements an array; 0 for any other value. It counts them.
func (v Value) Len() int {
	switch v.Kind() {
	case Object:
		n := 0
		for range v.names() {
			n++
		}
		return n
	case Array:
		n := 0
		for range v.Elems() {
			n++
		}
		return n
	}
	return 0
}

// Members yields the members of an object in their order, duplicates included; nothing for any other value.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i := range v.names() {
			if !yield(Value{v.tape, i}.Text(), Value{v.tape, i + 1}) {
				return
			}
		}
	}
}

// Pairs yields the members of an object as Members does, with their names as strings of the text, without copying them.
func (v Value) Pairs() iter.Seq2[Value, Value] {
	return func(yield func(name, v Value) bool) {
		for i := range v.names() {
			if !yield(Value{v.tape, i}, Value{v.tape, i + 1}) {
				return
			}
		}
	}
}

// names yields the nodes of an object's member names.
func (v Value) names() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if v.Kind() != Object {
			return
		}
		for i, end := v.index+1, v.node().after; i < end; i = v.tape.nodes[i+1].after {
			if !yield(i) {
				return
			}
		}
	}
}

// Elems yields the elements of an array with their index from 0; nothing for any other value.
func (v Value) Elems() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != Array {
			return
		}
		k := 0
		for i, end := v.index+1, v.node().after; i < end; i = v.tape.nodes[i].after {
			if !yield(k, Value{v.tape, i}) {
				return
			}
			k++
		}
	}
}

// Elem returns the element of an array with that index from 0.
func (v Value) Elem(index int) Value {
	for k, e := range v.Elems() {
		if k == index {
			return e
		}
	}
	return Value{}
}

// At returns the value that a JSON Pointer (RFC 6901) names, beginning here.
func (v Value) At(pointer string) Value {
	if pointer == "" {
		return v
	}
	if pointer[0] != '/' {
		return Value{}
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		switch v.Kind() {
		case Object:
			v = v.Get(unescapeToken(token))
		case Array:
			k, err := strconv.Atoi(token)
			if err != nil || strconv.Itoa(k) != token {
				return Value{}
			}
			v = v.Elem(k)
		default:
			return Value{}
		}
	}
	return v
}

// equals reports whether a string node has that text.
func (t *tape) equals(n *node, text string) bool {
	if !n.escaped {
		return string(t.data[n.start+1:n.end-1]) == text
	}
	return string(t.unquote(n)) == text
}

func (t *tape) unquote(n *node) []byte {
	// The only error is about bytes that are not UTF-8, which are replaced.
	text, _ := jsontext.AppendUnquote(nil, t.data[n.start:n.end])
	return text
}
