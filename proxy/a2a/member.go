package a2a

import (
	"bytes"
	"iter"
	"strconv"
)

// An Oddity is what is unusual about a member of an Entity, or just not common: a set.
type Oddity uint8

// The oddities.
const (
	UnknownMember  Oddity = 1 << iota // no dialect of the message has such a member there
	LegacyMember                      // only an older version has it there
	SnakeMember                       // a known member under its name in the proto file, such as "message_id"
	NullMember                        // a known member that is null, and not the data of 1.0, which may be
	MistypedMember                    // a known member with another JSON value than it has: see Slot.Shape
	MetadataMember                    // by its name: metadata
	MentionMember                     // by its name: a list of extensions, or of ids of other tasks
	ContentMember                     // by its name: none that a part has which is nothing but text
)

// byName has the oddities that a member has for its name, whatever it stands in.
func byName(name Value) Oddity {
	for _, plain := range [...]string{"text", "kind", "type"} {
		if name.Is(plain) {
			return 0
		}
	}
	switch {
	case name.Is("metadata"):
		return MetadataMember
	case name.Is("extensions"), name.Is("referenceTaskIds"), name.Is("reference_task_ids"):
		return MentionMember | ContentMember
	}
	return ContentMember
}

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
		names := o.walker.namesIn(o)
		next := 0
		for name, v := range o.Pairs() {
			var m Member
			m, next = names.member(o, name, next)
			if m.Value = v; m.Slot != nil {
				m.Odd |= o.oddValue(m.Slot, v)
			}
			if !yield(m) {
				return
			}
		}
	}
}

// oddValue says what is unusual about the value of a known member.
func (o *Entity) oddValue(s *Slot, v Value) Oddity {
	switch modern := o.walker.modern; {
	case v.IsNull():
		if o.Type != PartEntity || !modern || s.Name != "data" {
			return NullMember
		}
	case !s.Shape.fits(v, modern):
		return MistypedMember
	}
	return 0
}

// names is what the names of members mean in objects of one type, in messages of one kind: objects that follow one
// another have the same members, mostly in the same order.
type names struct {
	of    wording
	known []knownName // at most maxNames, in the order in which they came
}

// A wording is all that decides what a name means in objects of a type.
type wording struct {
	operation Operation // of parameters
	in        Dialects
	proto     bool
}

// A knownName is a name as it stands in a text, and what it means.
type knownName struct {
	raw  string
	slot *Slot
	odd  Oddity
}

// Bounds of the names that are kept for a type, and of each.
const (
	maxNames      = 16
	maxNameLength = 64
)

// namesIn returns the names of members of objects as this one.
func (w *Walker) namesIn(o *Entity) *names {
	of := wording{in: w.in, proto: w.proto}
	if o.Type == ParamsEntity {
		of.operation = w.operation
	}
	n := &w.names[o.Type]
	if n.of != of {
		n.of, n.known = of, n.known[:0]
	}
	return n
}

// member returns what the name of a member means, and where the next one is likely to be known; this one is at next.
func (n *names) member(o *Entity, name Value, next int) (Member, int) {
	raw := name.Raw()
	if next < len(n.known) && string(raw) == n.known[next].raw {
		return Member{Name: name, Slot: n.known[next].slot, Odd: n.known[next].odd}, next + 1
	}
	for i := range n.known {
		if string(raw) == n.known[i].raw {
			return Member{Name: name, Slot: n.known[i].slot, Odd: n.known[i].odd}, i + 1
		}
	}
	slot, odd := o.walker.classify(o.Type, name)
	odd |= byName(name)
	if len(n.known) < maxNames && len(raw) <= maxNameLength {
		n.known = append(n.known, knownName{string(raw), slot, odd})
	}
	return Member{Name: name, Slot: slot, Odd: odd}, len(n.known)
}

// classify says what the name of a member means in objects of a type.
func (w *Walker) classify(t EntityType, name Value) (*Slot, Oddity) {
	list := fieldsOf(t, w.operation)
	snake := bytes.IndexByte(name.Raw(), '_') >= 0
	for i := range list {
		f := &list[i]
		switch known := f.holds(w.in, w.proto); {
		case known && name.Is(f.Name):
			return f, 0
		case known && snake && f.snake != "" && name.Is(f.snake):
			return f, SnakeMember
		case !known && f.Legacy&w.in != 0 && name.Is(f.Name):
			return nil, LegacyMember
		case !known && w.in == onlyV0_1 && (f.In|f.Proto)&^onlyV0_1 != 0 && name.Is(f.Name):
			return nil, 0 // of a later version, which agents of several write for all
		}
	}
	return nil, UnknownMember
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
