package a2a

import (
	"bytes"
	"iter"
	"strconv"
)

// An Oddity is what is unusual about a member of an Entity: a set.
type Oddity uint8

// The oddities.
const (
	UnknownMember  Oddity = 1 << iota // no dialect of the message has such a member there
	LegacyMember                      // only an older version has it there
	SnakeMember                       // a known member under its name in the proto file, such as "message_id"
	NullMember                        // a known member that is null, and not the data of 1.0, which may be
	MistypedMember                    // a known member with another JSON value than it has: see Slot.Shape
)

// A Member is a member of an Entity.
type Member struct {
	Name  Value // a string
	Value Value //
	Slot  *Slot // nil if it is unknown
	Odd   Oddity
}

// Oddities returns all that is unusual about the members of the object. It looks once for each object.
func (o *Entity) Oddities() Oddity {
	if !o.classified {
		o.classified = true
		for m := range o.members() {
			o.odd |= m.Odd
		}
	}
	return o.odd
}

// Odd yields the members about which one of those things is unusual.
func (o *Entity) Odd(what Oddity) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if o.Oddities()&what == 0 {
			return
		}
		for m := range o.members() {
			if m.Odd&what != 0 && !yield(m) {
				return
			}
		}
	}
}

func (o *Entity) members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		list := fieldsOf(o.Type, o.walker.operation)
		for name, v := range o.Pairs() {
			if !yield(o.walker.classify(o, list, name, v)) {
				return
			}
		}
	}
}

// classify says what a member is.
func (w *Walker) classify(o *Entity, list []Slot, name, v Value) Member {
	m := Member{Name: name, Value: v, Odd: UnknownMember}
	snake := bytes.IndexByte(name.Raw(), '_') >= 0
	for i := range list {
		f := &list[i]
		switch known := f.holds(w.in, w.proto); {
		case known && name.Is(f.Name):
			m.Slot, m.Odd = f, 0
		case known && snake && f.snake != "" && name.Is(f.snake):
			m.Slot, m.Odd = f, SnakeMember
		case !known && f.Legacy&w.in != 0 && name.Is(f.Name):
			m.Odd = LegacyMember
			return m
		case !known && w.in == onlyV0_1 && (f.In|f.Proto)&^onlyV0_1 != 0 && name.Is(f.Name):
			m.Odd = 0 // of a later version, which agents of several write for all
			return m
		default:
			continue
		}
		break
	}
	switch {
	case m.Slot == nil:
	case v.IsNull():
		if o.Type != PartEntity || !w.modern || m.Slot.Name != "data" {
			m.Odd |= NullMember
		}
	case !m.Slot.Shape.fits(v, w.modern):
		m.Odd |= MistypedMember
	}
	return m
}

// fits reports whether a value that is not null has the shape.
func (s Shape) fits(v Value, modern bool) bool {
	switch s {
	case TextShape:
		return v.Kind() == String
	case BoolShape:
		return v.Kind() == Bool
	case IntShape:
		return isInteger(v, modern)
	case ObjectShape:
		return v.Kind() == Object
	case StructShape:
		return v.Kind() == Object || v.Kind() == Array
	case TextsShape, ObjectsShape:
		want := String
		if s == ObjectsShape {
			want = Object
		}
		for _, e := range v.Elems() {
			if e.Kind() != want {
				return false
			}
		}
		return v.Kind() == Array
	}
	return true
}

// isInteger reports whether a value is an integer. 1.0 takes a string of digits for one too (ProtoJSON).
func isInteger(v Value, modern bool) bool {
	if modern && v.Kind() == String {
		_, err := strconv.ParseInt(v.Text(), 10, 64)
		return err == nil
	}
	_, ok := v.Int()
	return ok
}

// Member returns a member, absent also if it is null. In 1.0, and over HTTP+JSON, it may stand under its name in the
// proto file: that is judged on its own, and then read as if it were right.
func (o *Entity) Member(name string) Value {
	v := o.Get(name)
	if !v.Exists() && (o.walker.modern || o.walker.proto) {
		if snake := snakeNames[name]; snake != "" {
			v = o.Get(snake)
		}
	}
	if v.IsNull() {
		return Value{}
	}
	return v
}

// snakeNames has the proto names of all fields that have another one there.
var snakeNames = func() map[string]string {
	names := make(map[string]string)
	add := func(list []Slot) {
		for _, f := range list {
			if f.snake != "" {
				names[f.Name] = f.snake
			}
		}
	}
	for _, list := range entityFields {
		add(list)
	}
	for o := SendMessage; o <= GetExtendedCard; o++ {
		add(fieldsOf(ParamsEntity, o))
	}
	return names
}()

// Modern reports whether the object is one of 1.0.
func (o *Entity) Modern() bool { return o.walker.modern }

// Proto reports whether the object may be written in the proto JSON of 0.x, since it comes over HTTP+JSON before 1.0.
func (o *Entity) Proto() bool { return o.walker.proto }
