package diff

import (
	"slices"
	"testing"
)

// FuzzMatching pairs two lists of keys on two levels. Counterparts are always mutual, and equal on one of the levels.
// A list is paired with itself element by element. An additional element is the only one left.
func FuzzMatching(f *testing.F) {
	f.Add([]byte("abcabc"), []byte("abbcac"), 2)
	f.Add([]byte("aaaaaaaaab"), []byte("baaaaaaaa"), 0)
	f.Add([]byte(""), []byte("x"), 9)
	f.Fuzz(func(t *testing.T, a, b []byte, at int) {
		if len(a) > 300 || len(b) > 300 {
			return
		}
		m := matched(a, b)
		for i, j := range m.a {
			if j < 0 {
				continue
			}
			if m.b[j] != i {
				t.Fatalf("%d is paired with %d, and that with %d", i, j, m.b[j])
			}
			if a[i]|0x20 != b[j]|0x20 {
				t.Errorf("%q is paired with %q", a[i], b[j])
			}
		}
		for i := 1; i < len(m.chain); i++ {
			if m.chain[i][0] <= m.chain[i-1][0] || m.chain[i][1] <= m.chain[i-1][1] {
				t.Fatalf("not in order: %v", m.chain)
			}
		}
		for i, j := range matched(a, a).a {
			if i != j {
				t.Errorf("a list and itself: %d is paired with %d", i, j)
			}
		}
		if at >= 0 && at <= len(a) {
			more := slices.Insert(slices.Clone(a), at, '!')
			if free := free(matched(a, more).b, 0, len(more)); len(free) != 1 {
				t.Errorf("of one that is inserted %v are left", free)
			}
		}
	})
}

// matched pairs equal letters first, then those that differ only in case, in order, then anywhere.
func matched(a, b []byte) *matching {
	m := newMatching(len(a), len(b))
	same := func(list []byte) []uint64 { return keys(list, func(c byte) uint64 { return uint64(c) + 1 }) }
	alike := func(list []byte) []uint64 { return keys(list, func(c byte) uint64 { return uint64(c|0x20) + 1 }) }
	m.inOrder(same(a), same(b))
	m.inOrder(alike(a), alike(b))
	m.anywhere(alike(a), alike(b))
	return m
}

// Lists that are too long for a table are also paired.
func TestMatchingOfLongLists(t *testing.T) {
	const n = 3000
	var a, b []uint64
	for i := range n {
		a = append(a, uint64(i%7+1))
		if i%100 != 50 {
			b = append(b, uint64(i%7+1))
		}
	}
	a, b = append([]uint64{8}, append(a, 9)...), append([]uint64{9}, append(b, 8)...)
	m := newMatching(len(a), len(b))
	m.inOrder(a, b)
	if left := len(free(m.a, 0, len(a))); left > n/10 {
		t.Errorf("%d of %d are left", left, n)
	}
}
