package compare

import (
	"strings"

	"a2atap/proxy/a2a"
)

// maxChanges bounds a diff: if everything differs, more changes explain nothing.
const maxChanges = 20

// Diff returns the places where two JSON values differ, as few and as deep as possible, at most 20. It compares
// members by name, elements in the order that makes most of them equal, and numbers by value. Same reports further
// leaves that count as equal; it may be nil.
func Diff(was, now a2a.Value, same func(pointer string, was, now a2a.Value) bool) []Change {
	return diffUpTo(maxChanges, was, now, same)
}

// diffUpTo is Diff with another limit.
func diffUpTo(limit int, was, now a2a.Value, same func(pointer string, was, now a2a.Value) bool) []Change {
	d := differ{same: same, limit: limit}
	d.value("", was, now)
	return d.changes
}

type differ struct {
	limit   int // of changes
	same    func(pointer string, was, now a2a.Value) bool
	changes []Change
}

func (d *differ) add(pointer string, was, now a2a.Value) {
	if len(d.changes) < d.limit {
		d.changes = append(d.changes, newChange(pointer, was, now))
	}
}

// newChange makes a change of two values, which need not exist.
func newChange(pointer string, was, now a2a.Value) Change {
	raw := func(v a2a.Value) []byte {
		if !v.Exists() {
			return nil
		}
		return v.Raw()
	}
	return NewChange(pointer, raw(was), raw(now))
}

func (d *differ) value(at string, was, now a2a.Value) {
	if d.same != nil && d.same(at, was, now) {
		return
	}
	switch {
	case was.Kind() != now.Kind():
		d.add(at, was, now)
	case was.Kind() == a2a.Object:
		d.object(at, was, now)
	case was.Kind() == a2a.Array:
		d.array(at, was, now)
	case !equalLeaf(was, now):
		d.add(at, was, now)
	}
}

func equalLeaf(a, b a2a.Value) bool {
	switch a.Kind() {
	case a2a.String:
		return a.Text() == b.Text()
	case a2a.Number:
		return a2a.EqualNumber(a, b)
	}
	return string(a.Raw()) == string(b.Raw())
}

func (d *differ) object(at string, was, now a2a.Value) {
	others := membersByName(now)
	for name, v := range was.Members() {
		d.value(a2a.Ptr(at, name), v, others.next(name))
	}
	for name, v := range now.Members() {
		if !was.Has(name) {
			d.value(a2a.Ptr(at, name), a2a.Value{}, v)
		}
	}
}

// byName has the members of an object, which may have a name twice.
type byName map[string][]a2a.Value

func membersByName(o a2a.Value) byName {
	m := byName{}
	for name, v := range o.Members() {
		m[name] = append(m[name], v)
	}
	return m
}

// next returns the members of a name one after another, and then the last one again.
func (m byName) next(name string) a2a.Value {
	list := m[name]
	switch len(list) {
	case 0:
		return a2a.Value{}
	case 1:
		return list[0]
	}
	m[name] = list[1:]
	return list[0]
}

// array compares arrays: it matches equal elements first, in order, and compares those between them one by one.
func (d *differ) array(at string, was, now a2a.Value) {
	a, b := elements(was), elements(now)
	pairs, _ := Align(len(a), len(b), func(i, j int) bool { return d.equal(a2a.Ptr(at, i), a[i], b[j]) })
	i, j := 0, 0
	for _, p := range append(pairs, [2]int{len(a), len(b)}) {
		d.between(at, a[i:p[0]], b[j:p[1]], i, j)
		i, j = p[0]+1, p[1]+1
	}
}

// between compares elements none of which are equal; i and j are the indices of the first ones.
func (d *differ) between(at string, a, b []a2a.Value, i, j int) {
	for k := range max(len(a), len(b)) {
		switch {
		case k >= len(a):
			d.value(a2a.Ptr(at, j+k), a2a.Value{}, b[k])
		case k >= len(b):
			d.value(a2a.Ptr(at, i+k), a[k], a2a.Value{})
		default:
			d.value(a2a.Ptr(at, i+k), a[k], b[k])
		}
	}
}

// equal compares two values without looking for the smallest difference.
func (d *differ) equal(at string, was, now a2a.Value) bool {
	if d.same != nil && d.same(at, was, now) {
		return true
	}
	if was.Kind() != now.Kind() {
		return false
	}
	switch was.Kind() {
	case a2a.Object:
		others := membersByName(now)
		for name, v := range was.Members() {
			if !d.equal(a2a.Ptr(at, name), v, others.next(name)) {
				return false
			}
		}
		for name, v := range now.Members() {
			if !was.Has(name) && !d.equal(a2a.Ptr(at, name), a2a.Value{}, v) {
				return false
			}
		}
		return true
	case a2a.Array:
		a, b := elements(was), elements(now)
		for i := range min(len(a), len(b)) {
			if !d.equal(a2a.Ptr(at, i), a[i], b[i]) {
				return false
			}
		}
		return len(a) == len(b)
	}
	return equalLeaf(was, now)
}

func elements(v a2a.Value) []a2a.Value {
	var list []a2a.Value
	for _, e := range v.Elems() {
		list = append(list, e)
	}
	return list
}

// lastToken returns the last reference token of a JSON Pointer that is not an index.
func lastToken(pointer string) string {
	for pointer != "" {
		i := strings.LastIndexByte(pointer, '/')
		if token := pointer[i+1:]; !isDigits(token) {
			return token
		}
		pointer = pointer[:i]
	}
	return ""
}
