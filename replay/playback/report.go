package playback

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/replay/canonical"
	"a2atap/replay/compare"
)

// A Miss is a request that matches no recorded one.
type Miss struct {
	Operation string           // or the method or path if it is not an A2A operation
	Why       string           // one sentence: lower case, no final period
	Nearest   uint64           // the recorded exchange that comes closest; 0 if none has the operation
	Changes   []compare.Change // how the request differs from that one
}

// String describes the miss.
func (m Miss) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", m.Operation, m.Why)
	for _, c := range m.Changes {
		b.WriteString("; " + canonical.Difference{At: c.Pointer, Was: c.Was, Now: c.Now}.String())
	}
	return b.String()
}

// maxMisses bounds the misses that a report explains.
const maxMisses = 100

// A Report summarizes the playback.
type Report struct {
	Served    int // requests that were answered as recorded
	Missed    int // requests that nothing matched, and that no live agent answered
	Forwarded int // requests that nothing matched, and that the live agent answered
	Differed  int // requests that were answered although their parameters differ from the recorded ones
	Ignored   int // values in which they differ
	Exact     int // requests that were answered and equal the recorded ones
	Repeated  int // requests that got an answer that was given before
	Used      int // recorded exchanges that were played at least once
	Unused    []Unused
	Calls     []Call // all that can be played, in order
	Misses    []Miss // the first hundred
	Exchange  int    // recorded exchanges that can be played

	// Recorded calls that cannot be played: Lacking have no bodies in the recording, Unanswered have no answer there, and
	// Batches are JSON-RPC batches of A2A.
	Lacking, Unanswered, Batches int

	Delayed int // requests that a Disruption delayed
	Errors  int // requests that got the error of a Disruption
	Dropped int // requests that a Disruption left without an answer
	Cut     int // streams that were cut by Options.BreakAfter

	Notified    int // recorded notifications that the live client's webhook accepted
	Undelivered int // recorded notifications that it did not accept
}

// A Call is a recorded call that can be played.
type Call struct {
	Exchange         uint64
	Agent, Operation string
	Uses             int // how often it was played
}

// NotPlayed returns how many recorded calls cannot be played.
func (r *Report) NotPlayed() int { return r.Lacking + r.Unanswered + r.Batches }

// An Unused exchange was never requested.
type Unused struct {
	Exchange  uint64
	Operation string
}

// maxUnused bounds the unused exchanges in a report.
const maxUnused = 20

// NotRequested returns a line for each recorded exchange that was never requested, such as "not requested: exchange 4
// GetTask"; after twenty lines, it only counts the rest.
func (r *Report) NotRequested() []string {
	var lines []string
	for i, u := range r.Unused {
		if i == maxUnused {
			return append(lines, fmt.Sprintf("not requested: %s", analysis.Plural(len(r.Unused)-i, "more exchange")))
		}
		lines = append(lines, fmt.Sprintf("not requested: exchange %d %s", u.Exchange, u.Operation))
	}
	return lines
}

// Came returns the number of received requests, without the unmatched ones.
func (r *Report) Came() int { return r.Served + r.Forwarded + r.Errors + r.Dropped }

// Verdict returns the report in one line.
func (r *Report) Verdict() string {
	what := "played"
	switch {
	case r.Came() > 0:
	case r.Missed > 0:
		what = "inconclusive: no request was matched"
	default:
		what = "inconclusive: no request arrived"
	}
	s := fmt.Sprintf("%s; %d requests served, %d not matched, %d of %d recorded exchanges used",
		what, r.Served, r.Missed, r.Used, r.Exchange)
	if r.Forwarded > 0 {
		s += fmt.Sprintf("; %d forwarded", r.Forwarded)
	}
	if faults := r.faults(); faults != "" {
		s += "; injected faults: " + faults
	}
	if r.Ignored > 0 {
		s += fmt.Sprintf("; ignored: %d differences in %d requests", r.Ignored, r.Differed)
	}
	if r.Notified+r.Undelivered > 0 {
		s += fmt.Sprintf("; %d notifications delivered, %d not", r.Notified, r.Undelivered)
	}
	return s
}

// Whole returns the verdict on a program that was answered from the recording, except for so many calls that went to
// live services.
func (r *Report) Whole(live int) string {
	s := fmt.Sprintf("%d answered (%d exactly, %d by meaning, %d repeated), %d missed, %d never asked for, %d live",
		r.Served, r.Exact, r.Served-r.Exact, r.Repeated, r.Missed, len(r.Unused), live)
	if n := r.NotPlayed(); n > 0 {
		s += fmt.Sprintf(", %d not playable", n)
	}
	return s
}

// NotPlayable returns a line for each reason why recorded calls cannot be played.
func (r *Report) NotPlayable() []string {
	var lines []string
	for _, of := range []struct {
		n   int
		why string
	}{
		{r.Lacking, "the recording lacks their bodies"},
		{r.Unanswered, "the recording has no answer to them"},
		{r.Batches, "they are JSON-RPC batches"},
	} {
		if of.n > 0 {
			lines = append(lines, fmt.Sprintf("recorded calls that cannot be played, since %s: %d", of.why, of.n))
		}
	}
	return lines
}

// faults describes the effects of the requested disruptions.
func (r *Report) faults() string {
	var list []string
	for _, f := range []struct {
		n    int
		what string
	}{
		{r.Delayed, "delayed"},
		{r.Errors, "answered with an error"},
		{r.Dropped, "not answered"},
		{r.Cut, "streams cut"},
	} {
		if f.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", f.n, f.what))
		}
	}
	return strings.Join(list, ", ")
}
