package rule

import (
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// A Family is what the rules of one chapter have in common, so that each of them states only what is its own.
type Family struct {
	Name string // as users see it: the chapter's file, and the folder of its transcripts

	// For every rule. A family whose rules differ in one of them leaves it to the rules.
	Side a2a.Side
	Once analysis.Scope

	// For every rule, with what it states itself.
	Either bool
	OfCard bool
	If     analysis.Traits
	Needs  []*analysis.Tracker

	// For the rules that state none.
	Category analysis.Category
	On       analysis.Kinds
	Bindings analysis.Bindings
	Cites    []a2a.Cite
}

// Of fills in what the rules share, and returns them in the order given. It is for the initialisation of a package: a
// rule that is in two families, or that another side breaks or another scope limits than the family says, is a mistake
// in the catalogue, and Of panics.
func (f Family) Of(rules ...*analysis.Rule) []*analysis.Rule {
	for _, r := range rules {
		switch {
		case r.Family != "":
			panic(fmt.Sprintf("rule %s is in the families %s and %s", r.ID, r.Family, f.Name))
		case f.Side != 0 && r.Side != 0 || f.Once != 0 && r.Once != 0:
			panic(fmt.Sprintf("rule %s states a side or a scope, which family %s states for all its rules", r.ID, f.Name))
		}
		r.Family = f.Name
		if f.Side != 0 {
			r.Side = f.Side
		}
		if f.Once != 0 {
			r.Once = f.Once
		}
		r.Either, r.OfCard = r.Either || f.Either, r.OfCard || f.OfCard
		r.If |= f.If
		r.Needs = slices.Concat(f.Needs, r.Needs)
		if r.Category == "" {
			r.Category = f.Category
		}
		if r.On == 0 {
			r.On = f.On
		}
		if r.Bindings == 0 {
			r.Bindings = f.Bindings
		}
		if r.Cites == nil {
			r.Cites = f.Cites
		}
	}
	return rules
}
