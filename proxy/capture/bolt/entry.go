package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// Sizes of what is kept beside the steps.
const (
	maxEntryKey   = 64
	maxEntryValue = 16 << 20
)

// packedGone is the way in which the value of an entry is packed that was removed: it hides one of an earlier segment.
const packedGone byte = 2

// sealEntry returns the value of an entry as it is stored: a block's header, then the value as it is. The checksum is
// that of the key and the value, so that a value under another key is noticed. A nil value is one that was removed.
func sealEntry(key, value []byte) []byte {
	sealed := make([]byte, blockHeader, blockHeader+len(value))
	sealed[0] = packedPlain
	if value == nil {
		sealed[0] = packedGone
	}
	binary.LittleEndian.PutUint32(sealed[1:], entryCRC(key, value))
	return append(sealed, value...)
}

func entryCRC(key, value []byte) uint32 { return crc32.Update(crcOf(key), castagnoli, value) }

// unsealEntry returns the value of an entry, in memory of its own; nil for one that was removed. Bytes of any content
// are safe.
func unsealEntry(key, sealed []byte) ([]byte, error) {
	if len(key) == 0 || len(key) > maxEntryKey {
		return nil, fmt.Errorf("an entry has a key of %d bytes: %w", len(key), capture.ErrDamagedEntry)
	}
	if len(sealed) < blockHeader || len(sealed) > blockHeader+maxEntryValue {
		return nil, fmt.Errorf("entry %x has %d bytes: %w", key, len(sealed), capture.ErrDamagedEntry)
	}
	value := sealed[blockHeader:]
	if got, want := entryCRC(key, value), binary.LittleEndian.Uint32(sealed[1:]); got != want {
		return nil, fmt.Errorf("entry %x: checksum is %08x, recorded as %08x: %w", key, got, want,
			capture.ErrDamagedEntry)
	}
	switch {
	case sealed[0] == packedPlain:
		return append(make([]byte, 0, len(value)), value...), nil
	case sealed[0] == packedGone && len(value) == 0:
		return nil, nil
	}
	return nil, fmt.Errorf("entry %x: format %d has no way %d of packing: %w", key, Format, sealed[0],
		capture.ErrDamagedEntry)
}

// gone reports whether a stored value is that of an entry that was removed.
func gone(sealed []byte) bool { return len(sealed) == blockHeader && sealed[0] == packedGone }

// A keptEntry is an entry as stored.
type keptEntry struct{ key, sealed []byte }

// sealAll checks entries that are to be kept and seals them, in memory of their own.
func sealAll(entries []capture.Entry) (sealed []keptEntry, size int, err error) {
	sealed = make([]keptEntry, 0, len(entries))
	for _, e := range entries {
		if len(e.Key) == 0 || len(e.Key) > maxEntryKey {
			return nil, 0, fmt.Errorf("an entry has a key of %d bytes; it must be of 1 to %d", len(e.Key), maxEntryKey)
		}
		if len(e.Value) > maxEntryValue {
			return nil, 0, fmt.Errorf("entry %x has %d bytes, the limit is %d; divide it", e.Key, len(e.Value),
				maxEntryValue)
		}
		k := keptEntry{bytes.Clone(e.Key), sealEntry(e.Key, e.Value)}
		sealed = append(sealed, k)
		size += k.weight()
	}
	return sealed, size, nil
}

// weight is about how many bytes an entry takes in memory.
func (e keptEntry) weight() int { return 64 + len(e.key) + len(e.sealed) }

// putEntries stores entries in the order in which they are given. Those that are removed leave a mark only if hide is
// true: then there may be others with their keys in earlier segments.
func putEntries(b *bbolt.Bucket, entries []keptEntry, hide bool) error {
	for _, e := range entries {
		var err error
		if gone(e.sealed) && !hide {
			err = b.Delete(e.key)
		} else {
			err = b.Put(e.key, e.sealed)
		}
		if err != nil {
			return fmt.Errorf("store entry %x of the reading: %w", e.key, err)
		}
	}
	return nil
}

// getEntries fills in what a bucket has of the keys that are not filled in yet, from the front, until there are more
// than limit bytes, and returns to which key it came, and the bytes. A bucket that is nil has nothing.
func getEntries(b *bbolt.Bucket, keys, found [][]byte, limit int) (n, size int) {
	for i, key := range keys {
		if i > 0 && size >= limit {
			return i, size
		}
		if found[i] == nil && b != nil && len(key) > 0 {
			found[i] = cloneSealed(b.Get(key))
		}
		size += len(found[i])
	}
	return len(keys), size
}

// cloneSealed copies a stored value, and no more of it than it takes to see that it is too long.
func cloneSealed(v []byte) []byte { return bytes.Clone(v[:min(len(v), blockHeader+maxEntryValue+1)]) }

// listEntries returns the entries of a bucket from a key on and below another, nil for none, in order, until there are
// more than limit bytes; and whether it stopped for that.
func listEntries(b *bbolt.Bucket, from, to []byte, limit int) (list []keptEntry, more bool) {
	if b == nil {
		return nil, false
	}
	c := b.Cursor()
	size := 0
	for k, v := c.Seek(from); k != nil && (to == nil || bytes.Compare(k, to) < 0); k, v = c.Next() {
		if size >= limit {
			return list, true
		}
		e := keptEntry{bytes.Clone(k), cloneSealed(v)}
		list = append(list, e)
		size += e.weight()
	}
	return list, false
}

// newestEntries puts together what segments, the oldest first, have of a range, of which more says that a segment has
// more behind its list. Of entries with the same key that of the newest segment counts. It also reports whether there
// is more behind what it returns.
func newestEntries(lists [][]keptEntry, more []bool) (merged []keptEntry, rest bool) {
	var end []byte // up to here all lists are complete
	for i, list := range lists {
		if more[i] {
			rest = true
			if last := list[len(list)-1].key; end == nil || bytes.Compare(last, end) < 0 {
				end = last
			}
		}
	}
	for {
		var next []byte
		at := -1
		for i, list := range lists {
			if len(list) == 0 {
				continue
			}
			if key := list[0].key; at < 0 || bytes.Compare(key, next) <= 0 {
				next, at = key, i
			}
		}
		if at < 0 || end != nil && bytes.Compare(next, end) > 0 {
			return merged, rest
		}
		merged = append(merged, lists[at][0])
		for i, list := range lists {
			if len(list) > 0 && bytes.Equal(list[0].key, next) {
				lists[i] = list[1:]
			}
		}
	}
}
