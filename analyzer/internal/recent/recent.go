// Package recent has a map of bounded size that drops the least recently used entries, and counts them.
//
// The engine and the trackers use such maps to remember tasks, cards and endpoints. That bounds the memory of judging
// regardless of the length of the traffic: rules report nothing about forgotten entries. A [Map] is for one goroutine.
package recent

import (
	"hash/maphash"
	"iter"
)

// A Map is a map of bounded size. When there is no more room it forgets the entry that was not used for longest; both
// Get and Put count as use. It is for one goroutine.
//
// Its entries are in one slice, linked by their indices: a session has tens of thousands of them, and separate entries
// would burden the garbage collector. The index is small, and has no pointers: a session has dozens of maps, which are
// all consulted for each task, and together must fit into the CPU caches.
type Map[K comparable, V any] struct {
	limit     int
	forgotten int
	len       int
	entries   []entry[K, V] // the first is not an entry: it is before the oldest and after the newest
	free      int32         // the first unused entry, linked by next; may be 0
	index     []place       // a power of two, at most three quarters of them in use
	seed      maphash.Seed
	own       func(K) uint32 // the hash of a key that has one; nil if it has none
}

type entry[K comparable, V any] struct {
	key        K
	value      V
	prev, next int32 // used less recently, and more
}

// A place is the index's reference to an entry. It is the first free place from the one that the key's hash selects.
type place struct {
	hash uint32
	at   int32 // in the entries; 0 if the place is free
}

const minPlaces = 8

// spread keeps the places of consecutive hashes apart: adjacent places would form one run, and a removal visits its
// entire run. It is odd, so that no two hashes become equal.
const spread = 0x9e3779b1

// New returns an empty map that holds at most limit entries, and one at least.
func New[K comparable, V any](limit int) *Map[K, V] {
	return &Map[K, V]{
		limit: max(limit, 1), entries: make([]entry[K, V], 1), index: make([]place, minPlaces), seed: maphash.MakeSeed(),
	}
}

// NewHashed is New for keys that are digests or internal numbers: hash returns 32 bits of a key. Only for keys that an
// attacker cannot choose.
func NewHashed[K comparable, V any](limit int, hash func(K) uint32) *Map[K, V] {
	m := New[K, V](limit)
	m.own = hash
	return m
}

// Get returns the value of a key, and whether the map holds one.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	if v := m.Find(key); v != nil {
		return *v, true
	}
	return value, false
}

// Find is Get for callers that change the value: it returns a pointer to the value, valid until the next Put, At or
// Delete; nil if the map does not have the key.
func (m *Map[K, V]) Find(key K) *V {
	if m.len == 0 {
		return nil
	}
	i := m.index[m.find(key, m.hash(key))].at
	if i == 0 {
		return nil
	}
	m.use(i)
	return &m.entries[i].value
}

// At is Find that puts the zero V under a key which the map does not hold. It returns whether it did hold it.
func (m *Map[K, V]) At(key K) (value *V, known bool) {
	i, known, _, _ := m.at(key)
	return &m.entries[i].value, known
}

// Put stores a value. It returns the one that had to be forgotten for it, if one had.
func (m *Map[K, V]) Put(key K, value V) (dropped V, ok bool) {
	i, _, dropped, ok := m.at(key)
	m.entries[i].value = value
	return dropped, ok
}

// at returns the entry of a key, created if needed, whether it existed, and the value that was dropped for it.
func (m *Map[K, V]) at(key K) (i int32, known bool, dropped V, ok bool) {
	hash := m.hash(key)
	if i := m.index[m.find(key, hash)].at; i != 0 {
		m.use(i)
		return i, true, dropped, false
	}
	if m.len >= m.limit {
		oldest := m.entries[0].next
		dropped, ok = m.entries[oldest].value, true
		m.remove(oldest)
		m.forgotten++
	}
	if i = m.free; i == 0 {
		i = int32(len(m.entries))
		m.entries = append(m.entries, entry[K, V]{})
	} else {
		m.free = m.entries[i].next
	}
	m.entries[i].key = key
	m.append(i)
	if m.len++; m.len > len(m.index)/4*3 {
		m.grow()
	}
	m.index[m.find(key, hash)] = place{hash, i} // a free one
	return i, false, dropped, ok
}

// Delete removes a key, if the map has it. That does not count as forgotten.
func (m *Map[K, V]) Delete(key K) {
	if m.len == 0 {
		return
	}
	if i := m.index[m.find(key, m.hash(key))].at; i != 0 {
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
func (m *Map[K, V]) Len() int { return m.len }

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

// remove removes an entry, and keeps its place for another.
func (m *Map[K, V]) remove(i int32) {
	key := m.entries[i].key
	m.vacate(m.find(key, m.hash(key)))
	m.unlink(i)
	m.entries[i] = entry[K, V]{next: m.free}
	m.free = i
	m.len--
}

// hash returns a key's 32-bit hash, for which an attacker cannot craft collisions.
func (m *Map[K, V]) hash(key K) uint32 {
	if m.own != nil {
		return m.own(key) * spread
	}
	return uint32(maphash.Comparable(m.seed, key))
}

// find returns the place of a key in the index, or the free one where it would be.
func (m *Map[K, V]) find(key K, hash uint32) uint32 {
	last := uint32(len(m.index) - 1)
	for at := hash & last; ; at = (at + 1) & last {
		if p := m.index[at]; p.at == 0 || p.hash == hash && m.entries[p.at].key == key {
			return at
		}
	}
}

// vacate frees a place, and moves those up that would not be found behind it any more.
func (m *Map[K, V]) vacate(at uint32) {
	last := uint32(len(m.index) - 1)
	for next := (at + 1) & last; m.index[next].at != 0; next = (next + 1) & last {
		if home := m.index[next].hash & last; (next-home)&last >= (next-at)&last {
			m.index[at] = m.index[next]
			at = next
		}
	}
	m.index[at] = place{}
}

// grow doubles the index.
func (m *Map[K, V]) grow() {
	old := m.index
	m.index = make([]place, 2*len(old))
	last := uint32(len(m.index) - 1)
	for _, p := range old {
		if p.at == 0 {
			continue
		}
		at := p.hash & last
		for m.index[at].at != 0 {
			at = (at + 1) & last
		}
		m.index[at] = p
	}
}
