package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// A State has a capture's progress, and the contents of its segment. Each commit rewrites it.
type State struct {
	Ended bool // the recorder ended as it should
	Totals

	Summed bool // what follows is known; not in captures of earlier programs

	Unreported Unreported // what was lost and is in no step, since no step could be stored
	Beat       Beat       // of the recorder that wrote it
	Continued  bool       // there is another segment
	Kills      uint64     // how many recorders before this one did not come to their end
	Killed     Beat       // of the last of those
	Tables     Tables     // of the segment
}

// Totals are what follows from the steps of a capture.
type Totals struct {
	Arrival       uint64 // the last arrival number
	Seq           uint64 // the last sequence number
	Conn          uint64 // the last connection number
	LostExchanges int64
	LostBytes     int64
}

// Unreported is what was lost and could not be recorded as a step yet.
type Unreported struct{ Exchanges, Bytes int64 }

// A Beat is a sign of life of a recorder.
type Beat struct {
	Whole  int64         // what passed before is in the capture: in nanoseconds since 1970
	Within time.Duration // how long before a kill what passed may be missing
}

func (e *Encoder) beat(b Beat) {
	e.Signed(b.Whole)
	e.Signed(int64(b.Within))
}

func (d *Decoder) beat() Beat { return Beat{Whole: d.Signed(), Within: time.Duration(d.Signed())} }

// Put writes the state, and values derived from the other entries of the meta bucket, which must already be written.
func (s *State) Put(tx *bbolt.Tx) error {
	meta := tx.Bucket(BucketMeta)
	s.Summed, s.Tables.Meta = true, Table{}
	c := meta.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if !bytes.Equal(k, MetaState) {
			s.Tables.Meta.Add(EntrySum(k, v))
		}
	}
	return meta.Put(MetaState, s.encode())
}

func (s *State) encode() []byte {
	e := Encoder{make([]byte, 0, 192)}
	e.Flag(s.Ended)
	e.Number(s.Arrival)
	e.Number(s.Seq)
	e.Number(s.Conn)
	e.Signed(s.LostExchanges)
	e.Signed(s.LostBytes)
	e.Signed(s.Unreported.Exchanges)
	e.Signed(s.Unreported.Bytes)
	e.beat(s.Beat)
	kills := 2 * s.Kills
	if s.Continued {
		kills++
	}
	e.Number(kills)
	e.beat(s.Killed)
	e.tables(&s.Tables)
	return binary.LittleEndian.AppendUint32(e.B, CRC(e.B))
}

// ReadState reads the state of a segment.
func ReadState(tx *bbolt.Tx) (State, error) { return DecodeState(tx.Bucket(BucketMeta).Get(MetaState)) }

// DecodeState reads the value of a state. Bytes of any content are safe.
func DecodeState(b []byte) (State, error) {
	d := Decoder{B: b}
	s := State{Ended: d.Flag(), Totals: Totals{
		Arrival: d.Number(), Seq: d.Number(), Conn: d.Number(), LostExchanges: d.Signed(), LostBytes: d.Signed(),
	}}
	if s.Summed = d.Err == nil && len(d.B) > 0; s.Summed {
		s.Unreported = Unreported{d.Signed(), d.Signed()}
		s.Beat = d.beat()
		kills := d.Number()
		s.Kills, s.Continued, s.Killed = kills/2, kills%2 == 1, d.beat()
		s.Tables = d.tables()
		sum := d.Take(4)
		if d.Err == nil && (len(d.B) > 0 || binary.LittleEndian.Uint32(sum) != CRC(b[:len(b)-4])) {
			d.Fail(ErrDamaged)
		}
	}
	if d.Err != nil {
		return State{}, fmt.Errorf("the capture's state is damaged: %w", capture.ErrFormat)
	}
	return s, nil
}

// Crash returns how often a recorder of the capture was killed, and the last such crash. ended reports that the
// recorder that wrote the state was not killed.
func (s *State) Crash(ended bool) (times uint64, last capture.Crash) {
	times, b := s.Kills, s.Killed
	if !ended {
		times, b = times+1, s.Beat
	}
	if times == 0 || b.Whole == 0 {
		return times, capture.Crash{}
	}
	return times, capture.Crash{After: time.Unix(0, b.Whole).UTC(), Within: b.Within}
}

// BeatOf returns the sign of life that a recorder left which was killed so.
func BeatOf(c capture.Crash) Beat {
	if c.After.IsZero() {
		return Beat{}
	}
	return Beat{Whole: c.After.UnixNano(), Within: c.Within}
}

// Resumed returns the state for a recorder that continues.
func (s State) Resumed() State {
	if !s.Ended {
		s.Kills, s.Killed = s.Kills+1, s.Beat
	}
	s.Ended = false
	return s
}

// String formats the totals.
func (s Totals) String() string {
	return fmt.Sprintf("%d steps, last exchange %d, last connection %d, %d exchanges and %d bytes lost",
		s.Arrival, s.Seq, s.Conn, s.LostExchanges, s.LostBytes)
}
