package filter

import "slices"

// MayMatch reports whether an exchange can match of which only this is known: that a key of numbers, such as "workflow",
// has this one value. Where it returns false, the exchange need not be read.
func (f *Filter) MayMatch(key string, value int64) bool {
	if f == nil || f.root == nil {
		return true
	}
	return outcomes(f.root, key, value).match
}

// An outlook is which outcomes a part of an expression can have.
type outlook struct{ match, fail bool }

func outcomes(n node, key string, value int64) outlook {
	both := outlook{true, true}
	of := func(child node) outlook { return outcomes(child, key, value) }
	match := func(child node) bool { return of(child).match }
	fail := func(child node) bool { return of(child).fail }
	every := func(list []node, can func(node) bool) bool {
		return !slices.ContainsFunc(list, func(child node) bool { return !can(child) })
	}
	switch n := n.(type) {
	case anyOf:
		return outlook{slices.ContainsFunc(n, match), every(n, fail)}
	case allOf:
		return outlook{every(n, match), slices.ContainsFunc(n, fail)}
	case negate:
		inner := of(n.node)
		return outlook{inner.fail, inner.match}
	case keyTerm:
		if t, ok := n.test.(numberTest); ok && n.key.Name == key {
			holds := t.holdsFor(value)
			return outlook{holds, !holds}
		}
	}
	return both
}
