package grpc

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"a2atap/proxy/jsondoc"
)

// FromJSON converts a JSON object in ProtoJSON form to a message of the type. Fields that the type does not have are an
// error, and so are values that do not fit. The error is an *Error.
//
// Source: Protocol Buffers, "ProtoJSON Format".
func (t *Type) FromJSON(object jsondoc.Value) ([]byte, error) {
	return encoder{}.message(nil, t, object)
}

// FromText is FromJSON for what ToText has written.
func (t *Type) FromText(object jsondoc.Value) ([]byte, error) {
	return encoder{all: true}.message(nil, t, object)
}

// An encoder writes messages.
type encoder struct {
	all bool // fields that a type does not have are named by their numbers
}

// wrong returns the error for a value of the wrong kind.
func wrong(v jsondoc.Value, format string, args ...any) error {
	return &Error{Pointer: v.Pointer(), Reason: fmt.Sprintf(format, args...)}
}

// message appends a JSON object as a message.
func (e encoder) message(b []byte, t *Type, object jsondoc.Value) ([]byte, error) {
	if object.Kind() != jsondoc.Object {
		return nil, wrong(object, "not an object, as %s is", t.name)
	}
	set := ""
	for name, v := range object.Members() {
		f := t.byName(name)
		switch {
		case f == nil:
			with, ok := e.strange(b, name, v)
			if !ok {
				return nil, wrong(v, "%s has no field of that name", t.name)
			}
			b = with
			continue
		case v.IsNull() && f.kind != valueKind:
			continue
		case f.oneof && set != "" && set != name:
			return nil, wrong(v, "%s cannot have it together with %s", t.name, set)
		case f.oneof:
			set = name
		}
		var err error
		if b, err = e.field(b, f, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// strange adds a field that is named by its number.
func (e encoder) strange(b []byte, name string, v jsondoc.Value) (with []byte, ok bool) {
	digits, is := strings.CutPrefix(name, "#")
	number, err := strconv.ParseUint(digits, 10, 29)
	if !e.all || !is || err != nil || number == 0 {
		return b, false
	}
	if text, is := v.Str(); is {
		return protowire.AppendString(protowire.AppendTag(b, protowire.Number(number), protowire.BytesType), text), true
	}
	bits, err := strconv.ParseUint(string(v.Raw()), 10, 64)
	return protowire.AppendVarint(protowire.AppendTag(b, protowire.Number(number), protowire.VarintType), bits), err == nil
}

// field adds a field with the value of a JSON member.
func (e encoder) field(b []byte, f *field, v jsondoc.Value) ([]byte, error) {
	switch {
	case f.keyed:
		if v.Kind() != jsondoc.Object {
			return nil, wrong(v, "not an object, as a map is")
		}
		for key, of := range v.Members() {
			entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), key)
			entry, err := e.field(entry, &f.entry.fields[1], of)
			if err != nil {
				return nil, err
			}
			b = protowire.AppendBytes(protowire.AppendTag(b, protowire.Number(f.number), protowire.BytesType), entry)
		}
		return b, nil
	case f.repeated:
		if v.Kind() != jsondoc.Array {
			return nil, wrong(v, "not a list, as %s is", f.name)
		}
		for _, of := range v.Elems() {
			var err error
			if b, err = e.one(b, f, of); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	short := len(b) + protowire.SizeTag(protowire.Number(f.number)) + 1
	with, err := e.one(b, f, v)
	if err == nil && !f.present && f.kind < messageKind && len(with) == short && with[short-1] == 0 {
		return b, nil // as if it were not set
	}
	return with, err
}

// one adds a tag and a value.
func (e encoder) one(b []byte, f *field, v jsondoc.Value) ([]byte, error) {
	b = protowire.AppendTag(b, protowire.Number(f.number), wireOf(f.kind))
	switch f.kind {
	case stringKind:
		text, ok := v.Str()
		if !ok {
			return nil, wrong(v, "not a string, as %s is", f.name)
		}
		return protowire.AppendString(b, text), nil
	case bytesKind:
		data, err := bytesOf(v)
		return protowire.AppendBytes(b, data), err
	case boolKind:
		truth, ok := v.Bool()
		if !ok {
			return nil, wrong(v, "neither true nor false, as %s is", f.name)
		}
		return protowire.AppendVarint(b, protowire.EncodeBool(truth)), nil
	case int32Kind:
		n, err := integerOf(v)
		return protowire.AppendVarint(b, uint64(n)), err
	case enumKind:
		n, known := f.words.numberOf(v.Text())
		if !known {
			number, err := integerOf(v)
			if v.Kind() != jsondoc.Number || err != nil {
				return nil, wrong(v, "not a value of %s", f.name)
			}
			n = int32(number)
		}
		return protowire.AppendVarint(b, uint64(int64(n))), nil
	case doubleKind:
		n, err := strconv.ParseFloat(string(v.Raw()), 64)
		if v.Kind() != jsondoc.Number || err != nil {
			return nil, wrong(v, "not a number in the range of a double")
		}
		return protowire.AppendFixed64(b, math.Float64bits(n)), nil
	}
	var inner []byte
	var err error
	switch f.kind {
	case messageKind:
		inner, err = e.message(nil, f.of, v)
	case structKind:
		inner, err = encodeStruct(v)
	case valueKind:
		inner, err = encodeValue(v)
	case timestampKind:
		inner, err = encodeTimestamp(v)
	}
	return protowire.AppendBytes(b, inner), err
}

// bytesOf decodes base64 text, in either alphabet, padded or not.
func bytesOf(v jsondoc.Value) ([]byte, error) {
	text, ok := v.Str()
	plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	data, err := base64.RawStdEncoding.DecodeString(plain)
	if !ok || err != nil {
		return nil, wrong(v, "not base64")
	}
	return data, nil
}

// integerOf returns an integer of 32 bits. It may be in a string, and have a zero fraction or exponent.
func integerOf(v jsondoc.Value) (int64, error) {
	text := v.Text()
	if v.Kind() == jsondoc.Number {
		text = string(v.Raw())
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || n < math.MinInt32 || n > math.MaxInt32 {
		return 0, wrong(v, "not a 32-bit integer")
	}
	return int64(n), nil
}
