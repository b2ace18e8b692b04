package workflow

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
)

var reasons = [...]string{
	None: "", ByTask: "same task", ByDelivery: "notification of its task", ByReference: "refers to its task",
	ByTrace: "same trace", ByContext: "same context",
	Nested: "made while answering", Working: "made while working on it", ByContent: "same content",
	InTrace: "same trace", InContext: "same context", Prelude: "card of that agent",
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
}
