package report

import "fmt"

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
	DifferentFinding  Kind = "finding"  // a rule is broken now that was not broken when it was recorded

	DifferentPart      Kind = "part"       // a text where data was, or another order of kinds
	DifferentType      Kind = "type"       // of a value in JSON
	DifferentMember    Kind = "member"     // a name is missing or was not there before
	DifferentMediaType Kind = "media-type" // of a part, a file or an answer
	DifferentStructure Kind = "structure"  // that the profile shape compares
	DifferentValue     Kind = "value"      // that the profile exact compares
)

// A Change is one place where two JSON texts differ.
type Change struct {
	Pointer string // JSON Pointer (RFC 6901): in the first text, or in the second for what only that has
	Was     string // raw JSON, cut to a readable length; empty if there is nothing
	Now     string
}

// A Difference is one thing that the live agent did differently.
type Difference struct {
	Kind     Kind
	Rule     string   // id of the rule that is broken now; empty for other kinds
	Exchange uint64   // recorded; 0 for what concerns no single exchange
	Live     uint64   // number of the exchange in the replayed traffic; 0 likewise
	Place    string   // in the recorded exchange; of what only the live answer has, and of a finding, in the replayed one
	Want     string   // what was recorded
	Got      string   // what came now
	Message  string   // one sentence for people: lower case, no final period
	Changes  []Change // the smallest difference of the two JSON texts, the live one with its ids renamed; may be empty
}

// String returns the difference in one line.
func (d *Difference) String() string {
	if d.Place == "" {
		return fmt.Sprintf("%s [%s]", d.Message, d.Kind)
	}
	return fmt.Sprintf("%s: %s [%s]", d.Place, d.Message, d.Kind)
}
