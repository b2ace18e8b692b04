package rules

import (
	"strings"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
)

// spellingOf returns the dialects that spell a state or a role so; none if no dialect does.
func spellingOf(v a2a.Value) a2a.Dialects {
	text := v.Text()
	_, state := a2a.ParseState(text)
	_, role := a2a.ParseRole(text)
	switch {
	case !state && !role:
		return 0
	case strings.HasPrefix(text, "TASK_STATE_"), strings.HasPrefix(text, "ROLE_"):
		return a2a.Of(a2a.V1_0)
	}
	return a2a.Of(before1...)
}

// whoseSpelling says of a state or a role that is not spelt as in the dialects at hand whose spelling it is, as the middle
// of a sentence.
func whoseSpelling(p *analyzer.Pass, v a2a.Value) string {
	switch in := spellingOf(v); {
	case in.Empty() || !in.Intersect(p.Dialects).Empty():
		return ""
	case in.Has(a2a.V1_0):
		return ", as A2A 1.0 spells it, and the message is of " + p.Dialects.String()
	}
	return ", as A2A before 1.0 spells it, and the message is of " + p.Dialects.String()
}

// inOtherWords reports whether the entity at hand, or what it stands in, spells its role or its state as in another version
// than that of the message: then all of it was made for that one, and the role or the state is reported.
func inOtherWords(p *analyzer.Pass) bool {
	return otherWords(p, p.Entity.Value) || otherWords(p, p.Entity.Owner)
}

// otherWords reports the same of an object.
func otherWords(p *analyzer.Pass, v a2a.Value) bool {
	for _, word := range [...]a2a.Value{v.Get("role"), v.Get("state"), v.Get("status").Get("state")} {
		if in := spellingOf(word); !in.Empty() && in.Intersect(p.Dialects).Empty() {
			return true
		}
	}
	return false
}

// stateNames returns how the dialects at hand spell the state that is meant, or which states they have.
func stateNames(p *analyzer.Pass, v a2a.Value) string {
	meant := a2a.StateOf(v.Text())
	for d := range p.Dialects.All() {
		if name := meant.Spelling(d); name != "" {
			return analyzer.QuoteText(name)
		}
	}
	return "a state of " + p.Dialects.String()
}
