package bolt

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"go.etcd.io/bbolt"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
)

// A batch is what one commit adds to a segment. It is built without touching the database and stored in one
// transaction; if that fails, nothing of it has happened.
type batch struct {
	state  state           // after it
	blocks []block         // in order of arrival
	rows   map[uint64]*row // of the exchanges that it touches, by sequence number
	parts  [][]byte        // keys of the parts bucket
	index  []entry
	begun  int64 // exchanges of which the capture had nothing

	entries []keptEntry // that are to be kept beside the steps
	hide    bool        // what is removed of them may be in earlier segments
	young   youngRuns   // of the index, before the batch; after it, when it was stored

	work   *background.Work
	lookup func(seq uint64) (row, error) // what was known of an exchange before
	raw    []byte                        // the encoded steps of the block under way
	first  uint64                        // its first arrival number
	keep   bool                          // the steps of blocks too, for a reader in this process
	kept   []capture.Step                // those of the block under way
	room   []byte                        // for the values of blocks; used again when the batch was stored
}

// add encodes a step, in pieces where it is large, and notes what else must be written for it.
func (b *batch) add(s capture.Step) error {
	var failed error
	cut(s, func(s capture.Step) {
		if failed == nil {
			failed = b.addPiece(&s)
		}
	})
	return failed
}

func (b *batch) addPiece(s *capture.Step) error {
	before := len(b.raw)
	raw, err := appendStep(b.raw, s)
	if err != nil {
		return err
	}
	var r *row
	if s.Seq != 0 {
		if r, err = b.row(s.Seq); err != nil {
			return err
		}
		if _, ok := s.What.(capture.Fact); ok && r.unknown() {
			delete(b.rows, s.Seq)
			return nil // of an exchange that was lost
		}
	}
	if before > 0 && len(raw) > blockTarget {
		b.endBlock()
		copy(raw, raw[before:])
		raw, before = raw[:len(raw)-before], 0
	}
	if before == 0 {
		b.first = b.state.arrival + 1
	}
	b.raw = raw
	b.state.arrival++
	if b.keep {
		kept := *s
		kept.Arrival, kept.Keys = b.state.arrival, nil
		b.kept = append(b.kept, kept)
	}
	b.note(s, r)
	return nil
}

// endBlock packs the block under way.
func (b *batch) endBlock() {
	if len(b.raw) == 0 {
		return
	}
	var sealed block
	sealed, b.room = seal(b.room, b.first, b.raw)
	sealed.steps, b.kept = b.kept, nil
	b.blocks = append(b.blocks, sealed)
	b.raw = b.raw[:0]
}

// note keeps the state, the exchange's row and the index in step with an encoded step. r is nil for a step that is
// about the capture as a whole.
func (b *batch) note(s *capture.Step, r *row) {
	if lost, ok := s.What.(capture.Lost); ok {
		b.state.lostExchanges = capture.AddLost(b.state.lostExchanges, lost.Exchanges)
		b.state.lostBytes = capture.AddLost(b.state.lostBytes, lost.Bytes)
	}
	if r == nil {
		return
	}
	if r.unknown() {
		b.begun++
	}
	switch {
	case r.first == 0:
		r.first = b.first
	case r.last != b.first:
		b.parts = append(b.parts, partKey(s.Seq, b.first))
	}
	r.last = b.first
	b.state.seq = max(b.state.seq, s.Seq)
	switch what := s.What.(type) {
	case capture.Opened:
		r.started = what.Started
		b.state.conn = max(b.state.conn, what.Conn)
	case capture.Closed:
		r.close(&what, s)
		b.state.lostBytes = capture.AddLost(b.state.lostBytes, what.Dropped)
	}
	for _, k := range s.Keys {
		if h := hashKey(k); r.learn(h) {
			b.index = append(b.index, h.entry(s.Seq))
		}
	}
}

// maxKeys bounds how many keys are remembered of an open exchange. More go to the index each time they are named.
const maxKeys = 64

func (b *batch) row(seq uint64) (*row, error) {
	if r := b.rows[seq]; r != nil {
		return r, nil
	}
	r := row{ended: capture.NotKnown}
	if seq <= b.state.seq {
		var err error
		if r, err = b.lookup(seq); err != nil {
			return nil, err
		}
	}
	b.rows[seq] = &r
	return &r, nil
}

// store writes the batch. Keys are sorted, so that neighbours meet in the same pages.
func (b *batch) store(tx *bbolt.Tx) error {
	blocks := tx.Bucket(bucketBlocks)
	blocks.FillPercent = sequential
	for _, block := range b.blocks {
		if err := blocks.Put(number64(block.first), block.value); err != nil {
			return fmt.Errorf("store a block of %d bytes: %w", len(block.value), err)
		}
		b.work.GiveWay()
	}
	if err := b.storeRows(tx); err != nil {
		return fmt.Errorf("store rows of exchanges: %w", err)
	}
	parts := tx.Bucket(bucketParts)
	slices.SortFunc(b.parts, bytes.Compare)
	for _, key := range b.parts {
		if err := parts.Put(key, nothing); err != nil {
			return fmt.Errorf("store parts of exchanges: %w", err)
		}
		b.state.tables.parts.add(entrySum(key, nothing))
	}
	var err error
	if b.young, err = b.young.store(tx, b.index, &b.state); err != nil {
		return fmt.Errorf("store the index: %w", err)
	}
	if len(b.entries) > 0 {
		if err := putEntries(tx.Bucket(bucketReading), b.entries, b.hide); err != nil {
			return err
		}
	}
	return b.state.put(tx)
}

func (b *batch) storeRows(tx *bbolt.Tx) error {
	exchanges, open := tx.Bucket(bucketExchanges), tx.Bucket(bucketOpen)
	exchanges.FillPercent = sequential
	for _, seq := range slices.Sorted(maps.Keys(b.rows)) {
		r, key := b.rows[seq], number64(seq)
		value := r.encode()
		if err := exchanges.Put(key, value); err != nil {
			return err
		}
		if r.stored {
			b.state.tables.rows.remove(r.sum)
		}
		r.stored, r.sum = true, entrySum(key, value)
		b.state.tables.rows.add(r.sum)
		b.work.GiveWay()
		var err error
		switch isOpen := open.Get(key) != nil; {
		case r.flags&rowClosed == 0 && !isOpen:
			err = open.Put(key, nothing)
			b.state.tables.open.add(entrySum(key, nothing))
		case r.flags&rowClosed != 0 && isOpen:
			err = open.Delete(key)
			b.state.tables.open.remove(entrySum(key, nothing))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
