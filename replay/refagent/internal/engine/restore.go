package engine

import (
	"cmp"
	"fmt"
	"slices"

	"a2atap/replay/refagent/internal/model"
)

// Restore loads the tasks of an earlier run. Tasks that wait for their client continue to wait, if the agent still has
// their skill; work on the others has ended, so they fail.
func (e *Engine) Restore(owner string, find func(name string) *Skill) error {
	e.owner = owner
	if e.store == nil {
		return nil
	}
	e.Mu.Lock()
	defer e.Mu.Unlock()
	configs := make(map[*record][]model.PushConfig)
	err := e.store.Each(owner, func(key string, value []byte) error {
		r, kept, err := readStored(value)
		if err == nil && r.Task.ID != key {
			err = fmt.Errorf("it is kept as task %q", key)
		}
		if err != nil {
			return fmt.Errorf("the stored task %q of agent %s: %w", key, owner, err)
		}
		e.tasks[key] = r
		e.Order = append(e.Order, r)
		e.revision, e.number = max(e.revision, r.revision), max(e.number, r.number)
		configs[r] = kept
		return nil
	})
	if err != nil {
		return &StoreError{err}
	}
	slices.SortFunc(e.Order, func(a, b *record) int { return cmp.Compare(a.number, b.number) })
	for _, r := range e.Order {
		e.takeUp(r, configs[r], find)
	}
	return nil
}

// takeUp continues a task of an earlier run. The caller holds the lock.
func (e *Engine) takeUp(r *record, configs []model.PushConfig, find func(name string) *Skill) {
	name := r.skill.Name
	if s := find(name); s != nil {
		r.skill = s
	}
	r.stop = func() {}
	if r.Task.Status.State.Terminal() {
		for _, c := range configs { // nothing will be delivered, but clients can ask for them
			done := make(chan struct{})
			close(done)
			r.configs = append(r.configs, &pushTarget{config: c, stop: func() {}, done: done})
		}
		return
	}
	for _, c := range configs {
		e.subscribe(r, c)
	}
	switch {
	case !r.Task.Status.State.Interrupted():
		e.setStatus(r, model.Failed, model.Text("["+name+"] The agent ended while it worked on this task."))
	case r.skill.Run == nil:
		e.setStatus(r, model.Failed, model.Text("["+name+"] The agent was started again without this skill."))
	}
}
