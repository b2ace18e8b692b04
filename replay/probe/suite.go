package probe

import (
	"fmt"
	"net/url"
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

// agentURL returns the URL of the agent at a path below the one under test. Where that is the URL of one of the agents
// that the scenarios are for, or of its card, the path is below its parent.
func agentURL(given, path string, scenarios []*Scenario) string {
	u, err := url.Parse(given)
	if err != nil {
		return given // Run has refused it
	}
	base := u.EscapedPath()
	for _, card := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json"} {
		base = strings.TrimSuffix(base, card)
	}
	base = strings.TrimRight(base, "/")
	at := strings.LastIndexByte(base, '/')
	if at >= 0 && slices.ContainsFunc(scenarios, func(s *Scenario) bool { return s.Agent == base[at+1:] }) {
		base = base[:at]
	}
	origin := url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}
	return origin.String() + base + "/" + path
}
