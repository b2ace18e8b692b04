package probe

import "a2atap/replay/client"

// A probeCase is a scenario on one interface.
type probeCase struct {
	scenario *Scenario
	target   *target
	at       endpoint
	result   Result
	noTask   bool // it needs a task, but the agent answered with a message
}

// name returns the case's name: jsonrpc/error-task-not-found.
func (c *probeCase) name() string {
	if c.at.Protocol == (client.Protocol{}) {
		return c.scenario.ID
	}
	return caseName(c.scenario, c.at.version, c.at.Protocol)
}
