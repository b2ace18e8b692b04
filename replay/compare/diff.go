package compare

import (
	"strings"

	"a2atap/proxy/a2a"
)

// maxChanges bounds a diff: what differs everywhere is not explained by more of it.
const maxChanges = 20

// maxPairs bounds the table by which the elements of two arrays are matched.
const maxPairs = 1 << 16

// Diff returns where two JSON values differ, as few and as deep places as it can tell, at most 20. Members are compared
// by name, elements in the order that leaves most of them equal, numbers by value. Same says which leaves count as
// equal beyond that; it may be nil.
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

// byName are the members of an object. A name may stand in it twice.
type byName map[string][]a2a.Value

func membersByName(o a2a.Value) byName {
	m := byName{}
	for name, v := range o.Members() {
		m[name] = append(m[name], v)
	}
	return m
}

// next returns the members of a name, one after the other, and then the last one.
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

// array compares arrays: equal elements are matched first, in order; what lies between them is compared one by one.
func (d *differ) array(at string, was, now a2a.Value) {
	a, b := elements(was), elements(now)
	if len(a)*len(b) > maxPairs {
		d.between(at, a, b, 0, 0)
		return
	}
	pairs := Align(len(a), len(b), func(i, j int) bool { return d.equal(a2a.Ptr(at, i), a[i], b[j]) })
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

// Align returns a longest common subsequence of two lists of n and m elements, as pairs of indices in order. It takes
// time and memory for n times m.
func Align(n, m int, equal func(i, j int) bool) [][2]int {
	longest := make([][]int, n+1)
	for i := range longest {
		longest[i] = make([]int, m+1)
	}
	same := make([]bool, n*m)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if same[i*m+j] = equal(i, j); same[i*m+j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case same[i*m+j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
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
