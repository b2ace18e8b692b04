package grpc

import (
	"fmt"
	"strconv"
	"strings"
)

// A Type is the type of a message: of A2A in one of its generations, or of a message that those contain.
type Type struct {
	name   string
	fields []field // in the order of their numbers
}

// Name returns the name of the type without its package, such as "SendMessageRequest".
func (t *Type) Name() string { return t.name }

// A field is one field of a type.
type field struct {
	number   int
	name     string // in JSON, and in lowerCamelCase
	kind     kind
	repeated bool
	keyed    bool  // a map from strings to values of the kind
	present  bool  // explicit presence: it may be set to its default value
	oneof    bool  // of a type's fields in a oneof, at most one is set
	of       *Type // messageKind
	entry    *Type // of a keyed field: a key and a value of the kind
	words    *enum // enumKind
}

// kind is the kind of a field's value.
type kind uint8

const (
	stringKind kind = iota
	bytesKind
	boolKind
	int32Kind
	int64Kind
	doubleKind
	enumKind
	messageKind
	structKind    // google.protobuf.Struct, in JSON an object
	valueKind     // google.protobuf.Value, in JSON anything
	timestampKind // google.protobuf.Timestamp, in JSON a text as of RFC 3339
)

// scalars are the kinds that a schema names by a word.
var scalars = map[string]kind{
	"string": stringKind, "bytes": bytesKind, "bool": boolKind, "int32": int32Kind, "int64": int64Kind,
	"double": doubleKind, "Struct": structKind, "Value": valueKind, "Timestamp": timestampKind,
}

// An enum is the words for the numbers of an enumeration.
type enum struct{ words []string }

// numberOf returns the number of an enumeration's word, and whether it exists.
func (e *enum) numberOf(word string) (int32, bool) {
	for n, w := range e.words {
		if w == word {
			return int32(n), true
		}
	}
	return 0, false
}

// A schema has the types of one package, by name. Their fields are text, "NUMBER NAME KIND", separated by semicolons. A
// kind is a word of scalars, or the name of an enumeration or a type. The prefix "[]" makes a field a list, "map " a
// map from strings, "?" a field with explicit presence, and "|" a member of a oneof.
type schema struct {
	enums map[string]*enum
	types map[string]string
}

// compile reads a schema. It panics on errors, which are mistakes in this package.
func (s *schema) compile() map[string]*Type {
	all := make(map[string]*Type, len(s.types))
	for name := range s.types {
		all[name] = &Type{name: name}
	}
	for name, text := range s.types {
		for line := range strings.SplitSeq(text, ";") {
			if line = strings.TrimSpace(line); line != "" {
				all[name].fields = append(all[name].fields, s.field(name, line, all))
			}
		}
	}
	return all
}

// field reads one field of a schema.
func (s *schema) field(of, line string, all map[string]*Type) field {
	words := strings.Fields(line)
	f := field{name: words[1]}
	f.number, _ = strconv.Atoi(words[0])
	what := strings.Join(words[2:], " ")
	what, f.repeated = strings.CutPrefix(what, "[]")
	what, keyed := strings.CutPrefix(what, "map ")
	what, f.oneof = strings.CutPrefix(what, "|")
	what, f.present = strings.CutPrefix(what, "?")
	f.present = f.present || f.oneof
	var known bool
	if f.kind, known = scalars[what]; !known {
		f.kind = messageKind
		if f.of, known = all[what]; !known {
			f.kind = enumKind
			f.words, known = s.enums[what]
		}
	}
	if !known {
		panic(fmt.Sprintf("field %s of %s has an unknown kind", f.name, of))
	}
	if keyed {
		return mapOf(f)
	}
	return f
}

// mapOf returns a field that is a map from strings to values of the given field.
func mapOf(f field) field {
	held := f
	held.number, held.name, held.present = 2, "value", true
	f.keyed = true
	f.entry = &Type{name: f.name, fields: []field{{number: 1, name: "key", present: true}, held}}
	return f
}

// byNumber returns the index of the field with a number, or -1.
func (t *Type) byNumber(number int) int {
	if i := number - 1; i < len(t.fields) && i >= 0 && t.fields[i].number == number { // as nearly always
		return i
	}
	for i := range t.fields {
		if t.fields[i].number == number {
			return i
		}
	}
	return -1
}

// byName returns the field with a name in JSON, or nil.
func (t *Type) byName(name string) *field {
	for i := range t.fields {
		if t.fields[i].name == name {
			return &t.fields[i]
		}
	}
	return nil
}
