package bolt

import (
	"context"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// A segmentCheck is the check of one segment.
type segmentCheck struct {
	*checker
	name           string
	here           CheckedFile
	exchanges      *bbolt.Bucket
	parts          *bbolt.Bucket
	rows, partKeys int // that the blocks ask for
}

func (c *segmentCheck) wrong(bucket []byte, key, format string, args ...any) {
	c.problem(Problem{c.name, string(bucket), key, fmt.Sprintf(format, args...)})
}

// walk goes through the blocks, and then sees whether the other buckets have more than those ask for.
func (c *segmentCheck) walk(tx *bbolt.Tx) error {
	before := c.found
	c.exchanges, c.parts = tx.Bucket(bucketExchanges), tx.Bucket(bucketParts)
	cursor := tx.Bucket(bucketBlocks).Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if len(k) != 8 {
			c.wrong(bucketBlocks, fmt.Sprintf("%x", k), "it is no arrival number")
			continue
		}
		c.block(block{first: binary.BigEndian.Uint64(k), value: v})
		if c.at != nil {
			c.at(c.state.arrival, c.last)
		}
	}
	if c.found > before {
		return nil // the counts would only repeat it
	}
	if n := count(c.exchanges); n != c.rows {
		c.wrong(bucketExchanges, "", "%d rows of exchanges, the blocks have %d", n, c.rows)
	}
	if n := count(c.parts); n != c.partKeys {
		c.wrong(bucketParts, "", "%d parts of exchanges, the blocks have %d", n, c.partKeys)
	}
	c.open(tx.Bucket(bucketOpen))
	return c.index(tx.Bucket(bucketIndex))
}

func count(b *bbolt.Bucket) int {
	n := 0
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		n++
	}
	return n
}

// block checks one block, and that its exchanges know it.
func (c *segmentCheck) block(b block) {
	c.here.Blocks++
	key := fmt.Sprint(b.first)
	if b.first != c.state.arrival+1 && !c.unsure {
		c.wrong(bucketBlocks, key, "a block begins at arrival %d after %d", b.first, c.state.arrival)
	}
	c.state.arrival, c.unsure = b.first-1, false
	raw, err := b.unseal()
	if err != nil {
		c.unsure = true
		c.wrong(bucketBlocks, key, "%v", err)
		return
	}
	here := make(map[uint64]bool)
	for len(raw) > 0 {
		var one []byte
		var s capture.Step
		if one, raw, err = split(raw); err == nil {
			s, err = decodeStep(one, false)
		}
		if err != nil {
			c.unsure = true
			c.wrong(bucketBlocks, key, "step %d: %v", c.state.arrival+1, err)
			return
		}
		c.state.arrival++
		c.here.Steps++
		c.step(&s)
		if s.Seq != 0 {
			c.pair(&s, b.first, here)
		}
	}
}

// step follows the totals.
func (c *segmentCheck) step(s *capture.Step) {
	c.state.seq = max(c.state.seq, s.Seq)
	switch what := s.What.(type) {
	case capture.Opened:
		c.here.Exchanges++
		c.state.conn = max(c.state.conn, what.Conn)
	case capture.Closed:
		c.state.lostBytes = capture.AddLost(c.state.lostBytes, what.Dropped)
	case capture.Lost:
		c.state.lostBytes = capture.AddLost(c.state.lostBytes, what.Bytes)
		c.state.lostExchanges = capture.AddLost(c.state.lostExchanges, what.Exchanges)
	}
}

// pair checks that the exchange of a step has a row that leads to the block. here are the exchanges of the block that
// were seen already.
func (c *segmentCheck) pair(s *capture.Step, first uint64, here map[uint64]bool) {
	key := fmt.Sprint(s.Seq)
	v := c.exchanges.Get(number64(s.Seq))
	if v == nil {
		if !here[s.Seq] {
			c.wrong(bucketExchanges, key, "exchange %d has steps and no row", s.Seq)
		}
		here[s.Seq] = true
		return
	}
	r, err := decodeRow(v)
	if err != nil {
		c.wrong(bucketExchanges, key, "exchange %d: %v", s.Seq, err)
		return
	}
	if _, ok := s.What.(capture.Closed); ok && r.flags&rowClosed == 0 {
		c.wrong(bucketExchanges, key, "exchange %d was closed, its row says open", s.Seq)
	}
	if here[s.Seq] {
		return
	}
	here[s.Seq] = true
	switch {
	case r.first == first:
		c.rows++
	case c.parts.Get(partKey(s.Seq, first)) != nil:
		c.partKeys++
	default:
		c.wrong(bucketParts, fmt.Sprintf("%d %d", s.Seq, first),
			"exchange %d has steps in the block at arrival %d, which neither its row nor its parts name", s.Seq, first)
	}
}

// open checks that exactly the exchanges without an end are listed as open; those that came from an earlier segment
// need no row in this one.
func (c *segmentCheck) open(open *bbolt.Bucket) {
	c.here.Open = count(open)
	cursor := c.exchanges.Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		r, err := decodeRow(v)
		if listed := open.Get(k) != nil; err == nil && listed == (r.flags&rowClosed != 0) {
			seq := binary.BigEndian.Uint64(k)
			c.wrong(bucketOpen, fmt.Sprint(seq), "exchange %d is closed in one list and open in another", seq)
		}
	}
}

// index checks that the runs are in order and name exchanges that are there.
func (c *segmentCheck) index(index *bbolt.Bucket) error {
	return index.ForEach(func(k, v []byte) error {
		if err := run(v).check(c.state.seq); err != nil {
			c.wrong(bucketIndex, runName(k), "%v", err)
		} else {
			c.here.Entries += run(v).len()
		}
		return c.ctx.Err()
	})
}

// runName says which run of the index a key is: its level and the arrival number with which it was made.
func runName(k []byte) string {
	if len(k) != 9 {
		return fmt.Sprintf("%x", k)
	}
	return fmt.Sprintf("%d %d", k[0], binary.BigEndian.Uint64(k[1:]))
}

// verifyUnsummed goes through a set of which a segment comes from a program that left no sums.
func verifyUnsummed(set segmentSet) error {
	summed := true
	for _, s := range set {
		summed = summed && s.summed
	}
	if summed {
		return nil
	}
	c := checker{ctx: context.Background(), shallow: true}
	c.check(set)
	if len(c.Problems) > 0 {
		return unsound(fmt.Errorf("the index does not match the blocks: %s: %w", c.Problems[0], errDamaged))
	}
	return nil
}
