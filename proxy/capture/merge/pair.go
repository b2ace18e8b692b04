package merge

import (
	"cmp"
	"slices"
	"time"
)

// tolerance is by how much times may contradict each other, since clocks are read at different moments.
const tolerance = time.Millisecond

// bucket is what both views of an exchange must have in common, apart from the answers.
type bucketKey struct{ key, request, address uint64 }

type bucket struct{ outer, inner []*exchange }

// A matcher finds the exchanges that were seen twice.
type matcher struct {
	clocks  *clocks
	pending []*exchange                 // that may still be paired
	below   map[connection][]connection // the same, nearer to the agent
	above   map[connection][]connection // the same, further from it
	found   []*exchange                 // the outer views of pairs that were not reported yet
}

func compareExchanges(a, b *exchange) int {
	return cmp.Or(cmp.Compare(a.r.Host, b.r.Host), cmp.Compare(a.r.Name, b.r.Name), cmp.Compare(a.seq, b.seq))
}

// sightingOf returns a pair's evidence about the clocks of two hosts.
func sightingOf(x, y *exchange) (hostPair, sighting) {
	s := sighting{outer: x, inner: y, at: [2]int64{x.started, y.started}, bound: between(x, y)}
	if x.r.Host > y.r.Host {
		s.at, s.bound = [2]int64{y.started, x.started}, s.bound.minus()
		return hostPair{y.r.Host, x.r.Host}, s
	}
	return hostPair{x.r.Host, y.r.Host}, s
}

func (b bound) contains(v int64) bool { return b.least <= v && v <= b.most }

// canPair reports whether known facts allow one exchange to be the outer view of the other.
func (m *matcher) canPair(x, y *exchange) bool {
	if x == y || x.r == y.r || x.down != nil || y.up != nil || !compatible(&x.request, &y.request) {
		return false
	}
	for z := x; z != nil; z = z.up { // no circles
		if z == y || z.r == y.r {
			return false
		}
	}
	return true
}

// compatible reports whether two views of a request or an answer can have the same bytes. Unknown bytes do not count as
// evidence.
func compatible(x, y *part) bool {
	switch {
	case !x.done || !y.done || x.cut || y.cut:
		return true
	case x.exact == y.exact:
		return true
	case x.loose == y.loose && otherSecrets(x.secrets, y.secrets):
		return false
	case x.loose == y.loose && (x.rewritten || y.rewritten || x.hidden && y.hidden):
		return true
	}
	// One was decoded to hide something, or only one was hidden at all: then only the size can be compared.
	return (x.decoded != y.decoded || x.hidden != y.hidden) && x.size == y.size && x.size >= 0
}

// pair makes one exchange the outer view of another.
func (m *matcher) pair(x, y *exchange) {
	x.down, y.up = y, x
	m.found = append(m.found, x)
	if x.conn == 0 || y.conn == 0 || x.notifies {
		return
	}
	c, d := connection{x.r, x.conn}, connection{y.r, y.conn}
	if !slices.Contains(m.below[c], d) {
		m.below[c] = append(m.below[c], d)
		m.above[d] = append(m.above[d], c)
	}
}

// fits reports whether one exchange can be the outer view of the other: by address, request, and time.
func (m *matcher) fits(x, y *exchange) bool {
	if x.key != y.key || x.to != y.host || x.request.loose != y.request.loose || !m.canPair(x, y) {
		return false
	}
	return m.inTime(x, y, tolerance, true)
}

// inTime reports whether the times of the inner view lie within those of the outer one, with a tolerance, or the
// clocks' uncertainty if that is 0. It returns otherwise if the times are unknown.
func (m *matcher) inTime(x, y *exchange, tolerance time.Duration, otherwise bool) bool {
	ahead, doubt, known := m.clocks.ahead(x, y.r.Host)
	if tolerance == 0 {
		tolerance = doubt
	}
	b := between(x, y)
	if b.wider(tolerance).empty() {
		return false
	}
	if !known {
		return otherwise
	}
	return !ahead.wider(tolerance).and(b).empty()
}

// within reports whether the times of the inner view lie within those of the outer one for every possible clock offset,
// whereas inTime requires only some offset.
func (m *matcher) within(x, y *exchange) bool {
	ahead, _, known := m.clocks.ahead(x, y.r.Host)
	b := between(x, y).wider(tolerance)
	return known && x.answer.done && y.answer.done && b.contains(ahead.least) && b.contains(ahead.most)
}

func answersDiffer(x, y *exchange) bool {
	return x.answerHead != unknown && y.answerHead != unknown && x.status != y.status ||
		!compatible(&x.answer, &y.answer)
}
