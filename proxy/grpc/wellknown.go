package grpc

import (
	"math"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"a2atap/proxy/jsondoc"
)

// The messages for JSON values, and for timestamps.
//
// Sources: google/protobuf/struct.proto and timestamp.proto; ProtoJSON Format.
var (
	structType    = &Type{name: "Struct", fields: []field{mapOf(field{number: 1, name: "fields", kind: valueKind})}}
	listType      = &Type{name: "ListValue", fields: []field{{number: 1, name: "values", kind: valueKind, repeated: true}}}
	timestampType = &Type{name: "Timestamp", fields: []field{
		{number: 1, name: "seconds", kind: int64Kind}, {number: 2, name: "nanos", kind: int32Kind},
	}}
	valueType = &Type{name: "Value", fields: []field{
		{number: 1, name: "nullValue", kind: enumKind, oneof: true, words: &enum{[]string{"NULL_VALUE"}}},
		{number: 2, name: "numberValue", kind: doubleKind, oneof: true},
		{number: 3, name: "stringValue", kind: stringKind, oneof: true},
		{number: 4, name: "boolValue", kind: boolKind, oneof: true},
		{number: 5, name: "structValue", kind: structKind, oneof: true},
		{number: 6, name: "listValue", kind: messageKind, oneof: true, of: listType},
	}}
)

// object writes a Struct.
func (d *decoder) object(b []byte, depth int) error {
	values, err := d.values(structType, b, depth)
	if err != nil {
		return err
	}
	return d.entries(&structType.fields[0], values, depth)
}

// any writes a Value. An empty one is null, as in most implementations.
func (d *decoder) any(b []byte, depth int) error {
	values, err := d.values(valueType, b, depth)
	if err != nil {
		return err
	}
	if len(values) == 0 || values[0].field == 0 {
		d.text = append(d.text, "null"...)
		return nil
	}
	v, f := values[len(values)-1], &valueType.fields[values[0].field]
	if v.bytes, err = d.merged(f, values); err != nil {
		return err
	}
	if f.kind != messageKind {
		return d.value(f, &v, depth)
	}
	if values, err = d.values(listType, v.bytes, depth+1); err != nil {
		return err
	}
	d.text = append(d.text, '[')
	for i := range values {
		if i > 0 {
			d.text = append(d.text, ',')
		}
		d.path = append(d.path, step{index: i})
		if err := d.any(values[i].bytes, depth+2); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
	}
	d.text = append(d.text, ']')
	return nil
}

// The first and the last second that a Timestamp may name.
var (
	firstSecond = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	lastSecond  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

// isInstant reports whether a Timestamp names an instant of the years 1 to 9999. One that cannot be read may.
func isInstant(b []byte) bool {
	var seconds int64
	var nanos int32
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return true
		}
		v, m := consume(number, wire, b[n:])
		if m < 0 {
			return true
		}
		b = b[n+m:]
		switch {
		case wire != protowire.VarintType:
		case number == 1:
			seconds = int64(v.bits)
		case number == 2:
			nanos = int32(v.bits)
		}
	}
	return seconds >= firstSecond && seconds <= lastSecond && nanos >= 0 && nanos <= 999_999_999
}

// timestamp writes a Timestamp that isInstant, with as many digits of the second as it needs in groups of three.
func (d *decoder) timestamp(b []byte, depth int) error {
	values, err := d.values(timestampType, b, depth)
	if err != nil {
		return err
	}
	var seconds int64
	var nanos int32
	for _, v := range values {
		if v.field == 0 {
			seconds = int64(v.bits)
		} else {
			nanos = int32(v.bits)
		}
	}
	layout := "2006-01-02T15:04:05"
	switch {
	case nanos == 0:
	case nanos%1_000_000 == 0:
		layout += ".000"
	case nanos%1000 == 0:
		layout += ".000000"
	default:
		layout += ".000000000"
	}
	d.text = time.Unix(seconds, int64(nanos)).UTC().AppendFormat(append(d.text, '"'), layout+`Z"`)
	return nil
}

func (d *decoder) number(n float64) error {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return d.fail("%v, which JSON does not have", n)
	}
	d.text = appendNumber(d.text, n)
	return nil
}

// appendNumber writes a number as ECMAScript does, so that integers look like integers.
func appendNumber(text []byte, n float64) []byte {
	format := byte('f')
	if abs := math.Abs(n); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(text, n, format, -1, 64)
}

func encodeStruct(v jsondoc.Value) ([]byte, error) {
	if v.Kind() != jsondoc.Object {
		return nil, wrong(v, "not an object")
	}
	return encoder{}.field(nil, &structType.fields[0], v)
}

func encodeValue(v jsondoc.Value) ([]byte, error) {
	switch v.Kind() {
	case jsondoc.Number:
		return encoder{}.one(nil, &valueType.fields[1], v)
	case jsondoc.String:
		return encoder{}.one(nil, &valueType.fields[2], v)
	case jsondoc.Bool:
		return encoder{}.one(nil, &valueType.fields[3], v)
	case jsondoc.Object:
		return encoder{}.one(nil, &valueType.fields[4], v)
	case jsondoc.Array:
		list, err := encoder{}.field(nil, &listType.fields[0], v)
		return protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), list), err
	}
	return protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 0), nil
}

func encodeTimestamp(v jsondoc.Value) ([]byte, error) {
	at, err := time.Parse(time.RFC3339Nano, v.Text())
	if err != nil || at.Unix() < firstSecond || at.Unix() > lastSecond {
		return nil, wrong(v, "not an RFC 3339 time of the years 1 to 9999")
	}
	var b []byte
	if s := at.Unix(); s != 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), uint64(s))
	}
	if n := at.Nanosecond(); n != 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), uint64(n))
	}
	return b, nil
}
