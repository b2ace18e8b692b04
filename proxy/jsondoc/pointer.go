package jsondoc

import (
	"fmt"
	"strconv"
	"strings"
)

var (
	tokenEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	tokenUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func escapeToken(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return tokenEscaper.Replace(token)
}

func unescapeToken(token string) string {
	if !strings.Contains(token, "~") {
		return token
	}
	return tokenUnescaper.Replace(token)
}

// Ptr returns base, a JSON Pointer (RFC 6901), extended by tokens: names of members, which it escapes, and indices as
// integers.
func Ptr(base string, tokens ...any) string {
	var b strings.Builder
	b.WriteString(base)
	for _, token := range tokens {
		b.WriteByte('/')
		switch t := token.(type) {
		case string:
			b.WriteString(escapeToken(t))
		case int:
			b.WriteString(strconv.Itoa(t))
		default:
			b.WriteString(escapeToken(fmt.Sprint(t)))
		}
	}
	return b.String()
}

// Pointer returns the JSON Pointer (RFC 6901) of the value in the text that was parsed; "" for the root and for an
// Absent Value. It searches from the root: ask when there is something to say, not for every value.
func (v Value) Pointer() string {
	if v.tape == nil {
		return ""
	}
	var b strings.Builder
	for at := (Value{v.tape, 0}); at.index != v.index; {
		next := at.toward(v.index)
		b.WriteByte('/')
		if at.Kind() == Object {
			b.WriteString(escapeToken(Value{v.tape, next.index - 1}.Text()))
		} else {
			b.WriteString(strconv.Itoa(at.position(next.index)))
		}
		at = next
	}
	return b.String()
}

// toward returns the member or element of v that holds the node.
func (v Value) toward(index uint32) Value {
	step := uint32(0)
	if v.Kind() == Object {
		step = 1 // over the name
	}
	i := v.index + 1 + step
	for v.tape.nodes[i].after <= index {
		i = v.tape.nodes[i].after + step
	}
	return Value{v.tape, i}
}

// position returns the index of an element.
func (v Value) position(index uint32) int {
	k := 0
	for i := v.index + 1; i < index; i = v.tape.nodes[i].after {
		k++
	}
	return k
}
