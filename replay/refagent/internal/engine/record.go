package engine

import (
	"context"
	"slices"

	"a2atap/replay/refagent/internal/model"
)

// A Skill is one way to behave. Either answer is set or run.
type Skill struct {
	Name   string
	Answer func(input string) string // replies with a message; no task is made
	Run    func(j *Job)              // works on a task, once for each turn
}

// A record is a task and what belongs to it. The engine's lock guards it.
type record struct {
	Task     model.Task
	number   uint64 // of the task, in the order in which they were made
	revision uint64 // of the latest status
	Tail     *model.Feed
	skill    *Skill
	turns    int
	stop     context.CancelFunc // ends the job under way
	configs  []*pushTarget
}

// A pushTarget is a config at work.
type pushTarget struct {
	config model.PushConfig
	stop   context.CancelFunc
	done   chan struct{} // closed when no delivery is under way any more
}

// pushConfigs returns the configs of a task. The caller holds the lock.
func (r *record) pushConfigs() []model.PushConfig {
	configs := make([]model.PushConfig, len(r.configs))
	for i, t := range r.configs {
		configs[i] = t.config
	}
	return configs
}

// target returns the index of a config, or -1. An empty id means any, as in A2A 0.3 §7.6.
func (r *record) target(id string) int {
	return slices.IndexFunc(r.configs, func(t *pushTarget) bool { return id == "" || t.config.ID == id })
}
