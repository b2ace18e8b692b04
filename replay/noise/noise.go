// Package noise has rules for values that may differ between two runs of the same workflow. People write and review
// the rules. Each names a place in answers.
//
// A rule without an expression excludes its place from the comparison. A rule with an expression requires the live
// value to match it, regardless of the recorded value. Rules apply under every profile.
//
// # Places
//
// A place is written [OPERATION:]POINTER. OPERATION is a name of A2A 1.0 or of an older JSON-RPC method; * or nothing
// means all operations. POINTER is a JSON Pointer (RFC 6901) in which the name * matches any one member or element. It
// begins at the body, or at the data of an event; it may also begin at the result of JSON-RPC, or at the object in it,
// so that /metadata/took is in the task of any answer, over JSON-RPC, over HTTP+JSON and in a stream.
// header[Content-Type] and status name the places outside JSON. A whole place as reports print it, such as
// 5.response.event[2]#/result/artifact/metadata/took, is a place only in exchange 5, in any event.
//
// # What no rule hides
//
// The outcome of an answer (a success, an error), the kinds of objects in it and its events (a task, a message, an
// update) and their order are not values, and always compared. The state of a task, and the identity of an error, are
// hidden only by a rule whose last name is that very member: /status/state, /error/code; never by a rule for an object
// around it, nor by a *.
//
// # Caveats
//
// A member whose name has an equals sign in it cannot be named: write * for it.
package noise

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A Rule names a place in answers that may differ. Make one with ParseIgnore, ParseMatch or Read; it does not change.
type Rule struct {
	text      string // as written
	origin    string // where: a file and a line; empty for a flag
	operation a2a.Operation
	exchange  uint64 // 0 is any
	part      part
	pointer   capture.Pointer // of a value in JSON
	header    string          // or of a header field
	status    bool            // or of the status
	want      *regexp.Regexp  // of the whole value; nil if it is not compared
	wanted    string          // the expression as written
}

// A part is the part of an exchange that a rule is about.
type part uint8

const (
	anyPart part = iota
	request
	response
)

// String returns the rule as it was written.
func (r *Rule) String() string { return r.text }

// Rules are the rules of a comparison, with counts of their uses. They are safe for concurrent use. A nil *Rules has
// no rule.
type Rules struct {
	list []Rule

	mu      sync.Mutex
	applied []int // number of places that each rule applied to
}

// New returns the rules in their order. Of two with the same text the second is left out.
func New(list ...Rule) *Rules {
	r := &Rules{}
	for i := range list {
		same := func(known Rule) bool { return known.text == list[i].text }
		if !slices.ContainsFunc(r.list, same) {
			r.list = append(r.list, list[i])
		}
	}
	r.applied = make([]int, len(r.list))
	return r
}

// A Count is the number of times that rules applied.
type Count struct {
	Ignored int // places that were not compared
	Rules   int // rules that name them
	Matched int // places that were compared by an expression
}

// Count returns how often the rules applied.
func (r *Rules) Count() (c Count) {
	if r == nil {
		return c
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, n := range r.applied {
		switch {
		case r.list[i].want != nil:
			c.Matched += n
		case n > 0:
			c.Ignored, c.Rules = c.Ignored+n, c.Rules+1
		}
	}
	return c
}

// Stale returns a sentence for each rule that never applied, in their order: the rule's place may be gone, or
// misspelled.
func (r *Rules) Stale() []string {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var stale []string
	for i, n := range r.applied {
		if n > 0 {
			continue
		}
		text := fmt.Sprintf("the rule %s never applied: no compared answer has this place", r.list[i].text)
		if at := r.list[i].origin; at != "" {
			text = at + ": " + text
		}
		stale = append(stale, text)
	}
	return stale
}

// Of returns the rules that apply to the answers of an exchange: those of its operation, and those that name one of its
// numbers, in the recording or in the live run. It may be nil.
func (r *Rules) Of(operation a2a.Operation, numbers ...uint64) *Scope {
	return r.scope(response, operation, numbers)
}

// OfRequest is Of for the requests of an exchange.
func (r *Rules) OfRequest(operation a2a.Operation, numbers ...uint64) *Scope {
	return r.scope(request, operation, numbers)
}

func (r *Rules) scope(p part, operation a2a.Operation, numbers []uint64) *Scope {
	if r == nil {
		return nil
	}
	var s *Scope
	for i := range r.list {
		rule := &r.list[i]
		switch {
		case rule.operation != a2a.NoOperation && rule.operation != operation:
		case rule.exchange != 0 && !slices.Contains(numbers, rule.exchange):
		case rule.part != anyPart && rule.part != p && operation != a2a.Webhook: // whose objects come in requests
		default:
			if s == nil {
				s = &Scope{all: r}
			}
			s.rules = append(s.rules, scoped{rule, i})
		}
	}
	return s
}

// A Scope is the rules that apply to one exchange. A nil *Scope has none. It is safe for concurrent use.
type Scope struct {
	all   *Rules
	rules []scoped
}

type scoped struct {
	*Rule
	index int // in all
}

// A Text is a JSON text of an exchange.
type Text struct {
	Root    a2a.Value
	Payload string // JSON Pointer of the object in it, where pointers may begin, too; "" if that is the root
}

// split returns the names of a JSON Pointer that Ptr wrote.
func split(pointer string) []string {
	p, err := capture.ParsePointer(pointer)
	if err != nil {
		return []string{pointer} // not reached for pointers from this package
	}
	return p.Names()
}

// A layout has the places in a text, other than the body, where pointers may begin.
type layout struct {
	payload  []string // the object
	envelope bool     // of JSON-RPC: its result
}

func (t *Text) layout() layout {
	return layout{split(t.Payload), t.Root.Has("jsonrpc") || t.Root.Has("result")}
}

// names reports whether the rule names the value at a path that begins at the body, at the result of JSON-RPC, or at
// the object in it. Without JSON-RPC, a rule that begins with its result begins at the body.
func (r *Rule) names(path []string, in layout) bool {
	names := r.pointer.Names()
	if len(names) == 0 || len(path) == 0 {
		return false
	}
	inside := len(path) > len(in.payload) && slices.Equal(path[:len(in.payload)], in.payload)
	switch {
	case fits(names, path), inside && fits(names, path[len(in.payload):]):
		return true
	case in.envelope:
		return path[0] == "result" && fits(names, path[1:])
	}
	return names[0] == "result" && fits(names[1:], path)
}

// fits reports whether names, which may have wildcards, match a path.
func fits(names, path []string) bool {
	return slices.EqualFunc(names, path, func(name, at string) bool { return name == capture.AnyName || name == at })
}

// Hides reports whether a rule excludes the value at a pointer from the comparison by name, not by *.
func (s *Scope) Hides(t Text, pointer string) bool {
	if s == nil {
		return false
	}
	path, in := split(pointer), t.layout()
	return slices.ContainsFunc(s.rules, func(r scoped) bool { return r.exactly() && r.names(path, in) })
}

// exactly reports whether the last name of the rule's pointer is one.
func (r *Rule) exactly() bool {
	names := r.pointer.Names()
	return len(names) > 0 && names[len(names)-1] != capture.AnyName
}

// Covers reports whether rules exclude the value at a pointer, or one that contains it, from the comparison.
func (s *Scope) Covers(t Text, pointer string) bool {
	if s == nil {
		return false
	}
	path, in := split(pointer), t.layout()
	for n := 1; n <= len(path); n++ {
		if slices.ContainsFunc(s.rules, func(r scoped) bool { return r.names(path[:n], in) }) {
			return true
		}
	}
	return false
}

// HidesStatus reports whether rules exclude the HTTP status from the comparison.
func (s *Scope) HidesStatus() bool {
	return s != nil && slices.ContainsFunc(s.rules, func(r scoped) bool { return r.status })
}

// HidesHeader reports whether rules exclude a header field from the comparison.
func (s *Scope) HidesHeader(name string) bool {
	return s != nil && slices.ContainsFunc(s.rules, func(r scoped) bool { return r.isHeader(name) })
}

func (r *Rule) isHeader(name string) bool { return r.header != "" && strings.EqualFold(r.header, name) }

// Fresh returns the same rules with zero counts.
func (r *Rules) Fresh() *Rules {
	if r == nil {
		return nil
	}
	return New(r.list...)
}
