package judgment

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Status is the verdict in one word.
type Status string

// The verdicts. Each answers three questions: was all traffic seen, did the calls and tasks succeed, and did the
// traffic follow the rules? StatusClean answers all three with yes. If several apply, the first in this order is the
// verdict: findings, failing, nothing, incomplete, warnings, no violation, clean.
const (
	StatusFindings Status = "findings" // rules were broken at or above the gate
	StatusFailing  Status = "failing"  // at least half of the calls of a link failed, or of its tasks
	StatusNothing  Status = "nothing"  // nothing was checked
	// at least half of a link was not seen, or its calls have no known outcome; a counted loss; a killed recorder
	StatusIncomplete  Status = "incomplete"
	StatusWarnings    Status = "warnings"     // rules were broken at warning, below the gate
	StatusNoViolation Status = "no violation" // no rule was broken above note, but something failed, or was not seen
	StatusClean       Status = "clean"        // all traffic was seen, all calls and tasks worked, no rule was broken above note
)

// Proved reports whether the verdict proves something of the traffic.
func (s Status) Proved() bool { return s != StatusNothing && s != StatusIncomplete }

// A Verdict summarizes a result.
type Verdict struct {
	Status    Status
	Errors    int
	Warnings  int
	Notes     int
	Baselined int // findings hidden as known
	Exchanges int
	Judged    int
	Lost      int64
	Crashes   []capture.Crash // of recorders that were killed: some traffic may be missing
	Forgotten int             // tasks, endpoints, webhooks and cards dropped to bound memory: rules are silent on them
	Unseen    int             // upgrades and tunnels, whose contents were not observed
	Made      int             // exchanges with an injected fault, whose answers are not checked
	Calls     Calls           // of all links together
	Unproved  []Calls         // of each link on which no call is known to have succeeded
	Some      []analysis.Link // with failed calls or tasks, if other links have none
	Failing   []Calls         // of each link on which at least half of the calls failed, or of the tasks
	Blind     []Calls         // for each link of which at least half was not seen
	Failed    []FailedCalls   // failed calls, grouped by failure
	Refused   []FailedCalls   // calls refused by working agents
	Tasks     []FailedCalls   // tasks that ended badly
	Known     []FailedCalls   // failed calls that are accepted
	Others    []FailedCalls   // failed calls of models and MCP servers
	Remarks   []Remark        // facts about calls of models and MCP servers
	NotSeen   []NotSeen       // unseen traffic, with reasons
	Unheard   []analysis.Link // with webhooks whose notifications went past the recorder
	Critical  Critical        // agents that were missing
	Insecure  bool            // agents on TLS were not verified: their names may be false
	Nothing   string          // why the filter selects nothing; empty if it selects something
	Selection Selection       // the part that the filter selects
	Live      bool            // the recording continues
	Exit      Exit            // the verdict's meaning for the caller of a check

	gate     Gate
	captures []string
}

// Verdict summarizes the result under a gate with that severity; see Judge.
func (r *Result) Verdict(gate analysis.Severity) Verdict { return r.Judge(Gate{Severity: gate}) }

// Judge returns the verdict of the result. A finding at or above the gate makes the status StatusFindings; so does an
// error if no severity reaches the gate. Without one, a link makes it StatusFailing if at least half of its calls or
// tasks failed.
//
// The status is StatusIncomplete after a counted loss, after a recorder was killed, or if at least half of a link was
// not seen. It is also incomplete if the outcome of a link's calls is unknown. The same holds for a client that fetched
// a card but called no agent, if no other client called the card's agent or the client cannot use it.
func (r *Result) Judge(gate Gate) Verdict {
	v := Verdict{
		Exchanges: r.Counts.Exchanges, Judged: r.Counts.Judged, Lost: r.Counts.Lost, Forgotten: r.Counts.Forgotten,
		Unseen: r.Counts.Unseen, Made: r.Counts.Made, Baselined: r.Baselined, Crashes: r.Crashes, Critical: r.Critical,
		Insecure: r.Insecure, Nothing: r.Nothing, Selection: r.Selection, Live: r.Live, Remarks: r.Remarks,
		gate: gate, captures: r.Captures,
	}
	v.Notes, v.Warnings, v.Errors = r.Found[analysis.Note], r.Found[analysis.Warning], r.Found[analysis.Error]
	works, others := make(map[analysis.Link]bool), false
	for i := range r.Calls {
		c := r.Calls[i].Settled()
		works[c.Link] = c.Succeeded > 0 || c.Works
		v.Calls.Merge(&c)
		if !c.Proved() {
			v.Unproved = append(v.Unproved, c)
		}
		if c.Failed > 0 || c.TasksFailed > 0 {
			v.Some = append(v.Some, c.Link)
		} else if c.Made > 0 {
			others = true
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
	if !others {
		v.Some = nil
	}
	for _, f := range r.FailedCalls {
		switch {
		case f.Other:
			v.Others = append(v.Others, f)
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
		if n.Crash == nil || !slices.ContainsFunc(r.Crashes, n.Crash.Equal) { // otherwise the verdict states it separately
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
				What: "most of " + nameOf(c), Why: "in an unknown protocol", Count: c.Foreign,
			})
		}
	}
	v.Status, v.Exit = v.status(r), v.exit(r, gate)
	return v
}

// status returns the verdict in one word. Errors count as findings even if no finding fails the check.
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

// empty reports whether nothing was checked.
func (v *Verdict) empty() bool { return v.Judged == 0 && len(v.Blind) == 0 }

// incomplete reports whether too much is missing.
func (v *Verdict) incomplete() bool {
	return v.Lost > 0 || len(v.Crashes) > 0 || len(v.Unproved) > 0 || len(v.Blind) > 0 ||
		slices.ContainsFunc(v.NotSeen, func(n NotSeen) bool { return n.Decides })
}

// Incomplete reports whether something is known to be missing: traffic, or the outcome of calls.
func (v *Verdict) Incomplete() bool {
	return v.Lost > 0 || len(v.Crashes) > 0 || v.Calls.Unknown() > 0 || len(v.NotSeen) > 0 || len(v.Unheard) > 0
}

// idle returns what is unknown about clients that fetched a card and called no agent: whether they went elsewhere, or
// could not use the card. Of a client that called another agent it returns the cards that it could not use, or that may
// have been useless: it may have chosen between agents. alone is true if no other client called such an agent either, on any
// tap that its card leads to, or if a client that called no agent at all could not use the card.
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
		chose, cannot := calls[c.Link.Client], c.Unusable
		if chose && cannot == "" {
			cannot = r.speaksOther(c)
		}
		if c.Cards == 0 || chose && cannot == "" && c.Card == "" {
			continue
		}
		reach := r.reach(c.Link.Agent)
		if chose && r.callsAny(c.Link.Client, reach) || !chose && r.callsByAnotherName(c, reach, calls) {
			continue
		}
		alone = alone || !chose && !slices.ContainsFunc(reach, func(agent string) bool { return called[agent] }) ||
			!chose && cannot != ""
		why := fmt.Sprintf("the client fetched the card %s and never called", times(c.Cards))
		switch {
		case c.Missing > 0: // which may be calls
			why = fmt.Sprintf("the client asked for the card %s, and what else it sent is not seen", times(c.Cards))
		case c.Touched > 0:
			why = "each had an injected fault, or was held"
		case cannot != "":
			why += ": " + cannot
		case c.Card != "":
			why += "; " + c.Card
		}
		list = append(list, NotSeen{What: "calls of " + someLinks([]analysis.Link{c.Link}), Why: why, Count: 1})
	}
	return list, alone
}

// reach returns the agents that clients can call by an agent's cards: the agent itself, and agents whose taps lead to a
// server named in the cards.
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

// speaksOther returns why a client that calls other agents may be unable to use a card: it uses another generation of
// the protocol with them than all interfaces of the card. It returns "" if either is unknown.
func (r *Result) speaksOther(reader *Calls) string {
	var spoken a2a.Dialects
	for _, c := range r.around() {
		if c.Link.Client == reader.Link.Client {
			spoken |= c.Spoken
		}
	}
	if !spoken.Apart(reader.Offered) {
		return ""
	}
	return "with other agents it uses " + spoken.String() + ", the card offers only " + reader.Offered.String()
}

// callsAny reports whether a client calls one of the agents.
func (r *Result) callsAny(client string, agents []string) bool {
	return slices.ContainsFunc(r.around(), func(c Calls) bool {
		return c.Link.Client == client && c.Made+c.Missing > 0 && slices.Contains(agents, c.Link.Agent)
	})
}

// around returns the calls of all links, regardless of a filter.
func (r *Result) around() []Calls {
	if r.Around != nil {
		return r.Around
	}
	return r.Calls
}

// callsByAnotherName reports whether a client that fetched an agent's card and called no agent may be the client that
// calls the addresses in the card. A program may fetch with one library and call with another, each with its own
// User-Agent. It may be the same client if there is one such client on each side, the card was usable, and the caller
// has fetched no card. The caller must also call over gRPC, which the fetching library does not speak, on another tap,
// whose address is in the card, or with requests of which none was seen whole.
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
		if asked[c.Link.Client] = asked[c.Link.Client] || c.Cards > 0; c.Made+c.Missing > 0 && !c.Named &&
			(c.OverGRPC || c.Made == 0 || c.Link.Agent != reader.Link.Agent) && !slices.Contains(callers, c.Link.Client) {
			callers = append(callers, c.Link.Client)
		}
	}
	for client, has := range asked {
		if has && client != reader.Link.Client && !calls[client] {
			return false // which of them it is remains unknown
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

// Seen describes unseen traffic; "" if nothing is known to be missing.
func (v Verdict) Seen() string {
	var words []string
	if v.Lost > 0 {
		words = append(words, analysis.Plural(v.Lost, "exchange")+" not recorded")
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
		words = append(words, "webhooks not observed for "+someLinks(v.Unheard))
	}
	if len(words) == 0 {
		return ""
	}
	return "not seen: " + strings.Join(words, ", ")
}

// worked describes the outcome of the calls; "" without calls.
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
	if v.Status == StatusNoViolation && len(v.Some) > 0 {
		text += "; they failed on " + someLinks(v.Some)
	}
	return text
}

// found describes the findings, and the amount of traffic checked.
func (v Verdict) found() string {
	var text string
	if v.Errors+v.Warnings == 0 && v.Status != StatusNothing && v.Status != StatusIncomplete {
		text = v.exchanges()
		if v.Status != StatusNoViolation {
			text = "no violation in " + text
		}
		if v.Judged != v.Exchanges {
			text += fmt.Sprintf(", %d checked", v.Judged)
		}
		if v.Notes > 0 {
			text += ", " + analysis.Plural(v.Notes, "note")
		}
	} else {
		text = fmt.Sprintf("%s, %s, %s in %s, %d checked",
			analysis.Plural(v.Errors, "error"), analysis.Plural(v.Warnings, "warning"), analysis.Plural(v.Notes, "note"),
			v.exchanges(), v.Judged)
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

// exchanges describes how many exchanges the verdict is about, and of how many a filter has selected them.
func (v Verdict) exchanges() string {
	if of := v.Selection.Of; of > v.Exchanges {
		return fmt.Sprintf("%d of %s", v.Exchanges, analysis.Plural(of, "exchange"))
	}
	return analysis.Plural(v.Exchanges, "exchange")
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
