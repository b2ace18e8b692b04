package capture

import (
	"context"
	"errors"
	"iter"
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

	// KeptRange yields the entries with from <= key < to in order of keys; a nil to is no end. It ends with its first
	// error, which wraps ErrDamagedEntry where an entry is damaged.
	KeptRange(ctx context.Context, from, to []byte) iter.Seq2[Entry, error]
}

// ErrDamagedEntry says that what was kept cannot be read. It can be worked out anew.
var ErrDamagedEntry = errors.New("what was kept is damaged")
