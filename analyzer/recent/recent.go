// Package recent is memory of bounded size: a map that forgets what was not used for longest, and counts what it
// forgot.
//
// The engine and the trackers keep in such maps what they remember of tasks, cards and endpoints. That bounds the
// memory of judging, whatever the length of the traffic: about what was forgotten, rules report nothing. A [Map] is for
// one goroutine.
package recent

import "iter"

// A Map is a map of bounded size. When there is no more room it forgets the entry that was not used for longest; both
// Get and Put count as use. It is for one goroutine.
//
// Its entries stand in one slice, linked by their indices: a session holds tens of thousands of them, and each that
// stood alone would be one more for the garbage collector to find.
type Map[K comparable, V any] struct {
	limit     int
	forgotten int
	index     map[K]int32
	entries   []entry[K, V] // the first is not an entry: it is before the oldest and after the newest
	free      int32         // the first entry that is not in use, linked by next; 0 if there is none
}

type entry[K comparable, V any] struct {
	key        K
	value      V
	prev, next int32 // used less recently, and more
}

// New returns an empty map that holds at most limit entries, and one at least.
func New[K comparable, V any](limit int) *Map[K, V] {
	return &Map[K, V]{limit: max(limit, 1), index: make(map[K]int32), entries: make([]entry[K, V], 1)}
}

// Get returns the value of a key, and whether the map holds one.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	i, ok := m.index[key]
	if !ok {
		return value, false
	}
	m.use(i)
	return m.entries[i].value, true
}

// Put stores a value. It returns the one that had to be forgotten for it, if one had.
func (m *Map[K, V]) Put(key K, value V) (dropped V, ok bool) {
	if i, known := m.index[key]; known {
		m.entries[i].value = value
		m.use(i)
		return dropped, false
	}
	if len(m.index) >= m.limit {
		oldest := m.entries[0].next
		dropped, ok = m.entries[oldest].value, true
		m.remove(oldest)
		m.forgotten++
	}
	i := m.free
	if i == 0 {
		i = int32(len(m.entries))
		m.entries = append(m.entries, entry[K, V]{})
	} else {
		m.free = m.entries[i].next
	}
	m.index[key] = i
	m.entries[i].key, m.entries[i].value = key, value
	m.append(i)
	return dropped, ok
}

// Delete takes a key out, if the map holds it. That does not count as forgotten.
func (m *Map[K, V]) Delete(key K) {
	if i, ok := m.index[key]; ok {
		m.remove(i)
	}
}

// All yields the entries, least recently used first, and uses none of them. The map must not be changed meanwhile.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i := m.entries[0].next; i != 0; i = m.entries[i].next {
			if !yield(m.entries[i].key, m.entries[i].value) {
				return
			}
		}
	}
}

// Len returns how many entries the map holds.
func (m *Map[K, V]) Len() int { return len(m.index) }

// Forgotten returns how many entries had to be forgotten so far.
func (m *Map[K, V]) Forgotten() int { return m.forgotten }

// use makes an entry the newest.
func (m *Map[K, V]) use(i int32) {
	if m.entries[0].prev != i {
		m.unlink(i)
		m.append(i)
	}
}

// append links an entry in as the newest.
func (m *Map[K, V]) append(i int32) {
	newest := m.entries[0].prev
	m.entries[i].prev, m.entries[i].next = newest, 0
	m.entries[newest].next, m.entries[0].prev = i, i
}

func (m *Map[K, V]) unlink(i int32) {
	prev, next := m.entries[i].prev, m.entries[i].next
	m.entries[prev].next, m.entries[next].prev = next, prev
}

// remove takes an entry out, and keeps its place for another.
func (m *Map[K, V]) remove(i int32) {
	delete(m.index, m.entries[i].key)
	m.unlink(i)
	m.entries[i] = entry[K, V]{next: m.free}
	m.free = i
}
