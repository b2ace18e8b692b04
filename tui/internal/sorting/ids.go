package sorting

import (
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"math"
)

// longID is the maximum length of a stored id in bytes. For longer ids, the beginning and a digest of the whole are
// stored.
const longID = 96

// ids numbers texts from 1 on, in order of first occurrence. Each text costs its bytes, 4 bytes for its end, and 5 to
// 11 bytes in the table. The zero value is ready for use.
type ids struct {
	names
	table []uint32 // of numbers, by hash, with open addressing; 0 is free
	seed  maphash.Seed
}

// names are a snapshot of the texts of ids. They do not change, and are safe for concurrent use.
type names struct {
	text []byte
	ends []uint32 // in text, by number minus one
}

// of returns the text of a number, "" for 0.
func (n names) of(number uint32) string { return string(n.bytes(number)) }

func (n names) bytes(number uint32) []byte {
	if number == 0 {
		return nil
	}
	begin := uint32(0)
	if number > 1 {
		begin = n.ends[number-2]
	}
	return n.text[begin:n.ends[number-1]]
}

// number returns the number of a text. It returns 0 for "", and for a new text once four gigabytes of texts are stored.
func (d *ids) number(text string) uint32 {
	if text == "" {
		return 0
	}
	if len(text) > longID {
		sum := sha256.Sum256([]byte(text))
		text = fmt.Sprintf("%s…%x", text[:longID/2], sum[:12])
	}
	if len(d.table) == 0 {
		d.seed = maphash.MakeSeed()
		d.table = make([]uint32, 64)
	}
	at := d.slot(text)
	if d.table[at] == 0 {
		if uint64(len(d.text)+len(text)) > math.MaxUint32 {
			return 0
		}
		d.text = append(d.text, text...)
		d.ends = append(d.ends, uint32(len(d.text)))
		d.table[at] = uint32(len(d.ends))
		if 4*len(d.ends) > 3*len(d.table) {
			d.grow()
			at = d.slot(text)
		}
	}
	return d.table[at]
}

// slot returns the index of a text in the table, or the free index for it.
func (d *ids) slot(text string) int {
	mask := uint64(len(d.table) - 1)
	at := maphash.String(d.seed, text) & mask
	for d.table[at] != 0 && string(d.bytes(d.table[at])) != text {
		at = (at + 1) & mask
	}
	return int(at)
}

// grow doubles the table.
func (d *ids) grow() {
	d.table = make([]uint32, 2*len(d.table))
	for i := range d.ends {
		number := uint32(i) + 1
		d.table[d.slot(d.of(number))] = number
	}
}
