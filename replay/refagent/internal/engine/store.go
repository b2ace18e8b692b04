package engine

import (
	"cmp"
	"fmt"
	"slices"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// A Store keeps what agents have to remember when they end. Values belong to an owner, which is an agent or a tenant of
// one, and have a key that is theirs alone among those of the owner. It is called by several goroutines, for one key by
// one at a time.
type Store interface {
	// Each calls f for each value of an owner, in any order, and returns the first error of f. The value is valid during
	// the call.
	Each(owner string, f func(key string, value []byte) error) error
	// Put keeps a value in place of what the key had. When it returns without an error the value survives the end of
	// the process.
	Put(owner, key string, value []byte) error
	// Delete forgets a value; one that is not there is no error.
	Delete(owner, key string) error
}

// A StoreError says why what a store keeps cannot be used. New returns it.
type StoreError struct{ Err error }

// Error implements error.
func (e *StoreError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *StoreError) Unwrap() error { return e.Err }

// save keeps a task with these push notification configs, and logs if it cannot: once for a series of failures. The
// caller holds the lock.
func (e *Engine) save(r *record, configs []model.PushConfig) *model.Failure {
	if e.store == nil {
		return nil
	}
	err := e.store.Put(e.owner, r.Task.ID, jsonvalue.Append(nil, storedTask(r, configs)))
	if err == nil {
		e.unkept = false
		return nil
	}
	if !e.unkept {
		e.log(fmt.Sprintf("task %s could not be stored: %v; new work is refused until that works again", r.Task.ID, err))
	}
	e.unkept = true
	return model.Fail(model.CodeInternal, "Internal error: the agent cannot store the task")
}

// drop forgets what is kept of a task. The caller holds the lock.
func (e *Engine) drop(id string) {
	if e.store == nil {
		return
	}
	if err := e.store.Delete(e.owner, id); err != nil {
		e.log(fmt.Sprintf("task %s could not be removed from the store: %v", id, err))
	}
}

// Restore takes up the tasks of an earlier run. Those that wait for their client go on waiting, if the agent still has
// their skill; nobody works on the others any more, so they fail.
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

// takeUp goes on with a task of an earlier run. The caller holds the lock.
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
