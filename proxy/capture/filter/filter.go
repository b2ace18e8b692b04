// Package filter implements the program's filter language: Parse parses an expression, and a Filter reports whether an
// exchange matches it.
//
// The language knows HTTP. What the protocol and the rules know about an exchange it asks of Facts, which the caller
// passes in.
package filter

import (
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
// Values: "*" matches any text unless it is quoted. Quotes hold blanks, and within them \" and \\ are a quote and a
// backslash. A value in slashes is a regular expression (RE2 syntax, blanks written \s). It may match anywhere and
// ignores case, unless it contains (?-i). Names are compared without regard to case; ids and JSON values are
// case-sensitive. For an id that is a UUID, the first digits are enough, six or more.
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
		return nil, p.errorf(p.pos, "this parenthesis has no opening one; quote it to search for it")
	}
	return &Filter{root: root}, nil
}

// Match reports whether the filter selects the exchange. Without facts (nil), the keys that need them match nothing.
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

// Keys returns index keys that narrow the search: every matching exchange has all of these keys. Their kinds are
// "task", "context" and "operation"; an operation is as the user wrote it, so it must be normalized first, see Facts.
func (f *Filter) Keys() []capture.Key {
	var keys []capture.Key
	for _, t := range f.required() {
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

// required returns the words with a key that all have to hold.
func (f *Filter) required() []keyTerm {
	if f == nil {
		return nil
	}
	list, ok := f.root.(allOf)
	if !ok {
		list = allOf{f.root}
	}
	var terms []keyTerm
	for _, n := range list {
		if t, ok := n.(keyTerm); ok {
			terms = append(terms, t)
		}
	}
	return terms
}

// Needs reports whether every match of the filter has a property of the key "is": whether is:WORD is a term of the
// top-level conjunction.
func (f *Filter) Needs(word string) bool {
	return slices.ContainsFunc(f.required(), func(t keyTerm) bool {
		is, ok := t.test.(isTest)
		return ok && string(is) == word
	})
}

// Asks reports whether the expression uses one of the keys, so that their facts are needed.
func (f *Filter) Asks(keys ...string) bool {
	return f != nil && !everyTerm(f.root, func(t node) bool { return !hasKey(t, keys) })
}

// MayMatch reports whether an exchange can match if a numeric key, such as "workflow", has this one value. If not, the
// exchange need not be read.
func (f *Filter) MayMatch(key string, value int64) bool {
	if f == nil || f.root == nil {
		return true
	}
	return outlookOf(f.root, func(n node) outlook {
		if n, ok := n.(keyTerm); ok && n.key.Name == key {
			if t, ok := n.test.(numberTest); ok {
				holds := t.holdsFor(value)
				return outlook{holds, !holds}
			}
		}
		return either
	}).match
}

// Part returns a filter on only some keys that accepts everything that f accepts: f requires one of these keys to have
// a matching value. It is nil if f can match without.
func (f *Filter) Part(keys ...string) *Filter {
	if f == nil || f.root == nil {
		return nil
	}
	if root := part(f.root, keys); root != nil {
		return &Filter{root: root}
	}
	return nil
}

// part returns the part of an expression that needs a value of a key, or nil.
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

// AsksOnly reports whether a match depends only on the values of keys.
func (f *Filter) AsksOnly(keys ...string) bool {
	return f != nil && f.root != nil && everyTerm(f.root, func(t node) bool { return hasKey(t, keys) })
}
