package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Evidence is how the cause of an exchange is known.
type Evidence uint8

// The kinds of evidence, those that prove the cause first.
const (
	None        Evidence = iota // unknown: the exchange begins a separate workflow
	ByTask                      // names a task that another call created
	ByDelivery                  // notifies of a task that another call created
	ByReference                 // its message refers to the task of a call that its client was answering
	ByTrace                     // carries the trace of a call that its client was answering
	ByContext                   // names the context of a call that its client was answering
	ByResult                    // a model asked for this tool call, and was then sent its result

	// What follows is likely, and not proved.

	Nested    // made while its client answered exactly one call
	Working   // made while its client worked on the task of exactly one call
	ByContent // passes on the content of exactly one call that was being answered
	ByText    // its text contains the text of exactly one call that was being answered
	ByID      // names an id that exactly one call that was being answered named
	InTrace   // it is in the same trace, but which exchange of the trace caused it is unknown
	InContext // it is in the same context, the same
	// its message refers to a task that exactly one call that was being answered is about
	InReference
	Prelude  // the card was fetched for the call that followed
	ByModel  // a model asked for this tool with these arguments
	OnlyOpen // made while exactly one call was open

	// Unknown means that an exchange begins a workflow because no cause was found. Its client may have made it for an
	// open call, but nothing shows for which, or whether for any.
	Unknown
)

var reasons = [...]string{
	None: "", ByTask: "same task", ByDelivery: "notification of its task", ByReference: "refers to its task",
	ByTrace: "same trace", ByContext: "same context",
	Nested: "made while answering", Working: "made while working on it", ByContent: "same content",
	ByText: "contains its text", ByID: "same id",
	InTrace: "same trace", InContext: "same context", InReference: "refers to a related task", Prelude: "card of that agent",
	ByResult: "the model asked for it", ByModel: "the model asked for it", OnlyOpen: "made while no other call was open", Unknown: "unknown caller",
}

// String returns the evidence in a few words, "" for None.
func (e Evidence) String() string {
	if int(e) < len(reasons) {
		return reasons[e]
	}
	return ""
}

// Certain reports whether the evidence proves the cause.
func (e Evidence) Certain() bool { return e > None && e < Nested }

// ByAgent reports whether the cause is a call that an agent was answering when it made the exchange, rather than an
// earlier call of the same client, as far as that is visible within one trace or context.
func (e Evidence) ByAgent() bool {
	switch e {
	case ByReference, ByTrace, ByContext, Nested, Working, ByContent, ByText, ByID, InTrace, InContext, InReference:
		return true
	}
	return false
}

// A Link has the workflow of an exchange, and its cause there.
type Link struct {
	Exchange uint64   // the exchange, by its number in the capture
	Workflow uint64   // the number of the exchange that began the workflow, which may be the exchange itself
	Parent   uint64   // the exchange that caused it; 0 if it begins its workflow
	By       Evidence // how the parent is known
	Before   uint64   // the parent reported before; 0 if none
	Maybe    Choice   // of Unknown: between which calls nothing decides
}

// A Choice has the exchanges of which one is the cause: the first four, in order, padded with 0, and the number of
// further ones. It is empty with fewer than two candidates.
type Choice struct {
	First [4]uint64
	More  int
}

// choiceOf returns the choice between calls, and some more.
func choiceOf(calls []*call, more int) (ch Choice) {
	if len(calls) < 2 {
		return ch
	}
	numbers := make([]uint64, len(calls))
	for i, c := range calls {
		numbers[i] = c.n
	}
	slices.Sort(numbers)
	ch.More = len(numbers) - copy(ch.First[:], numbers) + more
	return ch
}

// All returns the exchanges that a choice names.
func (ch *Choice) All() []uint64 {
	n := 0
	for n < len(ch.First) && ch.First[n] != 0 {
		n++
	}
	return ch.First[:n]
}

// String names the exchanges of a choice: "2 or 8", "2, 4, 6, 8 or one of 3 more"; "" for an empty choice.
func (ch Choice) String() string {
	var words []string
	for _, n := range ch.All() {
		words = append(words, strconv.FormatUint(n, 10))
	}
	switch {
	case ch.More == 1:
		words = append(words, "another one")
	case ch.More > 1:
		words = append(words, fmt.Sprintf("one of %d more", ch.More))
	}
	if len(words) == 0 {
		return ""
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Doubt explains why the cause of an exchange that begins a workflow is unknown; "" if it may have no cause.
func (l *Link) Doubt() string {
	switch {
	case l.By != Unknown || l.Parent != 0:
		return ""
	case l.Maybe == Choice{}:
		return Unknown.String()
	}
	return "caused by " + l.Maybe.String() + ": at the same time, without a common trace"
}
