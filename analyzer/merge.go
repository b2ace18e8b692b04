package analyzer

import (
	"cmp"
	"slices"

	"a2atap/analyzer/address"
	"a2atap/proxy/a2a"
)

// closure returns for each rule all rules that it covers, directly or through another one.
func closure(rules []*Rule) map[string][]string {
	direct := make(map[string][]string)
	for _, r := range rules {
		if len(r.Covers) > 0 {
			direct[r.ID] = r.Covers
		}
	}
	all := make(map[string][]string, len(direct))
	for from, covers := range direct {
		reached := slices.Clone(covers)
		for i := 0; i < len(reached); i++ {
			for _, id := range direct[reached[i]] {
				if !slices.Contains(reached, id) {
					reached = append(reached, id)
				}
			}
		}
		all[from] = reached
	}
	return all
}

// mergeCovered merges the findings of one step: a finding that another one covers at its place goes into that one's
// Also, which is then at least as bad.
func (e *Engine) mergeCovered() []Finding {
	if len(e.found) == 0 {
		return nil
	}
	clear(e.times)
	if e.covers == nil && len(e.found) > 1 {
		e.covers = closure(e.rules)
	}
	covered := make([]bool, len(e.found))
	var taken []cover
	for i := range e.found {
		f := &e.found[i]
		if len(e.covers[f.Rule.ID]) == 0 {
			continue
		}
		for j := range e.found {
			if g := &e.found[j]; i != j && e.coversFinding(f, g) {
				covered[j] = true
				f.cover(g)
				taken = append(taken, cover{i, g.Rule.ID, g.Severity})
			}
		}
	}
	kept := e.found[:0]
	for i := range covered {
		f := e.found[i]
		if covered[i] || e.cards.again(e.exchangeOf(&f), &f) || !e.first(&f, i, taken) {
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

func (e *Engine) coversFinding(f, g *Finding) bool {
	return slices.Contains(e.covers[f.Rule.ID], g.Rule.ID) && f.Place.covers(g.Place)
}

// family returns a set with both of 0.2 and 0.3 if it has one of them: they are one wire format, and one client may be
// taken for either.
func family(in a2a.Dialects) a2a.Dialects {
	if kinds := a2a.Of(a2a.V0_2, a2a.V0_3); !in.Intersect(kinds).Empty() {
		return kinds
	}
	return in
}

// A cover is a finding that another one of the step covers.
type cover struct {
	by       int // index of the one that does
	rule     string
	severity Severity
}

// cover takes a finding up into the one that covers it.
func (f *Finding) cover(g *Finding) {
	if !slices.Contains(f.Also, g.Rule.ID) {
		f.Also = append(f.Also, g.Rule.ID)
	}
	if g.Severity > f.Severity {
		f.Severity, f.Weight = g.Severity, g.Rule
		if g.Weight != nil {
			f.Weight = g.Weight
		}
	}
}

// A reported says which rules have had their report in a scope, and of which severities.
type reported map[string]severities

// A severities is a set of severities.
type severities uint8

// add adds that a rule has reported, and says whether that is new.
func (r *reported) add(rule string, s Severity) bool {
	if *r == nil {
		*r = make(reported)
	}
	had := (*r)[rule]
	(*r)[rule] = had | 1<<s
	return had&(1<<s) == 0
}

// first reports whether the finding, number i of the step, is the first of its rule and its severity in the rule's
// scope. What it covers has then had its report there too.
func (e *Engine) first(f *Finding, i int, taken []cover) bool {
	in := e.open[f.Place.Exchange]
	if in == nil || f.Rule.Once == Always {
		return true
	}
	had, within := &in.reported, ""
	switch end := in.x.Endpoint; f.Rule.Once {
	case PerEndpoint:
		had = e.reportedAt(end, in.x.Address, f)
		within = " " + family(cmp.Or(f.Within, in.x.Call.Dialects)).String()
	case PerOrigin:
		had = &e.origin(in.x).reported
	}
	own := f.Rule.ID + within
	if f.Rule.Either {
		own += " " + f.Side.String()
	}
	if !had.add(own, f.Severity) {
		return false
	}
	for _, c := range taken {
		if c.by == i {
			had.add(c.rule+within, c.severity)
			had.add(c.rule+within+" "+f.Side.String(), c.severity)
		}
	}
	return true
}

// A clientAt is a client of an endpoint, or who posts to a webhook. There rules that it breaks report once.
type clientAt struct {
	end     *Endpoint // nil at a webhook
	webhook string    // its address
	client  string
}

// reportedAt returns what has been reported at an endpoint, of the agent or of a client, or at the webhook with an
// address.
func (e *Engine) reportedAt(end *Endpoint, address string, f *Finding) *reported {
	key := clientAt{end: end, client: f.Link.Client}
	switch {
	case end == nil:
		key.webhook = address
	case f.Side != a2a.Client:
		return &end.reported
	}
	had, ok := e.clients.Get(key)
	if !ok {
		had = &reported{}
		e.clients.Put(key, had)
	}
	return had
}

// A onceAt is a scheme, host and port where rules report once.
type onceAt struct{ reported reported }

// origin returns the origin that an exchange went to.
func (e *Engine) origin(x *Exchange) *onceAt {
	key := address.Origin(x.Address)
	o, ok := e.origins.Get(key)
	if !ok {
		o = &onceAt{}
		e.origins.Put(key, o)
	}
	return o
}
