package probe

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
)

// The levels of conformance, best first, and what is said if too little was seen.
const (
	Full          = "full"           // all that was asked has passed, streams and push notifications included
	Partial       = "partial"        // the life of a task holds, and something else does not
	Minimal       = "minimal"        // the card, a send and a get hold
	NonConformant = "non-conformant" // not even that
	NotDetermined = "not-determined"
)

// Level returns how far the agent conforms, and what that rests on. Failures that are errors count, of whichever
// interface; for the best level all must have passed that is for this agent. An agent that does not offer streams or
// push notifications can conform fully: the reason then says so. One that offers them, and of which nothing could be
// seen of them, cannot; nor can one of which no completed task, no cancellation or no refusal was seen.
func (r *Report) Level() (level, reason string) {
	broken := r.broken()
	card, send, get := r.passed("card"), r.passed("send"), r.passed("task-completes")
	switch {
	case r.Gone:
		return NonConformant, "the agent stopped answering"
	case len(broken.card) > 0:
		return NonConformant, "the card breaks the protocol: " + names(broken.card)
	case len(broken.basic) > 0:
		return NonConformant, "a send or a get breaks the protocol: " + names(broken.basic)
	case !card || !send || !get:
		return NotDetermined, fmt.Sprintf("a level needs the card, a send and a get: card %s, send %s, get %s",
			yes(card), yes(send), yes(get))
	case len(broken.life) > 0:
		return Minimal, "the card, a send and a get hold, the rest of the life of a task breaks the protocol: " +
			names(broken.life)
	case len(broken.others) > 0:
		return Partial, "the life of a task holds, other parts break the protocol: " + names(broken.others)
	case len(broken.less) > 0:
		return Partial, "what the protocol demands holds; what it recommends or allows does not: " + names(broken.less)
	}
	if lacking := r.unexercised(); lacking != "" {
		return Minimal, "nothing asked breaks the protocol; an advertised feature was not exercised: " + lacking
	}
	if lacking := r.unseen(); lacking != "" {
		return Minimal, "nothing asked breaks the protocol; not observed: " + lacking
	}
	if len(broken.unclear) > 0 {
		return Partial, "nothing asked breaks the protocol; inconclusive: " + names(broken.unclear)
	}
	return Full, "nothing asked breaks the protocol; streaming " + tested(r.Card.Streaming) + ", push " +
		tested(r.Card.Push)
}

// breaches are the names of the cases that failed with an error, by what they are about, of those that failed with
// less, and of those that were inconclusive.
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
		*list = append(*list, x.Test)
	}
	return b
}

// passed reports whether one of the scenarios passed on some interface.
func (r *Report) passed(ids ...string) bool {
	return slices.ContainsFunc(r.Results, func(x Result) bool {
		return x.Status == Pass && slices.Contains(ids, x.Scenario.ID)
	})
}

// unexercised names what the card offers and no scenario has seen.
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

// unseen names what a full report needs beside, and no scenario has seen.
func (r *Report) unseen() string {
	var list []string
	if !r.passed("task-cancel") {
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

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func tested(advertised bool) string {
	if advertised {
		return "tested"
	}
	return "not advertised"
}
