package diff

import (
	"slices"

	"a2atap/replay/compare"
)

// A matching pairs the elements of two lists, level by level: the most similar ones first. On each level elements are
// equal if their keys are equal; the key 0 equals nothing.
type matching struct {
	a, b  []int    // for each element the index of its counterpart, -1 if it has none
	chain [][2]int // pairs that are in the same order in both lists, in that order
}

func newMatching(n, m int) *matching {
	return &matching{slices.Repeat([]int{-1}, n), slices.Repeat([]int{-1}, m), nil}
}

// inOrder pairs elements without crossing any earlier pair that inOrder made.
func (m *matching) inOrder(a, b []uint64) {
	var chain [][2]int
	from := [2]int{0, 0}
	for _, p := range append(slices.Clone(m.chain), [2]int{len(a), len(b)}) {
		i, j := free(m.a, from[0], p[0]), free(m.b, from[1], p[1])
		for _, found := range common(i, j, a, b) {
			m.pair(found[0], found[1])
			chain = append(chain, found)
		}
		if p[0] < len(a) {
			chain = append(chain, p)
		}
		from = [2]int{p[0] + 1, p[1] + 1}
	}
	m.chain = chain
}

// anywhere pairs the remaining elements, in order among those with the same key.
func (m *matching) anywhere(a, b []uint64) {
	waiting := map[uint64][]int{}
	for _, j := range free(m.b, 0, len(b)) {
		waiting[b[j]] = append(waiting[b[j]], j)
	}
	for _, i := range free(m.a, 0, len(a)) {
		if list := waiting[a[i]]; len(list) > 0 && a[i] != 0 {
			m.pair(i, list[0])
			waiting[a[i]] = list[1:]
		}
	}
}

func (m *matching) pair(i, j int) { m.a[i], m.b[j] = j, i }

// free returns the unpaired indices in a range.
func free(partners []int, from, to int) []int {
	var list []int
	for i := from; i < to; i++ {
		if partners[i] < 0 {
			list = append(list, i)
		}
	}
	return list
}

// common returns a common subsequence of elements: a longest one, unless one list has too many elements of its own.
// Equal beginnings and ends are paired.
func common(i, j []int, a, b []uint64) [][2]int {
	same := func(x, y int) bool { return a[x] == b[y] && a[x] != 0 }
	var head, tail [][2]int
	for len(i) > 0 && len(j) > 0 && same(i[0], j[0]) {
		head = append(head, [2]int{i[0], j[0]})
		i, j = i[1:], j[1:]
	}
	for len(i) > 0 && len(j) > 0 && same(i[len(i)-1], j[len(j)-1]) {
		tail = append(tail, [2]int{i[len(i)-1], j[len(j)-1]})
		i, j = i[:len(i)-1], j[:len(j)-1]
	}
	pairs, whole := compare.Align(len(i), len(j), func(x, y int) bool { return same(i[x], j[y]) })
	if !whole {
		pairs = greedy(i, j, a, b)
	} else {
		for k, p := range pairs {
			pairs[k] = [2]int{i[p[0]], j[p[1]]}
		}
	}
	slices.Reverse(tail)
	return slices.Concat(head, pairs, tail)
}

// window is the number of elements among which greedy looks for a match.
const window = 1000

// greedy returns a common subsequence: it pairs each element with the next equal one within the window.
func greedy(i, j []int, a, b []uint64) (pairs [][2]int) {
	at := map[uint64][]int{} // positions in j
	for y, e := range j {
		at[b[e]] = append(at[b[e]], y)
	}
	next := 0
	for _, x := range i {
		list := at[a[x]]
		for len(list) > 0 && list[0] < next {
			list = list[1:]
		}
		if len(list) > 0 && list[0] < next+window && a[x] != 0 {
			pairs = append(pairs, [2]int{x, j[list[0]]})
			next = list[0] + 1
			list = list[1:]
		}
		at[a[x]] = list
	}
	return pairs
}

func agentsOf(exchanges []*exchange) []string {
	var names []string
	for _, e := range exchanges {
		if e.skip == "" && !slices.Contains(names, e.agent) {
			names = append(names, e.agent)
		}
	}
	return names
}
