package compare

import (
	"cmp"
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
)

// A Kind is what a difference is about.
type Kind string

// The kinds of differences.
const (
	DifferentOutcome  Kind = "outcome"  // success for an error, or the reverse, or another kind of answer
	DifferentError    Kind = "error"    // another error
	DifferentState    Kind = "state"    // a task in another state
	DifferentEvent    Kind = "event"    // an event is missing or was not there before
	DifferentID       Kind = "id"       // an id that belongs to something else
	DifferentContent  Kind = "content"  // of a list, a card or a task: something is missing
	DifferentEnd      Kind = "end"      // the answer ended in another way
	DifferentDelivery Kind = "delivery" // notifications
	DifferentTime     Kind = "time"     // an answer or an event took longer than it may
	DifferentMatch    Kind = "match"    // a value does not match the expression that stands in for the recorded one
	DifferentFinding  Kind = "finding"  // a rule is broken now that was not broken when it was recorded

	DifferentPart      Kind = "part"       // a text where data was, or another order of kinds
	DifferentType      Kind = "type"       // of a value in JSON
	DifferentMember    Kind = "member"     // a name is missing or was not there before
	DifferentMediaType Kind = "media-type" // of a part, a file or an answer
	DifferentStructure Kind = "structure"  // that the profile shape compares
	DifferentValue     Kind = "value"      // that the profile exact compares

	DifferentOperation Kind = "operation" // of two captures: the client calls something else
	MissingExchange    Kind = "missing"   // of two captures: only the first has it
	NewExchange        Kind = "new"       // of two captures: only the second has it
)

// A Change is one place where two JSON texts differ. NewChange makes one.
type Change struct {
	Pointer string // JSON Pointer (RFC 6901): in the first text, or in the second for what only that has
	Was     string // raw JSON, whole if it is not very long; empty if there is nothing
	Now     string
}

// Client is the Side of a difference in what the client does.
const Client = "client"

// A Difference is one thing that the live agent did differently, or, in one of two captures, the client.
type Difference struct {
	Side      string // who did it: Client, or empty for the agent
	Kind      Kind
	Rule      string   // id of the rule that is broken now; empty for other kinds
	Exchange  uint64   // recorded; 0 for what concerns no single exchange
	Live      uint64   // number of the exchange in the replayed traffic; 0 likewise
	Place     string   // in the recorded exchange; of what only the live answer has, and of a finding, in the replayed one
	LivePlace string   // in the replayed exchange; empty for what only the recorded one has
	Want      string   // what was recorded
	Got       string   // what came now
	Message   string   // one sentence for people: lower case, no final period
	Changes   []Change // the smallest difference of the two JSON texts, the live one with its ids renamed; may be empty
	Effect    Effect   // what else it makes different
}

// An Effect is what makes a difference the cause of others. Whoever compares knows it; Causes follows it. The zero
// Effect is that of a difference on which nothing depends.
type Effect struct {
	// Task is the task, as recorded, that the difference is about, and Agent the recorded agent's name; empty where
	// they are those of the difference's line, or if there is none.
	Task, Agent string
	// Lasting says that the task was left otherwise than it was recorded: it ended, or waits, where it did not, or what
	// was to be done to it was not done. What is said of the task later cannot but differ.
	Lasting bool
	// Configs says that the push configs of the task were left otherwise. Its notifications cannot but differ, and
	// lists of its configs.
	Configs bool
	// NoAnswer says that the answer has nothing of what was recorded: an error came in its place, or nothing. What it
	// was to name is not known to later requests.
	NoAnswer bool
	// Withdrawn is what the card no longer offers. A refusal of it follows.
	Withdrawn Capability
	// Gone is where the card no longer offers to be called. That calls are refused there follows.
	Gone Spoken
}

// Spoken is the dialects of each binding, in which calls are made, or may be.
type Spoken [a2a.GRPC + 1]a2a.Dialects

// SpokenIn returns the dialects of one binding.
func SpokenIn(b a2a.Binding, in a2a.Dialects) (s Spoken) {
	if int(b) < len(s) {
		s[b] = in
	}
	return s
}

// Shares reports whether a binding has a dialect in both. Cards and notifications, which have no binding, are no calls.
func (s Spoken) Shares(other Spoken) bool {
	for b := a2a.JSONRPC; int(b) < len(s); b++ {
		if !s[b].Intersect(other[b]).Empty() {
			return true
		}
	}
	return false
}

// A Capability is what a card may offer.
type Capability string

// The capabilities whose withdrawal explains a refusal.
const (
	Streaming         Capability = "streaming"
	PushNotifications Capability = "push notifications"
)

// String returns the difference in one line.
func (d *Difference) String() string {
	if d.Place == "" {
		return fmt.Sprintf("%s [%s]", d.Message, d.Kind)
	}
	return fmt.Sprintf("%s: %s [%s]", d.Place, d.Message, d.Kind)
}

// Summary says in a few words what changed, such as "state completed → failed". What came from the wire is in it as it
// came.
func (d *Difference) Summary() string {
	switch both := d.Want != "" && d.Got != ""; {
	case d.Kind == DifferentValue && len(d.Changes) > 0:
		was, now := Excerpt(d.Changes[0].Was, d.Changes[0].Now, 2*around)
		return fmt.Sprintf("%s: %s → %s", tail(d.Changes[0].Pointer), cmp.Or(was, "absent"), cmp.Or(now, "absent"))
	case !both:
	case d.Kind == DifferentState:
		return fmt.Sprintf("state %s → %s", d.Want, d.Got)
	case d.Kind == DifferentOutcome, d.Kind == DifferentError, d.Kind == DifferentEvent:
		return fmt.Sprintf("%s → %s", d.Want, d.Got)
	case d.Kind == DifferentEnd:
		return fmt.Sprintf("answer %s → %s", d.Want, d.Got)
	}
	return d.Message
}

// tail returns the end of a JSON Pointer, which tells what is meant to whoever knows the protocol.
func tail(pointer string) string {
	const tokens = 4
	all := strings.Split(pointer, "/")
	if len(all) <= tokens+2 {
		return pointer
	}
	return "…/" + strings.Join(all[len(all)-tokens:], "/")
}

// place writes the place of a value in the answer of an exchange.
func place(seq uint64, event int, pointer string) string {
	at := fmt.Sprintf("%d.response", seq)
	if event > 0 {
		at += fmt.Sprintf(".event[%d]", event)
	} else {
		at += ".body"
	}
	return at + "#" + pointer
}
