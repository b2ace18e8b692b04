// Package recent is memory of bounded size: a map that forgets what was not used for longest, and counts what it
// forgot.
package recent

import (
	"container/list"
	"iter"
)

// A Map is a map of bounded size. When there is no more room it forgets the entry that was not used for longest; both
// Get and Put count as use. It is for one goroutine.
type Map[K comparable, V any] struct {
	limit     int
	forgotten int
	order     list.List // of *entry[K, V], least recently used first
	entries   map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New returns an empty map that holds at most limit entries.
func New[K comparable, V any](limit int) *Map[K, V] {
	return &Map[K, V]{limit: limit, entries: make(map[K]*list.Element)}
}

// Get returns the value of a key, and whether the map holds one.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	e, ok := m.entries[key]
	if !ok {
		return value, false
	}
	m.order.MoveToBack(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put stores a value. It returns the one that had to be forgotten for it, if one had.
func (m *Map[K, V]) Put(key K, value V) (dropped V, ok bool) {
	if e, known := m.entries[key]; known {
		e.Value.(*entry[K, V]).value = value
		m.order.MoveToBack(e)
		return dropped, false
	}
	m.entries[key] = m.order.PushBack(&entry[K, V]{key, value})
	if m.order.Len() <= m.limit {
		return dropped, false
	}
	oldest := m.order.Remove(m.order.Front()).(*entry[K, V])
	delete(m.entries, oldest.key)
	m.forgotten++
	return oldest.value, true
}

// Delete takes a key out, if the map holds it. That does not count as forgotten.
func (m *Map[K, V]) Delete(key K) {
	if e, ok := m.entries[key]; ok {
		m.order.Remove(e)
		delete(m.entries, key)
	}
}

// All yields the entries, least recently used first, and uses none of them. The map must not be changed meanwhile.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for e := m.order.Front(); e != nil; e = e.Next() {
			if known := e.Value.(*entry[K, V]); !yield(known.key, known.value) {
				return
			}
		}
	}
}

// Len returns how many entries the map holds.
func (m *Map[K, V]) Len() int { return len(m.entries) }

// Forgotten returns how many entries had to be forgotten so far.
func (m *Map[K, V]) Forgotten() int { return m.forgotten }
