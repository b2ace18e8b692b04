package playback

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"a2atap/proxy/capture/credential"
	"a2atap/replay/canonical"
	"a2atap/replay/compare"
)

// chooseNeighbor finds the recorded call that answers a request, and marks it as played. An equal request goes before
// one with the same meaning; of equal ones, the first that was not played. All must have been sent to the same upstream.
func (p *Player) chooseNeighbor(q *neighborRequest) (*neighborCall, *Miss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list, why := p.candidates(q)
	var best, last *neighborCall
	for _, c := range list {
		if c.uses > 0 {
			last = c
			continue
		}
		if best == nil || c.preference(q) > best.preference(q) {
			best = c
		}
	}
	switch {
	case best != nil:
	case last == nil:
		return nil, p.explainNeighbor(q, why)
	case p.opts.UsedUp == RepeatLast || !last.asks:
		if best = last; best.asks {
			p.report.Repeated++
		}
	default:
		why = fmt.Sprintf("all %d recorded answers to it were given, the last from exchange %d", len(list), last.seq)
		if len(list) == 1 {
			why = fmt.Sprintf("the one recorded answer to it, exchange %d, was given already", last.seq)
		}
		return nil, &Miss{Operation: titleOf(q.form), Nearest: last.seq, Why: why}
	}
	best.uses++
	close(p.progress)
	p.progress = make(chan struct{})
	if best.asks {
		p.report.Served++
		if best.form.Exact == q.form.Exact {
			p.report.Exact++
		}
	}
	if _, known := p.recording.upstreams.of(q.address); !known && q.address != "" {
		p.recording.upstreams.bound[upstreamOf(q.address)] = best.upstream
	}
	return best, nil
}

// preference orders the calls that match a request and were not played: higher is better.
func (c *neighborCall) preference(q *neighborRequest) (n int) {
	if c.refused {
		n += 4
	}
	if c.form.Exact == q.form.Exact {
		n += 2
	}
	if q.session != "" && c.form.Session == q.session {
		n++
	}
	return n
}

// candidates returns the recorded calls whose answers a request may get, in their order. Without candidates, it returns
// the reason if recorded calls have the same meaning.
func (p *Player) candidates(q *neighborRequest) (list []*neighborCall, why string) {
	key, known := p.recording.upstreams.of(q.address)
	places := map[string]bool{}
	for _, c := range p.recording.neighbors.byMeaning[q.form.Meaning] {
		if q.address != "" && known && c.upstream != key {
			why = fmt.Sprintf("exchange %d has the same request, to another address", c.seq)
			continue
		}
		places[c.upstream] = true
		list = append(list, c)
	}
	if q.address != "" && !known && len(places) > 1 {
		return nil, fmt.Sprintf("the recording has no calls to %s, and the same request to %d other addresses", place(q.address), len(places))
	}
	return admitted(list, q, why)
}

// admitted removes the calls whose answers depend on other credentials: a refusal is for the credentials that were
// refused, and nothing else is for those.
func admitted(list []*neighborCall, q *neighborRequest, why string) ([]*neighborCall, string) {
	same := func(c *neighborCall) bool { return c.form.Credentials == q.form.Credentials }
	refused := slices.ContainsFunc(list, func(c *neighborCall) bool { return c.refused && same(c) })
	return slices.DeleteFunc(list, func(c *neighborCall) bool {
		switch {
		case c.refused && !same(c):
			why = fmt.Sprintf("exchange %d has the same request, and was refused for its credentials, which are not "+
				"those of this one", c.seq)
			if _, hidden := credential.Hidden(c.form.Credentials); hidden && q.form.Credentials != "" {
				why += "; placeholders can be compared only if --redaction-key is the one of the recording"
			}
			return true
		case refused && !c.refused && !same(c):
			why = "its credentials were refused in the recording"
			return true
		}
		return false
	}), why
}

// maxNear is how many of the calls that seem to be nearest are compared in full.
const maxNear = 5

// explainNeighbor returns how a request without a match differs from the nearest recorded one.
func (p *Player) explainNeighbor(q *neighborRequest, why string) *Miss {
	m := &Miss{Operation: titleOf(q.form), Why: why}
	if why != "" {
		return m
	}
	if seq := p.recording.neighbors.bodiless[q.form.Place]; seq > 0 {
		m.Nearest = seq
		m.Why = fmt.Sprintf("exchange %d cannot be played, since the recording lacks its body; record with --all-traffic, "+
			"and files with --keep-secrets", seq)
		return m
	}
	if len(p.recording.neighbors.calls) == 0 {
		m.Why = "the recording has no calls of models, tools or other services"
		return m
	}
	list := slices.Clone(p.recording.neighbors.calls)
	key, _ := p.recording.upstreams.of(q.address)
	sample := canonical.NewSample(q.Request)
	rank := func(c *neighborCall) int { // the same place first, then the same upstream
		n := c.sample.Near(&sample)
		if c.form.Place != q.form.Place {
			n += 1 << 30
		}
		if q.address != "" && c.upstream != key {
			n += 1 << 20
		}
		return n
	}
	ranks := make(map[*neighborCall]int, len(list))
	for _, c := range list {
		ranks[c] = rank(c)
	}
	slices.SortStableFunc(list, func(a, b *neighborCall) int {
		return cmp.Or(cmp.Compare(ranks[a], ranks[b]), cmp.Compare(min(a.uses, 1), min(b.uses, 1)))
	})
	if list[0].form.Place != q.form.Place {
		m.Why = "the recording has no " + q.form.Place + "; it has " + p.requests(q)
		return m
	}
	least := -1
	for _, c := range list[:min(len(list), maxNear)] {
		if c.form.Place != q.form.Place || ranks[c]>>20 != ranks[list[0]]>>20 {
			break
		}
		x, err := p.recording.src.Exchange(p.ctx, c.seq)
		if err != nil {
			continue
		}
		was, err := p.recording.request(x)
		if err != nil {
			continue
		}
		if n := p.rules.Distance(was, q.Request); least < 0 || n < least {
			least, m.Nearest = n, c.seq
			m.Changes = changesOf(p.rules.Differences(was, q.Request, maxDifferences))
		}
	}
	m.Why = fmt.Sprintf("no recorded request matches; the nearest is exchange %d", m.Nearest)
	return m
}

// maxDifferences is how many differences from the nearest request are shown.
const maxDifferences = 3

func changesOf(list []canonical.Difference) (changes []compare.Change) {
	for _, d := range list {
		changes = append(changes, compare.Change{Pointer: d.At, Was: d.Was, Now: d.Now})
	}
	return changes
}

// requests names up to five kinds of recorded calls to the address of a request, or to any.
func (p *Player) requests(q *neighborRequest) string {
	key, known := p.recording.upstreams.of(q.address)
	var list []string
	for _, c := range p.recording.neighbors.calls {
		if q.address != "" && known && c.upstream != key || slices.Contains(list, c.form.Place) {
			continue
		}
		if len(list) == 5 {
			return strings.Join(list, ", ") + ", …"
		}
		list = append(list, c.form.Place)
	}
	if len(list) == 0 {
		return "no call to that address"
	}
	return strings.Join(list, ", ")
}
