package merge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// A hostPair is two hosts in alphabetical order.
type hostPair [2]string

// A bound limits the difference of two clocks, in nanoseconds.
type bound struct{ least, most int64 }

var anything = bound{math.MinInt64 / 4, math.MaxInt64 / 4}

func (b bound) and(c bound) bound { return bound{max(b.least, c.least), min(b.most, c.most)} }
func (b bound) empty() bool       { return b.least > b.most }
func (b bound) minus() bound      { return bound{-b.most, -b.least} }
func (b bound) wider(by time.Duration) bound {
	return bound{b.least - int64(by), b.most + int64(by)}
}

// value returns the difference to use: zero if possible, otherwise the middle.
func (b bound) value() int64 {
	switch {
	case b.least <= 0 && b.most >= 0:
		return 0
	case b.least == anything.least:
		return b.most
	case b.most == anything.most:
		return b.least
	}
	return b.least + (b.most-b.least)/2
}

// between returns the possible lead of the inner recorder's clock over the outer one's, given both views of an
// exchange: at the inner one the request arrived later, and the answer's head and end earlier.
func between(outer, inner *exchange) bound {
	b := anything
	for _, later := range [][2]int64{{outer.started, inner.started}, {outer.requestEnd, inner.requestEnd}} {
		if later[0] != unknown && later[1] != unknown {
			b.most = min(b.most, later[1]-later[0])
		}
	}
	for _, earlier := range [][2]int64{{outer.answerHead, inner.answerHead}, {outer.answerEnd, inner.answerEnd}} {
		if earlier[0] != unknown && earlier[1] != unknown {
			b.least = max(b.least, earlier[1]-earlier[0])
		}
	}
	return b
}

// clocks holds the known differences between the clocks of all hosts. From each host, a path of edges leads to the host
// that the others are compared with.
type clocks struct {
	edges  map[hostPair]*edge
	parent map[string]string
	depth  map[string]int
}

// An edge holds the known bounds of how far the clock of the second host is ahead of the first host's.
type edge struct {
	stretches []stretch
	n         int // exchanges that it was learned from
}

// A stretch is a period in which one difference explains all pairs.
type stretch struct {
	from, to [2]int64 // the first and the last exchange that shows it, on the clocks of the two hosts
	bound    bound
	n        int
}

// doubt is how far the clocks may deviate from their known difference at an instant. Within that range, another
// exchange may also match. Clocks drift by less than a fifth of a millisecond a second; few exchanges are weak
// evidence.
func (s *stretch) doubt(side int, instant int64) time.Duration {
	const few, fewDoubt, least = 3, 10 * time.Millisecond, 200 * time.Microsecond
	if s.n < few {
		return fewDoubt
	}
	away := max(s.from[side]-instant, instant-s.to[side], 0)
	return least + time.Duration(away/5000)
}

// A sighting is one exchange that was seen on both sides of an edge.
type sighting struct {
	outer, inner *exchange
	at           [2]int64 // on the clocks of the two hosts
	bound        bound
}

// edge returns the edge of two hosts, or nil if unknown, and whether b comes first in it.
func (c *clocks) edge(a, b string) (e *edge, swapped bool) {
	if a > b {
		return c.edges[hostPair{b, a}], true
	}
	return c.edges[hostPair{a, b}], false
}

// impossible is the contradiction between times above which two views are not a pair. A clock may be set in the middle
// of an exchange, but rarely by more.
const impossible = time.Second

// refine takes more of a sighting that was learned before.
func (e *edge) refine(s sighting) {
	if known := e.at(0, s.at[0]); known != nil {
		if both := known.bound.and(s.bound); !both.empty() {
			known.bound = both
		}
	}
}

// learn is edge.learn for two hosts of which nothing may be known.
func (c *clocks) learn(pair hostPair, list []sighting) (wrong []sighting) {
	e := c.edges[pair]
	if e == nil {
		e = &edge{}
		c.edges[pair] = e
	}
	return e.learn(list)
}

// lookahead says how many sightings are looked at, to tell a clock that was set from a false pair.
const lookahead = 4

// learn adds sightings, in order of time, and returns those that contradict the others too much to be pairs.
func (e *edge) learn(sightings []sighting) (wrong []sighting) {
	for i, s := range sightings {
		if s.bound.empty() {
			if s.bound.wider(impossible).empty() {
				wrong = append(wrong, s)
			}
			continue
		}
		if len(e.stretches) > 0 {
			last := &e.stretches[len(e.stretches)-1]
			if both := last.bound.and(s.bound); !both.empty() {
				last.bound, last.n, last.to = both, last.n+1, s.at
				e.n++
				continue
			}
			next := sightings[i+1 : min(len(sightings), i+1+lookahead)]
			before, after := agreeing(last.bound, next), agreeing(s.bound, next)
			if before > after {
				if last.bound.wider(impossible).and(s.bound).empty() {
					wrong = append(wrong, s)
				}
				continue
			}
		}
		e.stretches = append(e.stretches, stretch{from: s.at, to: s.at, bound: s.bound, n: 1})
		e.n++
	}
	return wrong
}

func agreeing(b bound, sightings []sighting) int {
	n := 0
	for _, s := range sightings {
		if !b.and(s.bound).empty() {
			n++
		}
	}
	return n
}

// at returns the facts about an instant on the clock of that side's host, or nil.
func (e *edge) at(side int, instant int64) *stretch {
	if e == nil || len(e.stretches) == 0 {
		return nil
	}
	i, found := slices.BinarySearchFunc(e.stretches, instant, func(s stretch, t int64) int {
		return cmp.Compare(s.from[side], t)
	})
	if !found && i > 0 {
		i--
	}
	return &e.stretches[i]
}

// ahead returns the lead of another exchange's host clock over this one's when this exchange began, and its
// uncertainty; false if unknown.
func (c *clocks) ahead(x *exchange, host string) (ahead bound, doubt time.Duration, known bool) {
	if x.r.Host == host {
		return bound{}, sameClock, true
	}
	e, swapped := c.edge(x.r.Host, host)
	side := 0
	if swapped {
		side = 1
	}
	s := e.at(side, x.started)
	if s == nil {
		return anything, 0, false
	}
	if ahead = s.bound; swapped {
		ahead = ahead.minus()
	}
	return ahead, s.doubt(side, x.started), true
}

// sameClock is the maximum difference between the clocks of two recorders on one host: each continues from the time
// that the system's clock showed when the recorder began.
const sameClock = time.Millisecond

// comparable reports whether it is known how far the clocks of two hosts are apart.
func (c *clocks) comparable(a, b string) bool {
	e, _ := c.edge(a, b)
	return a == b || e != nil && len(e.stretches) > 0
}

// lay finds a path from each host to another, over as few exchanges as possible. The hosts are in their order. fixed
// means that times were already corrected by it.
func (c *clocks) lay(hosts []string, fixed bool) {
	near := make(map[string][]string)
	for pair, e := range c.edges {
		if len(e.stretches) > 0 {
			near[pair[0]] = append(near[pair[0]], pair[1])
			near[pair[1]] = append(near[pair[1]], pair[0])
		}
	}
	right := make(map[string]int) // with how many others a host agrees without a correction
	for pair, e := range c.edges {
		agree := !slices.ContainsFunc(e.stretches, func(s stretch) bool { return s.bound.value() != 0 })
		if len(e.stretches) > 0 && agree {
			right[pair[0]]++
			right[pair[1]]++
		}
	}
	first := slices.Clone(hosts)
	slices.SortStableFunc(first, func(a, b string) int { return cmp.Compare(right[b], right[a]) })
	if fixed { // those that were compared before stay the measure
		slices.SortStableFunc(first, func(a, b string) int { return cmp.Compare(c.depth[a], c.depth[b]) })
	}
	c.parent, c.depth = make(map[string]string), make(map[string]int)
	for _, root := range first {
		if _, known := c.depth[root]; known {
			continue
		}
		c.depth[root] = 0
		for queue := []string{root}; len(queue) > 0; queue = queue[1:] {
			at := queue[0]
			slices.Sort(near[at])
			for _, next := range near[at] {
				if _, known := c.depth[next]; !known {
					c.parent[next], c.depth[next] = at, c.depth[at]+1
					queue = append(queue, next)
				}
			}
		}
	}
}

// corrected returns an instant on the clock of a host as the measure's clock shows it.
func (c *clocks) corrected(host string, instant int64) int64 {
	for {
		parent, ok := c.parent[host]
		if !ok {
			return instant
		}
		e, swapped := c.edge(parent, host)
		if swapped { // the host is the first of the two
			instant += e.at(0, instant).bound.value()
		} else {
			instant -= e.at(1, instant).bound.value()
		}
		host = parent
	}
}

// A Clock is what was found out of the clock of a host.
type Clock struct {
	Host      string
	With      string        // the host that it was compared with, whose exchanges were also seen here, or ""
	Exchanges int           // by how many
	Ahead     time.Duration // of that clock, at the end: what times were corrected by
	Within    time.Duration // how far that may be off, to either side
	Changes   int           // how often the difference changed: a clock was set, or runs faster
}

// of returns what was found out of the clock of a host.
func (c *clocks) of(host string) Clock {
	found := Clock{Host: host}
	parent, ok := c.parent[host]
	if !ok {
		for pair, e := range c.edges { // others are compared with it
			if (pair[0] == host || pair[1] == host) && len(e.stretches) > 0 {
				found.Exchanges += e.n
			}
		}
		return found
	}
	e, swapped := c.edge(parent, host)
	last := e.stretches[len(e.stretches)-1].bound
	if swapped {
		last = last.minus()
	}
	found.With, found.Exchanges, found.Changes = parent, e.n, len(e.stretches)-1
	found.Ahead = time.Duration(last.value())
	found.Within = time.Duration(max(last.most-last.value(), last.value()-last.least))
	return found
}

// String says it in words.
func (c Clock) String() string {
	if c.With == "" {
		return fmt.Sprintf("clock of %s: not compared with others, since no exchange was seen both there and elsewhere", c.Host)
	}
	count := "1 exchange"
	if c.Exchanges != 1 {
		count = fmt.Sprintf("%d exchanges", c.Exchanges)
	}
	text := fmt.Sprintf("clock of %s: in sync with %s, according to %s", c.Host, c.With, count)
	if c.Ahead != 0 {
		way := "ahead of"
		if c.Ahead < 0 {
			way = "behind"
		}
		text = fmt.Sprintf("clock of %s: %s %s the clock of %s, according to %s; its times are corrected", c.Host,
			c.Ahead.Abs().Round(time.Microsecond), way, c.With, count)
	}
	if c.Within < time.Duration(anything.most/2) {
		text += fmt.Sprintf(" (within %s)", c.Within.Round(time.Microsecond))
	}
	if c.Changes > 0 {
		text += fmt.Sprintf("; the difference changed %d times", c.Changes)
	}
	return text
}
