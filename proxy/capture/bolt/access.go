package bolt

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// A place says which blocks hold the steps of an exchange, by their first arrival numbers, in order.
type place struct {
	seq    uint64
	blocks []uint64
	closed bool // its end is in the capture; not known where a recorder was asked
}

// places is an answer to locate.
type places struct {
	found   []place
	last    uint64 // the last sequence number that the capture has
	crashed bool   // the recorder did not come to its end: exchanges without an end were interrupted
}

// maxPlaced bounds how many blocks one answer to locate names, beyond those of its first exchange.
const maxPlaced = 1 << 16

// info describes the capture. A recorder has it if live is true, which lost in addition what more says.
func (set segmentSet) info(live bool, more unreported) (capture.Info, error) {
	st, err := set.state()
	if !live {
		more = st.unreported
	}
	m := set[0].meta
	info := capture.Info{
		ID: m.capture, Created: m.created, Tool: m.tool, Format: int(set[0].format), Live: live,
		Exchanges: st.seq, Arrivals: st.arrival,
		LostExchanges: capture.AddLost(st.lostExchanges, more.exchanges),
		LostBytes:     capture.AddLost(st.lostBytes, more.bytes),
	}
	for _, s := range set {
		info.SecretsKept = info.SecretsKept || s.meta.secretsKept
		info.Insecure = info.Insecure || s.meta.insecure
	}
	info.Crashes, info.Crash = st.crash(live || st.ended)
	return info, err
}

func (set segmentSet) blocks(from uint64, limit int) (found []block, last uint64, err error) {
	st, err := set.state()
	if err != nil || from > st.arrival {
		return nil, st.arrival, err
	}
	size := 0
	for _, s := range set[set.holding(from):] {
		err := s.view(func(tx *bbolt.Tx) error {
			c := tx.Bucket(bucketBlocks).Cursor()
			for k, v := seekBack(c, from); k != nil && size < limit; k, v = c.Next() {
				found = append(found, copyBlock(k, v))
				size += len(v)
			}
			return nil
		})
		if err != nil || size >= limit {
			return found, st.arrival, err
		}
	}
	return found, st.arrival, nil
}

func (set segmentSet) state() (st state, err error) {
	err = set.last().view(func(tx *bbolt.Tx) (err error) {
		st, err = readState(tx)
		return err
	})
	return st, err
}

// holding returns the index of the segment that has, or would have, the step with an arrival number.
func (set segmentSet) holding(arrival uint64) int {
	i, _ := slices.BinarySearchFunc(set, arrival,
		func(s *segment, n uint64) int { return cmp.Compare(s.meta.arrivals, n) })
	return max(0, i-1)
}

// seekBack moves to the last block that begins at or before an arrival number, or to the first.
func seekBack(c *bbolt.Cursor, from uint64) (k, v []byte) {
	want := number64(from)
	k, v = c.Seek(want)
	if bytes.Equal(k, want) {
		return k, v
	}
	if k == nil {
		return c.Last()
	}
	if k, v = c.Prev(); k == nil {
		return c.First()
	}
	return k, v
}

func copyBlock(k, v []byte) block {
	return block{first: binary.BigEndian.Uint64(k), value: bytes.Clone(v)}
}

func (set segmentSet) fetch(firsts []uint64, limit int) (found []block, err error) {
	size := 0
	for len(firsts) > 0 && size < limit {
		s := set[set.holding(firsts[0])]
		before := len(firsts)
		err := s.view(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucketBlocks)
			for len(firsts) > 0 && size < limit {
				key := number64(firsts[0])
				v := b.Get(key)
				if v == nil {
					return nil
				}
				found = append(found, copyBlock(key, v))
				size += len(v)
				firsts = firsts[1:]
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(firsts) == before {
			return nil, errNoBlock(firsts[0])
		}
	}
	return found, nil
}

func (set segmentSet) locate(seq uint64, limit int) (places, error) {
	st, err := set.state()
	if err != nil {
		return places{}, err
	}
	answer := places{last: st.seq, crashed: !st.ended}
	var rows []rowPlace
	for _, s := range set {
		if rows, err = s.rows(rows, seq, limit); err != nil {
			return answer, err
		}
	}
	// Each segment gave its first rows from seq on, so the first of all of them are complete. The sort is stable: parts
	// of one exchange stay in the order of the segments, which is that of arrival.
	slices.SortStableFunc(rows, func(a, b rowPlace) int { return cmp.Compare(a.seq, b.seq) })
	placed := 0
	for _, r := range rows {
		n := len(answer.found)
		if n == 0 || answer.found[n-1].seq != r.seq {
			if n == limit || placed > maxPlaced {
				break
			}
			answer.found = append(answer.found, place{seq: r.seq})
			n++
		}
		p := &answer.found[n-1]
		p.closed = p.closed || r.closed
		before := len(p.blocks)
		if p.blocks, err = r.append(p.blocks); err != nil {
			return answer, err
		}
		placed += len(p.blocks) - before
	}
	return answer, nil
}

// A rowPlace is an exchange's first block in one segment.
type rowPlace struct {
	segment *segment
	seq     uint64
	first   uint64
	closed  bool
}

// rows appends the first blocks of up to limit exchanges from seq on.
func (s *segment) rows(rows []rowPlace, seq uint64, limit int) ([]rowPlace, error) {
	err := s.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucketExchanges).Cursor()
		n := 0
		for k, v := c.Seek(number64(seq)); k != nil && n < limit; k, v = c.Next() {
			r, err := decodeRow(v)
			if err != nil {
				return err
			}
			rows = append(rows, rowPlace{s, binary.BigEndian.Uint64(k), r.first, r.flags&rowClosed != 0})
			n++
		}
		return nil
	})
	return rows, err
}

// append appends the blocks of the segment that have steps of the exchange.
func (r rowPlace) append(blocks []uint64) ([]uint64, error) {
	blocks = append(blocks, r.first)
	err := r.segment.view(func(tx *bbolt.Tx) error {
		prefix := number64(r.seq)
		c := tx.Bucket(bucketParts).Cursor()
		for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
			blocks = append(blocks, binary.BigEndian.Uint64(k[8:]))
		}
		return nil
	})
	return blocks, err
}

func (set segmentSet) find(h keyHash, seq uint64, limit int) (found []uint64, err error) {
	for _, s := range set {
		err := s.view(func(tx *bbolt.Tx) (err error) {
			found, err = findIn(tx, found, h, seq, limit)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// kept looks into the newest segment first.
func (set segmentSet) kept(keys [][]byte, limit int) ([][]byte, error) {
	found := make([][]byte, len(keys))
	for _, s := range slices.Backward(set) {
		err := s.shelf(func(b *bbolt.Bucket) {
			n, _ := getEntries(b, keys, found, limit)
			keys, found = keys[:n], found[:n]
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range found {
		if gone(found[i]) {
			found[i] = nil
		}
	}
	return found, nil
}

// shelf calls fn with the bucket of what is kept in a segment; nil if it has none, as before format 3.
func (s *segment) shelf(fn func(b *bbolt.Bucket)) error {
	if s.readingErr != nil {
		return s.readingErr
	}
	return s.view(func(tx *bbolt.Tx) error {
		fn(tx.Bucket(bucketReading))
		return nil
	})
}

func (set segmentSet) keptRange(from, to []byte, limit int) (found []keptEntry, next []byte, err error) {
	lists, more := make([][]keptEntry, len(set)), make([]bool, len(set))
	each := max(limit/len(set), 1)
	for i, s := range set {
		if err := s.shelf(func(b *bbolt.Bucket) { lists[i], more[i] = listEntries(b, from, to, each) }); err != nil {
			return nil, nil, err
		}
	}
	merged, rest := newestEntries(lists, more)
	size := 0
	for i, e := range merged {
		if size += e.weight(); size >= limit && i+1 < len(merged) {
			merged, rest = merged[:i+1], true
			break
		}
	}
	if rest {
		next = append(bytes.Clone(merged[len(merged)-1].key), 0)
	}
	return slices.DeleteFunc(merged, func(e keptEntry) bool { return gone(e.sealed) }), next, nil
}

// mark is made of what follows from the steps alone, however they are divided among segments: the sums of tables that
// have no entries of their own for a segment, and the last block. A recorder may commit meanwhile: what changes then is
// read at once.
func (set segmentSet) mark() ([]byte, error) {
	e := encoder{append([]byte("a2atap mark 1\x00"), set[0].meta.capture[:]...)}
	var all tables
	var last []byte // of the last block: its key and its header
	for _, s := range set {
		err := s.view(func(tx *bbolt.Tx) error {
			st, err := readState(tx)
			if err != nil {
				return err
			}
			if !st.summed {
				st.tables = s.found
			}
			for i, t := range st.tables.all() {
				all.all()[i].n += t.n
				all.all()[i].sum += t.sum
			}
			if k, v := tx.Bucket(bucketBlocks).Cursor().Last(); k != nil {
				last = slices.Concat(k, v[:min(len(v), blockHeader)], number64(uint64(len(v))))
			}
			if s == set.last() {
				e.number(st.arrival)
				e.number(st.seq)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, t := range []table{all.rows, all.parts, all.index} {
		e.number(t.n)
		e.number(t.sum)
	}
	sum := sha256.Sum256(append(e.b, last...))
	return sum[:], nil
}
