package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// maxProblems is how many problems Check lists before it says that there are more.
const maxProblems = 20

// Check reads all of a capture and reports what is wrong with it, nil if nothing is: that all blocks can be decoded and
// the arrival numbers have no gap, that rows, parts and the list of open exchanges agree with the blocks, that the index
// names exchanges that are there, that the totals are right, and that bbolt finds its pages in order. It needs a capture
// that nobody records, and keeps recorders waiting while it reads.
func Check(ctx context.Context, path string) error {
	o := newOutside(path)
	defer o.close()
	err := o.files(func(set segmentSet) error {
		c := checker{ctx: ctx}
		c.check(set)
		return errors.Join(c.problems...)
	})
	if errors.Is(err, errLocked) {
		err = heldBy(path, err)
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	return nil
}

// A checker walks through segments. It keeps no list of exchanges: each pair of exchange and block is looked up, and at
// the end the pairs are counted.
type checker struct {
	ctx      context.Context
	problems []error

	state state // as it follows from the steps
	bad   bool  // there were more problems than are listed
}

func (c *checker) problem(format string, args ...any) {
	switch {
	case len(c.problems) < maxProblems:
		c.problems = append(c.problems, fmt.Errorf(format, args...))
	case !c.bad:
		c.bad = true
		c.problems = append(c.problems, errors.New("and more"))
	}
}

func (c *checker) check(set segmentSet) {
	for _, s := range set {
		if s.meta.arrivals != c.state.arrival {
			c.problem("%s: begins after arrival %d, the segment before it ends with %d", s.path, s.meta.arrivals, c.state.arrival)
		}
		before := len(c.problems)
		// bbolt checks in a goroutine of its own, where a fault would end the process: our own walk goes first.
		err := s.view(func(tx *bbolt.Tx) error { return c.segment(s, tx) })
		if err != nil {
			c.problems = append(c.problems, err)
		}
		if len(c.problems) > before {
			continue
		}
		err = s.view(func(tx *bbolt.Tx) error {
			for err := range tx.Check() {
				c.problem("%s: database: %w", s.path, err)
			}
			return nil
		})
		if err != nil {
			c.problems = append(c.problems, err)
		}
	}
	st, err := set.state()
	st.ended = false
	if err != nil {
		c.problems = append(c.problems, err)
	} else if st != c.state {
		c.problem("the state says %+v, the steps say %+v", st, c.state)
	}
}

// A segmentCheck is the check of one segment.
type segmentCheck struct {
	*checker
	name           string
	exchanges      *bbolt.Bucket
	parts          *bbolt.Bucket
	rows, partKeys int // that the blocks ask for
}

func (c *checker) segment(s *segment, tx *bbolt.Tx) error {
	sc := segmentCheck{checker: c, name: s.path, exchanges: tx.Bucket(bucketExchanges), parts: tx.Bucket(bucketParts)}
	cursor := tx.Bucket(bucketBlocks).Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		sc.block(block{first: binary.BigEndian.Uint64(k), value: v})
	}
	if len(c.problems) > 0 {
		return nil // the counts would only repeat it
	}
	if n := count(sc.exchanges); n != sc.rows {
		c.problem("%s: %d rows of exchanges, the blocks have %d", s.path, n, sc.rows)
	}
	if n := count(sc.parts); n != sc.partKeys {
		c.problem("%s: %d parts of exchanges, the blocks have %d", s.path, n, sc.partKeys)
	}
	sc.open(tx.Bucket(bucketOpen))
	return tx.Bucket(bucketIndex).ForEach(func(_, v []byte) error {
		if err := run(v).check(c.state.seq); err != nil {
			c.problem("%s: %w", s.path, err)
		}
		return c.ctx.Err()
	})
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
	if b.first != c.state.arrival+1 {
		c.problem("%s: a block begins at arrival %d after %d", c.name, b.first, c.state.arrival)
		c.state.arrival = b.first - 1
	}
	raw, err := b.unseal()
	if err != nil {
		c.problem("%s: %w", c.name, err)
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
			c.problem("%s: the block at arrival %d: %w", c.name, b.first, err)
			return
		}
		c.state.arrival++
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
		c.state.conn = max(c.state.conn, what.Conn)
	case capture.Closed:
		c.state.lostBytes += what.Dropped
	case capture.Lost:
		c.state.lostBytes += what.Bytes
		c.state.lostExchanges += what.Exchanges
	}
}

// pair checks that the exchange of a step has a row that leads to the block. here are the exchanges of the block that
// were seen already.
func (c *segmentCheck) pair(s *capture.Step, first uint64, here map[uint64]bool) {
	v := c.exchanges.Get(number64(s.Seq))
	r, err := decodeRow(v)
	if err != nil {
		c.problem("%s: exchange %d: %w", c.name, s.Seq, err)
		return
	}
	if _, ok := s.What.(capture.Closed); ok && r.flags&rowClosed == 0 {
		c.problem("%s: exchange %d was closed, its row says open", c.name, s.Seq)
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
		c.problem("%s: exchange %d has steps in the block at arrival %d, which neither its row nor its parts name", c.name, s.Seq, first)
	}
}

// open checks that exactly the exchanges without an end are listed as open; those that came from an earlier segment need
// no row in this one.
func (c *segmentCheck) open(open *bbolt.Bucket) {
	cursor := c.exchanges.Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		r, err := decodeRow(v)
		if listed := open.Get(k) != nil; err == nil && listed == (r.flags&rowClosed != 0) {
			c.problem("%s: exchange %d is closed in one list and open in another", c.name, binary.BigEndian.Uint64(k))
		}
	}
}
