package a2a

import (
	"iter"

	"a2atap/proxy/jsondoc"
)

// JSON values and documents; see package jsondoc, which parses them.
type (
	Value = jsondoc.Value
	Doc   = jsondoc.Doc
	Kind  = jsondoc.Kind
)

// The kinds of values.
const (
	Absent = jsondoc.Absent
	Null   = jsondoc.Null
	Bool   = jsondoc.Bool
	Number = jsondoc.Number
	String = jsondoc.String
	Object = jsondoc.Object
	Array  = jsondoc.Array
)

// Parse parses a JSON text: jsondoc.Parse.
func Parse(data []byte) Doc { return jsondoc.Parse(data) }

// Sequence yields the JSON values of a text with consecutive values, such as JSON Lines.
func Sequence(data []byte) iter.Seq[Doc] { return jsondoc.Sequence(data) }

// Ptr extends a JSON Pointer by tokens: jsondoc.Ptr.
func Ptr(base string, tokens ...any) string { return jsondoc.Ptr(base, tokens...) }

// EqualNumber reports whether both values are numbers and equal: jsondoc.EqualNumber.
func EqualNumber(a, b Value) bool { return jsondoc.EqualNumber(a, b) }

// SameID reports whether two JSON-RPC ids are the same: jsondoc.SameID.
func SameID(a, b Value) bool { return jsondoc.SameID(a, b) }

func firstText(values ...Value) string {
	for _, v := range values {
		if text := v.Text(); text != "" {
			return text
		}
	}
	return ""
}

// first returns the first of the named members that exists and is not null, or else the first that exists.
func first(v Value, names ...string) Value {
	var null Value
	for _, name := range names {
		m := v.Get(name)
		if m.Exists() && !m.IsNull() {
			return m
		}
		if !null.Exists() {
			null = m
		}
	}
	return null
}
