package analyzer

import (
	"container/list"
	"iter"
)

// recent is a map of bounded size that forgets what was not used for longest. Both get and put count as use.
type recent[K comparable, V any] struct {
	limit     int
	forgotten int
	order     list.List // of entry[K, V], least recently used first
	entries   map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](limit int) *recent[K, V] {
	return &recent[K, V]{limit: limit, entries: make(map[K]*list.Element)}
}

func (r *recent[K, V]) get(key K) (V, bool) {
	e, ok := r.entries[key]
	if !ok {
		var none V
		return none, false
	}
	r.order.MoveToBack(e)
	return e.Value.(*entry[K, V]).value, true
}

func (r *recent[K, V]) put(key K, value V) {
	if e, ok := r.entries[key]; ok {
		e.Value.(*entry[K, V]).value = value
		r.order.MoveToBack(e)
		return
	}
	r.entries[key] = r.order.PushBack(&entry[K, V]{key, value})
	if r.order.Len() > r.limit {
		oldest := r.order.Remove(r.order.Front()).(*entry[K, V])
		delete(r.entries, oldest.key)
		r.forgotten++
	}
}

// all yields the values, least recently used first.
func (r *recent[K, V]) all() iter.Seq[V] {
	return func(yield func(V) bool) {
		for e := r.order.Front(); e != nil; e = e.Next() {
			if !yield(e.Value.(*entry[K, V]).value) {
				return
			}
		}
	}
}
