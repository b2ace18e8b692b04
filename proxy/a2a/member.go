package a2a

import (
	"bytes"
	"iter"
	"strconv"
)

// An Oddity is a set of unusual or rare properties of a member of an Entity.
type Oddity uint8

// The oddities.
const (
	UnknownMember  Oddity = 1 << iota // unknown in the message's dialects
	LegacyMember                      // known only in older versions
	SnakeMember                       // a known member under its name in the proto file, such as "message_id"
	NullMember                        // a known member that is null, except data in 1.0, which may be null
	MistypedMember                    // a known member with the wrong JSON type: see Slot.Shape
	MetadataMember                    // by its name: metadata
	MentionMember                     // by its name: a list of extensions, or of other tasks' ids
	ContentMember                     // recognized by name, since plain text parts do not have it
)

// byName returns a member's oddities that depend only on its name.
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
	Slot  *Slot // nil if unknown
	Odd   Oddity
}

// Oddities returns the union of the oddities of the object's members. It computes them once per object.
func (o *Entity) Oddities() Oddity {
	if !o.classified {
		o.classified = true
		for m := range o.members() {
			o.odd |= m.Odd
		}
	}
	return o.odd
}

// Odd yields the members that have one of the given oddities.
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

// oddValue returns the oddities of a known member's value.
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

// names caches the meaning of member names in objects of one type, in messages of one kind: consecutive objects have
// the same members, usually in the same order.
type names struct {
	of    wording
	known []knownName // at most maxNames, in order of appearance
}

// A wording has everything that determines the meaning of a name in objects of a type.
type wording struct {
	operation Operation // of parameters
	in        Dialects
	proto     bool
}

// A knownName is a name as written, with its meaning.
type knownName struct {
	raw  string
	slot *Slot
	odd  Oddity
}

// Bounds on the cached names of a type, and on each name.
const (
	maxNames      = 16
	maxNameLength = 64
)

// namesIn returns the cached names for objects like this one.
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

// member returns the meaning of a member's name, and the likely position of the next name in the cache; this name is
// likely at next.
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

// classify returns the meaning of a member's name in objects of a type.
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
			return nil, 0 // of a later version: agents of several versions write it for all
		}
	}
	return nil, UnknownMember
}

// fits reports whether a non-null value has the shape.
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

// isInteger reports whether a value is an integer. 1.0 also accepts a string of digits (ProtoJSON).
func isInteger(v Value, modern bool) bool {
	if modern && v.Kind() == String {
		_, err := strconv.ParseInt(v.Text(), 10, 64)
		return err == nil
	}
	_, ok := v.Int()
	return ok
}

// Member returns a member, or Absent if it is missing or null. In 1.0, and over HTTP+JSON, Member also accepts the name
// from the proto file: a separate rule checks spellings.
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

// snakeNames has the proto names of all fields whose JSON name differs.
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

// Modern reports whether the object belongs to 1.0.
func (o *Entity) Modern() bool { return o.walker.modern }

// Proto reports whether the object may be in the proto JSON of 0.x, because it came over HTTP+JSON before 1.0.
func (o *Entity) Proto() bool { return o.walker.proto }
