package layout

import (
	"fmt"
	"slices"
	"time"

	"a2atap/proxy/capture"
)

// Flags of a row.
const (
	RowClosed      byte = 1 << iota // its Closed is in the capture
	rowInterrupted                  // according to its Closed
	rowFault                        // its Closed has a fault
	RowContinued                    // steps of it are in earlier segments
)

// A Row has the facts about an exchange that are available without reading its blocks.
type Row struct {
	Flags   byte
	First   uint64        // the first block in this segment that has steps of it
	Started time.Time     // zero if its Opened is not in this segment
	Ended   time.Duration // offset of its Closed; capture.NotKnown without

	// Not stored, and known to the writer only:
	Last uint64    // the last block of the batch with steps of it
	Keys []KeyHash // what the index has of an open exchange

	Stored  bool   // in this segment
	Changed bool   // then: since it was stored
	Sum     uint64 // then: its EntrySum when it was stored
}

// Unknown reports whether the capture has nothing of the exchange.
func (r *Row) Unknown() bool { return r.First == 0 && r.Flags&RowContinued == 0 }

// Append appends the value of a row.
func (r *Row) Append(b []byte) []byte {
	e := Encoder{append(b, r.Flags)}
	e.Number(r.First)
	e.Instant(r.Started)
	e.Signed(int64(r.Ended))
	return e.B
}

// DecodeRow reads what Append appended.
func DecodeRow(b []byte) (Row, error) {
	d := Decoder{B: b}
	r := Row{Flags: d.Octet(), First: d.Number(), Started: d.Instant(), Ended: time.Duration(d.Signed())}
	if d.Err != nil {
		return r, fmt.Errorf("decode the row of an exchange: %w", d.Err)
	}
	return r, nil
}

// Learn reports whether a key is new. Every event of a stream names its task again.
//
// Copies of a row may share the memory of their keys, so only one copy may continue to learn keys.
func (r *Row) Learn(h KeyHash) bool {
	if slices.Contains(r.Keys, h) {
		return false
	}
	if len(r.Keys) < maxKeys {
		if r.Keys == nil {
			r.Keys = make([]KeyHash, 0, usualKeys)
		}
		r.Keys = append(r.Keys, h)
	}
	return true
}

// Close notes the end of an exchange.
func (r *Row) Close(c *capture.Closed, s *capture.Step) {
	r.Flags |= RowClosed
	if c.Interrupted {
		r.Flags |= rowInterrupted
	}
	if c.Fault != nil {
		r.Flags |= rowFault
	}
	r.Ended, r.Changed = s.Offset, true
}

const (
	// maxKeys bounds how many keys are remembered of an open exchange. More go to the index each time they are named.
	maxKeys = 64

	usualKeys = 4 // agent, operation, task and context
)
