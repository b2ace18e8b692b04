package judgment

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// A Subject is what a statement of a verdict is about. Its value is the name in machine-readable reports.
type Subject string

// The subjects, in the order in which a verdict states them.
const (
	AboutNothing   Subject = "nothing"       // why nothing was judged
	AboutLost      Subject = "lost"          // exchanges that passed and were not recorded
	AboutCrash     Subject = "crash"         // a recorder that was killed
	AboutNotSeen   Subject = "not-seen"      // what the record lacks, and why
	AboutWebhooks  Subject = "webhooks"      // a link whose notifications went past the recorder
	AboutUnproved  Subject = "unproved"      // a link on which no call is known to have succeeded
	AboutBlind     Subject = "blind"         // a link of which at least half was not seen
	AboutFailing   Subject = "failing"       // a link at least half of whose calls or tasks failed
	AboutFailed    Subject = "failed-calls"  // calls that failed alike
	AboutRefused   Subject = "refused-calls" // calls that an agent that works refused
	AboutTasks     Subject = "failed-tasks"  // tasks that ended badly
	AboutKnown     Subject = "known-calls"   // calls and tasks that failed as is accepted
	AboutCritical  Subject = "critical"      // an agent that was gone at the end, or never reached
	AboutInsecure  Subject = "insecure"      // agents on TLS were not verified
	AboutMade      Subject = "faults-made"   // exchanges in which the recorder made a fault
	AboutForgotten Subject = "forgotten"     // what was dropped to bound memory
	AboutBaselined Subject = "baselined"     // findings that are known and not counted
	AboutLive      Subject = "live"          // the recording continues
)

// A Group is a heading under which people read statements.
type Group uint8

// The groups. Failed calls and tasks have a group for each of their subjects.
const (
	GroupSeen   Group = iota // what was not seen
	GroupCalls               // calls and tasks
	GroupRecord              // what else there is to know of the record
)

// Group returns the heading of a subject.
func (s Subject) Group() Group {
	switch s {
	case AboutNothing, AboutLost, AboutCrash, AboutNotSeen, AboutWebhooks, AboutUnproved, AboutBlind:
		return GroupSeen
	case AboutFailing, AboutFailed, AboutRefused, AboutTasks, AboutKnown:
		return GroupCalls
	}
	return GroupRecord
}

// A Statement is one sentence of a verdict. Every report states all of them, each in its form.
type Statement struct {
	Subject  Subject
	Text     string // safe to print
	Exchange uint64 // the first one that it is about; 0 if it is about none in particular
	Exit     Exit   // what the statement alone makes of the check: Passes if it only informs
}

// String returns the text, with the first exchange where the text does not begin with its number.
func (s Statement) String() string {
	if s.Exchange == 0 || s.Subject.Group() == GroupCalls {
		return s.Text
	}
	return fmt.Sprintf("%s (from %d)", s.Text, s.Exchange)
}

// Statements returns what the verdict states, in the order of the subjects. None of them has an exit if the check
// passes. A check that does not pass is explained by findings, or by the exit of a statement.
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
		text := "nothing was judged"
		if v.Nothing != "" {
			text += ": " + analysis.Clean(v.Nothing)
		}
		add(AboutNothing, Inconclusive, 0, text)
	}
	if v.Lost > 0 {
		add(AboutLost, Inconclusive, 0, fmt.Sprintf("%s passed and could not be recorded", countOf(v.Lost, "exchange")))
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
		add(AboutWebhooks, Passes, 0, "webhooks not observed of "+someLinks([]analysis.Link{link}))
	}
	for i := range v.Unproved {
		c := &v.Unproved[i]
		add(AboutUnproved, Inconclusive, 0, "no call is known to have succeeded of "+nameOf(c)+": "+c.String())
	}
	for i := range v.Blind {
		add(AboutBlind, Inconclusive, 0, "at least half was not seen of "+nameOf(&v.Blind[i]))
	}
}

func (v *Verdict) stateCalls(add addStatement) {
	for i := range v.Failing {
		exit := Fails
		if v.gate.Never {
			exit = Passes
		}
		c := &v.Failing[i]
		add(AboutFailing, exit, 0, "at least half failed of "+nameOf(c)+": "+c.String())
	}
	exit := Passes
	if v.gate.Calls {
		exit = Fails
	}
	v.stateEach(add, AboutFailed, exit, v.Failed)
	v.stateEach(add, AboutRefused, Passes, v.Refused)
	v.stateEach(add, AboutTasks, exit, v.Tasks)
	v.stateEach(add, AboutKnown, Passes, v.Known)
}

func (v *Verdict) stateEach(add addStatement, about Subject, exit Exit, list []FailedCalls) {
	for i := range list {
		f := &list[i]
		text := f.String() + " (" + someLinks([]analysis.Link{f.Link}) + ")"
		if f.Capture != "" && len(v.captures) > 1 {
			text = analysis.Clean(f.Capture) + ": " + text
		}
		add(about, exit, f.Exchange, text)
	}
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
	if v.Live {
		add(AboutLive, Passes, 0, "still being recorded: this is what has happened so far")
	}
}

func (v *Verdict) madeText() string {
	return analysis.Plural(v.Made, "exchange") + " with faults made here, whose answers are not judged"
}

func (v *Verdict) forgottenText() string {
	return fmt.Sprintf("%d forgotten to bound memory", v.Forgotten)
}

func (v *Verdict) baselinedText() string { return fmt.Sprintf("%d known and not counted", v.Baselined) }

func nameOf(c *Calls) string { return someLinks([]analysis.Link{c.Link}) }

func countOf(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
