package analysis

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
)

// Level is the requirement word behind a rule.
type Level uint8

// The levels, weakest first.
const (
	Advice Level = iota // our own advice, or the row is information only
	May
	Should
	Must
)

// String returns the word in upper case, as specifications print it.
func (l Level) String() string {
	return [...]string{"ADVICE", "MAY", "SHOULD", "MUST"}[min(l, Must)]
}

// Severity is how much a finding matters. It follows from the level; a check may lower it for a case, never raise it. A
// finding that covers another one is at least as severe as that one.
type Severity uint8

// The severities, mildest first.
const (
	Note Severity = iota
	Warning
	Error
)

// WorstFirst has all severities, worst first.
var WorstFirst = [...]Severity{Error, Warning, Note}

// String returns the severity's name in lower case.
func (s Severity) String() string {
	return [...]string{"note", "warning", "error"}[min(s, Error)]
}

// ParseSeverity returns the severity of that name.
func ParseSeverity(name string) (Severity, error) {
	for s := Note; s <= Error; s++ {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown severity %q; use error, warning or note", name)
}

// Severity returns the severity of a broken rule of this level.
func (l Level) Severity() Severity {
	switch l {
	case Must:
		return Error
	case Should:
		return Warning
	}
	return Note
}

// A Rule is one requirement and the check that finds it broken. Rules are values: they are listed, documented and run
// from their fields, and have no state of their own.
//
// A rule holds in exactly the dialects that it cites. The engine calls Check with an observation only if every dialect
// that the message may be in is among them: while 0.2 and 0.3 cannot be distinguished, rules of one of them are not
// run.
type Rule struct {
	ID       string        // the catalogue's slug: permanent, never reused
	Title    string        // the violation, in half a line
	Family   string        // its file and chapter, such as "jsonrpc"
	Category Category      // the chapter of a conformance report that counts it
	Level    Level         //
	Gravest  Severity      // severity of its findings, if above the level's: calls that never worked are an error
	Critical Absence       // how its findings show that the agent was missing
	Side     a2a.Side      // the side at fault, unless the check says otherwise
	Either   bool          // both sides can break it: Side is only the default
	Revises  bool          // at the end of a capture it may revise its earlier findings: see Finding.Revises
	Once     Scope         // of several findings within it the first of each severity is reported; all are counted
	On       Kinds         // the observations that it receives
	If       Traits        // traits that hold wherever the rule applies
	Odd      a2a.Oddity    // it examines only objects with such members: it applies to all, and finds nothing in others
	Needs    []*Tracker    // the trackers whose states it uses
	Bindings Bindings      // where it holds
	Cites    []a2a.Cite    // dialect and section, one for each dialect in which it holds
	Stands   string        // where each cited sentence begins, such as "0.3.0:412": see rule.Sentences
	OfCard   bool          // of CardSeen it uses only the card and its address
	Future   bool          // its findings are not lowered to notes if the client asks for a version after 1.0
	Covers   []string      // rules that say less about the same place and are then not reported separately
	Doc      string        // the duty, in our own words, for someone whose agent was just flagged
	Fix      string        // what to change
	Silent   string        // what is not reported, and why
	Check    func(p *Pass) //
}

// An Absence is the way in which an agent was missing.
type Absence uint8

// The absences.
const (
	Present      Absence = iota // not known to be missing
	Gone                        // it was reachable before, but not at the end
	NeverReached                // it was never reachable
)

// Severity returns the severity of the rule's findings, unless the check lowers it.
func (r *Rule) Severity() Severity { return max(r.Level.Severity(), r.Gravest) }

// Dialects returns the set of dialects in which the rule holds: those that it cites.
func (r *Rule) Dialects() a2a.Dialects {
	var set a2a.Dialects
	for _, c := range r.Cites {
		set |= a2a.Of(c.In)
	}
	return set
}

// Sections returns the citations as text, such as "1.0 §3.1.2", restricted to the dialects of the set if any is left.
// Sections of other documents, such as "RFC 8259 §2", are listed without a dialect, once each.
func (r *Rule) Sections(in a2a.Dialects) []string {
	if in.Intersect(r.Dialects()).Empty() {
		in = r.Dialects()
	}
	var list []string
	for _, c := range r.Cites {
		text := c.String()
		if strings.Contains(c.Section, "§") {
			text = strings.TrimPrefix(c.Section, "A2A ") // a citation without a document refers to A2A
		}
		if in.Has(c.In) && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// Covered returns for each rule all rules that it covers, directly or through another one.
func Covered(rules []*Rule) map[string][]string {
	direct := make(map[string][]string)
	for _, r := range rules {
		if len(r.Covers) > 0 {
			direct[r.ID] = r.Covers
		}
	}
	all := make(map[string][]string, len(direct))
	for from, covers := range direct {
		reached := slices.Clone(covers)
		for i := 0; i < len(reached); i++ {
			for _, id := range direct[reached[i]] {
				if !slices.Contains(reached, id) {
					reached = append(reached, id)
				}
			}
		}
		all[from] = reached
	}
	return all
}

// Scope is the range in which a rule reports once: the first finding of each severity, so that none hides a worse one.
type Scope uint8

// The scopes.
const (
	Always      Scope = iota // every finding is reported
	PerExchange              // once in an exchange; for each side where both can break the rule
	PerEndpoint              // once in a dialect at a URL: for the agent, and for each client that breaks the rule
	PerOrigin                // once at a scheme, host and port
	PerCause                 // once for each client and Finding.Cause; without a cause, for each text, ignoring numbers
)

// Category is the chapter of a conformance report that counts a rule.
type Category string

// The categories.
const (
	AgentCard     Category = "agentCard"
	Lifecycle     Category = "lifecycle"
	Streaming     Category = "streaming"
	ErrorHandling Category = "errorHandling"
	Interop       Category = "interop"
)

// Categories lists all categories in the order of reports.
var Categories = []Category{AgentCard, Lifecycle, Streaming, ErrorHandling, Interop}

// Bindings is a set of bindings.
type Bindings uint8

// The bindings of a rule. OnHTTP is for cards and webhooks, which are not calls.
const (
	OnHTTP     Bindings = 1 << a2a.NoBinding
	OnJSONRPC  Bindings = 1 << a2a.JSONRPC
	OnHTTPJSON Bindings = 1 << a2a.HTTPJSON
	OnGRPC     Bindings = 1 << a2a.GRPC
)

// Has reports whether b is in the set.
func (s Bindings) Has(b a2a.Binding) bool { return s&(1<<b) != 0 }

// Names returns the names of the bindings in the set.
func (s Bindings) Names() []string {
	var names []string
	for b := a2a.NoBinding; b <= a2a.GRPC; b++ {
		if s.Has(b) {
			names = append(names, b.String())
		}
	}
	return names
}

// An Unobserved is a requirement that no rule checks, since a recording does not show it. It is listed so that silence
// is not mistaken for success.
type Unobserved struct {
	ID     string // the catalogue's slug
	Title  string // the violation, in half a line
	Level  Level
	Reason string // the data needed to observe it
}
