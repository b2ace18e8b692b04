package sorting

import "math"

// An Order is what exchanges and their headings are sorted by.
type Order uint8

// The orders. Of equals the lower number comes first.
const (
	ByNumber   Order = iota // of a group: of its first exchange
	ByTime                  // when it began, earlier first
	ByDuration              // longer first; of a group: from its first to its last moment
	BySize                  // bigger first; of a group: all together
	ByWorst                 // worse findings first
	Orders                  // not an order: how many there are
)

// A Plan says which exchanges to arrange, and how.
type Plan struct {
	Exchanges uint64   // all from 1 on up to this number
	Chosen    []uint64 // if it is not nil, only these of them, in order
	By        Order
	Reversed  bool // what is not known stays at the end
	Under     Grouping
	Worst     []uint8                    // by number: 0, or 1 and the severity of the worst finding
	Workflow  func(number uint64) uint64 // for ByWorkflow: the exchange that began the workflow of one
	Folds     *Folds                     // nothing is folded if it is nil
}

// An item is an exchange on its way to its place.
type item struct {
	outer, inner uint32 // what it stands under; 0 for nothing
	seq          uint32
	key          uint64 // in ascending order
}

// last is the key of what is not known, which is at the end in either direction.
const last = math.MaxUint64

// items returns the exchanges of a plan, with what they are sorted by.
func (r *Table) items(p *Plan) []item {
	var items []item
	add := func(seq uint32) {
		it := item{seq: seq, key: r.key(p, seq)}
		switch p.Under {
		case ByTask:
			it.outer, it.inner = r.group(seq)
		case ByWorkflow:
			it.outer = uint32(p.Workflow(uint64(seq)))
		}
		items = append(items, it)
	}
	if p.Chosen != nil {
		items = make([]item, 0, len(p.Chosen))
		for _, seq := range p.Chosen {
			if seq > 0 && seq <= p.Exchanges {
				add(uint32(seq))
			}
		}
		return items
	}
	items = make([]item, 0, p.Exchanges)
	for seq := uint64(1); seq <= p.Exchanges; seq++ {
		add(uint32(seq))
	}
	return items
}

// key returns what an exchange is sorted by.
func (r *Table) key(p *Plan, seq uint32) uint64 {
	switch i := seq - 1; p.By {
	case ByTime:
		return p.ascending(uint64(r.started[i]), r.started[i] > 0)
	case ByDuration:
		return p.descending(float64(r.took[i]), r.took[i] >= 0)
	case BySize:
		return p.descending(float64(r.size[i]), true)
	case ByWorst:
		return p.descending(float64(p.worst(seq)), true)
	}
	return p.ascending(uint64(seq), true)
}

func (p *Plan) worst(seq uint32) uint8 {
	if int(seq) < len(p.Worst) {
		return p.Worst[seq]
	}
	return 0
}

// ascending returns a key that puts lower values first, or higher ones if the plan is reversed.
func (p *Plan) ascending(v uint64, known bool) uint64 { return sortKey(v, known, p.Reversed) }

// descending returns a key that puts higher values first, or lower ones if the plan is reversed. Values are not
// negative.
func (p *Plan) descending(v float64, known bool) uint64 {
	return sortKey(math.Float64bits(v), known, !p.Reversed) // bits have the same order
}

func sortKey(v uint64, known, down bool) uint64 {
	switch {
	case !known:
		return last
	case down:
		return last - 1 - v
	}
	return v
}
