package judgment

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// Status is the verdict in one word.
type Status string

// The verdicts. Each answers three questions: was all traffic seen, did the calls and tasks work, and was it right?
// StatusClean answers all three with yes. If several apply, the first in this order is the verdict: findings, failing,
// nothing, incomplete, warnings, no violation, clean.
const (
	StatusFindings Status = "findings" // rules were broken at or above the gate
	StatusFailing  Status = "failing"  // at least half of the calls of a link failed, or of its tasks
	StatusNothing  Status = "nothing"  // nothing was judged
	// at least half of a link was not seen, or its calls have no known outcome; a counted loss; a killed recorder
	StatusIncomplete  Status = "incomplete"
	StatusWarnings    Status = "warnings"     // rules were broken at warning, below the gate
	StatusNoViolation Status = "no violation" // no rule was broken above note, but something failed, or was not seen
	StatusClean       Status = "clean"        // all traffic was seen, all calls and tasks worked, no rule was broken above note
)

// Proved reports whether the verdict proves something of the traffic.
func (s Status) Proved() bool { return s != StatusNothing && s != StatusIncomplete }

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
	Failing   []Calls         // of each link on which at least half of the calls failed, or of the tasks
	Blind     []Calls         // of each link of which at least half was not seen
	Failed    []FailedCalls   // what failed, those together that failed alike
	Refused   []FailedCalls   // what was refused by agents that work
	Tasks     []FailedCalls   // tasks that ended badly
	Known     []FailedCalls   // what failed as is accepted
	NotSeen   []NotSeen       // what was not seen, and why
	Unheard   []analysis.Link // on which webhooks were configured whose notifications went past the recorder
	Critical  Critical        // agents that were missing
	Insecure  bool            // agents on TLS were not verified: who answered need not be who is named
	Nothing   string          // why nothing was chosen of what was judged; empty if something was
	Live      bool            // the recording continues
	Exit      Exit            // what the verdict means to the caller of a check

	gate     Gate
	captures []string
}

// Verdict sums the result up under a gate with that severity; see Judge.
func (r *Result) Verdict(gate analysis.Severity) Verdict { return r.Judge(Gate{Severity: gate}) }

// Judge sums the result up. A finding at or above the gate makes the status StatusFindings, and so does an error where
// no severity reaches the gate. Without one, a link at least half of whose calls or tasks failed makes it
// StatusFailing. It is StatusIncomplete after a counted loss, after the end of a recorder that was killed, where at
// least half of a link was not seen, where a client called nobody and asked for the card of an agent that nobody called
// or that it cannot use, and where nobody knows how the calls of a link came out.
func (r *Result) Judge(gate Gate) Verdict {
	v := Verdict{
		Exchanges: r.Counts.Exchanges, Judged: r.Counts.Judged, Lost: r.Counts.Lost, Forgotten: r.Counts.Forgotten,
		Unseen: r.Counts.Unseen, Made: r.Counts.Made, Baselined: r.Baselined, Crashes: r.Crashes, Critical: r.Critical,
		Insecure: r.Insecure, Nothing: r.Nothing, Live: r.Live,
		gate: gate, captures: r.Captures,
	}
	v.Notes, v.Warnings, v.Errors = r.Found[analysis.Note], r.Found[analysis.Warning], r.Found[analysis.Error]
	works := make(map[analysis.Link]bool)
	for i := range r.Calls {
		c := r.Calls[i].Settled()
		works[c.Link] = c.Succeeded > 0
		v.Calls.Merge(&c)
		if !c.Proved() {
			v.Unproved = append(v.Unproved, c)
		}
		if c.Failing() {
			v.Failing = append(v.Failing, c)
		}
		if c.blind() {
			v.Blind = append(v.Blind, c)
		}
		if c.Unheard {
			v.Unheard = append(v.Unheard, c.Link)
		}
	}
	for _, f := range r.FailedCalls {
		switch {
		case f.Refused && works[f.Link]:
			v.Refused = append(v.Refused, f)
		case f.Known:
			v.Known = append(v.Known, f)
		case f.Task:
			v.Tasks = append(v.Tasks, f)
		default:
			v.Failed = append(v.Failed, f)
		}
	}
	for _, n := range r.NotSeen {
		if !slices.ContainsFunc(r.Crashes, func(c capture.Crash) bool { return strings.Contains(n.Why, c.String()) }) {
			v.NotSeen = append(v.NotSeen, n)
		}
	}
	idle, alone := r.idle()
	for i := range idle {
		idle[i].Decides = alone
	}
	v.NotSeen = append(v.NotSeen, idle...)
	for i := range v.Blind {
		if c := &v.Blind[i]; c.foreign() {
			v.NotSeen = append(v.NotSeen, NotSeen{
				What: "most of " + nameOf(c), Why: "of no protocol that is known here", Count: c.Foreign,
			})
		}
	}
	v.Status, v.Exit = v.status(r), v.exit(r, gate)
	return v
}

// status returns the verdict in one word. Errors are findings also where no finding fails the check.
func (v *Verdict) status(r *Result) Status {
	switch {
	case r.gates(min(v.gate.Severity, analysis.Error)):
		return StatusFindings
	case len(v.Failing) > 0:
		return StatusFailing
	case v.empty():
		return StatusNothing
	case v.incomplete():
		return StatusIncomplete
	case v.Warnings > 0:
		return StatusWarnings
	case v.Calls.Failed > 0, v.Calls.TasksFailed > 0, v.Incomplete():
		return StatusNoViolation
	}
	return StatusClean
}

// empty reports whether nothing was judged.
func (v *Verdict) empty() bool { return v.Judged == 0 && len(v.Blind) == 0 }

// incomplete reports whether what is missing outweighs the rest.
func (v *Verdict) incomplete() bool {
	return v.Lost > 0 || len(v.Crashes) > 0 || len(v.Unproved) > 0 || len(v.Blind) > 0 ||
		slices.ContainsFunc(v.NotSeen, func(n NotSeen) bool { return n.Decides })
}

// Incomplete reports whether something is known to be missing: traffic, or the outcome of calls.
func (v *Verdict) Incomplete() bool {
	return v.Lost > 0 || len(v.Crashes) > 0 || v.Calls.Unknown() > 0 || len(v.NotSeen) > 0 || len(v.Unheard) > 0
}

// idle returns what is not known of clients that asked for a card and called nobody: whether they went elsewhere, or
// could not use what they read. Alone is true if nobody else called the agent of one either, on any tap that its card
// leads to, or if one shows that it could not use the card.
func (r *Result) idle() (list []NotSeen, alone bool) {
	calls, called := make(map[string]bool), make(map[string]bool)
	all := r.around()
	for i := range all {
		if c := &all[i]; c.Made > 0 {
			calls[c.Link.Client], called[c.Link.Agent] = true, true
		}
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.Cards == 0 || calls[c.Link.Client] {
			continue
		}
		reach := r.reach(c.Link.Agent)
		if r.callsByAnotherName(c, reach, calls) {
			continue
		}
		alone = alone || !slices.ContainsFunc(reach, func(agent string) bool { return called[agent] }) || c.Unusable != ""
		why := fmt.Sprintf("the client asked for the card %s and never called", times(c.Cards))
		switch {
		case c.Touched > 0:
			why = "a fault was made in each, or it was held"
		case c.Unusable != "":
			why += ": " + c.Unusable
		case c.Card != "":
			why += "; " + c.Card
		}
		list = append(list, NotSeen{What: "calls of " + someLinks([]analysis.Link{c.Link}), Why: why, Count: 1})
	}
	return list, alone
}

// reach returns the agents that clients can call by the cards that an agent showed: that agent, and those whose taps lead
// to a server that such a card names.
func (r *Result) reach(agent string) []string {
	var offers []string
	all := r.around()
	for i := range all {
		if c := &all[i]; c.Link.Agent == agent {
			offers = append(offers, c.Offers...)
		}
	}
	agents := []string{agent}
	for i := range all {
		c := &all[i]
		if c.Server != "" && slices.Contains(offers, c.Server) && !slices.Contains(agents, c.Link.Agent) {
			agents = append(agents, c.Link.Agent)
		}
	}
	return agents
}

// around returns the calls of all links, whatever a filter has left.
func (r *Result) around() []Calls {
	if r.Around != nil {
		return r.Around
	}
	return r.Calls
}

// callsByAnotherName reports whether a client that asked for the card of an agent and called nobody may be the one that
// calls what the card names: a program asks by one library and calls by another, each of which names itself in
// User-Agent. It may where there is one such client on each side, the card was of use, and the one that calls has asked
// for no card: over gRPC, which the library that asks does not speak, or on another tap, whose address the card tells.
func (r *Result) callsByAnotherName(reader *Calls, reach []string, calls map[string]bool) bool {
	all := r.around()
	isAgent := slices.ContainsFunc(r.Agents, func(a Agent) bool { return a.Link == reader.Link.Client }) ||
		slices.ContainsFunc(all, func(c Calls) bool { return c.Link.Agent == reader.Link.Client })
	if isAgent || reader.Named || reader.Card != "" || reader.Unusable != "" {
		return false
	}
	asked := make(map[string]bool)
	var callers []string
	for i := range all {
		c := &all[i]
		if !slices.Contains(reach, c.Link.Agent) {
			continue
		}
		if asked[c.Link.Client] = asked[c.Link.Client] || c.Cards > 0; c.Made > 0 && !c.Named &&
			(c.OverGRPC || c.Link.Agent != reader.Link.Agent) && !slices.Contains(callers, c.Link.Client) {
			callers = append(callers, c.Link.Client)
		}
	}
	for client, has := range asked {
		if has && client != reader.Link.Client && !calls[client] {
			return false // which of them is it?
		}
	}
	callers = slices.DeleteFunc(callers, func(client string) bool { return asked[client] })
	return len(callers) == 1
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// String returns the verdict as one line for people, the reason for it first.
func (v Verdict) String() string {
	seen, worked, right := v.Seen(), v.worked(), v.found()
	answers := []string{right, worked, seen}
	switch v.Status {
	case StatusFailing, StatusNoViolation:
		answers = []string{worked, right, seen}
		if v.Calls.Failed == 0 && v.Calls.TasksFailed == 0 {
			answers = []string{right, worked, seen}
		}
	case StatusIncomplete:
		answers = []string{seen, worked, right}
	}
	answers = slices.DeleteFunc(answers, func(text string) bool { return text == "" })
	text := string(v.Status) + ": " + strings.Join(answers, "; ") + v.Critical.String()
	if v.Insecure {
		text += "; " + capture.InsecureText
	}
	return text
}

// Seen says what was not seen; nothing if nothing is known to be missing.
func (v Verdict) Seen() string {
	var words []string
	if v.Lost > 0 {
		words = append(words, countOf(v.Lost, "exchange")+" not recorded")
	}
	for _, c := range v.Crashes {
		words = append(words, c.String())
	}
	const named = 3
	for i := range v.NotSeen {
		if i == named {
			words = append(words, fmt.Sprintf("%d more reasons", len(v.NotSeen)-named))
			break
		}
		words = append(words, v.NotSeen[i].String())
	}
	if len(v.Unheard) > 0 {
		words = append(words, "webhooks not observed of "+someLinks(v.Unheard))
	}
	if len(words) == 0 {
		return ""
	}
	return "not seen: " + strings.Join(words, ", ")
}

// worked says how the calls came out; nothing if there were none.
func (v Verdict) worked() string {
	if v.Calls.Made == 0 && v.Calls.TasksFailed == 0 {
		return ""
	}
	text := v.Calls.String()
	if len(v.Unproved) > 0 {
		links := make([]analysis.Link, len(v.Unproved))
		for i := range v.Unproved {
			links[i] = v.Unproved[i].Link
		}
		text += "; no call succeeded of " + someLinks(links)
	}
	return text
}

// found says what was found, and in how much.
func (v Verdict) found() string {
	var text string
	if v.Errors+v.Warnings == 0 && v.Status != StatusNothing && v.Status != StatusIncomplete {
		text = analysis.Plural(v.Exchanges, "exchange")
		if v.Status != StatusNoViolation {
			text = "no violation in " + text
		}
		if v.Judged != v.Exchanges {
			text += fmt.Sprintf(", %d judged", v.Judged)
		}
		if v.Notes > 0 {
			text += ", " + analysis.Plural(v.Notes, "note")
		}
	} else {
		text = fmt.Sprintf("%s, %s, %s in %s, %d judged",
			analysis.Plural(v.Errors, "error"), analysis.Plural(v.Warnings, "warning"), analysis.Plural(v.Notes, "note"),
			analysis.Plural(v.Exchanges, "exchange"), v.Judged)
	}
	if v.Made > 0 {
		text += ", " + v.madeText()
	}
	if v.Forgotten > 0 {
		text += ", " + v.forgottenText()
	}
	if v.Baselined > 0 {
		text += ", " + v.baselinedText()
	}
	return text
}

// someLinks names links, the first few of them.
func someLinks(links []analysis.Link) string {
	const named = 3
	var words []string
	for i, l := range links {
		if i == named {
			words = append(words, fmt.Sprintf("%d more links", len(links)-named))
			break
		}
		words = append(words, analysis.Clean(l.Client)+" → "+analysis.Clean(l.Agent))
	}
	return strings.Join(words, ", ")
}
