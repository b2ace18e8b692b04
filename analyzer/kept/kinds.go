package kept

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
)

// FindingKeys are the keys of a filter that ask for findings, and for nothing else.
var FindingKeys = []string{"rule", "severity", "side"}

// A kind is findings that no filter tells apart, and the exchanges in which they stand.
type kind struct {
	found         Found // without its number
	made, dropped numbers
}

// kinds are those of a reading that is being made, each with what tells it from others.
type kinds map[string]*kind

func (k kinds) of(f *Found) *kind {
	name := fmt.Sprintf("%s %d %d %q", f.Rule, f.Severity, f.Side, f.Also)
	if k[name] == nil {
		k[name] = &kind{found: *f}
		k[name].found.Number = 0
	}
	return k[name]
}

// entries returns what is kept of the kinds: of each, the exchanges that have such a finding, in order.
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

// exchanges returns the exchanges that have such a finding, each once, in order.
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

// numbers are numbers that are mostly close to the one before, in a byte or two each.
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

// Matching returns the exchanges that match a filter which asks for nothing but findings (FindingKeys), in order. It costs
// the findings, not the rows. It returns false where the reading cannot tell, since it is not whole yet.
func (r *Reading) Matching(ctx context.Context, f *filter.Filter) (seqs []uint64, known bool, err error) {
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
	if matches[0] && head.Rows != head.Last { // which of the exchanges without findings there are is not known here
		return nil, false, nil
	}
	for seq := uint64(1); seq <= head.Last; seq++ {
		if matches[sets.of[seq]] {
			seqs = append(seqs, seq)
		}
	}
	return seqs, true, nil
}

// sets says which kinds of findings each exchange has. Few different sets of kinds occur: an exchange has the number of
// one.
type sets struct {
	list [][]Found // the first is empty
	of   []uint32  // by exchange
}

func (r *Reading) sets(ctx context.Context, head *Head) (*sets, error) {
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
		return nil, damaged("%d kinds of findings, and %d were made", n, head.Kinds)
	}
	return s, nil
}

// add puts the findings of one more kind into the sets of their exchanges.
func (s *sets) add(d codec, last uint64) error {
	var found Found
	d.found(&found)
	with := make(map[uint32]uint32) // the set that has this kind, too
	seq := uint64(0)
	for range d.r.count() {
		step := d.r.number()
		if seq += step; step == 0 || seq > last {
			d.r.fail("a finding in an exchange that there is not")
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
