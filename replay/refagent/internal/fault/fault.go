// Package fault has the faults of reference agents. A fault is a set of hooks; all that it does not touch stays
// faithful.
package fault

import (
	"fmt"
	"slices"

	"a2atap/proxy/spelling"
	"a2atap/replay/refagent/internal/wire"
)

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
	grpcFaults,
	legacyFaults,
	legacyCardFaults,
	legacyAuthFaults,
	legacyAnswerFaults,
	legacyTaskFaults,
	legacyStreamFaults,
	legacyPushFaults,
)

// Faults returns the faults that the named agent can have, in the order of the rule catalogue; none if there is no
// such agent.
func Faults(name string) []AgentFault {
	var fit []AgentFault
	for _, f := range all {
		if slices.Contains(f.agents, name) {
			fit = append(fit, f)
		}
	}
	return fit
}

// HooksFor returns the hooks of a fault for an agent with these bindings. It fails if the agent cannot have the fault,
// with an error that names the nearest one, or if none of the bindings shows it.
func HooksFor(name, slug string, bindings []wire.Binding) (wire.Hooks, error) {
	fit := Faults(name)
	i := slices.IndexFunc(fit, func(f AgentFault) bool { return f.Slug == slug })
	if i < 0 {
		slugs := make([]string, len(fit))
		for i, f := range fit {
			slugs[i] = f.Slug
		}
		return wire.Hooks{}, fmt.Errorf("unknown fault %q of agent %s; a2atap agent %[2]s --fault list names all %d%s",
			slug, name, len(slugs), spelling.Hint(slug, slugs))
	}
	return fit[i].over(bindings)
}
