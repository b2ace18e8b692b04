package bolt

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

// The index is written as it grows, never in its middle: an entry of its own per key, in the order of the keys, would
// rewrite a page somewhere in the tree for each task, which costs more than storing the exchange.
//
// Each commit adds a young run, its entries in order. When there are enough of them, one commit replaces them by one
// merged run. To find a key is to look into each run that can have it, by halves; there is one run for about a thousand
// exchanges.

// Sizes of the index.
const (
	mergeEntries = 4096 // entries in young runs, from which on they are merged
	mergeRuns    = 256  // young runs, likewise
	entrySize    = hashSize + 6
	hashSize     = 10
	runHeader    = 16 // the lowest and the highest sequence number of a run
)

// Levels of runs: the first byte of their keys. The last arrival number of the commit that wrote the run follows.
const (
	runYoung byte = iota
	runMerged
)

// An entry says that an exchange has a key: a hash of the key, then the sequence number, big endian. So the entries of
// a key are neighbours, in order.
type entry [entrySize]byte

// A keyHash stands for a kind and a value. With 80 bits of a good hash two keys of a capture never meet.
type keyHash [hashSize]byte

func hashKey(k capture.Key) (h keyHash) {
	b := make([]byte, 0, 128)
	b = binary.AppendUvarint(b, uint64(len(k.Kind)))
	b = append(b, k.Kind...)
	b = append(b, k.Value...)
	sum := sha256.Sum256(b)
	copy(h[:], sum[:])
	return h
}

func (h keyHash) entry(seq uint64) (e entry) {
	copy(e[:], h[:])
	// An exchange a nanosecond fills six bytes in three days.
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], seq)
	copy(e[hashSize:], n[2:])
	return e
}

func (e *entry) seq() uint64 {
	var n [8]byte
	copy(n[2:], e[hashSize:])
	return binary.BigEndian.Uint64(n[:])
}

func compareEntries(a, b entry) int { return bytes.Compare(a[:], b[:]) }

// A run is a list of entries as stored: the lowest and the highest sequence number, then the entries.
type run []byte

// makeRun sorts the entries, which must not be none.
func makeRun(entries []entry) run {
	slices.SortFunc(entries, compareEntries)
	entries = slices.Compact(entries)
	lowest, highest := entries[0].seq(), uint64(0)
	for i := range entries {
		lowest, highest = min(lowest, entries[i].seq()), max(highest, entries[i].seq())
	}
	r := make(run, 0, runHeader+len(entries)*entrySize)
	r = binary.BigEndian.AppendUint64(r, lowest)
	r = binary.BigEndian.AppendUint64(r, highest)
	for i := range entries {
		r = append(r, entries[i][:]...)
	}
	return r
}

func (r run) lowest() uint64  { return binary.BigEndian.Uint64(r) }
func (r run) highest() uint64 { return binary.BigEndian.Uint64(r[8:]) }
func (r run) len() int        { return (len(r) - runHeader) / entrySize }
func (r run) at(i int) entry  { return entry(r[runHeader+i*entrySize:]) }

// find appends up to limit sequence numbers from seq on that have a key.
func (r run) find(found []uint64, h keyHash, seq uint64, limit int) []uint64 {
	want := h.entry(seq)
	low, high := 0, r.len()
	for low < high {
		if mid := (low + high) / 2; compareEntries(r.at(mid), want) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for ; low < r.len() && limit > 0; low, limit = low+1, limit-1 {
		e := r.at(low)
		if keyHash(e[:]) != h {
			break
		}
		found = append(found, e.seq())
	}
	return found
}

// check reports what is wrong with a run that was read.
func (r run) check(last uint64) error {
	if len(r) <= runHeader || (len(r)-runHeader)%entrySize != 0 {
		return fmt.Errorf("a run of the index has %d bytes: %w", len(r), errDamaged)
	}
	var before entry
	for i := range r.len() {
		e := r.at(i)
		if seq := e.seq(); seq < max(1, r.lowest()) || seq > min(last, r.highest()) {
			return fmt.Errorf("the index has an entry for exchange %d: %w", seq, errDamaged)
		}
		if compareEntries(before, e) >= 0 {
			return fmt.Errorf("a run of the index is not in order: %w", errDamaged)
		}
		before = e
	}
	return nil
}

// findIn adds to found, which is in order, what a segment's runs have: sequence numbers from seq on, up to limit.
func findIn(tx *bbolt.Tx, found []uint64, h keyHash, seq uint64, limit int) ([]uint64, error) {
	var runs []run
	c := tx.Bucket(bucketIndex).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if len(v) < runHeader {
			return nil, fmt.Errorf("a run of the index has %d bytes: %w", len(v), errDamaged)
		}
		if r := run(v); r.highest() >= seq {
			runs = append(runs, r)
		}
	}
	// Runs overlap only by what was learned late, so a page of a frequent key comes from few of them.
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.lowest(), b.lowest()) })
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
	}
	return found, nil
}

// youngRuns is what a segment has in young runs.
type youngRuns struct {
	keys    [][]byte
	sums    []uint64 // of the runs
	entries []entry
}

func readYoung(tx *bbolt.Tx) (y youngRuns, err error) {
	c := tx.Bucket(bucketIndex).Cursor()
	for k, v := c.First(); k != nil && k[0] == runYoung; k, v = c.Next() {
		r := run(v)
		if len(r) < runHeader {
			return y, fmt.Errorf("a run of the index has %d bytes: %w", len(r), errDamaged)
		}
		y.keys = append(y.keys, bytes.Clone(k))
		y.sums = append(y.sums, entrySum(k, v))
		for i := range r.len() {
			y.entries = append(y.entries, r.at(i))
		}
	}
	return y, nil
}

// store writes the entries of a commit after which the state is st, and returns what is young after it. The receiver
// stays as it is.
func (y youngRuns) store(tx *bbolt.Tx, entries []entry, st *state) (youngRuns, error) {
	if len(entries) == 0 {
		return y, nil
	}
	index := tx.Bucket(bucketIndex)
	if len(y.entries)+len(entries) < mergeEntries && len(y.keys) < mergeRuns {
		key, value := runKey(runYoung, st.arrival), makeRun(entries)
		sum := entrySum(key, value)
		st.tables.index.add(sum)
		after := youngRuns{
			keys:    append(y.keys[:len(y.keys):len(y.keys)], key),
			sums:    append(y.sums[:len(y.sums):len(y.sums)], sum),
			entries: slices.Concat(y.entries, entries),
		}
		return after, index.Put(key, value)
	}
	for i, key := range y.keys {
		if err := index.Delete(key); err != nil {
			return y, err
		}
		st.tables.index.remove(y.sums[i])
	}
	key, value := runKey(runMerged, st.arrival), makeRun(slices.Concat(y.entries, entries))
	st.tables.index.add(entrySum(key, value))
	return youngRuns{}, index.Put(key, value)
}

func runKey(level byte, arrival uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{level}, arrival)
}
