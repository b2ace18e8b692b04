// Package filter holds the one filter language of the program: Parse reads an expression, and a Filter says of an
// exchange whether it matches what was on the wire.
//
// The language knows HTTP. What the protocol and the rules know about an exchange it asks of Facts, which the caller
// passes in.
package filter

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/proxy/capture"
)

// A Filter chooses exchanges, by what was on the wire.
//
//	op:SendMessage state:failed            side by side: both
//	client:planner or not status:>=400     or, and, not, a leading -, parentheses
//	task:t-* header:"X-Tenant"=a* /re/     wildcards, quotes, regular expressions
//	workflow:3 is:error                    what went wrong of all that exchange 3 has caused
//	"no such room"                         a word without a key is searched in URLs, bodies and events
//
// Keys are listed by Keys. A key holds if any operation, event or part of the exchange matches.
//
// Values: "*" stands for any text unless it is quoted; quotes hold blanks, and within them \" and \\ are a quote and a
// backslash. A value in slashes is a regular expression (RE2 syntax, blanks written \s) that is searched for anywhere,
// without minding case unless it says (?-i). Names are compared without minding case; ids and JSON values are not. Of an
// id that is a UUID the first digits are enough, six or more.
//
// Numbers, durations, sizes and times can be compared (>, >=, <, <=) and given as ranges, whose ends belong to them and
// may be left out: n:3..9, dur:>2s, size:1MB.., time:12:00..12:05. A duration or size that is not compared means its
// last digit: dur:2s is two seconds and any fraction. MB is a million bytes, MiB are 1,048,576. Times are UTC, RFC 3339
// or a time of the day.
//
// A Filter is immutable and may be used concurrently. The nil Filter matches everything.
type Filter struct {
	root node // nil matches everything
}

// Facts are what a filter has to know about an exchange from the protocol or the rules. They are asked for while the
// exchange is matched and never kept.
type Facts interface {
	// Values returns what the exchange has of a key: "op", "dialect", "binding", "task", "context", "message", "state",
	// "role", "event", "code", "rule", "severity", "side", "workflow", which is a number, and of "is" those of "error", "failed",
	// "push", "card" and "marked" that hold. For op, state and role these are normalised names; other spellings may follow, for wildcards and
	// regular expressions to find.
	Values(key string) []string

	// Normalise returns the name that Values uses for what the user calls word, in any spelling or dialect, such as
	// "SendMessage" for "message/send". A word that it does not know it returns unchanged.
	Normalise(key, word string) string
}

// An Error says where a filter expression could not be read. Parse returns it.
type Error struct {
	Column  int // in characters, from 1
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("filter: column %d: %s", e.Column, e.Message)
}

// Parse reads a filter expression. An empty one matches everything. Errors are of type *Error.
func Parse(expr string) (*Filter, error) {
	p := parser{in: []rune(expr)}
	p.blanks()
	if p.end() {
		return &Filter{}, nil
	}
	root, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if !p.end() { // only a closing parenthesis stops it before the end
		return nil, p.errorf(p.pos, "this parenthesis closes nothing; quote it to search for it")
	}
	return &Filter{root: root}, nil
}

// Match reports whether the filter chooses the exchange. Without facts (nil) the keys that need them match nothing.
func (f *Filter) Match(x *capture.Exchange, facts Facts) bool {
	if f == nil || f.root == nil {
		return true
	}
	return f.root.match(&subject{x: x, facts: facts})
}

// String returns an expression that Parse reads as the same filter.
func (f *Filter) String() string {
	if f == nil || f.root == nil {
		return ""
	}
	var b strings.Builder
	f.root.print(&b, looseBinding)
	return b.String()
}

// Keys returns what an Index can be asked for to narrow the search: every exchange that matches has all of these keys.
// Their kinds are "task", "context" and "operation"; an operation is as the user wrote it, so it has to be normalised
// first, see Facts.
func (f *Filter) Keys() []capture.Key {
	if f == nil {
		return nil
	}
	terms := []node{f.root}
	if all, ok := f.root.(allOf); ok {
		terms = all
	}
	var keys []capture.Key
	for _, n := range terms {
		t, ok := n.(keyTerm)
		if !ok {
			continue
		}
		test, ok := t.test.(nameTest)
		if !ok || t.key.index == "" {
			continue
		}
		if value, ok := test.pattern.literal(); ok && !(t.key.exact && beginsUUID(value)) {
			keys = append(keys, capture.Key{Kind: t.key.index, Value: value})
		}
	}
	return keys
}

// Asks reports whether the expression uses one of the keys, so that the facts behind them have to be found out.
func (f *Filter) Asks(keys ...string) bool { return f != nil && asks(f.root, keys) }

func asks(n node, keys []string) bool {
	switch n := n.(type) {
	case anyOf:
		return slices.ContainsFunc(n, func(child node) bool { return asks(child, keys) })
	case allOf:
		return slices.ContainsFunc(n, func(child node) bool { return asks(child, keys) })
	case negate:
		return asks(n.node, keys)
	case keyTerm:
		return slices.Contains(keys, n.key.Name)
	}
	return false
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

// A test is what stands behind a key.
type test interface {
	holds(s *subject) bool
	String() string // as it is written after the colon
}

func (n anyOf) match(s *subject) bool {
	for _, child := range n {
		if child.match(s) {
			return true
		}
	}
	return false
}

func (n allOf) match(s *subject) bool {
	for _, child := range n {
		if !child.match(s) {
			return false
		}
	}
	return true
}

func (n negate) match(s *subject) bool   { return !n.node.match(s) }
func (n keyTerm) match(s *subject) bool  { return n.test.holds(s) }
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
