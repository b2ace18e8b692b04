package delegation

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/workflow"
)

// Bounds of memory. Anything beyond is forgotten, least recently used first.
const (
	maxSends    = 5_000
	maxTasks    = 5_000
	maxMentions = 5_000  // ids of tasks that were asked for
	maxAgents   = 10_000 // names
	maxCalls    = 64     // for one task
	maxContents = 64     // of one task
)

// Memory remembers the calls that agents make for others.
type Memory struct {
	workflow  *workflow.Memory
	sends     *recent.Map[uint64, *send] // by number of the exchange
	tasks     *recent.Map[analysis.TaskKey, *work]
	mentioned *recent.Map[string, uint64]    // id of a task → arrival number of the last request for it, or report of it
	agents    *recent.Map[string, bool]      // names of those that received something
	listed    *recent.Map[string, uint64]    // name of an agent → when a client last asked for a list of its tasks
	others    *recent.Map[string, uint64]    // name of a client → when it last began a send that did not fail, for anything
	outbound  *recent.Map[string, *outbound] // by name of the agent that calls
	send      analysis.Slot[*send]
	traced    analysis.Slot[bool]  // traceKept has taken the exchange
	named     analysis.Slot[*work] // the work on a task that a request names
}

// Forgotten implements analysis.State. Forgotten entries are not counted, since nothing is observed about them.
func (m *Memory) Forgotten() int { return 0 }
