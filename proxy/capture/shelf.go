package capture

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
)

// An Entry is one derived value that is stored alongside a capture's steps.
type Entry struct {
	Key   []byte // 1 to 64 bytes
	Value []byte // nil in Put: removes the entry with the key
}

// A Shelf holds values derived from a capture, by key. Results belong to the caller. Methods may be called
// concurrently.
type Shelf interface {
	// Kept returns the values of keys, in that order; nil for missing keys. A damaged value is an error that wraps
	// ErrDamagedEntry.
	Kept(ctx context.Context, keys ...[]byte) ([][]byte, error)

	// KeptRange yields the entries with from <= key < to in order of keys; a nil to means no end. It ends with its
	// first error, which wraps ErrDamagedEntry if an entry is damaged.
	KeptRange(ctx context.Context, from, to []byte) iter.Seq2[Entry, error]
}

// ErrDamagedEntry means that a stored entry cannot be read. It can be computed again.
var ErrDamagedEntry = errors.New("the stored results are damaged")

// A MemoryShelf is a Shelf in memory. The zero MemoryShelf is empty.
type MemoryShelf struct {
	mu      sync.RWMutex
	entries map[string][]byte
	order   []string // keys in order; nil if it must be rebuilt
}

// Put adds entries to the shelf, and takes ownership of them, bytes included.
func (m *MemoryShelf) Put(entries ...Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries = make(map[string][]byte)
	}
	for _, e := range entries {
		if _, known := m.entries[string(e.Key)]; known != (e.Value != nil) {
			m.order = nil
		}
		if e.Value == nil {
			delete(m.entries, string(e.Key))
		} else {
			m.entries[string(e.Key)] = e.Value
		}
	}
	return nil
}

// Kept implements Shelf.
func (m *MemoryShelf) Kept(_ context.Context, keys ...[]byte) ([][]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	values := make([][]byte, len(keys))
	for i, key := range keys {
		values[i] = bytes.Clone(m.entries[string(key)])
	}
	return values, nil
}

// KeptRange implements Shelf. It yields the entries that existed when it began.
func (m *MemoryShelf) KeptRange(ctx context.Context, from, to []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		keys := m.between(string(from), to)
		for _, key := range keys {
			m.mu.RLock()
			value, known := m.entries[key]
			m.mu.RUnlock()
			if known && !yield(Entry{[]byte(key), bytes.Clone(value)}, ctx.Err()) {
				return
			}
		}
	}
}

// between returns the keys from one up to another.
func (m *MemoryShelf) between(from string, to []byte) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.order == nil {
		m.order = slices.Sorted(maps.Keys(m.entries))
	}
	first, _ := slices.BinarySearch(m.order, from)
	last := len(m.order)
	if to != nil {
		last, _ = slices.BinarySearch(m.order, string(to))
	}
	return m.order[first:max(first, last):max(first, last)]
}
