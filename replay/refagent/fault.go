package refagent

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/proxy/spelling"
)

// A Fault is a named way to break one rule of the protocol, and as far as possible only that one.
type Fault struct {
	Slug string   // id of the rule that it breaks
	Doc  string   // what goes over the wire, one sentence
	Also []string // rules that cannot be kept when this one is broken

	agents []string // names of the agents that can have it
	hooks  func() hooks
}

// all are the faults, in the order of the rule catalogue.
var all = slices.Concat(
	envelopeFaults,
	rpcFaults,
	messageFaults,
	objectFaults,
	memberFaults,
	identityFaults,
	taskFaults,
	finishedFaults,
	listFaults,
	streamFaults,
	endingFaults,
	eventFaults,
	pushFaults,
	cardFaults,
	cardURLFaults,
	schemeFaults,
	cacheFaults,
	authFaults,
	capabilityFaults,
	versionFaults,
	httpFaults,
	restFaults,
	refusalFaults,
)

// Faults returns the faults that the named agent can have, in the order of the rule catalogue; none if there is no
// such agent.
func Faults(name string) []Fault {
	var fit []Fault
	for _, f := range all {
		if slices.Contains(f.agents, name) {
			fit = append(fit, f)
		}
	}
	return fit
}

func hooksFor(name, slug string) (hooks, error) {
	fit := Faults(name)
	i := slices.IndexFunc(fit, func(f Fault) bool { return f.Slug == slug })
	if i < 0 {
		slugs := make([]string, len(fit))
		for i, f := range fit {
			slugs[i] = f.Slug
		}
		near := spelling.Near(slug, slugs, 3)
		if len(near) == 0 {
			return hooks{}, fmt.Errorf("unknown fault %q of agent %s; a2atap agent %[2]s --fault list names all %d",
				slug, name, len(slugs))
		}
		return hooks{}, fmt.Errorf("unknown fault %q of agent %s; the nearest are %s; a2atap agent %[2]s --fault list "+
			"names all %[4]d", slug, name, strings.Join(near, ", "), len(slugs))
	}
	return fit[i].hooks(), nil
}

// The agents that a fault fits.
var (
	anyAgent = []string{"echo", "spec", "spec03"}
	with10   = []string{"echo", "spec"}
	only10   = []string{"spec"}
	only03   = []string{"spec03"}
	withTask = []string{"spec", "spec03"}
)

// onAnswer makes hooks that edit each complete answer which fits.
func onAnswer(fits func(c *call) bool, edit func(c *call, out *answer)) func() hooks {
	return func() hooks {
		return hooks{answer: func(c *call, out *answer) {
			if !out.stream && fits(c) {
				edit(c, out)
			}
		}}
	}
}

// onEvent makes hooks that replace each event of every stream; n counts its events from 0.
func onEvent(edit func(c *call, n int, f *frame) []*frame) func() hooks {
	return func() hooks {
		return hooks{events: func(c *call) func(*frame) []*frame {
			n := -1
			return func(f *frame) []*frame {
				n++
				return edit(c, n, f)
			}
		}}
	}
}

// What an answer is to.
func isRPC(c *call) bool         { return c.binding == jsonRPC }
func isRPCResult(c *call) bool   { return isRPC(c) && c.failure == nil }
func isRPCFailure(c *call) bool  { return isRPC(c) && c.failure != nil }
func isRESTFailure(c *call) bool { return c.binding == httpJSON && c.failure != nil }
func isResult(c *call) bool      { return c.failure == nil }

// editObject replaces the body of an answer by what edit makes of it.
func editObject(edit func(o object) object) func(*call, *answer) {
	return func(_ *call, out *answer) { out.body = edit(out.body.(object)) }
}

// editError replaces the error object in the body of an answer.
func editError(edit func(o object) object) func(*call, *answer) {
	return editObject(func(o object) object {
		e, _ := o.get("error")
		return o.with("error", edit(e.(object)))
	})
}
