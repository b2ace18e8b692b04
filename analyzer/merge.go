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
// Also.
func (e *Engine) mergeCovered() []Finding {
	if len(e.found) == 0 {
		return nil
	}
	clear(e.times)
	if e.covers == nil && len(e.found) > 1 {
		e.covers = closure(e.rules)
	}
	covered := make([]bool, len(e.found))
	for i := range e.found {
		f := &e.found[i]
		if len(e.covers[f.Rule.ID]) == 0 {
			continue
		}
		for j := range e.found {
			if g := &e.found[j]; i != j && e.coversFinding(f, g) {
				covered[j] = true
				if !slices.Contains(f.Also, g.Rule.ID) {
					f.Also = append(f.Also, g.Rule.ID)
				}
			}
		}
	}
	kept := e.found[:0]
	for i := range covered {
		if f := e.found[i]; !covered[i] && !e.cards.again(e.exchangeOf(&f), &f) && e.first(&f) {
			kept = append(kept, f)
		}
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

// first reports whether the finding is the first of its rule in the rule's scope. The rules that it covers have then
// had their report there too.
func (e *Engine) first(f *Finding) bool {
	in := e.open[f.Place.Exchange]
	if in == nil || f.Rule.Once == Always {
		return true
	}
	reported, within := &in.reported, ""
	switch end := in.x.Endpoint; f.Rule.Once {
	case PerEndpoint:
		if end != nil {
			reported, within = &end.reported, " "+family(cmp.Or(f.Within, in.x.Call.Dialects)).String()
		}
	case PerOrigin:
		reported = &e.origin(in.x).reported
	}
	own := f.Rule.ID + within
	if f.Rule.Either {
		own += " " + f.Side.String()
	}
	if (*reported)[own] {
		return false
	}
	if *reported == nil {
		*reported = make(map[string]bool)
	}
	(*reported)[own] = true
	for _, id := range f.Also {
		(*reported)[id+within], (*reported)[id+within+" "+f.Side.String()] = true, true
	}
	return true
}

// A onceAt is a scheme, host and port where rules report once.
type onceAt struct {
	reported map[string]bool // rules that have
}

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
