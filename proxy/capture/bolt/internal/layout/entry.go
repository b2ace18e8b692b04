package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// Sizes of stored entries.
const (
	MaxEntryKey   = 64
	MaxEntryValue = 16 << 20
)

// PackedGone marks the value of a removed entry, which hides an entry of an earlier segment.
const PackedGone byte = 2

// SealEntry returns the stored form of an entry: a block's header, then the value. The checksum covers key and value,
// so a value under the wrong key is noticed. A nil value marks a removed entry.
func SealEntry(key, value []byte) []byte {
	sealed := make([]byte, BlockHeader, BlockHeader+len(value))
	sealed[0] = packedPlain
	if value == nil {
		sealed[0] = PackedGone
	}
	binary.LittleEndian.PutUint32(sealed[1:], entryCRC(key, value))
	return append(sealed, value...)
}

func entryCRC(key, value []byte) uint32 { return crc32.Update(CRC(key), castagnoli, value) }

// UnsealEntry returns a new copy of an entry's value; nil for a removed entry. Any bytes are safe.
func UnsealEntry(key, sealed []byte) ([]byte, error) {
	if len(key) == 0 || len(key) > MaxEntryKey {
		return nil, fmt.Errorf("an entry has a key of %d bytes: %w", len(key), capture.ErrDamagedEntry)
	}
	if len(sealed) < BlockHeader || len(sealed) > BlockHeader+MaxEntryValue {
		return nil, fmt.Errorf("entry %x has %d bytes: %w", key, len(sealed), capture.ErrDamagedEntry)
	}
	value := sealed[BlockHeader:]
	if got, want := entryCRC(key, value), binary.LittleEndian.Uint32(sealed[1:]); got != want {
		return nil, fmt.Errorf("entry %x: checksum is %08x, recorded as %08x: %w", key, got, want,
			capture.ErrDamagedEntry)
	}
	switch {
	case sealed[0] == packedPlain:
		return append(make([]byte, 0, len(value)), value...), nil
	case sealed[0] == PackedGone && len(value) == 0:
		return nil, nil
	}
	return nil, fmt.Errorf("entry %x: format %d has no compression %d: %w", key, Format, sealed[0],
		capture.ErrDamagedEntry)
}

// Gone reports whether a stored value marks a removed entry.
func Gone(sealed []byte) bool { return len(sealed) == BlockHeader && sealed[0] == PackedGone }

// A KeptEntry is an entry as stored.
type KeptEntry struct{ Key, Sealed []byte }

// SealAll checks entries to be stored and seals them, in newly allocated memory.
func SealAll(entries []capture.Entry) (sealed []KeptEntry, size int, err error) {
	sealed = make([]KeptEntry, 0, len(entries))
	for _, e := range entries {
		if len(e.Key) == 0 || len(e.Key) > MaxEntryKey {
			return nil, 0, fmt.Errorf("an entry has a key of %d bytes; it must have 1 to %d", len(e.Key), MaxEntryKey)
		}
		if len(e.Value) > MaxEntryValue {
			return nil, 0, fmt.Errorf("entry %x has %d bytes, and the limit is %d; split it", e.Key, len(e.Value),
				MaxEntryValue)
		}
		k := KeptEntry{bytes.Clone(e.Key), SealEntry(e.Key, e.Value)}
		sealed = append(sealed, k)
		size += k.Weight()
	}
	return sealed, size, nil
}

// Weight is about how many bytes an entry takes in memory.
func (e KeptEntry) Weight() int { return 64 + len(e.Key) + len(e.Sealed) }

// PutEntries stores entries in the given order. Removed entries leave a mark only if hide is true, because earlier
// segments may then have entries with the same keys.
func PutEntries(b *bbolt.Bucket, entries []KeptEntry, hide bool) error {
	for _, e := range entries {
		var err error
		if Gone(e.Sealed) && !hide {
			err = b.Delete(e.Key)
		} else {
			err = b.Put(e.Key, e.Sealed)
		}
		if err != nil {
			return fmt.Errorf("store entry %x of the check result: %w", e.Key, err)
		}
	}
	return nil
}

// GetEntries fills in the values of keys that are not filled in yet, from the front, until they have more than limit
// bytes. It returns the number of the next key, and the bytes. A nil bucket has no entries.
func GetEntries(b *bbolt.Bucket, keys, found [][]byte, limit int) (n, size int) {
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

// cloneSealed copies a stored value; of a value that is too long, it copies just enough to show that.
func cloneSealed(v []byte) []byte { return bytes.Clone(v[:min(len(v), BlockHeader+MaxEntryValue+1)]) }

// ListEntries returns the entries of a bucket from one key up to, but not including, another, in order, until they have
// more than limit bytes; a nil key is no limit. It also reports whether the limit stopped it.
func ListEntries(b *bbolt.Bucket, from, to []byte, limit int) (list []KeptEntry, more bool) {
	if b == nil {
		return nil, false
	}
	c := b.Cursor()
	size := 0
	for k, v := c.Seek(from); k != nil && (to == nil || bytes.Compare(k, to) < 0); k, v = c.Next() {
		if size >= limit {
			return list, true
		}
		e := KeptEntry{bytes.Clone(k), cloneSealed(v)}
		list = append(list, e)
		size += e.Weight()
	}
	return list, false
}

// NewestEntries merges the entries that segments, oldest first, have in a range; more marks segments with further
// entries after their list. For equal keys the newest segment's entry wins. It also reports whether there are further
// entries after the result.
func NewestEntries(lists [][]KeptEntry, more []bool) (merged []KeptEntry, rest bool) {
	var end []byte // up to here all lists are complete
	for i, list := range lists {
		if more[i] {
			rest = true
			if last := list[len(list)-1].Key; end == nil || bytes.Compare(last, end) < 0 {
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
			if key := list[0].Key; at < 0 || bytes.Compare(key, next) <= 0 {
				next, at = key, i
			}
		}
		if at < 0 || end != nil && bytes.Compare(next, end) > 0 {
			return merged, rest
		}
		merged = append(merged, lists[at][0])
		for i, list := range lists {
			if len(list) > 0 && bytes.Equal(list[0].Key, next) {
				lists[i] = list[1:]
			}
		}
	}
}
