package filter

import "slices"

// Part returns a filter that asks for nothing but some keys and lets everything through that f does: f needs one value
// of these keys that is as it says. It is nil where f can match without.
func (f *Filter) Part(keys ...string) *Filter {
	if f == nil || f.root == nil {
		return nil
	}
	if root := part(f.root, keys); root != nil {
		return &Filter{root: root}
	}
	return nil
}

// part returns the part of an expression that needs a value of a key; nil if there is none.
func part(n node, keys []string) node {
	switch n := n.(type) {
	case allOf:
		for _, child := range n {
			if p := part(child, keys); p != nil {
				return p
			}
		}
	case anyOf:
		var parts anyOf
		for _, child := range n {
			p := part(child, keys)
			if p == nil {
				return nil
			}
			parts = append(parts, p)
		}
		return parts
	case keyTerm:
		if slices.Contains(keys, n.key.Name) {
			return n
		}
	}
	return nil
}

// AsksOnly reports whether what matches depends on the values of keys alone.
func (f *Filter) AsksOnly(keys ...string) bool {
	return f != nil && f.root != nil && asksOnly(f.root, keys)
}

func asksOnly(n node, keys []string) bool {
	all := func(list []node) bool {
		return !slices.ContainsFunc(list, func(n node) bool { return !asksOnly(n, keys) })
	}
	switch n := n.(type) {
	case anyOf:
		return all(n)
	case allOf:
		return all(n)
	case negate:
		return asksOnly(n.node, keys)
	case keyTerm:
		return slices.Contains(keys, n.key.Name)
	}
	return false
}
