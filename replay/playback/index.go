package playback

import (
	"cmp"
	"iter"

	"a2atap/proxy/a2a"
)

// An index finds the exchanges that can answer a call without checking each. In a capture of 100,000 calls that send
// a first message, the same request matches all of them.
type index struct {
	groups map[asked][]*group
	made   map[a2a.Operation][]*group // those whose task id the client made
}

// asked is the key of an index.
type asked struct {
	op   a2a.Operation
	task string
}

// newIndex groups exchanges, in order. With exact, the exchanges of a group also have equal parameters.
func newIndex(s *recording, exact bool) *index {
	x := &index{groups: map[asked][]*group{}, made: map[a2a.Operation][]*group{}}
	known := map[alike]*group{}
	for _, a := range s.exchanges {
		f := &a.form
		key := alike{
			upstream: f.upstream, op: f.op, method: f.method, parts: f.parts, task: f.task, ctx: f.ctx, config: f.config, page: f.page,
			failed: f.failed, binding: a.binding, dialects: a.dialects, after: a.after,
		}
		if exact {
			key.sum, key.hidden = f.sum(), f.hidden()
		}
		g := known[key]
		if g == nil {
			g = &group{after: a.after, same: map[uint64]*queue{}}
			known[key] = g
			at := asked{f.op, f.task}
			x.groups[at] = append(x.groups[at], g)
			if f.task != "" && s.ids[roleKey("task", f.task)] == clientMade {
				x.made[f.op] = append(x.made[f.op], g)
			}
		}
		g.add(a)
	}
	return x
}

// mayMatch yields the groups whose task a form may mean.
func (x *index) mayMatch(f *form, n *names) iter.Seq[*group] {
	return func(yield func(*group) bool) {
		lists := [][]*group{x.groups[asked{f.op, f.task}]}
		if was, named := n.recorded[roleKey("task", f.task)]; named && was != f.task {
			lists = append(lists, x.groups[asked{f.op, was}])
		} else if !named && f.task != "" && n.ids[roleKey("task", f.task)] == 0 {
			lists = append(lists, x.made[f.op])
		}
		for _, list := range lists {
			for _, g := range list {
				if !yield(g) {
					return
				}
			}
		}
	}
}

// alike has the properties that the exchanges of a group share.
type alike struct {
	upstream          string
	op                a2a.Operation
	method, parts     string
	task, ctx, config string
	page              string
	failed            bool
	binding           a2a.Binding
	dialects          a2a.Dialects
	after             *exchange
	sum               uint64
	hidden            string
}

// A group is a set of exchanges that a call matches all or none of, in one state of their task.
type group struct {
	after  *exchange
	all    queue
	same   map[uint64]*queue // those without hidden parameters, by the checksum of their parameters
	hiding []*exchange       // the others
}

func (g *group) add(a *exchange) {
	g.all.add(a)
	if a.form.hidden() != "" {
		g.hiding = append(g.hiding, a)
		return
	}
	whole := a.form.whole
	if g.same[whole] == nil {
		g.same[whole] = &queue{}
	}
	g.same[whole].add(a)
}

// first returns an exchange of the group.
func (g *group) first() *exchange { return g.all.list[0] }

// A queue holds exchanges in order, and finds the first unplayed one quickly.
type queue struct {
	list   []*exchange
	played int // number of played exchanges at the beginning
}

func (q *queue) add(a *exchange) { q.list = append(q.list, a) }

// fresh returns the first unplayed exchange; nil if all were played.
func (q *queue) fresh() *exchange {
	for ; q.played < len(q.list); q.played++ {
		if a := q.list[q.played]; a.uses == 0 {
			return a
		}
	}
	return nil
}

func (q *queue) last() *exchange { return q.list[len(q.list)-1] }

// A choice is the exchange that answers a call: the first unplayed one, or the last one. One with equal parameters
// takes precedence.
type choice struct {
	freshSame, fresh, same, last *exchange
}

func (c *choice) exchange() *exchange { return cmp.Or(c.freshSame, c.fresh, c.same, c.last) }

// among considers the exchanges of a group.
func (c *choice) among(g *group, f *form) {
	c.fresh, c.last = earlier(c.fresh, g.all.fresh()), later(c.last, g.all.last())
	if q := g.same[f.whole]; q != nil {
		c.freshSame, c.same = earlier(c.freshSame, q.fresh()), later(c.same, q.last())
	}
	for _, a := range g.hiding {
		if a.form.differ(f) > 0 {
			continue
		}
		if c.same = later(c.same, a); a.uses == 0 {
			c.freshSame = earlier(c.freshSame, a)
		}
	}
}

// earlier returns the exchange that was recorded first, of which either may be nil.
func earlier(a, b *exchange) *exchange {
	if a == nil || b != nil && b.seq < a.seq {
		return b
	}
	return a
}

// later returns the exchange that was recorded last, likewise.
func later(a, b *exchange) *exchange {
	if a == nil || b != nil && b.seq > a.seq {
		return b
	}
	return a
}
