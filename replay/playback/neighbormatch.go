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

// chooseNeighbor finds the recorded call that answers a request, and marks it as played. Of several, the first that was
// not played; one in the same session of MCP goes before. It reports whether that call was played before. A Miss without
// a reason is for explainNeighbor.
func (p *Player) chooseNeighbor(q *neighborRequest) (c *neighborCall, repeated bool, miss *Miss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list, why := p.candidates(q)
	inSession := func(c *neighborCall) bool { return q.session != "" && c.form.Session == q.session }
	var fresh, used *neighborCall
	for _, c := range list {
		switch {
		case c.uses > 0 && (used == nil || inSession(c) || !inSession(used)):
			used = c
		case c.uses == 0 && (fresh == nil || inSession(c) && !inSession(fresh)):
			fresh = c
		}
	}
	switch {
	case fresh != nil:
		c = fresh
	case used == nil:
		return nil, false, &Miss{Operation: titleOf(q.form), Why: why}
	case p.opts.UsedUp == RepeatLast || !used.asks:
		c, repeated = used, true
	default:
		why = fmt.Sprintf("all %d recorded answers to it were given, the last from exchange %d", len(list), used.seq)
		if len(list) == 1 {
			why = fmt.Sprintf("the one recorded answer to it, exchange %d, was given already", used.seq)
		}
		return nil, false, &Miss{Operation: titleOf(q.form), Nearest: used.seq, Why: why}
	}
	c.uses++
	close(p.progress)
	p.progress = make(chan struct{})
	if _, known := p.recording.upstreams.of(q.address); !known && q.address != "" {
		p.recording.upstreams.bound[upstreamOf(q.address)] = c.upstream
	}
	return c, repeated, nil
}

// answered counts a call that is played.
func (p *Player) answered(c *neighborCall, q *neighborRequest, repeated bool) {
	if !c.asks {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Served++
	if c.form.Exact == q.form.Exact {
		p.report.Exact++
	}
	if repeated {
		p.report.Repeated++
	}
}

// candidates returns the recorded calls whose answers a request may get, in their order: the equal ones, or else those with
// the same meaning, at the same upstream. Without candidates, it returns the reason if recorded calls have the same
// meaning.
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
	list, why = admitted(list, q, why)
	differs := func(c *neighborCall) bool { return c.form.Exact != q.form.Exact }
	if equal := slices.DeleteFunc(slices.Clone(list), differs); len(equal) > 0 {
		return equal, ""
	}
	return list, why
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

// explainNeighbor describes how a request without a match differs from the nearest recorded one.
func (p *Player) explainNeighbor(q *neighborRequest, m *Miss) {
	if seq := p.recording.neighbors.bodiless[q.form.Place]; seq > 0 {
		m.Nearest = seq
		m.Why = fmt.Sprintf("exchange %d cannot be played, since the recording lacks its body; record with --all-traffic, "+
			"and files with --keep-secrets", seq)
		return
	}
	calls := p.recording.neighbors.calls
	if len(calls) == 0 {
		m.Why = "the recording has no calls of models, tools or other services"
		return
	}
	type ranked struct {
		*neighborCall
		rank, uses int
	}
	list := make([]ranked, len(calls))
	p.mu.Lock()
	key, known := p.recording.upstreams.of(q.address)
	for i, c := range calls {
		list[i] = ranked{neighborCall: c, uses: min(c.uses, 1)}
	}
	p.mu.Unlock()
	sample := canonical.NewSample(q.Request)
	for i, c := range calls { // the same place first, then the same upstream
		list[i].rank = c.sample.Near(&sample)
		if c.form.Place != q.form.Place {
			list[i].rank += 1 << 30
		}
		if q.address != "" && c.upstream != key {
			list[i].rank += 1 << 20
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.uses, b.uses))
	})
	if list[0].form.Place != q.form.Place {
		m.Why = "the recording has no " + q.form.Place + "; it has " + p.recording.neighbors.requests(q, key, known)
		return
	}
	m.Nearest = list[0].seq
	least := -1
	for _, c := range list[:min(len(list), maxNear)] {
		if c.rank>>20 != list[0].rank>>20 {
			break
		}
		x, err := p.neighborExchange(c.neighborCall)
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
}

// maxDifferences is how many differences from the nearest request are shown.
const maxDifferences = 3

func changesOf(list []canonical.Difference) (changes []compare.Change) {
	for _, d := range list {
		changes = append(changes, compare.Change{Pointer: d.At, Was: d.Was, Now: d.Now})
	}
	return changes
}

// requests names up to five kinds of recorded calls to the address of a request, or to any if it is not known.
func (n *neighbors) requests(q *neighborRequest, key string, known bool) string {
	var list []string
	for _, c := range n.calls {
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
