package segments

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
)

// A Place lists the blocks with steps of an exchange, by their first arrival numbers, in order.
type Place struct {
	Seq    uint64
	Blocks []uint64
	Closed bool // its end is in the capture; not known where a recorder was asked
}

// Places is an answer to locate.
type Places struct {
	Found   []Place
	Last    uint64 // the last sequence number that the capture has
	Crashed bool   // the recorder did not come to its end: exchanges without an end were interrupted
}

// MaxPlaced bounds the blocks in one result of Locate, beyond those of its first exchange.
const MaxPlaced = 1 << 16

// Info describes the capture. live means that a recorder has it; more has additional losses of that recorder.
func (set Set) Info(live bool, more layout.Unreported) (capture.Info, error) {
	st, err := set.State()
	if !live {
		more = st.Unreported
	}
	m := set[0].Meta
	info := capture.Info{
		ID: m.Capture, Created: m.Created, Tool: m.Tool, Format: int(set[0].Format), Live: live,
		Exchanges: st.Seq, Arrivals: st.Arrival,
		LostExchanges: capture.AddLost(st.LostExchanges, more.Exchanges),
		LostBytes:     capture.AddLost(st.LostBytes, more.Bytes),
	}
	for _, s := range set {
		info.SecretsKept = info.SecretsKept || s.Meta.SecretsKept
		info.Insecure = info.Insecure || s.Meta.Insecure
		info.Unfinished = info.Unfinished || s.Meta.Unfinished
	}
	info.Crashes, info.Crash = st.Crash(live || st.Ended)
	return info, err
}

// Blocks returns consecutive blocks, beginning with the one that contains arrival number from, and the last arrival
// number. Together they have at most limit bytes, or one block more.
func (set Set) Blocks(from uint64, limit int) (found []layout.Block, last uint64, err error) {
	st, err := set.State()
	if err != nil || from > st.Arrival {
		return nil, st.Arrival, err
	}
	size := 0
	for _, s := range set[set.Holding(from):] {
		err := s.View(func(tx *bbolt.Tx) error {
			c := tx.Bucket(layout.BucketBlocks).Cursor()
			for k, v := seekBack(c, from); k != nil && size < limit; k, v = c.Next() {
				found = append(found, CopyBlock(k, v))
				size += len(v)
			}
			return nil
		})
		if err != nil || size >= limit {
			return found, st.Arrival, err
		}
	}
	return found, st.Arrival, nil
}

// Holding returns the index of the segment that has, or would have, the step with an arrival number.
func (set Set) Holding(arrival uint64) int {
	i, _ := slices.BinarySearchFunc(set, arrival,
		func(s *Segment, n uint64) int { return cmp.Compare(s.Meta.Arrivals, n) })
	return max(0, i-1)
}

// seekBack moves to the last block that begins at or before an arrival number, or to the first.
func seekBack(c *bbolt.Cursor, from uint64) (k, v []byte) {
	want := layout.Number64(from)
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

// CopyBlock copies an entry of the bucket of blocks.
func CopyBlock(k, v []byte) layout.Block {
	return layout.Block{First: binary.BigEndian.Uint64(k), Value: bytes.Clone(v)}
}

// Fetch returns the blocks with the given first arrival numbers, or as many of them, from the front, as fit.
func (set Set) Fetch(firsts []uint64, limit int) (found []layout.Block, err error) {
	size := 0
	for len(firsts) > 0 && size < limit {
		s := set[set.Holding(firsts[0])]
		before := len(firsts)
		err := s.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket(layout.BucketBlocks)
			for len(firsts) > 0 && size < limit {
				key := layout.Number64(firsts[0])
				v := b.Get(key)
				if v == nil {
					return nil
				}
				found = append(found, CopyBlock(key, v))
				size += len(v)
				firsts = firsts[1:]
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(firsts) == before {
			return nil, layout.ErrNoBlock(firsts[0])
		}
	}
	return found, nil
}

// Locate returns the places of the exchanges from seq on, in order, up to limit exchanges.
func (set Set) Locate(seq uint64, limit int) (Places, error) {
	st, err := set.State()
	if err != nil {
		return Places{}, err
	}
	answer := Places{Last: st.Seq, Crashed: !st.Ended}
	var rows []rowPlace
	for _, s := range set {
		if rows, err = s.rows(rows, seq, limit); err != nil {
			return answer, err
		}
	}
	// Each segment returned its first rows from seq on, so the first rows of the merged result are complete. The sort
	// is stable: parts of one exchange stay in the order of the segments, which is the order of arrival.
	slices.SortStableFunc(rows, func(a, b rowPlace) int { return cmp.Compare(a.seq, b.seq) })
	placed := 0
	for _, r := range rows {
		n := len(answer.Found)
		if n == 0 || answer.Found[n-1].Seq != r.seq {
			if n == limit || placed > MaxPlaced {
				break
			}
			answer.Found = append(answer.Found, Place{Seq: r.seq})
			n++
		}
		p := &answer.Found[n-1]
		p.Closed = p.Closed || r.closed
		before := len(p.Blocks)
		if p.Blocks, err = r.append(p.Blocks); err != nil {
			return answer, err
		}
		placed += len(p.Blocks) - before
	}
	return answer, nil
}

// A rowPlace is an exchange's first block in one segment.
type rowPlace struct {
	segment *Segment
	seq     uint64
	first   uint64
	closed  bool
}

// rows appends the first blocks of up to limit exchanges from seq on.
func (s *Segment) rows(rows []rowPlace, seq uint64, limit int) ([]rowPlace, error) {
	err := s.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(layout.BucketExchanges).Cursor()
		n := 0
		for k, v := c.Seek(layout.Number64(seq)); k != nil && n < limit; k, v = c.Next() {
			r, err := layout.DecodeRow(v)
			if err != nil {
				return err
			}
			rows = append(rows, rowPlace{s, binary.BigEndian.Uint64(k), r.First, r.Flags&layout.RowClosed != 0})
			n++
		}
		return nil
	})
	return rows, err
}

// append appends the blocks of the segment that have steps of the exchange.
func (r rowPlace) append(blocks []uint64) ([]uint64, error) {
	blocks = append(blocks, r.first)
	err := r.segment.View(func(tx *bbolt.Tx) error {
		blocks = layout.PartsOf(tx.Bucket(layout.BucketParts), blocks, r.seq)
		return nil
	})
	return blocks, err
}

// Find returns sequence numbers from seq on that the index has for a key, in order, up to limit.
func (set Set) Find(h layout.KeyHash, seq uint64, limit int) (found []uint64, err error) {
	for _, s := range set {
		err := s.View(func(tx *bbolt.Tx) (err error) {
			found, err = layout.FindIn(tx, found, h, seq, limit, func() error { return dropPages(s.DB, tx) })
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Kept looks into the newest segment first.
func (set Set) Kept(keys [][]byte, limit int) ([][]byte, error) {
	found := make([][]byte, len(keys))
	for _, s := range slices.Backward(set) {
		err := s.Shelf(func(b *bbolt.Bucket) {
			n, _ := layout.GetEntries(b, keys, found, limit)
			keys, found = keys[:n], found[:n]
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range found {
		if layout.Gone(found[i]) {
			found[i] = nil
		}
	}
	return found, nil
}

// Shelf calls fn with a segment's bucket of stored results, or with nil if it has none, as before format 3.
func (s *Segment) Shelf(fn func(b *bbolt.Bucket)) error {
	if s.ReadingErr != nil {
		return s.ReadingErr
	}
	return s.View(func(tx *bbolt.Tx) error {
		fn(tx.Bucket(layout.BucketReading))
		return nil
	})
}

// KeptRange returns the stored entries from one key up to, but not including, another, in order; a nil bound is no
// limit. It also returns the key to continue from, or nil if there are no more entries.
func (set Set) KeptRange(from, to []byte, limit int) (found []layout.KeptEntry, next []byte, err error) {
	lists, more := make([][]layout.KeptEntry, len(set)), make([]bool, len(set))
	each := max(limit/len(set), 1)
	for i, s := range set {
		if err := s.Shelf(func(b *bbolt.Bucket) { lists[i], more[i] = layout.ListEntries(b, from, to, each) }); err != nil {
			return nil, nil, err
		}
	}
	merged, rest := layout.NewestEntries(lists, more)
	size := 0
	for i, e := range merged {
		if size += e.Weight(); size >= limit && i+1 < len(merged) {
			merged, rest = merged[:i+1], true
			break
		}
	}
	if rest {
		next = append(bytes.Clone(merged[len(merged)-1].Key), 0)
	}
	return slices.DeleteFunc(merged, func(e layout.KeptEntry) bool { return layout.Gone(e.Sealed) }), next, nil
}

// Mark depends only on the steps, however they are divided among segments: it covers the sums of tables that have no
// separate entries for a segment, and the last block. A recorder may commit in the meantime, so changing data is read
// at once.
func (set Set) Mark() ([]byte, error) {
	e := layout.Encoder{B: append([]byte("a2atap mark 1\x00"), set[0].Meta.Capture[:]...)}
	var all layout.Tables
	var last []byte // of the last block: its key and its header
	for _, s := range set {
		err := s.View(func(tx *bbolt.Tx) error {
			st, err := layout.ReadState(tx)
			if err != nil {
				return err
			}
			if !st.Summed {
				st.Tables = s.Found
			}
			for i, t := range st.Tables.All() {
				all.All()[i].N += t.N
				all.All()[i].Sum += t.Sum
			}
			if k, v := tx.Bucket(layout.BucketBlocks).Cursor().Last(); k != nil {
				last = slices.Concat(k, v[:min(len(v), layout.BlockHeader)], layout.Number64(uint64(len(v))))
			}
			if s == set.Last() {
				e.Number(st.Arrival)
				e.Number(st.Seq)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, t := range []layout.Table{all.Rows, all.Parts, all.Index} {
		e.Number(t.N)
		e.Number(t.Sum)
	}
	sum := sha256.Sum256(append(e.B, last...))
	return sum[:], nil
}
