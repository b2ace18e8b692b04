package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
)

// FindingKeys are the keys of a filter that select by findings only.
var FindingKeys = []string{"rule", "severity", "side"}

// A kind is a group of findings that no filter distinguishes, and the exchanges that have them.
type kind struct {
	found         Found // without its number
	made, dropped numbers
}

// kinds has the kinds of findings of a new reading, by key.
type kinds map[string]*kind

func (k kinds) of(f *Found) *kind {
	name := fmt.Sprintf("%s %d %d %q", f.Rule, f.Severity, f.Side, f.Also)
	if k[name] == nil {
		k[name] = &kind{found: *f}
		k[name].found.Number = 0
	}
	return k[name]
}

// entries returns the stored entries of the kinds: for each kind, the exchanges with such a finding, in order.
func (k kinds) entries(e *encoder) (entries []capture.Entry) {
	for i, name := range slices.Sorted(maps.Keys(k)) {
		e.reset()
		codec{w: e}.found(&k[name].found)
		seqs := k[name].exchanges()
		e.count(len(seqs))
		before := uint64(0)
		for _, seq := range seqs {
			e.number(seq - before)
			before = seq
		}
		entries = append(entries, capture.Entry{Key: chunkKey('i', uint64(i)), Value: pack(e.b)})
	}
	return entries
}

// exchanges returns the exchanges with such a finding, each once, in order.
func (k *kind) exchanges() []uint64 {
	seqs, dropped := k.made.sorted(), k.dropped.sorted()
	seqs = slices.DeleteFunc(seqs, func(seq uint64) bool {
		if len(dropped) == 0 || dropped[0] != seq {
			return false
		}
		dropped = dropped[1:]
		return true
	})
	return slices.Compact(seqs)
}

// numbers encodes numbers that are mostly close to their predecessor, in one or two bytes each.
type numbers struct {
	b    []byte
	last uint64
}

func (n *numbers) add(v uint64) {
	n.b = binary.AppendVarint(n.b, int64(v-n.last))
	n.last = v
}

func (n *numbers) sorted() (list []uint64) {
	v := uint64(0)
	for b := n.b; len(b) > 0; {
		step, size := binary.Varint(b)
		v, b = v+uint64(step), b[size:]
		list = append(list, v)
	}
	slices.Sort(list)
	return list
}

// Matching returns the exchanges that match a filter of findings alone (FindingKeys), in order. Its cost depends on the
// number of findings, not of rows. It returns false if the reading is not whole yet.
func (r *Results) Matching(ctx context.Context, f *filter.Filter) (seqs []uint64, known bool, err error) {
	head := r.Head()
	if !head.Ended {
		return nil, false, nil
	}
	sets, err := r.sets(ctx, &head)
	if err != nil {
		return nil, false, err
	}
	matches := make([]bool, len(sets.list))
	for i, found := range sets.list {
		if matches[i], known = (Facts{Row: &Row{Found: found}}).Decide(f); !known {
			return nil, false, nil
		}
	}
	if matches[0] && head.Rows != head.Last { // the exchanges without findings are not known here
		return nil, false, nil
	}
	for seq := uint64(1); seq <= head.Last; seq++ {
		if matches[sets.of[seq]] {
			seqs = append(seqs, seq)
		}
	}
	return seqs, true, nil
}

// sets has the kinds of findings of each exchange. Few different sets occur, so an exchange stores the number of its
// set.
type sets struct {
	list [][]Found // the first is empty
	of   []uint32  // by exchange
}

func (r *Results) sets(ctx context.Context, head *Head) (*sets, error) {
	s := &sets{list: make([][]Found, 1), of: make([]uint32, head.Last+1)}
	n := uint64(0)
	for entry, err := range r.shelf.KeptRange(ctx, []byte{'i'}, []byte{'i' + 1}) {
		if err != nil {
			return nil, err
		}
		d, err := reads(entry, len(entry.Key), nil)
		if err != nil {
			return nil, err
		}
		if err := s.add(d, head.Last); err != nil {
			return nil, err
		}
		n++
	}
	if n != head.Kinds {
		return nil, damaged("%d kinds of findings, but %d were found", n, head.Kinds)
	}
	return s, nil
}

// add adds the findings of another kind to the sets of their exchanges.
func (s *sets) add(d codec, last uint64) error {
	var found Found
	d.found(&found)
	with := make(map[uint32]uint32) // the set that also has this kind
	seq := uint64(0)
	for range d.r.count() {
		step := d.r.number()
		if seq += step; step == 0 || seq > last {
			d.r.fail("a finding in an exchange that does not exist")
			break
		}
		was := s.of[seq]
		now, there := with[was]
		if !there {
			now = uint32(len(s.list))
			s.list = append(s.list, append(slices.Clone(s.list[was]), found))
			with[was] = now
		}
		s.of[seq] = now
	}
	return d.r.err
}
