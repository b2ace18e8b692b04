package report

import (
	"cmp"
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
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

// A Line is the result for one exchange; Exchange is its number in the recording.
type Line struct {
	Exchange    uint64               `json:"exchange"`             // 0 if the recording has none
	Live        uint64               `json:"replayedAs,omitempty"` // the (last) exchange in the replayed traffic; 0 if it was not sent
	Polls       []uint64             `json:"-"`                    // numbers of the exchanges before the last one, where it polled
	Agent       string               `json:"agent,omitempty"`      // its name in the recording
	Operation   string               `json:"operation"`
	Task        string               `json:"task,omitempty"` // as recorded
	Spoken      compare.Spoken       `json:"-"`              // binding and dialects of the recorded request
	Status      Status               `json:"status"`
	Why         string               `json:"why,omitempty"` // it was left out
	Lacks       uint64               `json:"-"`             // recorded exchange whose missing answer is the reason; 0 for another reason
	Uses        []uint64             `json:"-"`             // recorded exchanges whose answers named the ids in the request
	Requests    int                  `json:"requests"`      // how often it was sent: more than once if it polls
	Differences []compare.Difference `json:"-"`
}

// Deliveries counts the notifications.
type Deliveries struct {
	Expected int    `json:"expected"`      // recorded, for tasks that were replayed
	Received int    `json:"received"`      // from the live agent, for the same tasks
	LeftOut  int    `json:"leftOut"`       // recorded, and not compared
	Why      string `json:"why,omitempty"` // something was left out
}

// Sides are the names of the two sides of a comparison.
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
	OneExchange // which Was and Now name
)

// A Report is the result of a replay, or of the comparison of two captures. Each chosen exchange has one line, in order.
type Report struct {
	Tool        report.Tool
	Verb        string // of the command: "replay", "diff" or "playback"; empty means "replay"
	Capture     string // that was recorded, or the first of two
	To          string // URLs of the live agents, or the second capture
	Sides       Sides  // "recorded" and "now" if empty
	Profile     string
	Sent        int // exchanges that were compared; Matched and Differing add up to it
	Matched     int
	Differing   int
	LeftOut     int
	Missing     int    // of two captures, exchanges that only the first has
	New         int    // of two captures, exchanges that only the second has
	ByMeaning   int    // exchanges in another binding or dialect, for which names in JSON were not compared
	Texts       int    // in recorded answers to sent requests, which the profile does not compare
	Ignored     int    // places that were not compared because of a noise rule
	IgnoredBy   int    // how many rules caused that
	Matching    int    // places that were compared with an expression instead of the recording
	Lost        int64  // exchanges that the capture counts as not recorded
	Crash       string // the capture's note about a killed recorder; may be empty
	Lines       []Line
	Differences []compare.Difference // of the lines, of notifications, and new findings
	Deliveries  Deliveries
	Findings    []analysis.Finding // new ones, in the replayed traffic
	Notes       []string           // further remarks
	Played      *Played            // of a program that ran on a recording; nil for others

	Paint func(ink report.Ink, text string) string // draws pieces of text in color; nil for none
}

// Played is the result of a program that ran on a recording. Its calls are the lines of the report, and what it asked for
// in vain is among the differences.
type Played struct {
	Answered      int      `json:"answered"` // from the recording; Exactly and ByMeaning add up to it
	Exactly       int      `json:"exactly"`
	ByMeaning     int      `json:"byMeaning"`
	Repeated      int      `json:"repeated"` // with an answer that was given before
	Missed        int      `json:"missed"`
	NeverAskedFor int      `json:"neverAskedFor"` // recorded calls
	Live          int      `json:"live"`          // calls that went to real services
	NotPlayable   int      `json:"notPlayable"`   // recorded calls
	Elsewhere     []string `json:"elsewhere"`     // addresses of connections that did not come to a2atap; nil if the system does not show them
	Program       string   `json:"program"`
	ExitStatus    int      `json:"exitStatus"` // of the program
	Verdict       string   `json:"-"`          // in one line
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
	if r.Played != nil {
		return r.Played.Verdict
	}
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

// result summarizes the report in a few words.
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

// uncompared describes what was not compared.
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

// sent returns the verb for the processed exchanges.
func (r *Report) sent() string {
	switch r.verb() {
	case "replay":
		return "sent"
	case "playback":
		return "answered"
	}
	return "compared"
}

func (r *Report) sides() Sides {
	return Sides{cmp.Or(r.Sides.Was, "recorded"), cmp.Or(r.Sides.Now, "now"), r.Sides.Each}
}
