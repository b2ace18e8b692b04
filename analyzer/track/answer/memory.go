package answer

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Memory remembers answers.
type Memory struct {
	cards     *card.Memory
	tasks     *task.Memory
	refusals  *recent.Map[refusalKey, *Refusal]
	ended     *recent.Map[endedKey, *EndedTask]
	notFound  *recent.Map[analysis.TaskKey, *NotFound]
	missed    *recent.Map[analysis.TaskKey, *Missed]
	subscribe *recent.Map[analysis.TaskKey, *Pending]
	stream    *recent.Map[analysis.TaskKey, *Pending]
	digester  a2a.Digester
	canceling *recent.Map[string, analysis.Moment] // by agent: when it had first canceled a task
}
