package bolt

import (
	"fmt"
	"hash/crc32"
	"strings"
)

// The buckets beside the blocks say where things are, and the database has no checksums for them. So each commit notes
// how many entries a bucket has and the sum of their checksums: what is missing, too many or changed shows, without
// reading the blocks.

// A table is what a bucket of a segment holds.
type table struct {
	n   uint64 // entries
	sum uint64 // of their entrySums
}

// tables are those of a segment.
type tables struct{ meta, rows, parts, open, index table }

func (t *table) add(sum uint64)    { t.n, t.sum = t.n+1, t.sum+sum }
func (t *table) remove(sum uint64) { t.n, t.sum = t.n-1, t.sum-sum }

// entrySum is the checksum of an entry. Sums of them are added up, in which equal damage to two entries does not cancel
// out as it would if their bits were.
func entrySum(key, value []byte) uint64 {
	return uint64(crc32.Update(crcOf(key), castagnoli, value))
}

func (e *encoder) tables(t *tables) {
	for _, one := range t.all() {
		e.number(one.n)
		e.number(one.sum)
	}
}

func (d *decoder) tables() (t tables) {
	for _, one := range t.all() {
		*one = table{d.number(), d.number()}
	}
	return t
}

func (t *tables) all() [5]*table {
	return [...]*table{&t.meta, &t.rows, &t.parts, &t.open, &t.index}
}

// differ says which buckets are not as they were left.
func (t *tables) differ(found *tables) string {
	var words []string
	for i, name := range [...]string{"meta", "exchanges", "parts", "open", "index"} {
		was, is := t.all()[i], found.all()[i]
		switch {
		case *was == *is:
		case was.n != is.n:
			words = append(words, fmt.Sprintf("bucket %s has %d entries, and had %d", name, is.n, was.n))
		default:
			words = append(words, fmt.Sprintf("an entry of bucket %s was changed", name))
		}
	}
	return "the index does not match the blocks: " + strings.Join(words, ", ")
}
