package check

import (
	"context"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// A segmentCheck is the check of one segment.
type segmentCheck struct {
	*Checker
	name           string
	here           File
	exchanges      *bbolt.Bucket
	parts          *bbolt.Bucket
	listed         map[layout.Part]bool // in young lists of parts
	rows, partKeys int                  // that the blocks ask for
}

func (c *segmentCheck) wrong(bucket []byte, key, format string, args ...any) {
	c.Problem(Problem{c.name, string(bucket), key, fmt.Sprintf(format, args...)})
}

// walk checks the blocks, and then whether the other buckets have more entries than the blocks require.
func (c *segmentCheck) walk(tx *bbolt.Tx) error {
	before := c.found
	c.exchanges, c.parts = tx.Bucket(layout.BucketExchanges), tx.Bucket(layout.BucketParts)
	c.readLists()
	cursor := tx.Bucket(layout.BucketBlocks).Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		if err := c.Ctx.Err(); err != nil {
			return err
		}
		if len(k) != 8 {
			c.wrong(layout.BucketBlocks, fmt.Sprintf("%x", k), "it is not an arrival number")
			continue
		}
		c.block(layout.Block{First: binary.BigEndian.Uint64(k), Value: v})
		if c.At != nil {
			c.At(c.state.Arrival, c.last)
		}
	}
	if c.found > before {
		return nil // the counts would only repeat it
	}
	if n := Count(c.exchanges); n != c.rows {
		c.wrong(layout.BucketExchanges, "", "%d rows of exchanges, but the blocks have %d", n, c.rows)
	}
	if n := c.countParts(); n != c.partKeys {
		c.wrong(layout.BucketParts, "", "%d parts of exchanges, but the blocks have %d", n, c.partKeys)
	}
	c.open(tx.Bucket(layout.BucketOpen))
	return c.index(tx.Bucket(layout.BucketIndex))
}

// readLists reads the young lists of parts.
func (c *segmentCheck) readLists() {
	c.listed = make(map[layout.Part]bool)
	cursor := c.parts.Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		if !layout.IsPartList(k) {
			continue
		}
		l := layout.PartList(v)
		if err := l.Check(k); err != nil {
			c.wrong(layout.BucketParts, fmt.Sprintf("%x", k), "%v", err)
			continue
		}
		for i := range l.Len() {
			c.listed[l.At(i)] = true
		}
	}
}

func (c *segmentCheck) hasPart(p layout.Part) bool {
	return c.listed[p] || c.parts.Get(layout.PartKey(p)) != nil
}

// countParts returns the number of parts, in lists and as entries.
func (c *segmentCheck) countParts() int {
	n := len(c.listed)
	cursor := c.parts.Cursor()
	for k, _ := cursor.First(); k != nil; k, _ = cursor.Next() {
		if !layout.IsPartList(k) {
			n++
		}
	}
	return n
}

// Count returns how many entries a bucket has.
func Count(b *bbolt.Bucket) int {
	n := 0
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		n++
	}
	return n
}

// block checks one block, and that its exchanges refer to it.
func (c *segmentCheck) block(b layout.Block) {
	c.here.Blocks++
	key := fmt.Sprint(b.First)
	if b.First != c.state.Arrival+1 && !c.unsure {
		c.wrong(layout.BucketBlocks, key, "a block begins at arrival %d after %d", b.First, c.state.Arrival)
	}
	c.state.Arrival, c.unsure = b.First-1, false
	raw, err := b.Unseal()
	if err != nil {
		c.unsure = true
		c.wrong(layout.BucketBlocks, key, "%v", err)
		return
	}
	here := make(map[uint64]bool)
	for len(raw) > 0 {
		var one []byte
		var s capture.Step
		if one, raw, err = layout.Split(raw); err == nil {
			s, err = layout.DecodeStep(one, false)
		}
		if err != nil {
			c.unsure = true
			c.wrong(layout.BucketBlocks, key, "step %d: %v", c.state.Arrival+1, err)
			return
		}
		c.state.Arrival++
		c.here.Steps++
		c.step(&s)
		if s.Seq != 0 {
			c.pair(&s, b.First, here)
		}
	}
}

// step follows the totals.
func (c *segmentCheck) step(s *capture.Step) {
	c.state.Seq = max(c.state.Seq, s.Seq)
	switch what := s.What.(type) {
	case capture.Opened:
		c.here.Exchanges++
		c.state.Conn = max(c.state.Conn, what.Conn)
	case capture.Closed:
		c.state.LostBytes = capture.AddLost(c.state.LostBytes, what.Dropped)
	case capture.Lost:
		c.state.LostBytes = capture.AddLost(c.state.LostBytes, what.Bytes)
		c.state.LostExchanges = capture.AddLost(c.state.LostExchanges, what.Exchanges)
	}
}

// pair checks that the exchange of a step has a row that leads to the block. here has the exchanges of the block that
// were already checked.
func (c *segmentCheck) pair(s *capture.Step, first uint64, here map[uint64]bool) {
	key := fmt.Sprint(s.Seq)
	v := c.exchanges.Get(layout.Number64(s.Seq))
	if v == nil {
		if !here[s.Seq] {
			c.wrong(layout.BucketExchanges, key, "exchange %d has steps, but no row", s.Seq)
		}
		here[s.Seq] = true
		return
	}
	r, err := layout.DecodeRow(v)
	if err != nil {
		c.wrong(layout.BucketExchanges, key, "exchange %d: %v", s.Seq, err)
		return
	}
	if _, ok := s.What.(capture.Closed); ok && r.Flags&layout.RowClosed == 0 {
		c.wrong(layout.BucketExchanges, key, "exchange %d was closed, but its row says open", s.Seq)
	}
	if here[s.Seq] {
		return
	}
	here[s.Seq] = true
	switch {
	case r.First == first:
		c.rows++
	case c.hasPart(layout.Part{Seq: s.Seq, Block: first}):
		c.partKeys++
	default:
		c.wrong(layout.BucketParts, fmt.Sprintf("%d %d", s.Seq, first),
			"exchange %d has steps in the block at arrival %d, but neither its row nor its parts list that block", s.Seq, first)
	}
}

// open checks that exactly the exchanges without an end are listed as open; exchanges from an earlier segment need no
// row in this one.
func (c *segmentCheck) open(open *bbolt.Bucket) {
	c.here.Open = Count(open)
	cursor := c.exchanges.Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		r, err := layout.DecodeRow(v)
		if listed := open.Get(k) != nil; err == nil && listed == (r.Flags&layout.RowClosed != 0) {
			seq := binary.BigEndian.Uint64(k)
			c.wrong(layout.BucketOpen, fmt.Sprint(seq), "exchange %d is closed in one list and open in another", seq)
		}
	}
}

// index checks that the runs are in order and name existing exchanges.
func (c *segmentCheck) index(index *bbolt.Bucket) error {
	return index.ForEach(func(k, v []byte) error {
		if err := layout.Run(v).Check(c.state.Seq); err != nil {
			c.wrong(layout.BucketIndex, runName(k), "%v", err)
		} else {
			c.here.Entries += layout.Run(v).Len()
		}
		return c.Ctx.Err()
	})
}

// runName names the index run of a key: its level and the arrival number at its creation.
func runName(k []byte) string {
	if len(k) != 9 {
		return fmt.Sprintf("%x", k)
	}
	return fmt.Sprintf("%d %d", k[0], binary.BigEndian.Uint64(k[1:]))
}

// VerifyUnsummed checks a set with a segment from a program that stored no sums.
func VerifyUnsummed(set segments.Set) error {
	summed := true
	for _, s := range set {
		summed = summed && s.Summed
	}
	if summed {
		return nil
	}
	c := Checker{Ctx: context.Background(), shallow: true}
	c.Check(set)
	if len(c.Problems) > 0 {
		return pages.Unsound(fmt.Errorf("the index does not match the blocks: %s: %w", c.Problems[0], layout.ErrDamaged))
	}
	return nil
}
