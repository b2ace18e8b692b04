package judgment

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
)

// Status is the verdict in one word.
type Status string

// The verdicts. StatusClean means that something was judged, that nothing was found, and that on each link with calls
// one has succeeded at least.
const (
	StatusClean      Status = "clean"
	StatusFindings   Status = "findings"
	StatusNothing    Status = "nothing"    // nothing was judged
	StatusIncomplete Status = "incomplete" // a counted loss, or a recorder that was killed, makes the answer incomplete
	StatusFailed     Status = "failed"     // calls of a link failed, and none succeeded
)

// Proved reports whether the verdict says something of the traffic: that it is clean, or what was found.
func (s Status) Proved() bool { return s == StatusClean || s == StatusFindings }

// A Verdict sums a result up.
type Verdict struct {
	Status    Status
	Errors    int
	Warnings  int
	Notes     int
	Baselined int // findings hidden since they are known
	Exchanges int
	Judged    int
	Lost      int64
	Crashes   []capture.Crash // of recorders that were killed: some traffic may be missing
	Forgotten int             // tasks, endpoints, webhooks and cards dropped to bound memory: rules are silent on them
	Unseen    int             // upgrades and tunnels: what passed in them was not observed
	Made      int             // exchanges in which the recorder made a fault, whose answers are not judged
	Calls     Calls           // of all links together
	Unproved  []Calls         // of each link on which no call is known to have succeeded
	Unheard   []analyzer.Link // on which webhooks were configured whose notifications went past the recorder
	Critical  []string        // agents that were gone at the end
	Insecure  bool            // agents on TLS were not verified: who answered need not be who is named
}

// Verdict sums the result up. A finding at or above the gate makes it StatusFindings; without one, a loss or a
// recorder that was killed makes it StatusIncomplete, and a link on which calls failed and none succeeded StatusFailed.
// Where nobody knows how the calls of a link came out, it is StatusIncomplete too.
func (r *Result) Verdict(gate analyzer.Severity) Verdict {
	v := Verdict{
		Exchanges: r.Counts.Exchanges, Judged: r.Counts.Judged, Lost: r.Counts.Lost, Forgotten: r.Counts.Forgotten,
		Unseen: r.Counts.Unseen, Made: r.Counts.Made, Baselined: r.Baselined, Crashes: r.Crashes, Critical: r.Critical,
		Insecure: r.Insecure,
	}
	v.Notes, v.Warnings, v.Errors = r.Found[analyzer.Note], r.Found[analyzer.Warning], r.Found[analyzer.Error]
	for i := range r.Calls {
		v.Calls.Merge(&r.Calls[i])
		if !r.Calls[i].Proved() {
			v.Unproved = append(v.Unproved, r.Calls[i])
		}
		if r.Calls[i].Unheard {
			v.Unheard = append(v.Unheard, r.Calls[i].Link)
		}
	}
	gated := false
	for s := gate; s <= analyzer.Error; s++ {
		gated = gated || r.Found[s] > 0
	}
	switch {
	case gated:
		v.Status = StatusFindings
	case v.Judged == 0:
		v.Status = StatusNothing
	case v.Lost > 0, len(v.Crashes) > 0:
		v.Status = StatusIncomplete
	case slices.ContainsFunc(v.Unproved, func(c Calls) bool { return c.Failed > 0 }):
		v.Status = StatusFailed
	case len(v.Unproved) > 0:
		v.Status = StatusIncomplete
	default:
		v.Status = StatusClean
	}
	return v
}

// String returns the verdict as one line for people: what was found, and then how the calls came out.
func (v Verdict) String() string {
	text := string(v.Status) + ": " + v.found()
	if v.Lost > 0 {
		text += fmt.Sprintf(", %d lost", v.Lost)
	}
	if v.Unseen > 0 {
		text += ", " + analyzer.Plural(v.Unseen, "connection") + " not observed (upgrade or tunnel)"
	}
	if v.Made > 0 {
		text += ", " + analyzer.Plural(v.Made, "exchange") + " with faults made here, whose answers are not judged"
	}
	if v.Forgotten > 0 {
		text += fmt.Sprintf(", %d forgotten to bound memory", v.Forgotten)
	}
	if v.Baselined > 0 {
		text += fmt.Sprintf(", %d known and not counted", v.Baselined)
	}
	if v.Calls.Made > 0 {
		text += "; " + v.Calls.String()
	}
	if len(v.Unproved) > 0 {
		links := make([]analyzer.Link, len(v.Unproved))
		for i := range v.Unproved {
			links[i] = v.Unproved[i].Link
		}
		text += "; no call succeeded of " + someLinks(links)
	}
	if len(v.Unheard) > 0 {
		text += "; webhooks not observed of " + someLinks(v.Unheard)
	}
	for _, agent := range v.Critical {
		text += "; critical: agent " + analyzer.Clean(agent) + " was gone at the end"
	}
	for _, c := range v.Crashes {
		text += "; " + c.String()
	}
	if v.Insecure {
		text += "; " + capture.InsecureText
	}
	return text
}

// found says what was found, and in how much.
func (v Verdict) found() string {
	if v.Status == StatusClean && v.Errors+v.Warnings == 0 {
		text := "no violation in " + analyzer.Plural(v.Exchanges, "exchange")
		if v.Judged != v.Exchanges {
			text += fmt.Sprintf(", %d judged", v.Judged)
		}
		if v.Notes > 0 {
			text += ", " + analyzer.Plural(v.Notes, "note")
		}
		return text
	}
	return fmt.Sprintf("%s, %s, %s in %s, %d judged",
		analyzer.Plural(v.Errors, "error"), analyzer.Plural(v.Warnings, "warning"), analyzer.Plural(v.Notes, "note"),
		analyzer.Plural(v.Exchanges, "exchange"), v.Judged)
}

// someLinks names links, the first few of them.
func someLinks(links []analyzer.Link) string {
	const named = 3
	var words []string
	for i, l := range links {
		if i == named {
			words = append(words, fmt.Sprintf("%d more links", len(links)-named))
			break
		}
		words = append(words, analyzer.Clean(l.Client)+" → "+analyzer.Clean(l.Agent))
	}
	return strings.Join(words, ", ")
}
