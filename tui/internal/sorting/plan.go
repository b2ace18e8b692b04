package sorting

import "math"

// An Order is the sort order of exchanges and their headings.
type Order uint8

// These are the orders. Ties are sorted by ascending number.
const (
	ByNumber   Order = iota // of a group: number of its first exchange
	ByTime                  // start time, earlier first
	ByDuration              // longer first; of a group: from its first to its last moment
	BySize                  // bigger first; of a group: the sum
	ByWorst                 // worse findings first
	Orders                  // not an order: the number of orders
)

// A Plan is the exchanges to arrange, and how.
type Plan struct {
	Exchanges uint64   // all from 1 up to this number
	Chosen    []uint64 // if not nil, only these exchanges, in order
	By        Order
	Reversed  bool // unknown values stay at the end
	Under     Grouping
	Worst     []uint8                    // by number: 0, or 1 plus the severity of the worst finding
	Workflow  func(number uint64) uint64 // for ByWorkflow: returns the exchange that began an exchange's workflow
	Folds     *Folds                     // nil folds nothing
}

// An item is an exchange that is being sorted.
type item struct {
	outer, inner uint32 // its groups; 0 for none
	seq          uint32
	key          uint64 // in ascending order
}

// last is the key of unknown values, which come last in either direction.
const last = math.MaxUint64

// items returns the exchanges of a plan, with their sort keys.
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

// key returns the sort key of an exchange.
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

// ascending returns a key that sorts lower values first, or higher ones if the plan is reversed.
func (p *Plan) ascending(v uint64, known bool) uint64 { return sortKey(v, known, p.Reversed) }

// descending returns a key that sorts higher values first, or lower ones if the plan is reversed. Values must not be
// negative.
func (p *Plan) descending(v float64, known bool) uint64 {
	return sortKey(math.Float64bits(v), known, !p.Reversed) // the bits of non-negative floats sort like their values
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
