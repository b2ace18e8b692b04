// Package acceptance is the acceptance suite: 27 tests, each over both bindings of 1.0, and four of 0.3 make 58
// cells. The package also has tests that belong to no cell.
//
// The tests are for three agents with known skills. They therefore check the agents' texts, and the answers on the
// wire instead of those that a lenient client decodes.
package acceptance

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
)

// Scenarios are the scenarios of the suite, in reading order.
var Scenarios = placed(slices.Concat(cards, echo, tasks, refusals, streams, turns, v03, extras, jsonRPC, wireFormat))

// The agents of the suite, by their paths.
const (
	echoAgent   = "echo"
	specAgent   = "spec"
	spec03Agent = "spec03"
)

// The groups of the suite, which are also tags.
const (
	groupDiscovery = "discovery"
	groupEcho      = "echo-agent"
	groupSpec      = "spec-agent"
	groupErrors    = "error-handling"
	groupStreaming = "streaming"
	groupTurns     = "multi-turn"
	groupGetTask   = "get-task"
	group03        = "v03-backward-compatibility"
	groupWire      = "wire-format"
)

var (
	both10    = []client.Protocol{client.JSONRPC10, client.REST10}
	jsonRPC10 = []client.Protocol{client.JSONRPC10}
	jsonRPC03 = []client.Protocol{client.JSONRPC03}
)

// nobodysTask is the id of a task that does not exist.
const nobodysTask = "00000000-0000-0000-0000-000000000000"

// The states of 1.0 on the wire (A2A 1.0 §4.1.3).
const (
	wireSubmitted     = "TASK_STATE_SUBMITTED"
	wireWorking       = "TASK_STATE_WORKING"
	wireCompleted     = "TASK_STATE_COMPLETED"
	wireFailed        = "TASK_STATE_FAILED"
	wireCanceled      = "TASK_STATE_CANCELED"
	wireRejected      = "TASK_STATE_REJECTED"
	wireInputRequired = "TASK_STATE_INPUT_REQUIRED"
	wireAgentRole     = "ROLE_AGENT"
)

// category maps the groups to the chapters of a report.
func category(group string) analysis.Category {
	switch group {
	case groupDiscovery:
		return analysis.AgentCard
	case groupErrors:
		return analysis.ErrorHandling
	case groupStreaming:
		return analysis.Streaming
	case group03, groupWire:
		return analysis.Interop
	}
	return analysis.Lifecycle
}
