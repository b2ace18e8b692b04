package engine

import (
	"slices"

	"a2atap/replay/refagent/internal/model"
)

// CreateConfig adds a config and starts its deliveries. It replaces a config with the same id.
func (e *Engine) CreateConfig(taskID string, c *model.PushConfig) (model.PushConfig, *model.Failure) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	r := e.tasks[taskID]
	if r == nil {
		return model.PushConfig{}, model.TaskNotFound(taskID)
	}
	config := e.named(r, c)
	if f := e.save(r, model.Placed(r.pushConfigs(), config)); f != nil {
		return model.PushConfig{}, f
	}
	e.subscribe(r, config)
	return config, nil
}

// Config returns a config; a missing one is TaskNotFound by A2A 1.0 §3.1.8.
func (e *Engine) Config(taskID, id string) (model.PushConfig, *model.Failure) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	r := e.tasks[taskID]
	if r == nil {
		return model.PushConfig{}, model.TaskNotFound(taskID)
	}
	i := r.target(id)
	if i < 0 {
		return model.PushConfig{}, model.Fail(model.CodeTaskNotFound, "Task "+taskID+" has no push notification config "+id)
	}
	return r.configs[i].config, nil
}

// Configs returns the configs of a task.
func (e *Engine) Configs(taskID string) ([]model.PushConfig, *model.Failure) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	r := e.tasks[taskID]
	if r == nil {
		return nil, model.TaskNotFound(taskID)
	}
	return r.pushConfigs(), nil
}

// DeleteConfig removes a config, if it exists, and returns when its deliveries have ended (A2A 1.0 §3.1.10).
func (e *Engine) DeleteConfig(taskID, id string) *model.Failure {
	t, f := e.removeConfig(taskID, id)
	if t != nil {
		t.stop()
		<-t.done
	}
	return f
}

func (e *Engine) removeConfig(taskID, id string) (*pushTarget, *model.Failure) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	r := e.tasks[taskID]
	if r == nil {
		return nil, model.TaskNotFound(taskID)
	}
	i := r.target(id)
	if i < 0 {
		return nil, nil
	}
	t := r.configs[i]
	r.configs = slices.Delete(r.configs, i, i+1)
	return t, e.save(r, r.pushConfigs())
}
