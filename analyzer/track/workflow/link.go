package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Evidence is how it is known what caused an exchange.
type Evidence uint8

// The kinds of evidence, those that prove the cause first.
const (
	None        Evidence = iota // nothing is known: the exchange begins a workflow of its own
	ByTask                      // it names a task that another call made
	ByDelivery                  // it notifies of a task that another call made
	ByReference                 // its message refers to a task that another call made
	ByTrace                     // it carries the trace of a call that its client was answering
	ByContext                   // it names the context of a call that its client was answering

	// What follows is likely, and not proved.

	Nested    // it was made while its client answered one call and no other
	Working   // it was made while its client worked on the task of one call and of no other
	ByContent // it hands on the content of one call that was being answered, and of no other
	ByText    // its text holds that of one call that was being answered, and of no other
	ByID      // it names an id that one call named which was being answered, and no other
	InTrace   // it is in the same trace, but which exchange of that caused it is not known
	InContext // it is in the same context, the same
	Prelude   // the card was fetched for the call that followed

	// Unknown is of an exchange that begins a workflow for want of a cause: its client may have made it for a call that
	// was being answered, and nothing says for which, or whether for any.
	Unknown
)

var reasons = [...]string{
	None: "", ByTask: "same task", ByDelivery: "notification of its task", ByReference: "refers to its task",
	ByTrace: "same trace", ByContext: "same context",
	Nested: "made while answering", Working: "made while working on it", ByContent: "same content",
	ByText: "its text is in it", ByID: "same id",
	InTrace: "same trace", InContext: "same context", Prelude: "card of that agent", Unknown: "unknown caller",
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

// ByAgent reports whether the cause is a call that an agent had to answer when it made the exchange, and not one that the
// same client made before: as far as that can be told of what is in one trace or context.
func (e Evidence) ByAgent() bool {
	switch e {
	case ByTrace, ByContext, Nested, Working, ByContent, ByText, ByID, InTrace, InContext:
		return true
	}
	return false
}

// A Link says to which workflow an exchange belongs, and what caused it there.
type Link struct {
	Exchange uint64   // the exchange, by its number in the capture
	Workflow uint64   // the number of the exchange that began the workflow; that of the exchange itself if it did
	Parent   uint64   // the exchange that caused it; 0 if it begins its workflow
	By       Evidence // how the parent is known
	Before   uint64   // the parent that was told of it before; 0 if none was
	Maybe    Choice   // of Unknown: between which calls nothing decides
}

// A Choice is the exchanges of which one has caused another: the first four, in order, 0 where there are less, and how
// many there are beyond these. There is none where less than two come into question.
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

// String names the exchanges of a choice: "2 or 8", "2, 4, 6, 8 or one of 3 more"; "" if there is none.
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

// Doubt says why the cause of an exchange that begins a workflow is not known; empty if there need not be one.
func (l *Link) Doubt() string {
	switch {
	case l.By != Unknown || l.Parent != 0:
		return ""
	case l.Maybe == Choice{}:
		return Unknown.String()
	}
	return "caused by " + l.Maybe.String() + ": at the same time, in no common trace"
}
