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

// An Entry is one thing that was worked out from a capture and is kept beside its steps.
type Entry struct {
	Key   []byte // 1 to 64 bytes
	Value []byte // nil where entries are put: the one with the key is removed
}

// A Shelf holds what was worked out from a capture, by key. What it returns belongs to the caller. Methods may be
// called concurrently.
type Shelf interface {
	// Kept returns the values of keys, in that order; nil where there is none. A value that is damaged is an error that
	// wraps ErrDamagedEntry.
	Kept(ctx context.Context, keys ...[]byte) ([][]byte, error)

	// KeptRange yields the entries with from <= key < to in order of keys; a nil to means no end. It ends with its
	// first error, which wraps ErrDamagedEntry where an entry is damaged.
	KeptRange(ctx context.Context, from, to []byte) iter.Seq2[Entry, error]
}

// ErrDamagedEntry says that what was kept cannot be read. It can be worked out anew.
var ErrDamagedEntry = errors.New("what was kept is damaged")

// A MemoryShelf is a Shelf that lasts as long as the process. The zero MemoryShelf is empty.
type MemoryShelf struct {
	mu      sync.RWMutex
	entries map[string][]byte
	order   []string // keys in order; nil if it has to be made anew
}

// Put takes entries over, bytes included.
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

// KeptRange implements Shelf. It yields what was there when it began.
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
