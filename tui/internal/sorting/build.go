package sorting

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"a2atap/proxy/a2a"
)

// errTooMany is returned if numbers need more than four bytes.
var errTooMany = errors.New("more than 4,294,967,295 exchanges cannot be sorted")

// Arrange arranges exchanges. It costs as much as sorting them, and returns early with the context's error.
func (r *Table) Arrange(ctx context.Context, p Plan) (*Arrangement, error) {
	if p.Exchanges >= math.MaxUint32 {
		return nil, errTooMany
	}
	r.reach(int(p.Exchanges))
	items := r.items(&p)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.outer, b.outer), cmp.Compare(a.inner, b.inner), cmp.Compare(a.key, b.key),
			cmp.Compare(a.seq, b.seq))
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := &Arrangement{
		under: p.Under, seqs: make([]uint32, 0, len(items)), rank: make([]uint32, p.Exchanges+1),
		tasks: r.tasks.names, contexts: r.contexts.names,
	}
	b := builder{table: r, plan: &p, a: a}
	b.build(items)
	a.Lay(p.Folds)
	return a, nil
}

// A builder makes an arrangement of items that are sorted by outer group, and within it by inner group.
type builder struct {
	table *Table
	plan  *Plan
	a     *Arrangement
}

// A span is a group that is being sorted.
type span struct {
	items  []item
	key    uint64 // in ascending order
	lowest uint32 // number of an exchange
	named  bool   // it has a context or a task; false for the group of exchanges without one
}

// A total is the totals of a group's exchanges.
type total struct {
	lowest       uint32
	began, ended int64 // 0 if unknown
	size         float64
	worst        uint8
	failed       uint32
}

func (b *builder) build(items []item) {
	if b.plan.Under == Flat {
		for i := range items {
			b.place(items[i].seq)
		}
		return
	}
	outer := b.spans(items, func(it *item) uint32 { return it.outer })
	sortSpans(outer, 1)
	for i := range outer {
		if b.plan.Under == ByWorkflow {
			b.workflow(outer[i].items)
		} else {
			b.context(outer[i].items)
		}
	}
}

// spans divides items into groups.
func (b *builder) spans(items []item, of func(*item) uint32) []span {
	var list []span
	for len(items) > 0 {
		n := 1
		for n < len(items) && of(&items[n]) == of(&items[0]) {
			n++
		}
		t := b.total(items[:n])
		list = append(list, span{items[:n], b.key(&t), t.lowest, of(&items[0]) > 0})
		items = items[n:]
	}
	return list
}

// sortSpans sorts groups. The group without a name comes first, or last if unnamed is 1.
func sortSpans(list []span, unnamed int) {
	rank := func(s *span) int {
		if s.named {
			return 0
		}
		return unnamed
	}
	slices.SortFunc(list, func(a, c span) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&c)), cmp.Compare(a.key, c.key), cmp.Compare(a.lowest, c.lowest))
	})
}

// total computes the totals of exchanges.
func (b *builder) total(items []item) total {
	r := b.table
	t := total{lowest: items[0].seq}
	for i := range items {
		seq := items[i].seq
		t.lowest = min(t.lowest, seq)
		if began := r.started[seq-1]; began > 0 {
			if t.began == 0 || began < t.began {
				t.began = began
			}
			t.ended = max(t.ended, r.ended(seq))
		}
		t.size += float64(r.size[seq-1])
		t.worst = max(t.worst, b.plan.worst(seq))
		if _, failed := r.stateOf(seq); failed {
			t.failed++
		}
	}
	return t
}

// supersedes reports whether a state of a task replaces another one, which an exchange before or after it has shown.
// Later exchanges cannot undo a final state.
func supersedes(now, other a2a.State, later bool) bool {
	switch {
	case !now.Known():
		return false
	case !other.Known():
		return true
	case now.Terminal() != other.Terminal():
		return now.Terminal()
	}
	return later
}

// key returns the sort key of a group.
func (b *builder) key(t *total) uint64 {
	switch p := b.plan; p.By {
	case ByTime:
		return p.ascending(uint64(t.began), t.began > 0)
	case ByDuration:
		return p.descending(float64(t.ended-t.began), t.began > 0)
	case BySize:
		return p.descending(t.size, true)
	case ByWorst:
		return p.descending(float64(t.worst), true)
	}
	return b.plan.ascending(uint64(t.lowest), true)
}

// workflow appends a workflow. A single exchange needs no heading; consecutive ones form one group.
func (b *builder) workflow(items []item) {
	if len(items) > 1 {
		t := b.total(items)
		b.heading(items, &t, Key{Kind: Workflow, Outer: items[0].outer}, b.tallyOf(items))
	} else if n := len(b.a.groups); n == 0 || b.a.groups[n-1].key.Kind != None {
		b.a.groups = append(b.a.groups, group{first: uint32(len(b.a.seqs)), tally: uint32(len(b.a.tallies))})
	}
	b.own(items)
}

// context appends a context and its tasks.
func (b *builder) context(items []item) {
	t := b.total(items)
	context := items[0].outer
	inner := b.spans(items, func(it *item) uint32 { return it.inner })
	sortSpans(inner, -1)
	k := Key{Kind: Context, Outer: context}
	if len(inner) == 1 { // one heading is enough
		task := items[0].inner
		if context == 0 {
			k = Key{Kind: Task, Inner: task}
		}
		b.heading(items, &t, k, b.tallyOf(items)).task = task
		b.own(items)
		return
	}
	b.heading(items, &t, k, b.tallyOf(items))
	for _, s := range inner {
		if task := s.items[0].inner; task > 0 {
			t := b.total(s.items)
			g := b.heading(s.items, &t, Key{Kind: Task, Outer: context, Inner: task}, b.tallyOf(s.items))
			g.level, g.task = 1, task
		}
		b.own(s.items)
	}
}

// heading appends the heading of a group. The returned pointer is valid until the next call.
func (b *builder) heading(items []item, t *total, key Key, tallies []uint32) *group {
	b.a.groups = append(b.a.groups, group{
		key: key, first: uint32(len(b.a.seqs)), all: uint32(len(items)), lowest: t.lowest,
		began: t.began, ended: t.ended, size: float32(t.size), worst: t.worst, failed: t.failed,
		tally: uint32(len(b.a.tallies)),
	})
	b.a.tallies = append(b.a.tallies, tallies...)
	return &b.a.groups[len(b.a.groups)-1]
}

// own adds exchanges directly under the last heading.
func (b *builder) own(items []item) {
	b.a.groups[len(b.a.groups)-1].own += uint32(len(items))
	for i := range items {
		b.place(items[i].seq)
	}
}

// place appends an exchange.
func (b *builder) place(seq uint32) {
	b.a.seqs = append(b.a.seqs, seq)
	b.a.rank[seq] = uint32(len(b.a.seqs))
}

// A shown is the state of a task, and the exchange that showed the state.
type shown struct {
	state a2a.State
	by    uint32
}

func (s shown) with(state a2a.State, by uint32) shown {
	if supersedes(state, s.state, by > s.by) {
		return shown{state, by}
	}
	return s
}

// tallyOf counts the states of the tasks of exchanges. Most groups have one task.
func (b *builder) tallyOf(items []item) []uint32 {
	r := b.table
	var first uint32
	var ofFirst shown
	var others map[uint32]shown
	for i := range items {
		seq := items[i].seq
		state, _ := r.stateOf(seq)
		switch task := r.task[seq-1]; {
		case task == 0:
		case first == 0 || task == first:
			first, ofFirst = task, ofFirst.with(state, seq)
		default:
			if others == nil {
				others = make(map[uint32]shown)
			}
			others[task] = others[task].with(state, seq)
		}
	}
	var counts [256]uint32
	counts[ofFirst.state]++
	for _, s := range others {
		counts[s.state]++
	}
	var list []uint32
	for s, n := range counts {
		if n > 0 && a2a.State(s).Known() {
			list = append(list, uint32(s)<<tallyBits|min(n, 1<<tallyBits-1))
		}
	}
	return list
}
