package layout

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// The index is append-only: separate entries in key order would rewrite a page in the middle of the tree for each task,
// which costs more than storing the exchange.
//
// Each commit adds a young run, with its entries in order. When there are enough of them, one commit replaces them with
// one merged run. To find a key, search each run that can contain it by bisection; there is one run for about a
// thousand exchanges.

// Sizes of the index.
const (
	MergeEntries = 4096 // entries in young runs, from which on they are merged
	MergeRuns    = 256  // young runs, likewise
	entrySize    = HashSize + 6
	HashSize     = 10
	runHeader    = 16 // the lowest and the highest sequence number of a run
)

// Levels of runs: the first byte of their keys. The last arrival number of the commit that wrote the run follows.
const (
	RunYoung byte = iota
	RunMerged
)

// An Entry records that an exchange has a key: a hash of the key, then the sequence number, big endian. The entries of
// a key are thus adjacent and in order.
type Entry [entrySize]byte

// A KeyHash is a hash of a key's kind and value. With 80 bits of a good hash, collisions within a capture do not occur
// in practice.
type KeyHash [HashSize]byte

// HashKey returns the hash of a key.
func HashKey(k capture.Key) (h KeyHash) {
	b := make([]byte, 0, 128)
	b = binary.AppendUvarint(b, uint64(len(k.Kind)))
	b = append(b, k.Kind...)
	b = append(b, k.Value...)
	sum := sha256.Sum256(b)
	copy(h[:], sum[:])
	return h
}

// Entry returns the entry for an exchange with the key.
func (h KeyHash) Entry(seq uint64) (e Entry) {
	copy(e[:], h[:])
	// An exchange a nanosecond fills six bytes in three days.
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], seq)
	copy(e[HashSize:], n[2:])
	return e
}

func (e *Entry) seq() uint64 {
	var n [8]byte
	copy(n[2:], e[HashSize:])
	return binary.BigEndian.Uint64(n[:])
}

// compareEntries is bytes.Compare, which sorting calls very often.
func compareEntries(a, b Entry) int {
	if c := cmp.Compare(binary.BigEndian.Uint64(a[:]), binary.BigEndian.Uint64(b[:])); c != 0 {
		return c
	}
	return cmp.Compare(binary.BigEndian.Uint64(a[8:]), binary.BigEndian.Uint64(b[8:]))
}

// A Run is a list of entries as stored: the lowest and the highest sequence number, then the entries.
type Run []byte

// runsAtOnce is after how many runs FindIn rests: to look at one may map some 200 KiB.
const runsAtOnce = 64

// MakeRun sorts the entries, which must not be none.
func MakeRun(entries []Entry) Run {
	slices.SortFunc(entries, compareEntries)
	entries = slices.Compact(entries)
	lowest, highest := entries[0].seq(), uint64(0)
	for i := range entries {
		lowest, highest = min(lowest, entries[i].seq()), max(highest, entries[i].seq())
	}
	r := make(Run, 0, runHeader+len(entries)*entrySize)
	r = binary.BigEndian.AppendUint64(r, lowest)
	r = binary.BigEndian.AppendUint64(r, highest)
	for i := range entries {
		r = append(r, entries[i][:]...)
	}
	return r
}

func (r Run) lowest() uint64  { return binary.BigEndian.Uint64(r) }
func (r Run) highest() uint64 { return binary.BigEndian.Uint64(r[8:]) }
func (r Run) Len() int        { return (len(r) - runHeader) / entrySize }
func (r Run) at(i int) Entry  { return Entry(r[runHeader+i*entrySize:]) }

// find appends up to limit sequence numbers from seq on that have a key.
func (r Run) find(found []uint64, h KeyHash, seq uint64, limit int) []uint64 {
	want := h.Entry(seq)
	low, high := 0, r.Len()
	for low < high {
		if mid := (low + high) / 2; compareEntries(r.at(mid), want) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for ; low < r.Len() && limit > 0; low, limit = low+1, limit-1 {
		e := r.at(low)
		if KeyHash(e[:]) != h {
			break
		}
		found = append(found, e.seq())
	}
	return found
}

// Check reports what is wrong with a run.
func (r Run) Check(last uint64) error {
	if len(r) <= runHeader || (len(r)-runHeader)%entrySize != 0 {
		return fmt.Errorf("a run of the index has %d bytes: %w", len(r), ErrDamaged)
	}
	var before Entry
	for i := range r.Len() {
		e := r.at(i)
		if seq := e.seq(); seq < max(1, r.lowest()) || seq > min(last, r.highest()) {
			return fmt.Errorf("the index has an entry for exchange %d: %w", seq, ErrDamaged)
		}
		if compareEntries(before, e) >= 0 {
			return fmt.Errorf("a run of the index is not in order: %w", ErrDamaged)
		}
		before = e
	}
	return nil
}

// FindIn adds the results of a segment's runs to found, which is in order: sequence numbers from seq on, up to limit.
// It calls rest after every few searched runs, whose pages can then be released.
func FindIn(tx *bbolt.Tx, found []uint64, h KeyHash, seq uint64, limit int, rest func() error) ([]uint64, error) {
	var runs []Run
	looked := 0
	look := func() error {
		if looked++; looked%runsAtOnce != 0 {
			return nil
		}
		return rest()
	}
	c := tx.Bucket(BucketIndex).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if len(v) < runHeader {
			return nil, fmt.Errorf("a run of the index has %d bytes: %w", len(v), ErrDamaged)
		}
		if r := Run(v); r.highest() >= seq {
			runs = append(runs, r)
		}
		if err := look(); err != nil {
			return nil, err
		}
	}
	// Runs overlap only in keys that were learned late, so a page of a frequent key comes from few runs.
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.lowest(), b.lowest()) })
	for _, r := range runs {
		if len(found) == limit && found[limit-1] < r.lowest() {
			break
		}
		before := len(found)
		if found = r.find(found, h, seq, limit); len(found) > before {
			slices.Sort(found)
			found = slices.Compact(found)
			found = found[:min(limit, len(found))]
		}
		if err := look(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// YoungRuns are a segment's young runs.
type YoungRuns struct {
	keys    [][]byte
	sums    []uint64 // of the runs
	Entries []Entry
}

// ReadYoung reads the young runs of a segment.
func ReadYoung(tx *bbolt.Tx) (y YoungRuns, err error) {
	c := tx.Bucket(BucketIndex).Cursor()
	for k, v := c.First(); k != nil && k[0] == RunYoung; k, v = c.Next() {
		r := Run(v)
		if len(r) < runHeader {
			return y, fmt.Errorf("a run of the index has %d bytes: %w", len(r), ErrDamaged)
		}
		y.keys = append(y.keys, bytes.Clone(k))
		y.sums = append(y.sums, EntrySum(k, v))
		for i := range r.Len() {
			y.Entries = append(y.Entries, r.at(i))
		}
	}
	return y, nil
}

// Store writes the entries of a commit with state st, and returns the young runs after it. The receiver is unchanged.
func (y YoungRuns) Store(tx *bbolt.Tx, entries []Entry, st *State) (YoungRuns, error) {
	if len(entries) == 0 {
		return y, nil
	}
	index := tx.Bucket(BucketIndex)
	if len(y.Entries)+len(entries) < MergeEntries && len(y.keys) < MergeRuns {
		key, value := RunKey(RunYoung, st.Arrival), MakeRun(entries)
		sum := EntrySum(key, value)
		st.Tables.Index.Add(sum)
		after := YoungRuns{
			keys:    append(y.keys[:len(y.keys):len(y.keys)], key),
			sums:    append(y.sums[:len(y.sums):len(y.sums)], sum),
			Entries: slices.Concat(y.Entries, entries),
		}
		return after, index.Put(key, value)
	}
	for i, key := range y.keys {
		if err := index.Delete(key); err != nil {
			return y, err
		}
		st.Tables.Index.Remove(y.sums[i])
	}
	key, value := RunKey(RunMerged, st.Arrival), MakeRun(slices.Concat(y.Entries, entries))
	st.Tables.Index.Add(EntrySum(key, value))
	return YoungRuns{}, index.Put(key, value)
}

// RunKey returns the key of a run: its level, and the last arrival number of the commit that wrote it.
func RunKey(level byte, arrival uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{level}, arrival)
}
