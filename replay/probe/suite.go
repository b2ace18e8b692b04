package probe

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the suites.
const (
	ProtocolSuite = "protocol" // what any agent is asked
	AgentBinSuite = "agentbin" // the acceptance tests, for three agents below one URL: echo, spec and spec03
)

// Suites returns the names of the suites, the usual one first.
func Suites() []string { return []string{ProtocolSuite, AgentBinSuite} }

// Suite returns the scenarios of a suite, in reading order; an empty name is that of the usual one. It fails if there
// is no suite of that name.
func Suite(name string) ([]*Scenario, error) {
	if name == "" {
		name = ProtocolSuite
	}
	if !slices.Contains(Suites(), name) {
		return nil, fmt.Errorf("unknown suite %q; use one of %s", name, strings.Join(Suites(), ", "))
	}
	var suite []*Scenario
	for _, s := range Scenarios() {
		if (s.Agent != "") == (name == AgentBinSuite) {
			suite = append(suite, s)
		}
	}
	return suite, nil
}

// Scenarios returns all scenarios, in reading order.
func Scenarios() []*Scenario {
	return slices.Concat(cardScenarios, lifeScenarios, streamScenarios, errorScenarios, pushScenarios, acts, agentBin)
}

// acts are what an agent is asked beside the basics.
var acts = slices.Concat(
	rpcScenarios, contextScenarios, operationScenarios, historyScenarios, listScenarios, actStreams, parallelScenarios,
	authScenarios, versionScenarios, bindingScenarios, extensionScenarios, robustnessScenarios, scriptedScenarios,
	configScenarios, tenantScenarios, signatureScenarios,
)
