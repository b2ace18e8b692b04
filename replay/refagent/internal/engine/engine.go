// Package engine does the work of reference agents: it owns their tasks, sends every subscriber the same events in the
// same order, delivers push notifications, and keeps tasks in an optional [Store]. A [Skill] handles messages.
package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// maxTasks is how many tasks an engine remembers; beyond it the oldest finished ones are forgotten.
const maxTasks = 10_000

// An Engine owns the tasks of one agent: their states, their events and the work on them.
//
// All changes happen under one lock, so that the events of a task have the same order for all clients. No method waits
// for a client. Work started by a client continues without it until the task is terminal or interrupted, or the engine
// is closed.
type Engine struct {
	now        func() time.Time
	NewID      func() string
	step       time.Duration                 // pause between two chunks
	cancelWait time.Duration                 // how long task-cancel waits to be canceled
	moves      map[model.State][]model.State // from states that do not end a task; nil if the protocol allows any
	limit      int                           // on tasks that have not ended; 0 for no limit
	noStatuses bool                          // tasks do not remember the statuses that they had

	deliverer *deliverer

	store  Store  // nil if tasks live in memory alone
	owner  string // of the values in the store
	log    func(string)
	unkept bool // the latest change of a task could not be stored

	ctx  context.Context // ends when the engine is closed
	stop context.CancelFunc
	work sync.WaitGroup // jobs and push deliveries

	Mu       sync.Mutex
	closed   bool
	tasks    map[string]*record
	Order    []*record // oldest first
	revision uint64    // counts status changes
	number   uint64    // counts tasks
}

// New returns an engine that works until the context ends or it is closed.
func New(ctx context.Context, opts Options) *Engine {
	ctx, stop := context.WithCancel(ctx)
	return &Engine{
		now: opts.Now, NewID: opts.NewID, step: opts.StepTime, cancelWait: opts.CancelWait, limit: opts.MaxTasks,
		moves: opts.Moves, noStatuses: opts.NoStatuses, store: opts.Store, log: opts.Log, deliverer: newDeliverer(opts),
		ctx: ctx, stop: stop,
		tasks: make(map[string]*record),
	}
}

// Close ends all work and waits for it.
func (e *Engine) Close() {
	e.Mu.Lock()
	e.closed = true
	e.Mu.Unlock()
	e.stop()
	e.work.Wait()
	e.deliverer.client.CloseIdleConnections()
}

// background runs f until it returns; f must return when its context ends. The caller holds the lock.
func (e *Engine) background(f func(context.Context)) context.CancelFunc {
	ctx, stop := context.WithCancel(e.ctx)
	if e.closed {
		stop()
		return stop
	}
	e.work.Go(func() {
		defer stop()
		f(ctx)
	})
	return stop
}

// An Order is the work that a send requests.
type Order struct {
	Skill   *Skill
	Message model.Message // its contextID, if not empty, becomes a new task's
	TaskID  string        // of a new task, where clients choose it; else empty
	Accepts []string      // output modes that the client accepts; empty means all
	Push    *model.PushConfig

	Traceparent string // that came with the message, if any did
}

// A Turn is one stretch of work on a task: from a message until it is terminal or interrupted.
type Turn struct {
	First    model.Task  // as a stream shows it: before anything of this turn has happened
	Events   *model.Feed // what happens after first
	Accepted model.Task  // as an immediate answer shows it: with the message taken in
	Rest     *model.Feed // what happens after accepted; nil if nothing will
}

// Start makes a task and begins to work on it (A2A 1.0 §3.4.2: ids of new tasks are the agent's).
func (e *Engine) Start(o Order) (Turn, *model.Failure) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	if e.limit > 0 && e.unfinished() >= e.limit {
		return Turn{}, model.Fail(model.CodeStoreFull, "The agent has "+strconv.Itoa(e.limit)+
			" tasks that have not ended, and accepts no more until one ends")
	}
	e.number++
	r := &record{number: e.number, skill: o.Skill, Tail: model.NewFeed()}
	r.Task = model.Task{ID: o.TaskID, ContextID: o.Message.ContextID}
	if r.Task.ID == "" {
		r.Task.ID = e.NewID()
	}
	if r.Task.ContextID == "" {
		r.Task.ContextID = e.NewID()
	}
	e.stamp(r, model.Submitted, nil)
	if f := e.receive(r, o); f != nil {
		return Turn{}, f
	}
	e.tasks[r.Task.ID] = r
	e.Order = append(e.Order, r)
	e.forget()
	t := Turn{First: r.Task, Events: r.Tail, Accepted: r.Task, Rest: r.Tail}
	e.run(r, o)
	return t, nil
}

// unfinished returns how many tasks have not ended. The caller holds the lock.
func (e *Engine) unfinished() (n int) {
	for _, r := range e.Order {
		if !r.Task.Status.State.Terminal() {
			n++
		}
	}
	return n
}

// Resume continues a task that waits for the client; the task must exist.
func (e *Engine) Resume(id string, o Order) (Turn, *model.Failure) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	r := e.tasks[id]
	switch {
	case r == nil:
		return Turn{}, model.TaskNotFound(id)
	case o.Message.ContextID != "" && o.Message.ContextID != r.Task.ContextID:
		// A2A 1.0 §3.4.3.
		return Turn{}, model.InvalidParam("message.contextId", "is not the context of task "+id)
	case r.Task.Status.State.Terminal():
		return Turn{}, model.Fail(model.CodeUnsupported,
			"Task "+id+" has ended ("+string(r.Task.Status.State)+") and takes no more messages")
	case !r.Task.Status.State.Interrupted():
		return Turn{}, model.Fail(model.CodeUnsupported, "Task "+id+" is being worked on and does not wait for a message")
	}
	t := Turn{First: r.Task, Events: r.Tail}
	was := *r
	ev := e.change(r, model.Working, nil)
	if f := e.receive(r, o); f != nil {
		r.Task, r.revision, r.turns = was.Task, was.revision, was.turns
		return Turn{}, f
	}
	r.Tail = r.Tail.Push(ev)
	t.Accepted, t.Rest = r.Task, r.Tail
	e.run(r, o)
	return t, nil
}

// Has reports whether there is such a task.
func (e *Engine) Has(id string) bool {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return e.tasks[id] != nil
}

// receive adds the client's message to the history and its webhook to the list, and stores the task. If storing fails,
// the task is changed nevertheless, and the caller reverts it. The caller holds the lock.
func (e *Engine) receive(r *record, o Order) *model.Failure {
	r.turns++
	o.Message.TaskID, o.Message.ContextID = r.Task.ID, r.Task.ContextID
	e.archiveStatus(r)
	r.Task.History = append(r.Task.History, o.Message)
	configs := r.pushConfigs()
	var config model.PushConfig
	if o.Push != nil {
		config = e.named(r, o.Push)
		configs = model.Placed(configs, config)
	}
	if f := e.save(r, configs); f != nil {
		return f
	}
	if o.Push != nil {
		e.subscribe(r, config)
	}
	return nil
}

// run begins the work of a turn. The caller holds the lock.
func (e *Engine) run(r *record, o Order) {
	j := &Job{
		Engine: e, record: r, skill: r.skill, Input: o.Message.Text(), turn: r.turns, accepts: o.Accepts,
		Traceparent: o.Traceparent,
	}
	r.stop = e.background(func(ctx context.Context) {
		j.Ctx = ctx
		r.skill.Run(j)
	})
}

// Cancel ends a task at its client's wish (A2A 1.0 §3.1.5). The client's metadata becomes metadata of the task.
func (e *Engine) Cancel(id string, metadata jsonvalue.Object) (model.Task, *model.Failure) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	r := e.tasks[id]
	switch {
	case r == nil:
		return model.Task{}, model.TaskNotFound(id)
	case r.Task.Status.State.Terminal():
		return model.Task{}, model.Fail(model.CodeTaskNotCancelable,
			"Task "+id+" has already ended ("+string(r.Task.Status.State)+")")
	}
	was := *r
	if len(metadata) > 0 {
		r.Task.Metadata = r.Task.Metadata.Merge(metadata)
	}
	ev := e.change(r, model.Canceled, model.Text("["+r.skill.Name+"] Task canceled by client request."))
	if f := e.save(r, r.pushConfigs()); f != nil {
		r.Task, r.revision = was.Task, was.revision
		return model.Task{}, f
	}
	r.Tail = r.Tail.Push(ev)
	r.stop()
	return r.Task, nil
}

// Get returns a task in its current state.
func (e *Engine) Get(id string) (model.Task, *model.Failure) {
	t, _, f := e.Follow(id)
	return t, f
}

// Follow returns a task in its current state and the feed of its future events.
func (e *Engine) Follow(id string) (model.Task, *model.Feed, *model.Failure) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	r := e.tasks[id]
	if r == nil {
		return model.Task{}, nil, model.TaskNotFound(id)
	}
	return r.Task, r.Tail, nil
}

// update changes the state of a task unless it has ended, and says whether it did.
func (e *Engine) update(r *record, s model.State, parts []model.Part) bool {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	if r.Task.Status.State.Terminal() {
		return false
	}
	if e.moves != nil && r.Task.Status.State == s {
		return true // staying is not a move
	}
	e.begin(r, s)
	e.setStatus(r, s, parts)
	return true
}

// begin has a task work before it does what only a working task may. The caller holds the lock.
func (e *Engine) begin(r *record, then model.State) {
	if e.moves != nil && !slices.Contains(e.moves[r.Task.Status.State], then) {
		e.setStatus(r, model.Working, nil)
	}
}

// named returns a config of a task with an id.
func (e *Engine) named(r *record, c *model.PushConfig) model.PushConfig {
	config := *c
	config.TaskID = r.Task.ID
	if config.ID == "" {
		config.ID = e.NewID()
	}
	return config
}

// subscribe adds a config to its task and starts delivery of the events from now on. The caller holds the lock.
func (e *Engine) subscribe(r *record, config model.PushConfig) {
	t := &pushTarget{config: config, done: make(chan struct{})}
	follow, snapshot := r.Tail, r.Task
	t.stop = e.background(func(ctx context.Context) {
		defer close(t.done)
		if !e.deliverer.follow(ctx, config, snapshot, follow) && config.EndsByFailure {
			e.removeConfig(config.TaskID, config.ID) //nolint:errcheck // it is gone if it fails
		}
	})
	if e.closed {
		close(t.done)
	}
	if i := config.Place(r.pushConfigs()); i >= 0 {
		r.configs[i].stop()
		r.configs[i] = t
		return
	}
	r.configs = append(r.configs, t)
}

// setStatus sets the state, keeps the task and tells the subscribers. The caller holds the lock.
func (e *Engine) setStatus(r *record, s model.State, parts []model.Part) {
	ev := e.change(r, s, parts)
	e.save(r, r.pushConfigs()) // the work continues; the log reports that it is not stored
	r.Tail = r.Tail.Push(ev)
}

// change sets the state, and returns the event to tell the subscribers. The caller holds the lock.
func (e *Engine) change(r *record, s model.State, parts []model.Part) model.Event {
	e.archiveStatus(r)
	e.stamp(r, s, parts)
	return model.Event{Status: &model.StatusUpdate{TaskID: r.Task.ID, ContextID: r.Task.ContextID, Status: r.Task.Status}}
}

// stamp gives r a new status. The caller holds the lock.
func (e *Engine) stamp(r *record, s model.State, parts []model.Part) {
	e.revision++
	r.revision = e.revision
	r.Task.Status = model.Status{State: s, At: e.now().UTC().Truncate(time.Millisecond)}
	if len(parts) > 0 {
		r.Task.Status.Message = &model.Message{
			ID: e.NewID(), Role: model.RoleAgent, TaskID: r.Task.ID, ContextID: r.Task.ContextID, Parts: parts,
		}
	}
	if !e.noStatuses {
		r.Task.Statuses = append(r.Task.Statuses, r.Task.Status)
	}
}

// archiveStatus moves the message of the present status into the history. The caller holds the lock.
func (e *Engine) archiveStatus(r *record) {
	if m := r.Task.Status.Message; m != nil {
		r.Task.History = append(r.Task.History, *m)
		r.Task.Status.Message = nil
	}
}

// publish adds a chunk of an artifact to a task unless it has ended, and says whether it did.
func (e *Engine) publish(r *record, u model.ArtifactUpdate) bool {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	if r.Task.Status.State.Terminal() {
		return false
	}
	e.begin(r, model.Completed)
	u.TaskID, u.ContextID = r.Task.ID, r.Task.ContextID
	r.Task.Add(u)
	e.save(r, r.pushConfigs()) // as in setStatus
	u.Index = slices.IndexFunc(r.Task.Artifacts, func(a model.Artifact) bool { return a.ID == u.Artifact.ID })
	r.Tail = r.Tail.Push(model.Event{Artifact: &u})
	return true
}

// Lose ends the work on a task after a while, and forgets the task, as no faithful agent does.
func (e *Engine) Lose(id string, after time.Duration) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.background(func(ctx context.Context) {
		if !Wait(ctx, after) {
			return
		}
		e.Mu.Lock()
		defer e.Mu.Unlock()
		if r := e.tasks[id]; r != nil {
			r.stop()
			e.remove(slices.Index(e.Order, r))
		}
	})
}

// forget drops the oldest finished task if there are too many. The caller holds the lock.
func (e *Engine) forget() {
	if len(e.Order) <= maxTasks {
		return
	}
	i := slices.IndexFunc(e.Order, func(r *record) bool { return r.Task.Status.State.Terminal() })
	if i >= 0 {
		e.remove(i)
	}
}

// remove forgets the task at a place in the order. The caller holds the lock.
func (e *Engine) remove(i int) {
	e.drop(e.Order[i].Task.ID)
	delete(e.tasks, e.Order[i].Task.ID)
	e.Order = slices.Delete(e.Order, i, i+1)
}

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

// drop removes a task's stored data. The caller holds the lock.
func (e *Engine) drop(id string) {
	if e.store == nil {
		return
	}
	if err := e.store.Delete(e.owner, id); err != nil {
		e.log(fmt.Sprintf("task %s could not be removed from the store: %v", id, err))
	}
}
