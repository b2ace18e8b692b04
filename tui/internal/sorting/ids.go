package sorting

import (
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"math"
)

// longID is how long an id may be, in bytes. Of longer ones the beginning is kept, and a digest of the whole.
const longID = 96

// ids numbers texts from 1 on, in the order in which they first come. Each costs its bytes, 4 for where it ends, and 5
// to 11 in the table. The zero ids are ready for use.
type ids struct {
	names
	table []uint32 // of numbers, by hash, with open addressing; 0 is free
	seed  maphash.Seed
}

// names are the texts of ids as they were at a moment. They do not change, and may be read by several goroutines.
type names struct {
	text []byte
	ends []uint32 // in text, by number less one
}

// of returns the text of a number, "" of 0.
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

// number returns the number of a text; 0 of "", and of a new one where four gigabytes of others are kept already.
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

// slot returns where in the table a text stands, or would stand.
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
