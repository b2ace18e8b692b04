package object

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// whoseSpelling says of a state or a role that is not spelt as in the dialects at hand whose spelling it is, as the
// middle of a sentence.
func whoseSpelling(p *analysis.Pass, v a2a.Value) string {
	switch in := a2a.SpellingDialects(v); {
	case in.Empty() || !in.Intersect(p.Dialects).Empty():
		return ""
	case in.Has(a2a.V1_0):
		return ", as A2A 1.0 spells it, and the message is of " + p.Dialects.String()
	}
	return ", as A2A before 1.0 spells it, and the message is of " + p.Dialects.String()
}

// otherSpelling reports whether the entity at hand, or what it stands in, spells its role or its state as in another
// version than that of the message: then all of it was made for that one, and the role or the state is reported.
func otherSpelling(p *analysis.Pass) bool {
	return rule.OtherSpelling(p, p.Entity.Value) || rule.OtherSpelling(p, p.Entity.Owner)
}

// stateNames returns how the dialects at hand spell the state that is meant, or which states they have.
func stateNames(p *analysis.Pass, v a2a.Value) string {
	meant := a2a.StateOf(v.Text())
	for d := range p.Dialects.All() {
		if name := meant.Spelling(d); name != "" {
			return analysis.QuoteText(name)
		}
	}
	return "a state of " + p.Dialects.String()
}
