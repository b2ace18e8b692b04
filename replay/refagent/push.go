package refagent

import (
	"context"
	"slices"
)

// A pushTarget is a config at work.
type pushTarget struct {
	config pushConfig
	stop   context.CancelFunc
	done   chan struct{} // closed when no delivery is under way any more
}

// named returns a config of a task with an id.
func (e *engine) named(r *record, c *pushConfig) pushConfig {
	config := *c
	config.taskID = r.task.id
	if config.id == "" {
		config.id = e.newID()
	}
	return config
}

// pushConfigs returns the configs of a task. The caller holds the lock.
func (r *record) pushConfigs() []pushConfig {
	configs := make([]pushConfig, len(r.configs))
	for i, t := range r.configs {
		configs[i] = t.config
	}
	return configs
}

// subscribe puts a config to work, in its place among those of its task: what happens from now on is delivered. The
// caller holds the lock.
func (e *engine) subscribe(r *record, config pushConfig) {
	t := &pushTarget{config: config, done: make(chan struct{})}
	follow, snapshot := r.tail, r.task
	t.stop = e.background(func(ctx context.Context) {
		defer close(t.done)
		if !e.deliverer.follow(ctx, config, snapshot, follow) && config.endsByFailure {
			e.removeConfig(config.taskID, config.id) //nolint:errcheck // it is gone if it fails
		}
	})
	if e.closed {
		close(t.done)
	}
	if i := config.place(r.pushConfigs()); i >= 0 {
		r.configs[i].stop()
		r.configs[i] = t
		return
	}
	r.configs = append(r.configs, t)
}

// target returns the index of a config, or -1. An empty id means any, as in A2A 0.3 §7.6.
func (r *record) target(id string) int {
	return slices.IndexFunc(r.configs, func(t *pushTarget) bool { return id == "" || t.config.id == id })
}

func (e *engine) createConfig(taskID string, c *pushConfig) (pushConfig, *failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.tasks[taskID]
	if r == nil {
		return pushConfig{}, taskNotFound(taskID)
	}
	config := e.named(r, c)
	if f := e.save(r, placed(r.pushConfigs(), config)); f != nil {
		return pushConfig{}, f
	}
	e.subscribe(r, config)
	return config, nil
}

// config returns a config; a missing one is TaskNotFound by A2A 1.0 §3.1.8.
func (e *engine) config(taskID, id string) (pushConfig, *failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.tasks[taskID]
	if r == nil {
		return pushConfig{}, taskNotFound(taskID)
	}
	i := r.target(id)
	if i < 0 {
		return pushConfig{}, fail(codeTaskNotFound, "Task "+taskID+" has no push notification config "+id)
	}
	return r.configs[i].config, nil
}

func (e *engine) configs(taskID string) ([]pushConfig, *failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.tasks[taskID]
	if r == nil {
		return nil, taskNotFound(taskID)
	}
	return r.pushConfigs(), nil
}

// deleteConfig removes a config, if it is there, and returns when nothing is delivered for it any more
// (A2A 1.0 §3.1.10).
func (e *engine) deleteConfig(taskID, id string) *failure {
	t, f := e.removeConfig(taskID, id)
	if t != nil {
		t.stop()
		<-t.done
	}
	return f
}

func (e *engine) removeConfig(taskID, id string) (*pushTarget, *failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.tasks[taskID]
	if r == nil {
		return nil, taskNotFound(taskID)
	}
	i := r.target(id)
	if i < 0 {
		return nil, nil
	}
	t := r.configs[i]
	r.configs = slices.Delete(r.configs, i, i+1)
	return t, e.save(r, r.pushConfigs())
}
