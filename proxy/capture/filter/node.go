package filter

import (
	"slices"
	"strings"
)

// A Key describes a key of the filter language, for help and completion.
type Key struct {
	Name    string
	Help    string // a short description of the comparison
	Example string // a word that has it
}

// keySpec is a key, with the parser of its values and the comparison.
type keySpec struct {
	Key
	index   string // kind of the index key for a literal value, or ""
	parse   func(*parser, *keySpec) (test, error)
	texts   func(*subject) []string // for names and ids
	numbers func(*subject) []int64  // for what can be compared
	words   []string                // the only possible values; nil if there are others
	exact   bool                    // case matters
	asks    bool                    // the user's word is normalised by the facts
	place   patternPlace
}

// A node is a part of a filter expression.
type node interface {
	match(*subject) bool
	// print writes the node as a part of an expression that binds at least as tightly as said.
	print(b *strings.Builder, binding int)
}

// How tightly operators bind: or least, not most.
const (
	looseBinding = iota
	andBinding
	notBinding
)

type (
	anyOf  []node
	allOf  []node
	negate struct{ node }

	// keyTerm is a word with a key.
	keyTerm struct {
		key  *keySpec
		test test
	}
	// textTerm is a word without one.
	textTerm struct{ pattern pattern }
)

// A test is the value of a key.
type test interface {
	holds(s *subject) bool
	String() string // as it is written after the colon
}

func (n anyOf) match(s *subject) bool {
	return slices.ContainsFunc(n, func(child node) bool { return child.match(s) })
}

func (n allOf) match(s *subject) bool {
	return !slices.ContainsFunc(n, func(child node) bool { return !child.match(s) })
}

func (n negate) match(s *subject) bool { return !n.node.match(s) }

func (n keyTerm) match(s *subject) bool { return n.test.holds(s) }

func (n textTerm) match(s *subject) bool { return s.mentions(n.pattern) }

func (n anyOf) print(b *strings.Builder, binding int) { printList(b, n, " or ", looseBinding, binding) }

func (n allOf) print(b *strings.Builder, binding int) { printList(b, n, " ", andBinding, binding) }

func (n negate) print(b *strings.Builder, _ int) {
	b.WriteString("not ")
	n.node.print(b, notBinding)
}

func (n keyTerm) print(b *strings.Builder, _ int) {
	b.WriteString(n.key.Name)
	b.WriteByte(':')
	b.WriteString(n.test.String())
}

func (n textTerm) print(b *strings.Builder, _ int) { b.WriteString(n.pattern.format(bareWord)) }

func printList(b *strings.Builder, list []node, between string, own, binding int) {
	if own < binding {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	for i, child := range list {
		if i > 0 {
			b.WriteString(between)
		}
		child.print(b, own+1)
	}
}

// everyTerm reports whether all words of an expression, with or without a key, satisfy a condition.
func everyTerm(n node, is func(node) bool) bool {
	other := func(child node) bool { return !everyTerm(child, is) }
	switch n := n.(type) {
	case anyOf:
		return !slices.ContainsFunc(n, other)
	case allOf:
		return !slices.ContainsFunc(n, other)
	case negate:
		return everyTerm(n.node, is)
	}
	return is(n)
}

// hasKey reports whether a word has one of the keys.
func hasKey(n node, keys []string) bool {
	t, ok := n.(keyTerm)
	return ok && slices.Contains(keys, t.key.Name)
}

// An outlook is which outcomes a part of an expression can have.
type outlook struct{ match, fail bool }

var either = outlook{true, true}

// outlookOf returns the possible outcomes of an expression, from those of its terms.
func outlookOf(n node, of func(node) outlook) outlook {
	switch n := n.(type) {
	case anyOf:
		can := outlook{false, true}
		for _, child := range n {
			o := outlookOf(child, of)
			can.match, can.fail = can.match || o.match, can.fail && o.fail
		}
		return can
	case allOf:
		can := outlook{true, false}
		for _, child := range n {
			o := outlookOf(child, of)
			can.match, can.fail = can.match && o.match, can.fail || o.fail
		}
		return can
	case negate:
		inner := outlookOf(n.node, of)
		return outlook{inner.fail, inner.match}
	}
	return of(n)
}
