// Package noise knows what may differ between two runs of the same workflow: rules that people write and review, each
// of which names a place in answers.
//
// A rule without an expression says that what stands at its place is not compared. One with an expression says that the
// live value has to match it, whatever the recorded one was. Rules apply under every profile.
//
// # Places
//
// A place is written [OPERATION:]POINTER. OPERATION is a name of A2A 1.0 or of an older JSON-RPC method, and * or
// nothing stands for all of them. POINTER is a JSON Pointer (RFC 6901) in which the name * stands for any one member or
// element. It begins at the body, or at the data of an event; and it may as well begin at the result of JSON-RPC, or at
// the object in it, so that /metadata/took is in the task of any answer, over JSON-RPC, over HTTP+JSON and in a stream.
// header[Content-Type] and status name what is not JSON. A whole place as reports print it, such as
// 5.response.event[2]#/result/artifact/metadata/took, is a place in exchange 5 alone, in whichever event.
//
// # What no rule hides
//
// How an answer came out (a success, an error), what it and its events hold (a task, a message, an update) and in which
// order is not a value, and always compared. The state of a task, and which error an error is, are hidden only by a
// rule whose last name is that very member: /status/state, /error/code; never by one for what is around it, nor by a
// *.
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

// A part is which part of an exchange a rule is about.
type part uint8

const (
	anyPart part = iota
	request
	response
)

// String returns the rule as it was written.
func (r *Rule) String() string { return r.text }

// Rules are the rules of a comparison, and how often they applied. They are safe for concurrent use. A nil *Rules has
// no rule.
type Rules struct {
	list []Rule

	mu      sync.Mutex
	applied []int // to how many places, by rule
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

// A Count says how often rules applied.
type Count struct {
	Ignored int // places that were not compared
	Rules   int // that said so
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

// Stale says in one sentence each which rules never applied, in their order: what they name may be gone, or misspelt.
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
		text := fmt.Sprintf("the rule %s never applied: nothing that was compared has this place", r.list[i].text)
		if at := r.list[i].origin; at != "" {
			text = at + ": " + text
		}
		stale = append(stale, text)
	}
	return stale
}

// Of returns the rules that apply to the answers of an exchange: those of its operation, and those that name one of its
// numbers, which are that of the recording and that of the live run. It is nil if there are none.
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
		return []string{pointer} // not reached for pointers of our own
	}
	return p.Names()
}

// A layout is where in a text pointers may begin besides the body.
type layout struct {
	payload  []string // the object
	envelope bool     // of JSON-RPC: its result
}

func (t *Text) layout() layout {
	return layout{split(t.Payload), t.Root.Has("jsonrpc") || t.Root.Has("result")}
}

// names reports whether the rule names what stands at a path, from the body, from the result of JSON-RPC, or from the
// object there. Where there is no JSON-RPC, a rule that begins with its result begins at the body.
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

// fits reports whether names, of which one may be any, are those of a path.
func fits(names, path []string) bool {
	return slices.EqualFunc(names, path, func(name, at string) bool { return name == capture.AnyName || name == at })
}

// Hides reports whether a rule says by name, not by *, that the value at a pointer is not to be compared with the
// recorded one.
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

// Covers reports whether the value at a pointer, or one that it is in, is not to be compared with the recorded one.
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

// HidesStatus reports whether the status of HTTP is not to be compared with the recorded one.
func (s *Scope) HidesStatus() bool {
	return s != nil && slices.ContainsFunc(s.rules, func(r scoped) bool { return r.status })
}

// HidesHeader reports whether a header field is not to be compared with the recorded one.
func (s *Scope) HidesHeader(name string) bool {
	return s != nil && slices.ContainsFunc(s.rules, func(r scoped) bool { return r.isHeader(name) })
}

func (r *Rule) isHeader(name string) bool { return r.header != "" && strings.EqualFold(r.header, name) }

// Fresh returns the same rules, none of which has applied yet.
func (r *Rules) Fresh() *Rules {
	if r == nil {
		return nil
	}
	return New(r.list...)
}
