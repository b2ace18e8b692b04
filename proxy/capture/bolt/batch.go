package bolt

import (
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
)

// A batch is the content that one commit adds to a segment. It is built without touching the database and stored in one
// transaction; if that fails, the segment is unchanged.
type batch struct {
	state  layout.State   // after it
	blocks []layout.Block // in order of arrival
	begun  int64          // exchanges without earlier steps in the capture

	entries []layout.KeptEntry // to be stored alongside the steps
	hide    bool               // removed entries may also exist in earlier segments
	young   layout.YoungRuns   // of the index, before the batch; after it, when it was stored
	lists   layout.YoungParts  // the same of the parts
	merge   layout.Merge       // which lists are to become entries

	work   *background.Work
	lookup func(seq uint64) (layout.Row, error) // the known row of an exchange
	first  uint64                               // the first arrival number of the block under way
	keep   bool                                 // the steps of blocks too, for a reader in this process

	*scratch
}

// A scratch is memory that batches reuse one after another: all of it belongs to the newest batch.
type scratch struct {
	raw    []byte         // the encoded steps of the block under way
	kept   []capture.Step // its steps, if they are kept
	room   []byte         // for the values of blocks
	rows   rowList        // of the exchanges that the batch touches
	values []byte         // for the values of rows
	parts  []layout.Part
	index  []layout.Entry
}

// A reused scratch has room for this many exchanges, parts and index entries: a few more than a commit under load has.
const (
	scratchRows  = 4096
	scratchIndex = 8 * scratchRows
)

// reset empties the scratch for the next batch, and frees unusually large memory.
func (s *scratch) reset() {
	if cap(s.raw) > 2*layout.BlockTarget {
		s.raw = nil
	}
	if cap(s.room) > 2*layout.RoomSize {
		s.room = nil
	}
	if cap(s.rows.list) > scratchRows || max(cap(s.index), cap(s.parts)) > scratchIndex {
		*s = scratch{raw: s.raw, room: s.room}
	}
	s.raw, s.room, s.values = s.raw[:0], s.room[:0], s.values[:0]
	s.parts, s.index = s.parts[:0], s.index[:0]
	s.rows.reset()
}

// add encodes a step, in pieces if it is large, and records what else must be written for it.
func (b *batch) add(s capture.Step) error {
	var failed error
	layout.Cut(s, func(s capture.Step) {
		if failed == nil {
			failed = b.addPiece(&s)
		}
	})
	return failed
}

func (b *batch) addPiece(s *capture.Step) error {
	before := len(b.raw)
	raw, err := layout.AppendStep(b.raw, s)
	if err != nil {
		return err
	}
	var r *layout.Row
	if s.Seq != 0 {
		if r, err = b.row(s.Seq); err != nil {
			return err
		}
		if _, ok := s.What.(capture.Fact); ok && r.Unknown() {
			b.rows.drop(s.Seq)
			return nil // of an exchange that was lost
		}
	}
	if before > 0 && len(raw) > layout.BlockTarget {
		b.endBlock()
		copy(raw, raw[before:])
		raw, before = raw[:len(raw)-before], 0
	}
	if before == 0 {
		b.first = b.state.Arrival + 1
	}
	b.raw = raw
	b.state.Arrival++
	if b.keep {
		kept := *s
		kept.Arrival, kept.Keys = b.state.Arrival, nil
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
	var sealed layout.Block
	sealed, b.room = layout.Seal(b.room, b.first, b.raw)
	if b.keep {
		sealed.Steps = slices.Clone(b.kept)
		clear(b.kept)
		b.kept = b.kept[:0]
	}
	b.blocks = append(b.blocks, sealed)
	b.raw = b.raw[:0]
}

// note keeps the state, the exchange's row and the index in step with an encoded step. r is nil for a step that is
// about the capture as a whole.
func (b *batch) note(s *capture.Step, r *layout.Row) {
	if lost, ok := s.What.(capture.Lost); ok {
		b.state.LostExchanges = capture.AddLost(b.state.LostExchanges, lost.Exchanges)
		b.state.LostBytes = capture.AddLost(b.state.LostBytes, lost.Bytes)
	}
	if r == nil {
		return
	}
	if r.Unknown() {
		b.begun++
	}
	switch {
	case r.First == 0:
		r.First, r.Changed = b.first, true
	case r.Last != b.first:
		b.parts = append(b.parts, layout.Part{Seq: s.Seq, Block: b.first})
	}
	r.Last = b.first
	b.state.Seq = max(b.state.Seq, s.Seq)
	switch what := s.What.(type) {
	case capture.Opened:
		r.Started, r.Changed = what.Started, true
		b.state.Conn = max(b.state.Conn, what.Conn)
	case capture.Closed:
		r.Close(&what, s)
		b.state.LostBytes = capture.AddLost(b.state.LostBytes, what.Dropped)
	}
	for _, k := range s.Keys {
		if h := layout.HashKey(k); r.Learn(h) {
			b.index = append(b.index, h.Entry(s.Seq))
		}
	}
}

func (b *batch) row(seq uint64) (*layout.Row, error) {
	if r := b.rows.find(seq); r != nil {
		return r, nil
	}
	r := layout.Row{Ended: capture.NotKnown}
	if seq <= b.state.Seq {
		var err error
		if r, err = b.lookup(seq); err != nil {
			return nil, err
		}
	}
	return b.rows.add(seq, r), nil
}

// store writes the batch. Keys are sorted, so that neighbours meet in the same pages.
func (b *batch) store(tx *bbolt.Tx) error {
	blocks := tx.Bucket(layout.BucketBlocks)
	blocks.FillPercent = layout.Sequential
	for _, block := range b.blocks {
		if err := blocks.Put(layout.Number64(block.First), block.Value); err != nil {
			return fmt.Errorf("store a block of %d bytes: %w", len(block.Value), err)
		}
		b.work.GiveWay()
	}
	if err := b.storeRows(tx); err != nil {
		return fmt.Errorf("store rows of exchanges: %w", err)
	}
	var err error
	if b.lists, err = b.lists.Store(tx, b.parts, &b.state, b.merge, func() { b.work.GiveWay() }); err != nil {
		return fmt.Errorf("store parts of exchanges: %w", err)
	}
	if b.young, err = b.young.Store(tx, b.index, &b.state); err != nil {
		return fmt.Errorf("store the index: %w", err)
	}
	if len(b.entries) > 0 {
		if err := layout.PutEntries(tx.Bucket(layout.BucketReading), b.entries, b.hide); err != nil {
			return err
		}
	}
	return b.state.Put(tx)
}

func (b *batch) storeRows(tx *bbolt.Tx) error {
	exchanges, open := tx.Bucket(layout.BucketExchanges), tx.Bucket(layout.BucketOpen)
	exchanges.FillPercent = layout.Sequential
	b.rows.sort()
	for i := range b.rows.list {
		r := &b.rows.list[i]
		if r.Stored && !r.Changed {
			continue // the usual case for the rows that an event touches
		}
		key, start := layout.Number64(r.seq), len(b.values)
		b.values = r.Append(b.values)
		value := b.values[start:len(b.values):len(b.values)]
		if err := exchanges.Put(key, value); err != nil {
			return err
		}
		if r.Stored {
			b.state.Tables.Rows.Remove(r.Sum)
		}
		r.Stored, r.Changed, r.Sum = true, false, layout.EntrySum(key, value)
		b.state.Tables.Rows.Add(r.Sum)
		b.work.GiveWay()
		var err error
		switch isOpen := open.Get(key) != nil; {
		case r.Flags&layout.RowClosed == 0 && !isOpen:
			err = open.Put(key, layout.Nothing)
			b.state.Tables.Open.Add(layout.EntrySum(key, layout.Nothing))
		case r.Flags&layout.RowClosed != 0 && isOpen:
			err = open.Delete(key)
			b.state.Tables.Open.Remove(layout.EntrySum(key, layout.Nothing))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
