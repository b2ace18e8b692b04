package layout

import (
	"fmt"
	"hash/crc32"
	"strings"
)

// The buckets other than the blocks locate things, and the database has no checksums for them. Each commit therefore
// notes the number of entries of a bucket and the sum of their checksums, which reveals missing, additional and changed
// entries without reading the blocks.

// A Table has the number and the sum of a bucket's entries in a segment.
type Table struct {
	N   uint64 // entries
	Sum uint64 // of their entrySums
}

// Tables has the tables of a segment.
type Tables struct{ Meta, Rows, Parts, Open, Index Table }

// Add counts an entry with a checksum, and Remove a deleted one.
func (t *Table) Add(sum uint64)    { t.N, t.Sum = t.N+1, t.Sum+sum }
func (t *Table) Remove(sum uint64) { t.N, t.Sum = t.N-1, t.Sum-sum }

// EntrySum is the checksum of an entry. Checksums are added, not combined with XOR, in which equal damage to two
// entries would cancel out.
func EntrySum(key, value []byte) uint64 {
	return uint64(crc32.Update(CRC(key), castagnoli, value))
}

func (e *Encoder) tables(t *Tables) {
	for _, one := range t.All() {
		e.Number(one.N)
		e.Number(one.Sum)
	}
}

func (d *Decoder) tables() (t Tables) {
	for _, one := range t.All() {
		*one = Table{d.Number(), d.Number()}
	}
	return t
}

// All returns the tables in the order in which they are stored.
func (t *Tables) All() [5]*Table {
	return [...]*Table{&t.Meta, &t.Rows, &t.Parts, &t.Open, &t.Index}
}

// Differ names the buckets that differ.
func (t *Tables) Differ(found *Tables) string {
	var words []string
	for i, name := range [...]string{"meta", "exchanges", "parts", "open", "index"} {
		was, is := t.All()[i], found.All()[i]
		switch {
		case *was == *is:
		case was.N != is.N:
			words = append(words, fmt.Sprintf("bucket %s has %d entries instead of %d", name, is.N, was.N))
		default:
			words = append(words, fmt.Sprintf("an entry of bucket %s was changed", name))
		}
	}
	return "the index does not match the blocks: " + strings.Join(words, ", ")
}
