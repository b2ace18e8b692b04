package probe

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
)

// The levels of conformance, best first, and the text used if too little was seen.
const (
	Full          = "full"           // all cases have passed, streams and push notifications included
	Partial       = "partial"        // the life of a task passes, and another case fails
	Minimal       = "minimal"        // the card, a send and a get pass
	NonConformant = "non-conformant" // not even minimal
	NotDetermined = "not-determined"
)

// Level returns the agent's conformance level, and the reasons. It counts failures that are errors, on any interface.
// The best level requires that all cases for this agent have passed. An agent without streams or push notifications
// can conform fully; the reason then mentions them. An agent cannot conform fully if it offers them and no case could
// observe them. The same applies if no completed task, cancellation or refusal was seen, unless it makes no tasks.
func (r *Report) Level() (level, reason string) {
	broken := r.broken()
	card, send := r.passed("card"), r.passed("send")
	get := r.passed("task-completes") || r.NoTasks && r.passed("error-task-not-found")
	switch {
	case r.Gone:
		return NonConformant, "the agent stopped answering"
	case len(broken.card) > 0:
		return NonConformant, "the card breaks the protocol: " + names(broken.card)
	case len(broken.basic) > 0:
		return NonConformant, "a send or a get breaks the protocol: " + names(broken.basic)
	case !card || !send || !get:
		return NotDetermined, fmt.Sprintf("a level needs the card, a send and a get: card %s, send %s, get %s",
			report.Yes(card), report.Yes(send), report.Yes(get))
	case len(broken.life) > 0:
		return Minimal, "the card, a send and a get are correct; the rest of the life of a task breaks the protocol: " +
			names(broken.life)
	case len(broken.others) > 0:
		return Partial, "the life of a task is correct; other parts break the protocol: " + names(broken.others)
	case len(broken.less) > 0:
		return Partial, "requirements are met; recommendations or options are not: " + names(broken.less)
	}
	if lacking := r.unexercised(); lacking != "" {
		return Minimal, "no violation found; an advertised feature was not exercised: " + lacking
	}
	if lacking := r.unseen(); lacking != "" {
		return Minimal, "no violation found; not observed: " + lacking
	}
	if len(broken.unclear) > 0 {
		return Partial, "no violation found; inconclusive: " + names(broken.unclear)
	}
	reason = "no violation found; streaming " + report.Tested(r.Card.Streaming) + ", push " + report.Tested(r.Card.Push)
	if r.NoTasks {
		reason += "; the agent creates no tasks"
	}
	return Full, reason
}

// breaches are the names of the cases that failed with an error, by subject; of those that failed less severely; and
// of those that were inconclusive.
type breaches struct{ card, basic, life, others, less, unclear []string }

func (r *Report) broken() breaches {
	var b breaches
	for i := range r.Results {
		x := &r.Results[i]
		list := &b.others
		switch {
		case x.Status == Unproved:
			list = &b.unclear
		case !x.Bad():
			continue
		case x.Severity() <= analysis.Warning:
			list = &b.less
		case x.Scenario.Category == analysis.AgentCard:
			list = &b.card
		case x.Scenario.Category == analysis.Lifecycle && slices.Contains(x.Scenario.Tags, "basic"):
			list = &b.basic
		case x.Scenario.Category == analysis.Lifecycle && slices.Contains(x.Scenario.Tags, "core"):
			list = &b.life
		}
		*list = append(*list, x.Name)
	}
	return b
}

// passed reports whether one of the scenarios passed on some interface.
func (r *Report) passed(ids ...string) bool {
	return slices.ContainsFunc(r.Results, func(x Result) bool {
		return x.Status == Pass && slices.Contains(ids, x.Scenario.ID)
	})
}

// unexercised names the features that the card offers and no scenario has observed.
func (r *Report) unexercised() string {
	var list []string
	if r.Card.Streaming && !r.passed("stream-last-event") {
		list = append(list, "streaming")
	}
	if r.Card.Push && !r.passed("push-delivery") {
		list = append(list, "push")
	}
	return strings.Join(list, ", ")
}

// unseen names the other observations that a full report needs and no scenario made.
func (r *Report) unseen() string {
	var list []string
	if !r.passed("task-cancel") && !r.NoTasks {
		list = append(list, "a cancellation")
	}
	if !r.passed("error-task-not-found", "cancel-completed-task") {
		list = append(list, "a refusal")
	}
	return strings.Join(list, ", ")
}

// names lists the first few of some names.
func names(list []string) string {
	const most = 3
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}
