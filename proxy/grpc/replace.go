package grpc

import (
	"google.golang.org/protobuf/encoding/protowire"

	"a2atap/proxy/jsondoc"
)

// maxReplaced is the nesting depth up to which strings are replaced: A2A's addresses are not nested as deeply.
const maxReplaced = 16

// Replace returns a message of the type in which with has replaced strings. with receives each string and its JSON
// Pointer in the output of ToJSON, except strings in maps and below google.protobuf's types. All else stays byte for
// byte, including fields that the type does not have, and so does an invalid message.
func (t *Type) Replace(message []byte, with func(pointer, text string) (string, bool)) []byte {
	out, _ := t.replace(message, "", maxReplaced, with)
	return out
}

// Mentions reports whether a message of the type has a field whose name is wanted, up to a number of nested messages.
// is reports whether a name is wanted, and whether to look into the message with that name. It allocates nothing, and
// skips messages that it does not look into.
func (t *Type) Mentions(message []byte, depth int, is func(name string) (wanted, within bool)) bool {
	for rest := message; len(rest) > 0; {
		number, wire, tag := protowire.ConsumeTag(rest)
		if tag < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(number, wire, rest[tag:])
		if size < 0 {
			return false
		}
		value := rest[tag : tag+size]
		rest = rest[tag+size:]
		i := t.byNumber(int(number))
		if i < 0 || wire != protowire.BytesType {
			continue
		}
		f := &t.fields[i]
		wanted, within := is(f.name)
		if wanted {
			return true
		}
		if inner, n := protowire.ConsumeBytes(value); within && depth > 1 && n > 0 && f.kind == messageKind && f.of.Mentions(inner, depth-1, is) {
			return true
		}
	}
	return false
}

// replace is Replace for a message at a pointer. It reports whether anything was replaced.
func (t *Type) replace(message []byte, at string, depth int, with func(pointer, text string) (string, bool),
) (out []byte, replaced bool) {
	index := make(map[int]int) // of the next element of each list
	for rest := message; len(rest) > 0; {
		number, wire, tag := protowire.ConsumeTag(rest)
		if tag < 0 {
			return message, false
		}
		size := protowire.ConsumeFieldValue(number, wire, rest[tag:])
		if size < 0 {
			return message, false
		}
		field := rest[:tag+size]
		rest = rest[tag+size:]
		if i := t.byNumber(int(number)); i >= 0 && wire == protowire.BytesType && depth > 0 {
			f := &t.fields[i]
			pointer := jsondoc.Ptr(at, f.name)
			if f.repeated {
				pointer = jsondoc.Ptr(pointer, index[i])
				index[i]++
			}
			was, _ := protowire.ConsumeBytes(field[tag:])
			if now, ok := f.replace(was, pointer, depth-1, with); ok {
				out = protowire.AppendBytes(append(out, field[:tag]...), now)
				replaced = true
				continue
			}
		}
		out = append(out, field...)
	}
	return out, replaced
}

// replace is Replace for a value of the field.
func (f *field) replace(value []byte, pointer string, depth int, with func(pointer, text string) (string, bool),
) (out []byte, replaced bool) {
	switch {
	case f.keyed:
	case f.kind == stringKind:
		text, ok := with(pointer, string(value))
		return []byte(text), ok
	case f.kind == messageKind:
		return f.of.replace(value, pointer, depth, with)
	}
	return nil, false
}
