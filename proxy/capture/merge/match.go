package merge

import (
	"cmp"
	"slices"
	"time"
)

// match finds pairs among the pending exchanges. late means that written steps cannot be withdrawn.
func (m *matcher) match(hosts []string, late bool) {
	buckets := m.buckets()
	keys := make([]bucketKey, 0, len(buckets))
	for key, b := range buckets {
		if len(b.outer) > 0 && len(b.inner) > 0 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b bucketKey) int { // what pairs first must not depend on chance
		x, y := buckets[a].outer[0], buckets[b].outer[0]
		return cmp.Or(compareExchanges(x, y), compareExchanges(buckets[a].inner[0], buckets[b].inner[0]))
	})
	m.matchUnmistakable(buckets, keys)
	m.clocks.lay(hosts, late)
	m.matchConnections()
	m.matchByTime(buckets, keys)
	for _, x := range m.pending {
		x.compareAnswers(late)
	}
}

func (m *matcher) buckets() map[bucketKey]*bucket {
	buckets := make(map[bucketKey]*bucket)
	at := func(key, request, address uint64) *bucket {
		k := bucketKey{key, request, address}
		b := buckets[k]
		if b == nil {
			b = &bucket{}
			buckets[k] = b
		}
		return b
	}
	for _, x := range m.pending {
		if !x.request.done || x.request.cut {
			continue
		}
		if x.down == nil {
			address, key := x.to, x.key
			if x.notifies {
				address, key = 0, x.body
			}
			b := at(key, x.request.loose, address)
			b.outer = append(b.outer, x)
		}
		if x.up == nil {
			address, key := x.host, x.key
			if x.notified {
				address, key = 0, x.body
			}
			b := at(key, x.request.loose, address)
			b.inner = append(b.inner, x)
		}
	}
	return buckets
}

// matchUnmistakable pairs requests with unique ids. Their times reveal the clocks; pairs that contradict the others are
// separated again. If something was lost, the id of a repeated request may only seem unique: then the answers must not
// differ.
func (m *matcher) matchUnmistakable(buckets map[bucketKey]*bucket, keys []bucketKey) {
	found := make(map[hostPair][]sighting)
	for _, key := range keys {
		b := buckets[key]
		if len(b.outer) != 1 || len(b.inner) != 1 || !b.outer[0].own || !b.inner[0].own {
			continue
		}
		x, y := b.outer[0], b.inner[0]
		if !m.canPair(x, y) {
			continue
		}
		if (x.r.gaps || y.r.gaps) && answersDiffer(x, y) {
			continue // it may have been sent again, and the two views may be different attempts
		}
		pair, s := sightingOf(x, y)
		if pair[0] == pair[1] && !s.bound.wider(tolerance).contains(0) {
			continue
		}
		found[pair] = append(found[pair], s)
	}
	for pair, list := range found {
		slices.SortFunc(list, func(a, b sighting) int {
			return cmp.Or(cmp.Compare(a.at[0], b.at[0]), compareExchanges(a.outer, b.outer))
		})
		if pair[0] != pair[1] {
			wrong := m.clocks.learn(pair, list)
			list = slices.DeleteFunc(list, func(s sighting) bool {
				return slices.ContainsFunc(wrong, func(w sighting) bool { return w.outer == s.outer })
			})
		}
		for _, s := range list {
			m.pair(s.outer, s.inner)
		}
	}
}

// matchConnections pairs the exchanges on connections known to be the same, in their order on the connection.
func (m *matcher) matchConnections() {
	on := make(map[connection][]*exchange)
	for _, x := range m.pending {
		if x.conn != 0 && x.request.done && !x.request.cut {
			c := connection{x.r, x.conn}
			on[c] = append(on[c], x)
		}
	}
	conns := make([]connection, 0, len(on))
	for c := range on {
		conns = append(conns, c)
	}
	slices.SortFunc(conns, func(a, b connection) int { return compareExchanges(on[a][0], on[b][0]) })
	for _, c := range conns {
		for _, d := range m.below[c] {
			m.matchLine(on[c], on[d], d)
		}
	}
}

// matchLine pairs the exchanges of an outer connection with those of an inner one, between exchanges that are already
// paired.
func (m *matcher) matchLine(outer, inner []*exchange, d connection) {
	next := 0
	for begin := 0; begin <= len(outer); {
		end := begin
		for end < len(outer) && !(outer[end].down != nil && (connection{outer[end].down.r, outer[end].down.conn}) == d) {
			end++
		}
		to := len(inner)
		if end < len(outer) {
			if to = slices.Index(inner, outer[end].down); to < next {
				return
			}
		}
		m.matchBetween(outer[begin:end], inner[next:to])
		next, begin = min(to+1, len(inner)), end+1
	}
}

func (m *matcher) matchBetween(outer, inner []*exchange) {
	inner = slices.DeleteFunc(slices.Clone(inner), func(y *exchange) bool { return y.up != nil })
	outer = slices.DeleteFunc(slices.Clone(outer), func(x *exchange) bool { return x.down != nil })
	if len(inner) == 0 || len(outer) == 0 {
		return
	}
	if outer[0].r.gaps || inner[0].r.gaps { // neither order nor uniqueness proves anything
		m.matchOnly(outer, inner, m.fits, func(x, y *exchange) bool { return m.within(x, y) && !answersDiffer(x, y) })
		return
	}
	if len(outer) == len(inner) {
		all := true
		for i := range outer {
			all = all && m.fits(outer[i], inner[i])
		}
		if all {
			for i := range outer {
				m.pair(outer[i], inner[i])
			}
			return
		}
	}
	m.matchOnly(outer, inner, m.fits, func(x, y *exchange) bool { return true })
}

// compareAnswers decides whether an exchange and its inner view become one.
func (x *exchange) compareAnswers(late bool) {
	y := x.down
	if y == nil || x.compared {
		return
	}
	differ := answersDiffer(x, y)
	x.compared = (x.closed && y.closed) || differ
	switch {
	case differ:
		y.apart = true
	case late:
		return // see settle
	case y.notified:
		x.stays = y
	default:
		y.stays = x
	}
}

// forget removes exchanges that ended long ago from the comparison.
func (m *matcher) forget() {
	newest := int64(unknown)
	for _, x := range m.pending {
		newest = max(newest, m.clocks.corrected(x.r.Host, x.started))
	}
	m.pending = slices.DeleteFunc(m.pending, func(x *exchange) bool {
		old := m.clocks.corrected(x.r.Host, x.started) < newest-int64(remembered)
		return old && x.closed && (x.out != 0 || x.stays != nil) && (x.down == nil || x.compared)
	})
}

// remembered is how long, on the clock of the recordings, an ended exchange waits for its other view.
const remembered = 30 * time.Second
