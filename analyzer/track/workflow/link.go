package workflow

import (
	"slices"
	"strconv"
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

// A Link says to which workflow an exchange belongs, and what caused it there.
type Link struct {
	Exchange uint64   // the exchange, by its number in the capture
	Workflow uint64   // the number of the exchange that began the workflow; that of the exchange itself if it did
	Parent   uint64   // the exchange that caused it; 0 if it begins its workflow
	By       Evidence // how the parent is known
	Before   uint64   // the parent that was told of it before; 0 if none was
	Maybe    Choice   // of Unknown: between which calls nothing decides
}

// A Choice is the exchanges of which one has caused another, in order: at most four. What is left is 0; there is none
// where less than two or more than four come into question.
type Choice [4]uint64

// choiceOf returns the choice between calls.
func choiceOf(calls []*call) (ch Choice) {
	if len(calls) < 2 || len(calls) > len(ch) {
		return ch
	}
	for i, c := range calls {
		ch[i] = c.n
	}
	slices.Sort(ch[:len(calls)])
	return ch
}

// Doubt says why the cause of an exchange that begins a workflow is not known; empty if there need not be one.
func (l *Link) Doubt() string {
	switch {
	case l.By != Unknown || l.Parent != 0:
		return ""
	case l.Maybe == Choice{}:
		return Unknown.String()
	}
	words := "caused by " + strconv.FormatUint(l.Maybe[0], 10)
	for i, n := range l.Maybe[1:] {
		switch {
		case n == 0:
		case i+2 == len(l.Maybe) || l.Maybe[i+2] == 0:
			words += " or " + strconv.FormatUint(n, 10)
		default:
			words += ", " + strconv.FormatUint(n, 10)
		}
	}
	return words + ": at the same time, in no common trace"
}
