// Package scenarios lists the scenarios for agents, in reading order, and the suites. A family of scenarios is a
// package below this one, named after its subject. Each uses package probe, which runs the scenarios, and package
// scenario, which has common steps.
package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/acceptance"
	"a2atap/replay/probe/scenarios/internal/auth"
	"a2atap/replay/probe/scenarios/internal/binding"
	"a2atap/replay/probe/scenarios/internal/card"
	"a2atap/replay/probe/scenarios/internal/lifecycle"
	"a2atap/replay/probe/scenarios/internal/push"
	"a2atap/replay/probe/scenarios/internal/refusals"
	"a2atap/replay/probe/scenarios/internal/streaming"
	"a2atap/replay/probe/scenarios/internal/version"
)

// The names of the suites.
const (
	ProtocolSuite   = "protocol" // for any agent
	AcceptanceSuite = "agentbin" // the acceptance tests, for three agents below one URL: echo, spec and spec03
)

// Suites returns the names of the suites, the default first.
func Suites() []string { return []string{ProtocolSuite, AcceptanceSuite} }

// Suite returns the scenarios of a suite, in reading order; an empty name means the default suite. It fails if the
// suite does not exist.
func Suite(name string) ([]*probe.Scenario, error) {
	name = cmp.Or(name, ProtocolSuite)
	if !slices.Contains(Suites(), name) {
		return nil, fmt.Errorf("unknown suite %q; use one of %s", name, strings.Join(Suites(), ", "))
	}
	var suite []*probe.Scenario
	for _, s := range All() {
		if (s.Agent != "") == (name == AcceptanceSuite) {
			suite = append(suite, s)
		}
	}
	return suite, nil
}

// All returns all scenarios, in reading order.
func All() []*probe.Scenario { return slices.Concat(Basics(), further, acceptance.Scenarios) }

// Basics returns the scenarios for agents of any dialect: the card, the life of a task, streams, refusals and push
// notifications.
func Basics() []*probe.Scenario {
	return slices.Concat(card.Scenarios, lifecycle.Scenarios, streaming.Scenarios, refusals.Scenarios, push.Scenarios)
}

// further are the scenarios in addition to the basics.
var further = slices.Concat(
	refusals.JSONRPC, lifecycle.Contexts, lifecycle.Operations, lifecycle.Histories, lifecycle.Lists, streaming.Events,
	streaming.Parallel, auth.Scenarios, version.Scenarios, binding.Scenarios, version.Extensions, refusals.Robustness,
	lifecycle.Scripted, push.Configs, binding.Tenants, card.Signatures,
	card.Early, lifecycle.Early, streaming.Early,
)
