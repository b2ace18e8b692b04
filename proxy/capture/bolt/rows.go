package bolt

import (
	"cmp"
	"slices"

	"a2atap/proxy/capture/bolt/internal/layout"
)

// A rowList has rows of exchanges. The zero rowList is empty.
type rowList struct {
	list []listedRow
	at   map[uint64]int // where an exchange is in the list
	last int            // where the one is that was found last
}

type listedRow struct {
	seq uint64
	layout.Row
}

// find returns the row of an exchange, or nil. It is valid until a row is added or dropped.
func (l *rowList) find(seq uint64) *layout.Row {
	if l.last >= len(l.list) || l.list[l.last].seq != seq {
		i, ok := l.at[seq]
		if !ok {
			return nil
		}
		l.last = i
	}
	return &l.list[l.last].Row
}

// add adds a row for a new exchange, and returns it.
func (l *rowList) add(seq uint64, r layout.Row) *layout.Row {
	if l.at == nil {
		l.at = make(map[uint64]int)
	}
	l.last = len(l.list)
	l.at[seq] = l.last
	l.list = append(l.list, listedRow{seq, r})
	return &l.list[l.last].Row
}

// drop takes the row that was added last away.
func (l *rowList) drop(seq uint64) {
	delete(l.at, seq)
	l.list = l.list[:len(l.list)-1]
}

// sort brings the rows into the order of the exchanges. After it none can be found, added or dropped.
func (l *rowList) sort() {
	slices.SortFunc(l.list, func(a, b listedRow) int { return cmp.Compare(a.seq, b.seq) })
}

func (l *rowList) reset() {
	clear(l.list)
	clear(l.at)
	l.list, l.last = l.list[:0], 0
}
