package merge

import (
	"cmp"
	"slices"
	"time"
)

// matchByTime pairs exchanges that are the only match in time, on connections without known matches.
func (m *matcher) matchByTime(buckets map[bucketKey]*bucket, keys []bucketKey) {
	for _, key := range keys {
		b := buckets[key]
		outer := slices.DeleteFunc(slices.Clone(b.outer), func(x *exchange) bool { return x.down != nil })
		inner := slices.DeleteFunc(slices.Clone(b.inner), func(y *exchange) bool { return y.up != nil })
		if !m.comparableAny(outer, inner) {
			continue
		}
		m.matchOnly(outer, inner, m.fitsAlone, func(x, y *exchange) bool {
			return m.inTime(x, y, tolerance, false) && x.sure() && y.sure()
		})
	}
}

// fitsAlone is fits without information from the connections: then the clocks must be known.
func (m *matcher) fitsAlone(x, y *exchange) bool {
	if !m.canPair(x, y) || !compatible(&x.answer, &y.answer) {
		return false
	}
	if x.status != 0 && y.status != 0 && x.status != y.status {
		return false
	}
	c, d := connection{x.r, x.conn}, connection{y.r, y.conn}
	if len(m.below[c])+len(m.above[d]) > 0 && !slices.Contains(m.below[c], d) {
		return false
	}
	if ahead, _, known := m.clocks.ahead(x, y.r.Host); !known || ahead.most-ahead.least > int64(vague) {
		return false
	}
	return m.inTime(x, y, 0, false)
}

// vague is the uncertainty of a clock difference up to which time alone still proves a match.
const vague = time.Second

// comparableAny is comparable for any of these.
func (m *matcher) comparableAny(outer, inner []*exchange) bool {
	hosts := make(map[string]bool)
	for _, x := range outer {
		hosts[x.r.Host] = true
	}
	seen := make(map[string]bool)
	for _, y := range inner {
		if seen[y.r.Host] {
			continue
		}
		seen[y.r.Host] = true
		for host := range hosts {
			if m.clocks.comparable(host, y.r.Host) {
				return true
			}
		}
	}
	return false
}

// sure reports whether an exchange, and all other exchanges at the time, are completely known.
func (x *exchange) sure() bool { return x.answer.done && !x.r.gaps }

// matchOnly pairs exchanges that match each other and no other exchange, if that is certain.
func (m *matcher) matchOnly(outer, inner []*exchange, fits, certain func(x, y *exchange) bool) {
	if len(outer) == 0 || len(inner) == 0 {
		return
	}
	byHost := timelines(inner)
	of := make(map[*exchange]int)
	only := make(map[*exchange]*exchange)
	for _, x := range outer {
		n := 0
		for _, line := range byHost {
			for _, y := range m.near(x, line) {
				if fits(x, y) {
					n++
					of[y]++
					only[x] = y
				}
			}
		}
		if n > 1 {
			delete(only, x)
		}
	}
	for _, x := range outer {
		if y := only[x]; y != nil && of[y] == 1 && m.canPair(x, y) && certain(x, y) {
			m.pair(x, y)
		}
	}
}

// A timeline is exchanges of one host in order of time.
type timeline struct {
	host      string
	exchanges []*exchange
}

func timelines(list []*exchange) []timeline {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *exchange) int {
		return cmp.Or(cmp.Compare(a.r.Host, b.r.Host), cmp.Compare(a.started, b.started), compareExchanges(a, b))
	})
	var out []timeline
	for _, x := range list {
		if len(out) == 0 || out[len(out)-1].host != x.r.Host {
			out = append(out, timeline{host: x.r.Host})
		}
		last := &out[len(out)-1]
		last.exchanges = append(last.exchanges, x)
	}
	return out
}

// near returns the exchanges that may have begun during an exchange; all of them if the clocks were not compared.
func (m *matcher) near(x *exchange, line timeline) []*exchange {
	ahead, doubt, known := m.clocks.ahead(x, line.host)
	if !known {
		return line.exchanges
	}
	ahead = ahead.wider(doubt)
	search := func(t int64) int {
		i, _ := slices.BinarySearchFunc(line.exchanges, t, func(y *exchange, t int64) int {
			return cmp.Compare(y.started, t)
		})
		return i
	}
	first, last := search(x.started+ahead.least), len(line.exchanges)
	if x.answerEnd != unknown {
		last = max(first, search(x.answerEnd+ahead.most+1))
	}
	return line.exchanges[first:last]
}
