package grpc

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protowire"

	"a2atap/proxy/budget"
	"a2atap/proxy/jsondoc"
)

// Bounds of the input of ToJSON, in addition to a budget's.
const (
	maxDepth   = 10_000 // of messages in messages, as deep as the SDKs of Go go
	maxUnknown = 64     // fields that are listed
)

// An Unknown is a field of a message that its type does not define, or defines with another encoding, or a Timestamp
// that is not a valid time.
type Unknown struct {
	Pointer string // in the JSON, of the message that has it
	Number  int
	Wire    string // how it is written: "varint", "fixed64", "bytes", "group" or "fixed32"
	Name    string // of the field with this number; may be empty
	Reason  string // why its value is invalid for the field; empty if it is encoded differently
}

// An Error is the reason why a message is invalid for its type. It has none of the message's content, so that it may be
// shown even where the content must not be: no values, no map keys, no numbers of unknown fields.
type Error struct {
	Pointer string // of the invalid message or field in the JSON; of the map, if it is in a map
	Reason  string // lower case, no final period
	Limit   bool   // decoding stopped, since it is too large or too deep: the message may be valid
}

// Error returns the reason and the place.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Reason
	}
	return e.Reason + " at " + e.Pointer
}

// ToJSON returns a message of the type as JSON: with names in lowerCamelCase, enumerations as words, bytes in base64,
// and without fields that have their default value. Unknown fields are listed, at most the first few, and otherwise
// ignored, as by every reader of protocol buffers. The error is an *Error.
//
// If a message field occurs twice, the two are merged; for other fields, the last one counts.
//
// Sources: Protocol Buffers, "Encoding", "Last One Wins" and "ProtoJSON Format".
func (t *Type) ToJSON(message []byte) (text []byte, unknown []Unknown, err error) {
	return t.decode(message, false)
}

// ToText is ToJSON for people who view or write a message: it includes unknown fields by their numbers, such as "#9",
// if they are numbers or texts.
func (t *Type) ToText(message []byte) (text []byte, unknown []Unknown, err error) {
	return t.decode(message, true)
}

func (t *Type) decode(message []byte, all bool) ([]byte, []Unknown, error) {
	d := newDecoder(message, budget.Read)
	d.all = all
	if err := d.message(t, message, 0); err != nil {
		return nil, d.unknown, err
	}
	return d.text, d.unknown, nil
}

// A decoder writes the JSON of one message.
type decoder struct {
	text    []byte
	path    []step
	unknown []Unknown
	room    int    // bytes that may still be copied to merge messages
	nodes   int    // fields that may still be read
	maxText int    // bytes of JSON
	all     bool   // fields that the type does not have are written too
	hidden  bool   // a value has come in the place of another one
	strange []byte // members for unknown fields of the current message, with a comma after each
}

func newDecoder(message []byte, within budget.Budget) *decoder {
	return &decoder{
		room: 2*len(message) + 1<<20, nodes: within.Nodes, maxText: 2 * max(int(within.Bytes), len(message)),
	}
}

// A step is a token of a JSON Pointer: an index if that is not negative, otherwise a name.
type step struct {
	name  string
	index int
	key   bool // the name is a key of a map, which the message has chosen
}

// pointer returns where the decoder is.
func (d *decoder) pointer() string { return pointer(d.path) }

// typed returns where the decoder is, as far as the types of messages name it.
func (d *decoder) typed() string {
	if i := slices.IndexFunc(d.path, func(s step) bool { return s.key }); i >= 0 {
		return pointer(d.path[:i])
	}
	return d.pointer()
}

func pointer(path []step) string {
	var at []byte
	for _, s := range path {
		if s.index < 0 {
			at = append(at, jsondoc.Ptr("", s.name)...)
		} else {
			at = strconv.AppendInt(append(at, '/'), int64(s.index), 10)
		}
	}
	return string(at)
}

// A value is one occurrence of a field on the wire.
type value struct {
	field int // its index in the type
	bytes []byte
	bits  uint64
}

func (d *decoder) fail(format string, args ...any) error {
	return &Error{Pointer: d.typed(), Reason: fmt.Sprintf(format, args...)}
}

func (d *decoder) tooMuch(reason string) error {
	return &Error{Pointer: d.typed(), Reason: reason, Limit: true}
}

// message writes a message as an object.
func (d *decoder) message(t *Type, b []byte, depth int) error {
	d.strange = nil
	values, err := d.values(t, b, depth)
	if err != nil {
		return err
	}
	if d.text == nil { // only after checking that there are not too many
		d.text = make([]byte, 0, len(b)+len(b)/4+2)
	}
	strange := d.strange
	d.text = append(d.text, '{')
	first := len(d.text)
	for len(values) > 0 {
		n := 1
		for n < len(values) && values[n].field == values[0].field {
			n++
		}
		f := &t.fields[values[0].field]
		d.path = append(d.path, step{name: f.name, index: -1})
		if err := d.field(f, values[:n], len(d.text) > first, depth); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
		values = values[n:]
	}
	if len(strange) > 0 {
		if len(d.text) > first {
			d.text = append(d.text, ',')
		}
		d.text = append(d.text, strange[:len(strange)-1]...)
	}
	d.text = append(d.text, '}')
	return nil
}

// values returns the values of a message in wire order, but all values of one field at the position of its first. Only
// the last field of a oneof is kept.
func (d *decoder) values(t *Type, b []byte, depth int) ([]value, error) {
	if depth > maxDepth {
		return nil, d.tooMuch("messages are nested too deeply")
	}
	if len(d.text) > d.maxText {
		return nil, d.tooMuch("the message is too large")
	}
	all, err := d.valueRoom(b)
	if err != nil {
		return nil, err
	}
	grouped, last := true, -1
	set, since := -1, 0 // the field of the oneof that is set, and since which value
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 || number > protowire.MaxValidNumber {
			return nil, d.fail("an invalid tag")
		}
		if d.nodes--; d.nodes < 0 {
			return nil, d.tooMuch(tooManyFields)
		}
		b = b[n:]
		v, n := consume(number, wire, b)
		if n < 0 {
			return nil, d.broken(t, number, n)
		}
		v.field = t.byNumber(int(number))
		b = b[n:]
		if v.field < 0 || wireOf(t.fields[v.field].kind) != wire {
			d.notKnown(t, &v, int(number), wire)
			continue
		}
		if t.fields[v.field].kind == stringKind && !utf8.Valid(v.bytes) {
			return nil, d.fail("%s is not UTF-8", t.fields[v.field].name)
		}
		if t.fields[v.field].oneof && set != v.field {
			set, since = v.field, len(all)
		}
		grouped = grouped && v.field >= last
		last = v.field
		all = append(all, v)
	}
	if since > 0 {
		var kept []value
		for i := range all {
			f := &t.fields[all[i].field]
			if i >= since || !f.oneof {
				kept = append(kept, all[i])
			} else if err := d.overwritten(f, &all[i], depth); err != nil {
				return nil, err
			}
		}
		all = kept
	}
	all = d.instants(t, all)
	if !grouped {
		group(all, len(t.fields))
	}
	return all, nil
}

const tooManyFields = "the message has too many fields"

// countedRoom is the length from which the fields of a message are counted before memory is allocated for them. Growing
// memory on demand would take several times as much.
const countedRoom = 64 << 10

// valueRoom returns empty room for the values of a message.
func (d *decoder) valueRoom(b []byte) ([]value, error) {
	if len(b) < countedRoom {
		return nil, nil
	}
	fields := 0
	for len(b) > 0 {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 { // which the caller reports
			break
		}
		if fields++; fields > d.nodes {
			return nil, d.tooMuch(tooManyFields)
		}
		b = b[n:]
	}
	return make([]value, 0, fields), nil
}

// instants returns values without invalid Timestamps and all their pieces; it lists these.
func (d *decoder) instants(t *Type, all []value) []value {
	for i := range t.fields {
		f := &t.fields[i]
		if f.kind != timestampKind {
			continue
		}
		is := func(v value) bool { return v.field == i }
		whole := value{field: i}
		for j := range all {
			if is(all[j]) {
				whole.bytes = append(whole.bytes, all[j].bytes...)
			}
		}
		if isInstant(whole.bytes) {
			continue
		}
		known := len(d.unknown)
		if d.notKnown(t, &whole, f.number, protowire.BytesType); len(d.unknown) > known {
			d.unknown[known].Reason = "it is not a time of the years 1 to 9999"
		}
		all = slices.DeleteFunc(all, is)
	}
	return all
}

// group moves the values of each field next to its first one.
func group(values []value, fields int) {
	first := make([]int, fields)
	for i := len(values) - 1; i >= 0; i-- {
		first[values[i].field] = i
	}
	slices.SortStableFunc(values, func(a, b value) int { return first[a.field] - first[b.field] })
}

// overwritten checks whether a value that was replaced by a later one is well-formed.
func (d *decoder) overwritten(f *field, v *value, depth int) error {
	d.hidden = true
	begin := len(d.text)
	d.path = append(d.path, step{name: f.name, index: -1})
	err := d.value(f, v, depth)
	d.path, d.text = d.path[:len(d.path)-1], d.text[:begin]
	return err
}

// consume reads the value of a field from the wire. It returns its length, or a negative number if it is invalid.
func consume(number protowire.Number, wire protowire.Type, b []byte) (v value, n int) {
	switch wire {
	case protowire.VarintType:
		v.bits, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		v.bits, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		v.bytes, n = protowire.ConsumeBytes(b)
	default:
		n = protowire.ConsumeFieldValue(number, wire, b)
	}
	return v, n
}

// broken returns an error about the value of a field.
func (d *decoder) broken(t *Type, number protowire.Number, n int) error {
	name := "an unknown field"
	if i := t.byNumber(int(number)); i >= 0 {
		name = t.fields[i].name
	}
	return d.fail("%s is cut off or broken: %v", name, protowire.ParseError(n))
}

// notKnown lists a field that the type does not have, or has otherwise.
func (d *decoder) notKnown(t *Type, v *value, number int, wire protowire.Type) {
	if d.all && (wire == protowire.VarintType || wire == protowire.BytesType && utf8.Valid(v.bytes)) {
		d.strange = append(strconv.AppendInt(append(d.strange, `"#`...), int64(number), 10), `":`...)
		if wire == protowire.VarintType {
			d.strange = strconv.AppendUint(d.strange, v.bits, 10)
		} else {
			d.strange, _ = jsontext.AppendQuote(d.strange, v.bytes)
		}
		d.strange = append(d.strange, ',')
	}
	if len(d.unknown) == maxUnknown {
		return
	}
	u := Unknown{Pointer: d.pointer(), Number: number, Wire: wireNames[wire]}
	if v.field >= 0 {
		u.Name = t.fields[v.field].name
	}
	d.unknown = append(d.unknown, u)
}

var wireNames = map[protowire.Type]string{
	protowire.VarintType: "varint", protowire.Fixed64Type: "fixed64", protowire.BytesType: "bytes",
	protowire.StartGroupType: "group", protowire.Fixed32Type: "fixed32",
}

// wireOf returns the wire type of a kind.
func wireOf(k kind) protowire.Type {
	switch k {
	case boolKind, int32Kind, int64Kind, enumKind:
		return protowire.VarintType
	case doubleKind:
		return protowire.Fixed64Type
	}
	return protowire.BytesType
}

// field writes the value of one field as a member, unless it is empty.
func (d *decoder) field(f *field, values []value, another bool, depth int) error {
	begin := len(d.text)
	if another {
		d.text = append(d.text, ',')
	}
	d.text = append(append(append(d.text, '"'), f.name...), '"', ':')
	switch {
	case f.keyed:
		return d.entries(f, values, depth)
	case f.repeated:
		d.text = append(d.text, '[')
		for i := range values {
			if i > 0 {
				d.text = append(d.text, ',')
			}
			d.path = append(d.path, step{index: i})
			if err := d.value(f, &values[i], depth); err != nil {
				return err
			}
			d.path = d.path[:len(d.path)-1]
		}
		d.text = append(d.text, ']')
		return nil
	}
	v := values[len(values)-1]
	d.hidden = d.hidden || len(values) > 1 && f.kind < messageKind
	if !f.present && f.kind < messageKind && v.bits == 0 && len(v.bytes) == 0 {
		d.text = d.text[:begin]
		return nil
	}
	var err error
	if v.bytes, err = d.merged(f, values); err != nil {
		return err
	}
	return d.value(f, &v, depth)
}

// merged returns the bytes of a repeated singular message: the concatenation, which is the merged message.
func (d *decoder) merged(f *field, values []value) ([]byte, error) {
	last := values[len(values)-1].bytes
	if len(values) == 1 || f.kind < messageKind {
		return last, nil
	}
	var all []byte
	for i := range values {
		if d.room -= len(values[i].bytes); d.room < 0 {
			return nil, d.tooMuch("the message has too many nested messages")
		}
		for rest := values[i].bytes; len(rest) > 0; { // a truncated value must not continue in the next one
			_, _, n := protowire.ConsumeField(rest)
			if n < 0 {
				return nil, d.fail("%s is cut off or broken: %v", f.name, protowire.ParseError(n))
			}
			rest = rest[n:]
		}
		all = append(all, values[i].bytes...)
	}
	return all, nil
}

// entries writes a map as an object. Of several entries with one key the last one counts.
func (d *decoder) entries(f *field, values []value, depth int) error {
	entry := f.entry
	keys, last := make([]string, len(values)), make(map[string]int, len(values))
	all := make([][]value, len(values))
	for i := range values {
		var err error
		if all[i], err = d.values(entry, values[i].bytes, depth+1); err != nil {
			return err
		}
		for _, v := range all[i] {
			if v.field == 0 {
				keys[i] = string(v.bytes)
			}
		}
		last[keys[i]] = i
	}
	d.text = append(d.text, '{')
	for i, key := range keys {
		begin := len(d.text)
		if d.text[len(d.text)-1] != '{' {
			d.text = append(d.text, ',')
		}
		if err := d.quote([]byte(key)); err != nil {
			return err
		}
		d.text = append(d.text, ':')
		d.path = append(d.path, step{name: key, index: -1, key: true})
		v := value{}
		held := slices.DeleteFunc(all[i], func(v value) bool { return v.field == 0 })
		if len(held) > 0 {
			v = held[len(held)-1]
			d.hidden = d.hidden || len(held) > 1 || len(all[i]) > len(held)+1
			var err error
			if v.bytes, err = d.merged(&entry.fields[1], held); err != nil {
				return err
			}
		}
		if err := d.value(&entry.fields[1], &v, depth+1); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
		if last[key] != i {
			d.hidden, d.text = true, d.text[:begin]
		}
	}
	d.text = append(d.text, '}')
	return nil
}

// value writes one value of a field.
func (d *decoder) value(f *field, v *value, depth int) error {
	switch f.kind {
	case stringKind:
		return d.quote(v.bytes)
	case bytesKind:
		if len(d.text)+base64.StdEncoding.EncodedLen(len(v.bytes)) > d.maxText {
			return d.tooMuch("the message is too large")
		}
		d.text = append(d.text, '"')
		d.text = base64.StdEncoding.AppendEncode(d.text, v.bytes)
		d.text = append(d.text, '"')
	case boolKind:
		d.text = strconv.AppendBool(d.text, v.bits != 0)
	case int32Kind:
		d.text = strconv.AppendInt(d.text, int64(int32(v.bits)), 10)
	case int64Kind:
		d.text = strconv.AppendInt(append(d.text, '"'), int64(v.bits), 10)
		d.text = append(d.text, '"')
	case doubleKind:
		return d.number(math.Float64frombits(v.bits))
	case enumKind:
		if n := int32(v.bits); n >= 0 && int(n) < len(f.words.words) {
			d.text = append(append(append(d.text, '"'), f.words.words[n]...), '"')
		} else {
			d.text = strconv.AppendInt(d.text, int64(n), 10)
		}
	case messageKind:
		return d.message(f.of, v.bytes, depth+1)
	case structKind:
		return d.object(v.bytes, depth+1)
	case valueKind:
		return d.any(v.bytes, depth+1)
	case timestampKind:
		return d.timestamp(v.bytes, depth+1)
	}
	return nil
}

// quote writes a text, which is UTF-8, as a string of JSON.
func (d *decoder) quote(text []byte) error {
	const escaped = len(`\u0000`)
	if len(d.text)+len(text)*escaped > d.maxText {
		size := len(text)
		for _, c := range text {
			switch {
			case c < ' ':
				size += escaped - 1
			case c == '"', c == '\\':
				size++
			}
		}
		if len(d.text)+size > d.maxText {
			return d.tooMuch("the message is too large")
		}
	}
	d.text, _ = jsontext.AppendQuote(d.text, text)
	return nil
}
