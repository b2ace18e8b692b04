package rule

import (
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// A Family has the common properties of the rules of one chapter, so that each rule states only its specific ones.
type Family struct {
	Name string // as users see it: the chapter's file, and the folder of its transcripts

	// Defaults for every rule. If the rules of a family differ in one of them, the rules set it.
	Side a2a.Side
	Once analysis.Scope

	// For every rule, in addition to its own values.
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

// Of fills in the common properties of the rules, and returns them in the given order. It is for package
// initialization: it panics if the catalog has a mistake, such as a rule in two families, or a rule whose side or scope
// contradicts the family's.
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
