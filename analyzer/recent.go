package analyzer

import "container/list"

// recent is a map of bounded size that forgets what was not used for longest. Both get and put count as use.
type recent[K comparable, V any] struct {
	limit     int
	forgotten int
	order     list.List // of *entry[K, V], least recently used first
	entries   map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](limit int) *recent[K, V] {
	return &recent[K, V]{limit: limit, entries: make(map[K]*list.Element)}
}

func (r *recent[K, V]) get(key K) (value V, ok bool) {
	e, ok := r.entries[key]
	if !ok {
		return value, false
	}
	r.order.MoveToBack(e)
	return e.Value.(*entry[K, V]).value, true
}

// put stores a value. It returns the one that had to be forgotten for it, if one had.
func (r *recent[K, V]) put(key K, value V) (dropped V, ok bool) {
	if e, known := r.entries[key]; known {
		e.Value.(*entry[K, V]).value = value
		r.order.MoveToBack(e)
		return dropped, false
	}
	r.entries[key] = r.order.PushBack(&entry[K, V]{key, value})
	if r.order.Len() <= r.limit {
		return dropped, false
	}
	oldest := r.order.Remove(r.order.Front()).(*entry[K, V])
	delete(r.entries, oldest.key)
	r.forgotten++
	return oldest.value, true
}
