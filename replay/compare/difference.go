package compare

import (
	"cmp"
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
)

// A Kind is the subject of a difference.
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
	DifferentMatch    Kind = "match"    // a value does not match the expression that replaces the recorded one
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
	ProgramFailed      Kind = "program"   // the program that ran on a recording
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
	Effect    Effect   // its further consequences
}

// An Effect makes a difference the cause of others. The comparison sets it, and Causes follows it. The zero Effect
// belongs to a difference without consequences.
type Effect struct {
	// Task is the recorded id of the task that the difference concerns, and Agent the recorded agent's name; empty if
	// they are the same as those of the difference's line, or if there is no task.
	Task, Agent string
	// Lasting means that the task is in another state than recorded from then on: it ended, or waits, when it did not,
	// or an operation on it did not happen. Later answers about the task necessarily differ.
	Lasting bool
	// Configs means that the task has other push configs than recorded. Its notifications and lists of its configs
	// necessarily differ.
	Configs bool
	// NoAnswer means that the answer lacks everything that was recorded: it is an error or empty. Later requests do not
	// have the ids that it should have given.
	NoAnswer bool
	// Withdrawn names the capabilities that the card no longer offers. The agent then refuses calls that need them.
	Withdrawn Capability
	// Gone lists the interfaces that the card no longer offers. Calls there are then refused.
	Gone Spoken
}

// Spoken has the dialects in use, or available, for each binding.
type Spoken [a2a.GRPC + 1]a2a.Dialects

// SpokenIn returns the dialects of one binding.
func SpokenIn(b a2a.Binding, in a2a.Dialects) (s Spoken) {
	if int(b) < len(s) {
		s[b] = in
	}
	return s
}

// Shares reports whether a binding has a common dialect in both. Cards and notifications have no binding: not calls.
func (s Spoken) Shares(other Spoken) bool {
	for b := a2a.JSONRPC; int(b) < len(s); b++ {
		if !s[b].Intersect(other[b]).Empty() {
			return true
		}
	}
	return false
}

// A Capability is a feature that a card may offer.
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

// Summary returns a short description of the change, such as "state completed → failed". Text from the wire is not
// escaped.
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

// tail returns the end of a JSON Pointer, which is enough for readers who know the protocol.
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
