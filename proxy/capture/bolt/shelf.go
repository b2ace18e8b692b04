package bolt

import (
	"context"
	"fmt"
	"iter"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
)

var _ capture.Shelf = (*Reader)(nil)

// Kept implements capture.Shelf. While this or another process records, it returns committed entries. Recorders of
// earlier versions, and their files, have none.
func (r *Reader) Kept(ctx context.Context, keys ...[]byte) ([][]byte, error) {
	values := make([][]byte, 0, len(keys))
	for len(values) < len(keys) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		asked := keys[len(values):]
		found, err := r.access.Kept(ctx, clampAll(asked), remote.PageBytes)
		if err != nil {
			return nil, err
		}
		for i, sealed := range found {
			value, err := unsealFound(asked[i], sealed)
			if err != nil {
				return nil, err
			}
			values = append(values, value)
		}
	}
	return values, nil
}

// unsealFound is UnsealEntry for what may not be there.
func unsealFound(key, sealed []byte) ([]byte, error) {
	if sealed == nil {
		return nil, nil
	}
	return layout.UnsealEntry(key, sealed)
}

// clampAll clamps keys that are too long to exist.
func clampAll(keys [][]byte) [][]byte {
	clamped := make([][]byte, len(keys))
	for i, key := range keys {
		clamped[i] = clamp(key)
	}
	return clamped
}

// clamp shortens what no key can be: keys are on the same side of it as before.
func clamp(key []byte) []byte {
	if len(key) <= layout.MaxEntryKey {
		return key
	}
	return append(key[:layout.MaxEntryKey:layout.MaxEntryKey], 0)
}

// KeptRange implements capture.Shelf. It reads page by page: entries that are stored or removed in the meantime may or
// may not be included.
func (r *Reader) KeptRange(ctx context.Context, from, to []byte) iter.Seq2[capture.Entry, error] {
	return keptRange(ctx, from, to, r.access.KeptRange)
}

// keptRange yields what pages hold.
func keptRange(ctx context.Context, from, to []byte,
	page func(ctx context.Context, from, to []byte, limit int) ([]layout.KeptEntry, []byte, error),
) iter.Seq2[capture.Entry, error] {
	return func(yield func(capture.Entry, error) bool) {
		next, end := clamp(from), clamp(to)
		for {
			err := ctx.Err()
			var found []layout.KeptEntry
			if err == nil {
				found, next, err = page(ctx, next, end, remote.PageBytes)
			}
			if err != nil {
				yield(capture.Entry{}, err)
				return
			}
			for _, e := range found {
				value, err := layout.UnsealEntry(e.Key, e.Sealed)
				if err == nil && value == nil {
					err = fmt.Errorf("entry %x: %w", e.Key, capture.ErrDamagedEntry) // pages have none that was removed
				}
				if !yield(capture.Entry{Key: e.Key, Value: value}, err) || err != nil {
					return
				}
			}
			if next == nil {
				return
			}
		}
	}
}

// Mark identifies the current steps of the capture with 32 bytes. They change when a step is added or the file is
// replaced by another recording, but not with Store.Keep and Reader.Replace, or in a copy of the files. If a recorder
// of an earlier version has the capture, the mark matches no file.
func (r *Reader) Mark(ctx context.Context) ([]byte, error) { return r.access.Mark(ctx) }
