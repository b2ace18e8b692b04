package judgment

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// A Subject is the subject of a statement of a verdict. Its value is the name in machine-readable reports.
type Subject string

// The subjects, in the order in which a verdict states them.
const (
	AboutNothing   Subject = "nothing"       // why nothing was checked
	AboutLost      Subject = "lost"          // exchanges that passed and were not recorded
	AboutCrash     Subject = "crash"         // a recorder that was killed
	AboutNotSeen   Subject = "not-seen"      // the gaps of the record, and why
	AboutWebhooks  Subject = "webhooks"      // a link whose notifications went past the recorder
	AboutUnproved  Subject = "unproved"      // a link on which no call is known to have succeeded
	AboutBlind     Subject = "blind"         // a link at least half of which was not seen
	AboutFailing   Subject = "failing"       // a link at least half of whose calls or tasks failed
	AboutFailed    Subject = "failed-calls"  // calls that failed alike
	AboutRefused   Subject = "refused-calls" // calls that a working agent refused
	AboutTasks     Subject = "failed-tasks"  // tasks that ended badly
	AboutKnown     Subject = "known-calls"   // failed calls and tasks that are accepted
	AboutOthers    Subject = "other-calls"   // failed calls of models and MCP servers
	AboutUnreached Subject = "unreached"     // a model or an MCP server that could not be reached
	AboutRepeated  Subject = "repeated"      // many equal calls of a model or a tool for one A2A call
	AboutHidden    Subject = "hidden"        // A2A calls that were completed although a call of a model or a tool failed
	AboutCritical  Subject = "critical"      // an agent that was gone at the end, or never reached
	AboutInsecure  Subject = "insecure"      // agents on TLS were not verified
	AboutMade      Subject = "faults-made"   // exchanges in which the recorder injected a fault
	AboutForgotten Subject = "forgotten"     // entries that were dropped to bound memory
	AboutBaselined Subject = "baselined"     // findings that are known and not counted
	AboutSelection Subject = "selection"     // a filter excluded exchanges or findings
	AboutLive      Subject = "live"          // the recording continues
)

// A Group is a heading for statements in reports for people.
type Group uint8

// The groups. Failed calls and tasks have a group for each of their subjects.
const (
	GroupSeen   Group = iota // unseen traffic
	GroupCalls               // calls and tasks
	GroupRecord              // other facts about the record
)

// Group returns the heading of a subject.
func (s Subject) Group() Group {
	switch s {
	case AboutNothing, AboutLost, AboutCrash, AboutNotSeen, AboutWebhooks, AboutUnproved, AboutBlind:
		return GroupSeen
	case AboutFailing, AboutFailed, AboutRefused, AboutTasks, AboutKnown, AboutOthers, AboutUnreached, AboutRepeated,
		AboutHidden:
		return GroupCalls
	}
	return GroupRecord
}

// A Statement is one sentence of a verdict. Every report has all of them, each in its own form.
type Statement struct {
	Subject  Subject
	Text     string // safe to print
	Exchange uint64 // the first exchange that it concerns; 0 if none
	Exit     Exit   // the statement's own effect on the check: Passes if it only informs
}

// String returns the text, followed by the first exchange unless the text begins with its number.
func (s Statement) String() string {
	if s.Exchange == 0 || s.Subject.Group() == GroupCalls {
		return s.Text
	}
	return fmt.Sprintf("%s (from %d)", s.Text, s.Exchange)
}

// Statements returns the statements of the verdict, ordered by subject. If the check passes, no statement has an exit
// status. A check that does not pass is explained by findings, or by the exit status of a statement.
func (v Verdict) Statements() []Statement {
	var list []Statement
	add := func(about Subject, exit Exit, exchange uint64, text string) {
		if v.Exit == Passes {
			exit = Passes
		}
		list = append(list, Statement{about, text, exchange, exit})
	}
	v.stateSeen(add)
	v.stateCalls(add)
	v.stateRecord(add)
	return list
}

type addStatement func(about Subject, exit Exit, exchange uint64, text string)

func (v *Verdict) stateSeen(add addStatement) {
	if v.empty() {
		text := "nothing was checked"
		if v.Nothing != "" {
			text += ": " + analysis.Clean(v.Nothing)
		}
		add(AboutNothing, Inconclusive, 0, text)
	}
	if v.Lost > 0 {
		add(AboutLost, Inconclusive, 0, fmt.Sprintf("%s forwarded but not recorded", analysis.Plural(v.Lost, "exchange")))
	}
	for _, c := range v.Crashes {
		add(AboutCrash, Inconclusive, 0, c.String())
	}
	for i := range v.NotSeen {
		n, exit := &v.NotSeen[i], Passes
		if n.Decides {
			exit = Inconclusive
		}
		add(AboutNotSeen, exit, n.Exchange, n.String())
	}
	for _, link := range v.Unheard {
		add(AboutWebhooks, Passes, 0, "webhooks not observed for "+someLinks([]analysis.Link{link}))
	}
	for i := range v.Unproved {
		c := &v.Unproved[i]
		add(AboutUnproved, Inconclusive, 0, "no call is known to have succeeded on "+nameOf(c)+": "+c.String())
	}
	for i := range v.Blind {
		add(AboutBlind, Inconclusive, 0, "at least half was not seen on "+nameOf(&v.Blind[i]))
	}
}

func (v *Verdict) stateCalls(add addStatement) {
	for i := range v.Failing {
		exit := Fails
		if v.gate.Never {
			exit = Passes
		}
		c := &v.Failing[i]
		add(AboutFailing, exit, 0, "at least half failed on "+nameOf(c)+": "+c.String())
	}
	exit := Passes
	if v.gate.Calls {
		exit = Fails
	}
	v.stateEach(add, AboutFailed, exit, v.Failed)
	v.stateEach(add, AboutRefused, Passes, v.Refused)
	v.stateEach(add, AboutTasks, exit, v.Tasks)
	v.stateEach(add, AboutKnown, Passes, v.Known)
	v.stateEach(add, AboutOthers, Passes, v.Others)
	for i := range v.Remarks {
		r := &v.Remarks[i]
		add(r.About, Passes, r.Exchange, v.in(r.Capture)+analysis.Clean(r.Text))
	}
}

func (v *Verdict) stateEach(add addStatement, about Subject, exit Exit, list []FailedCalls) {
	for i := range list {
		f := &list[i]
		text := f.String() + " (" + someLinks([]analysis.Link{f.Link}) + ")"
		add(about, exit, f.Exchange, v.in(f.Capture)+text)
	}
}

// in returns what precedes a statement about one of several captures.
func (v *Verdict) in(name string) string {
	if name == "" || len(v.captures) < 2 {
		return ""
	}
	return analysis.Clean(name) + ": "
}

func (v *Verdict) stateRecord(add addStatement) {
	for _, agent := range v.Critical.Gone {
		add(AboutCritical, Passes, 0, "agent "+analysis.Clean(agent)+" was gone at the end")
	}
	for _, agent := range v.Critical.NeverReached {
		add(AboutCritical, Passes, 0, "agent "+analysis.Clean(agent)+" was never reached")
	}
	if v.Insecure {
		add(AboutInsecure, Passes, 0, capture.InsecureText)
	}
	if v.Made > 0 {
		add(AboutMade, Passes, 0, v.madeText())
	}
	if v.Forgotten > 0 {
		add(AboutForgotten, Passes, 0, v.forgottenText())
	}
	if v.Baselined > 0 {
		add(AboutBaselined, Passes, 0, v.baselinedText())
	}
	if s := v.Selection; s.Findings {
		add(AboutSelection, Passes, 0, "only findings are counted that match "+analysis.Clean(s.By))
	} else if s.Of > v.Exchanges && v.Exchanges > 0 {
		add(AboutSelection, Passes, 0, fmt.Sprintf("only what matches %s is counted: %s", analysis.Clean(s.By), v.exchanges()))
	}
	if v.Live {
		add(AboutLive, Passes, 0, "still being recorded: this is the result so far")
	}
}

func (v *Verdict) madeText() string {
	return analysis.Plural(v.Made, "exchange") + " with injected faults, whose answers are not checked"
}

func (v *Verdict) forgottenText() string {
	return fmt.Sprintf("%d forgotten to bound memory", v.Forgotten)
}

func (v *Verdict) baselinedText() string { return fmt.Sprintf("%d known and not counted", v.Baselined) }

func nameOf(c *Calls) string { return someLinks([]analysis.Link{c.Link}) }
