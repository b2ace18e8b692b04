package report

import (
	"cmp"
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/replay/compare"
)

// A Status is the result for one exchange.
type Status string

// The statuses of an exchange.
const (
	Matched   Status = "matched"
	Differing Status = "differing"
	LeftOut   Status = "left-out"
	Missing   Status = "missing" // of two captures, only the first has it
	New       Status = "new"     // of two captures, only the second has it
)

// A Line is the result for one exchange, of which Exchange is the number in the recording.
type Line struct {
	Exchange    uint64   // 0 if the recording has none
	Live        uint64   // number of the (last) exchange in the replayed traffic; 0 if it was not sent
	Polls       []uint64 // numbers of the exchanges before the last one, where it polled
	Agent       string   // its name in the recording
	Operation   string
	Task        string         // as recorded
	Spoken      compare.Spoken // binding and dialects of the recorded request
	Status      Status
	Why         string   // it was left out
	Lacks       uint64   // recorded exchange for want of whose answer it was left out; 0 if that is not why
	Uses        []uint64 // recorded exchanges whose answers named what the request names
	Requests    int      // how often it was sent: more than once if it polls
	Differences []compare.Difference
}

// Deliveries counts the notifications.
type Deliveries struct {
	Expected int    // recorded, for tasks that were replayed
	Received int    // from the live agent, for the same tasks
	LeftOut  int    // recorded, and not compared
	Why      string // something was left out
}

// A Tool names the program that wrote a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Sides are what the two sides of a comparison are called.
type Sides struct {
	Was, Now string
	Each     Extent // how much of a capture each of them is
}

// An Extent is how much of a capture is compared.
type Extent uint8

// The extents of a side.
const (
	WholeCapture Extent = iota
	OneTask
	OneExchange // which its name says
)

// A Report is the result of a replay, or of the comparison of two captures. Each chosen exchange has one line, in order.
type Report struct {
	Tool        Tool
	Verb        string // of the command: "replay", which stands for the empty one, or "diff"
	Capture     string // that was recorded, or the first of two
	To          string // URLs of the live agents, or the second capture
	Sides       Sides  // "recorded" and "now" where they are empty
	Profile     string
	Sent        int // exchanges that were compared; Matched and Differing add up to it
	Matched     int
	Differing   int
	LeftOut     int
	Missing     int    // of two captures, exchanges that only the first has
	New         int    // of two captures, exchanges that only the second has
	ByMeaning   int    // exchanges in another binding or dialect, of which names in JSON were not compared
	Texts       int    // in recorded answers to what was sent, which the profile does not compare
	Ignored     int    // places that were not compared since a rule of what may differ says so
	IgnoredBy   int    // how many rules said so
	Matching    int    // places that were compared with an expression instead of the recording
	Lost        int64  // exchanges of which the capture says that nothing was recorded
	Crash       string // what the capture says of a recorder that was killed; empty if none was
	Lines       []Line
	Differences []compare.Difference // those of the lines, of notifications, and new findings
	Deliveries  Deliveries
	Findings    []analysis.Finding // new ones, in the replayed traffic
	Notes       []string           // further remarks
}

// Tally counts the lines by their status, and gathers their differences.
func (r *Report) Tally() {
	for i := range r.Lines {
		switch l := &r.Lines[i]; l.Status {
		case LeftOut:
			r.LeftOut++
		case Matched:
			r.Matched++
		case Differing:
			r.Differing++
		case Missing:
			r.Missing++
		case New:
			r.New++
		}
		r.Differences = append(r.Differences, r.Lines[i].Differences...)
	}
	r.Sent = r.Matched + r.Differing
}

// Same reports whether something was sent, nothing differs, and the capture lacks nothing.
func (r *Report) Same() bool {
	return r.Sent > 0 && len(r.Differences) == 0 && r.Lost == 0 && r.Crash == ""
}

// Verdict returns the report in one line, counts included.
func (r *Report) Verdict() string {
	words := []string{r.result()}
	sides := r.sides()
	if sides.Each == OneExchange {
		return strings.Join(append(words, r.uncompared()...), "; ")
	}
	words = append(words,
		fmt.Sprintf("%d %s, %d matched, %d differing, %d left out", r.Sent, r.sent(), r.Matched, r.Differing, r.LeftOut))
	if r.Missing > 0 {
		words = append(words, fmt.Sprintf("only in %s: %d", sides.Was, r.Missing))
	}
	if r.New > 0 {
		words = append(words, fmt.Sprintf("only in %s: %d", sides.Now, r.New))
	}
	words = append(words, r.uncompared()...)
	if d := r.Deliveries; d.Expected > 0 || d.LeftOut > 0 {
		words = append(words, fmt.Sprintf("%d of %d notifications received, %d left out", d.Received, d.Expected,
			d.LeftOut))
	}
	return strings.Join(words, "; ")
}

// result returns what it comes to in a few words.
func (r *Report) result() string {
	n := len(r.Differences)
	switch causes := len(r.Causes()); {
	case r.Sent == 0 && n == 0:
		return "inconclusive: nothing was " + r.sent()
	case n == 0:
		return "no difference"
	case causes < n:
		return fmt.Sprintf("%s (%s)", analysis.Plural(n, "difference"), analysis.Plural(causes, "cause"))
	}
	return analysis.Plural(n, "difference")
}

// uncompared says what was not compared.
func (r *Report) uncompared() []string {
	var words []string
	if r.ByMeaning > 0 {
		words = append(words, fmt.Sprintf("in another binding or dialect, compared by meaning: %d", r.ByMeaning))
	}
	if r.Texts > 0 {
		words = append(words, fmt.Sprintf("texts not compared: %d", r.Texts))
	}
	if r.Ignored > 0 {
		words = append(words, fmt.Sprintf("ignored: %s by %s",
			analysis.Plural(r.Ignored, "place"), analysis.Plural(r.IgnoredBy, "rule")))
	}
	if r.Matching > 0 {
		words = append(words, "compared with an expression: "+analysis.Plural(r.Matching, "place"))
	}
	if r.Lost > 0 {
		words = append(words, fmt.Sprintf("incomplete: %d exchanges were not recorded", r.Lost))
	}
	if r.Crash != "" {
		words = append(words, "incomplete: "+r.Crash)
	}
	return words
}

func (r *Report) verb() string { return cmp.Or(r.Verb, "replay") }

// sent is the word for what was done with exchanges.
func (r *Report) sent() string {
	if r.verb() == "replay" {
		return "sent"
	}
	return "compared"
}

func (r *Report) sides() Sides {
	return Sides{cmp.Or(r.Sides.Was, "recorded"), cmp.Or(r.Sides.Now, "now"), r.Sides.Each}
}
