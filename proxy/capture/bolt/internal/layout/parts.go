package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"go.etcd.io/bbolt"
)

// The parts of an exchange name the blocks that hold its steps after the first one. The parts of one commit form one
// young list, whose key contains the last block that it names. When there are many lists, one commit replaces them with
// an entry for each part. Writing an entry for each part in each commit would cost as much as the event itself: with
// 1,000 streams, each stream has its own page of entries, and an event in each commit.

// A Part records that an exchange has steps in the block that begins at an arrival number.
type Part struct{ Seq, Block uint64 }

// Compare orders parts by exchange, and then by block.
func (p Part) Compare(q Part) int {
	return cmp.Or(cmp.Compare(p.Seq, q.Seq), cmp.Compare(p.Block, q.Block))
}

const (
	partSize   = 16
	youngParts = 0xff // with which the key of a young list begins: behind all entries, whose sequence numbers are lower

	mergeParts = 8192 // from which on parts, or lists, are merged
	mergeLists = 64
	mostParts  = 16 * mergeParts // that there may be in lists where entries for all of them cannot be stored
	mostLists  = 16 * mergeLists
)

// A Merge selects the lists of parts that a commit converts to entries.
type Merge int

// Whether lists are merged.
const (
	MergeMany  Merge = iota // when there are many
	MergeAll                // leaving no lists
	MergeCrowd              // when there are more than readers should have to look through
)

// sum is the checksum of the entry for a part. In the sums of a segment each part counts with it, in a list or not.
func (p Part) sum() uint64 { return EntrySum(PartKey(p), Nothing) }

// SumParts adds what an entry of the bucket of parts counts for.
func (t *Table) SumParts(key, value []byte) {
	l := PartList(value)
	if !IsPartList(key) || l.Check(key) != nil {
		t.Add(EntrySum(key, value))
		return
	}
	for i := range l.Len() {
		t.Add(l.At(i).sum())
	}
}

// PartKey returns the key of the entry for a part.
func PartKey(p Part) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, partSize), p.Seq)
	return binary.BigEndian.AppendUint64(key, p.Block)
}

// A PartList is the value of a young list: parts in order.
type PartList []byte

// Check returns an error if the list is invalid, or has another key.
func (l PartList) Check(key []byte) error {
	if len(l) == 0 || len(l)%partSize != 0 {
		return fmt.Errorf("a list of parts has %d bytes: %w", len(l), ErrDamaged)
	}
	for i := 1; i < l.Len(); i++ {
		if l.At(i-1).Compare(l.At(i)) >= 0 {
			return fmt.Errorf("a list of parts is not in order: %w", ErrDamaged)
		}
	}
	if !bytes.Equal(key, l.key()) {
		return fmt.Errorf("a list of parts has the key %x: %w", key, ErrDamaged)
	}
	return nil
}

// key returns the key of the list. Each commit has later blocks than the one before.
func (l PartList) key() []byte {
	last := uint64(0)
	for i := range l.Len() {
		last = max(last, l.At(i).Block)
	}
	return append([]byte{youngParts}, Number64(last)...)
}

// Len returns how many parts the list has.
func (l PartList) Len() int { return len(l) / partSize }

// At returns a part of the list.
func (l PartList) At(i int) Part {
	return Part{binary.BigEndian.Uint64(l[i*partSize:]), binary.BigEndian.Uint64(l[i*partSize+8:])}
}

// FirstPartList sorts after the keys of all entries, and before those of all lists.
var FirstPartList = []byte{youngParts}

// IsPartList reports whether the value of a key in the bucket of parts is a young list.
func IsPartList(key []byte) bool { return len(key) == 9 && key[0] == youngParts }

// PartsOf appends the blocks that the bucket of parts has for an exchange, in order.
func PartsOf(b *bbolt.Bucket, blocks []uint64, seq uint64) []uint64 {
	prefix := Number64(seq)
	c := b.Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		blocks = append(blocks, binary.BigEndian.Uint64(k[8:]))
	}
	for k, v := c.Seek(FirstPartList); k != nil; k, v = c.Next() {
		l := PartList(v)
		for i := sort.Search(l.Len(), func(i int) bool { return l.At(i).Seq >= seq }); i < l.Len() && l.At(i).Seq == seq; i++ {
			blocks = append(blocks, l.At(i).Block)
		}
	}
	return blocks
}

// YoungParts is what a segment has in young lists.
type YoungParts struct {
	keys  [][]byte
	parts []Part
}

// ReadYoungParts reads the young lists of a segment.
func ReadYoungParts(tx *bbolt.Tx) (y YoungParts, err error) {
	c := tx.Bucket(BucketParts).Cursor()
	for k, v := c.Seek(FirstPartList); k != nil; k, v = c.Next() {
		l := PartList(v)
		if err := l.Check(k); err != nil {
			return y, err
		}
		y.keys = append(y.keys, bytes.Clone(k))
		for i := range l.Len() {
			y.parts = append(y.parts, l.At(i))
		}
	}
	return y, nil
}

// Many reports whether this many more parts cause a merge of lists that could as well stay.
func (y YoungParts) Many(more int) bool {
	return y.reach(more, mergeParts, mergeLists) && !y.reach(more, mostParts, mostLists)
}

// reach reports whether this many more parts reach the limit of parts or lists.
func (y YoungParts) reach(more, parts, lists int) bool {
	return len(y.parts)+more >= parts || len(y.keys) >= lists
}

// Store writes the parts of a commit with state st, sorts them, and returns the young lists after it. The receiver is
// unchanged. It calls rest after each entry.
func (y YoungParts) Store(tx *bbolt.Tx, parts []Part, st *State, how Merge, rest func()) (YoungParts, error) {
	all := how == MergeAll && len(y.keys) > 0
	if len(parts) == 0 && !all {
		return y, nil
	}
	b := tx.Bucket(BucketParts)
	slices.SortFunc(parts, Part.Compare)
	for _, p := range parts {
		st.Tables.Parts.Add(p.sum())
	}
	many := y.reach(len(parts), mergeParts, mergeLists)
	if how == MergeCrowd {
		many = y.reach(len(parts), mostParts, mostLists)
	}
	if !all && !many {
		list := make(PartList, 0, len(parts)*partSize)
		for _, p := range parts {
			list = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(list, p.Seq), p.Block)
		}
		key := list.key()
		// Elements beyond the receiver's length belong to a failed commit.
		return YoungParts{append(y.keys, key), append(y.parts, parts...)}, b.Put(key, list)
	}
	for _, key := range y.keys {
		if err := b.Delete(key); err != nil {
			return y, err
		}
	}
	merged := slices.Concat(y.parts, parts)
	slices.SortFunc(merged, Part.Compare)
	for _, p := range merged {
		if err := b.Put(PartKey(p), Nothing); err != nil {
			return y, err
		}
		rest()
	}
	return YoungParts{}, nil
}
