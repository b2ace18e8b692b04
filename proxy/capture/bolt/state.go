package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// A state says how far a capture has come, and what its segment holds. It is rewritten by each commit.
type state struct {
	ended bool // the recorder ended as it should
	totals

	summed bool // what follows is known; not in captures of earlier programs

	unreported unreported // what was lost and is in no step, since no step could be stored
	beat       beat       // of the recorder that wrote it
	continued  bool       // there is another segment
	kills      uint64     // how many recorders before this one did not come to their end
	killed     beat       // of the last of those
	tables     tables     // of the segment
}

// totals are what follows from the steps of a capture.
type totals struct {
	arrival       uint64 // the last arrival number
	seq           uint64 // the last sequence number
	conn          uint64 // the last connection number
	lostExchanges int64
	lostBytes     int64
}

// unreported is what was lost and could not be recorded as a step yet.
type unreported struct{ exchanges, bytes int64 }

// A beat is a sign of life of a recorder.
type beat struct {
	whole  int64         // what passed before is in the capture: in nanoseconds since 1970
	within time.Duration // how long before a kill what passed may be missing
}

func (e *encoder) beat(b beat) {
	e.signed(b.whole)
	e.signed(int64(b.within))
}

func (d *decoder) beat() beat { return beat{whole: d.signed(), within: time.Duration(d.signed())} }

// put writes the state, and what follows from the other entries of the meta bucket, which must be there already.
func (s *state) put(tx *bbolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	s.summed, s.tables.meta = true, table{}
	c := meta.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if !bytes.Equal(k, metaState) {
			s.tables.meta.add(entrySum(k, v))
		}
	}
	return meta.Put(metaState, s.encode())
}

func (s *state) encode() []byte {
	e := encoder{make([]byte, 0, 192)}
	e.flag(s.ended)
	e.number(s.arrival)
	e.number(s.seq)
	e.number(s.conn)
	e.signed(s.lostExchanges)
	e.signed(s.lostBytes)
	e.signed(s.unreported.exchanges)
	e.signed(s.unreported.bytes)
	e.beat(s.beat)
	kills := 2 * s.kills
	if s.continued {
		kills++
	}
	e.number(kills)
	e.beat(s.killed)
	e.tables(&s.tables)
	return binary.LittleEndian.AppendUint32(e.b, crcOf(e.b))
}

func readState(tx *bbolt.Tx) (state, error) { return decodeState(tx.Bucket(bucketMeta).Get(metaState)) }

func decodeState(b []byte) (state, error) {
	d := decoder{b: b}
	s := state{ended: d.flag(), totals: totals{
		arrival: d.number(), seq: d.number(), conn: d.number(), lostExchanges: d.signed(), lostBytes: d.signed(),
	}}
	if s.summed = d.err == nil && len(d.b) > 0; s.summed {
		s.unreported = unreported{d.signed(), d.signed()}
		s.beat = d.beat()
		kills := d.number()
		s.kills, s.continued, s.killed = kills/2, kills%2 == 1, d.beat()
		s.tables = d.tables()
		sum := d.take(4)
		if d.err == nil && (len(d.b) > 0 || binary.LittleEndian.Uint32(sum) != crcOf(b[:len(b)-4])) {
			d.fail(errDamaged)
		}
	}
	if d.err != nil {
		return state{}, fmt.Errorf("the capture's state is damaged: %w", capture.ErrFormat)
	}
	return s, nil
}

// crash returns how often a recorder of the capture was killed, and what is to be said of the last time. ended says
// that the one that wrote the state was not.
func (s *state) crash(ended bool) (times uint64, last capture.Crash) {
	times, b := s.kills, s.killed
	if !ended {
		times, b = times+1, s.beat
	}
	if times == 0 || b.whole == 0 {
		return times, capture.Crash{}
	}
	return times, capture.Crash{After: time.Unix(0, b.whole).UTC(), Within: b.within}
}

// resumed returns the state for a recorder that goes on.
func (s state) resumed() state {
	if !s.ended {
		s.kills, s.killed = s.kills+1, s.beat
	}
	s.ended = false
	return s
}

// String says the totals in words.
func (s totals) String() string {
	return fmt.Sprintf("%d steps, last exchange %d, last connection %d, %d exchanges and %d bytes lost",
		s.arrival, s.seq, s.conn, s.lostExchanges, s.lostBytes)
}
