package object

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// whoseSpelling names the version whose spelling of a state or role is used, if not the current dialects', as the
// middle of a sentence.
func whoseSpelling(p *analysis.Pass, v a2a.Value) string {
	switch in := a2a.SpellingDialects(v); {
	case in.Empty() || !in.Intersect(p.Dialects).Empty():
		return ""
	case in.Has(a2a.V1_0):
		return ", as in A2A 1.0, and the message is of " + p.Dialects.String()
	}
	return ", as in A2A before 1.0, and the message is of " + p.Dialects.String()
}

// otherSpelling reports whether the current entity, or its owner, spells its role or state as in another version than
// the message's. The whole entity was then made for that version, and only the role or the state is reported.
func otherSpelling(p *analysis.Pass) bool {
	return rule.OtherSpelling(p, p.Entity.Value) || rule.OtherSpelling(p, p.Entity.Owner)
}

// stateNames returns the spelling of the intended state in the current dialects, or a list of their states.
func stateNames(p *analysis.Pass, v a2a.Value) string {
	meant := a2a.StateOf(v.Text())
	for d := range p.Dialects.All() {
		if name := meant.Spelling(d); name != "" {
			return analysis.QuoteText(name)
		}
	}
	return "a state of " + p.Dialects.String()
}
