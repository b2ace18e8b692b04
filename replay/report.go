package replay

import (
	"fmt"

	"a2atap/analyzer"
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
	DifferentFinding  Kind = "finding"  // a rule is broken now that was not broken when it was recorded

	DifferentPart      Kind = "part"       // a text where data was, or another order of kinds
	DifferentType      Kind = "type"       // of a value in JSON
	DifferentMember    Kind = "member"     // a name is missing or was not there before
	DifferentMediaType Kind = "media-type" // of a part, a file or an answer
	DifferentStructure Kind = "structure"  // see Shape
	DifferentValue     Kind = "value"      // see Exact
)

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

// A Status is the result for one recorded exchange.
type Status string

// The statuses of an exchange.
const (
	Matched   Status = "matched"
	Differing Status = "differing"
	LeftOut   Status = "left-out"
)

// A Line is the result for one recorded exchange.
type Line struct {
	Exchange    uint64
	Live        uint64 // number of the (last) exchange in the replayed traffic; 0 if it was not sent
	Operation   string
	Task        string // as recorded
	Status      Status
	Why         string // it was left out
	Requests    int    // how often it was sent: more than once if it polls
	Differences []Difference
}

// A Report is the result of a replay. Each chosen exchange of the capture has one line, in order.
type Report struct {
	Capture     string
	To          string
	Profile     Profile
	Sent        int // exchanges; Matched and Differing add up to it
	Matched     int
	Differing   int
	LeftOut     int
	Texts       int    // in recorded answers to what was sent, which the profile does not compare
	Lost        int64  // exchanges of which the capture says that nothing was recorded
	Crash       string // what the capture says of a recorder that was killed; empty if none was
	Lines       []Line
	Differences []Difference // those of the lines, of notifications, and new findings
	Deliveries  Deliveries
	Findings    []analyzer.Finding // new ones, in the replayed traffic
	Notes       []string           // further remarks
}

// Same reports whether something was sent, nothing differs, and the capture lacks nothing.
func (r *Report) Same() bool {
	return r.Sent > 0 && len(r.Differences) == 0 && r.Lost == 0 && r.Crash == ""
}

// Verdict returns the report in one line, counts included.
func (r *Report) Verdict() string {
	what := "no difference"
	switch n := len(r.Differences); {
	case r.Sent == 0:
		what = "inconclusive: nothing was sent"
	case n == 1:
		what = "1 difference"
	case n > 1:
		what = fmt.Sprintf("%d differences", n)
	}
	s := fmt.Sprintf("%s; %d sent, %d matched, %d differing, %d left out",
		what, r.Sent, r.Matched, r.Differing, r.LeftOut)
	if r.Texts > 0 {
		s += fmt.Sprintf("; texts not compared: %d", r.Texts)
	}
	if r.Lost > 0 {
		s += fmt.Sprintf("; incomplete: %d exchanges were not recorded", r.Lost)
	}
	if r.Crash != "" {
		s += "; incomplete: " + r.Crash
	}
	if d := r.Deliveries; d.Expected > 0 || d.LeftOut > 0 {
		s += fmt.Sprintf("; %d of %d notifications received, %d left out", d.Received, d.Expected, d.LeftOut)
	}
	return s
}
