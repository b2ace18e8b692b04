package refagent

import (
	"context"
	"crypto/x509"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxTasks is how many tasks an engine remembers; beyond it the oldest finished ones are forgotten.
const maxTasks = 10_000

// An engine owns the tasks of one agent: their states, their events and the work on them.
//
// All changes happen under one lock, so that the events of a task have one order for everybody. No method waits for
// a client. Work started by a client goes on without it until the task is terminal or interrupted, or the engine is
// closed.
type engine struct {
	now        func() time.Time
	newID      func() string
	step       time.Duration     // pause between two chunks
	cancelWait time.Duration     // how long task-cancel waits to be canceled
	moves      map[state][]state // from states that do not end a task; nil if the protocol allows any
	limit      int               // of tasks; 0 if there is none
	noStatuses bool              // tasks do not remember the statuses that they had

	deliverer *deliverer

	store  Store  // nil if tasks live in memory alone
	owner  string // of what is in the store
	log    func(string)
	unkept bool // the latest change of a task could not be stored

	ctx  context.Context // ends when the engine is closed
	stop context.CancelFunc
	work sync.WaitGroup // jobs and push deliveries

	mu       sync.Mutex
	closed   bool
	tasks    map[string]*record
	order    []*record // oldest first
	revision uint64    // counts status changes
	number   uint64    // counts tasks
}

// A record is a task and what belongs to it. The engine's lock guards it.
type record struct {
	task     task
	number   uint64 // of the task, in the order in which they were made
	revision uint64 // of the latest status
	tail     *feed
	skill    *skill
	turns    int
	stop     context.CancelFunc // ends the job under way
	configs  []*pushTarget
}

// engineOptions set an engine up. None has a default.
type engineOptions struct {
	stepTime     time.Duration     // pause between two chunks
	cancelWait   time.Duration     // how long task-cancel waits to be canceled
	maxTasks     int               // 0 if there is no limit
	moves        map[state][]state // from states that do not end a task; nil if the protocol allows any
	noStatuses   bool              // tasks do not remember the statuses that they had
	store        Store             // nil if tasks live in memory alone
	webhookRoots *x509.CertPool    // nil are those of the system
	edit         func(n *delivery) // changes push notifications; nil for a faithful agent
	log          func(text string)
	now          func() time.Time
	newID        func() string
}

func newEngine(ctx context.Context, opts engineOptions) *engine {
	ctx, stop := context.WithCancel(ctx)
	return &engine{
		now: opts.now, newID: opts.newID, step: opts.stepTime, cancelWait: opts.cancelWait, limit: opts.maxTasks,
		moves: opts.moves, noStatuses: opts.noStatuses, store: opts.store, log: opts.log, deliverer: newDeliverer(opts), ctx: ctx, stop: stop,
		tasks: make(map[string]*record),
	}
}

// close ends all work and waits for it.
func (e *engine) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stop()
	e.work.Wait()
	e.deliverer.client.CloseIdleConnections()
}

// background runs f until it returns; f must return when its context ends. The caller holds the lock.
func (e *engine) background(f func(context.Context)) context.CancelFunc {
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

// An order is what a send asks the engine to work on.
type order struct {
	skill   *skill
	message message  // its contextID, if not empty, becomes that of a new task
	taskID  string   // of a new task, where clients choose it; else empty
	accepts []string // output modes that the client accepts; empty means all
	push    *pushConfig

	traceparent string // that came with the message, if any did
}

// A turn is one stretch of work on a task: from a message until it is terminal or interrupted.
type turn struct {
	first    task  // as a stream shows it: before anything of this turn has happened
	events   *feed // what happens after first
	accepted task  // as an immediate answer shows it: with the message taken in
	rest     *feed // what happens after accepted; nil if nothing will
}

// start makes a task and begins to work on it (A2A 1.0 §3.4.2: ids of new tasks are the agent's).
func (e *engine) start(o order) (turn, *failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.limit > 0 && len(e.tasks) >= e.limit {
		return turn{}, fail(codeStoreFull, "The agent has "+strconv.Itoa(e.limit)+" tasks and takes no more")
	}
	e.number++
	r := &record{number: e.number, skill: o.skill, tail: newFeed()}
	r.task = task{id: o.taskID, contextID: o.message.contextID}
	if r.task.id == "" {
		r.task.id = e.newID()
	}
	if r.task.contextID == "" {
		r.task.contextID = e.newID()
	}
	e.stamp(r, submitted, nil)
	if f := e.receive(r, o); f != nil {
		return turn{}, f
	}
	e.tasks[r.task.id] = r
	e.order = append(e.order, r)
	e.forget()
	t := turn{first: r.task, events: r.tail, accepted: r.task, rest: r.tail}
	e.run(r, o)
	return t, nil
}

// resume continues a task that waits for the client; the task must exist.
func (e *engine) resume(id string, o order) (turn, *failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.tasks[id]
	switch {
	case r == nil:
		return turn{}, taskNotFound(id)
	case o.message.contextID != "" && o.message.contextID != r.task.contextID:
		// A2A 1.0 §3.4.3.
		return turn{}, invalidParams(violation{"message.contextId", "is not the context of task " + id})
	case r.task.status.state.terminal():
		return turn{}, fail(codeUnsupported,
			"Task "+id+" has ended ("+string(r.task.status.state)+") and takes no more messages")
	case !r.task.status.state.interrupted():
		return turn{}, fail(codeUnsupported, "Task "+id+" is being worked on and does not wait for a message")
	}
	t := turn{first: r.task, events: r.tail}
	was := *r
	ev := e.change(r, working, nil)
	if f := e.receive(r, o); f != nil {
		r.task, r.revision, r.turns = was.task, was.revision, was.turns
		return turn{}, f
	}
	r.tail = r.tail.push(ev)
	t.accepted, t.rest = r.task, r.tail
	e.run(r, o)
	return t, nil
}

// has says whether there is such a task.
func (e *engine) has(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tasks[id] != nil
}

// receive takes the client's message into the history and its webhook into the list, and keeps the task. If that fails,
// the task is changed all the same, and the caller takes it back. The caller holds the lock.
func (e *engine) receive(r *record, o order) *failure {
	r.turns++
	o.message.taskID, o.message.contextID = r.task.id, r.task.contextID
	e.archiveStatus(r)
	r.task.history = append(r.task.history, o.message)
	configs := r.pushConfigs()
	var config pushConfig
	if o.push != nil {
		config = e.named(r, o.push)
		configs = placed(configs, config)
	}
	if f := e.save(r, configs); f != nil {
		return f
	}
	if o.push != nil {
		e.subscribe(r, config)
	}
	return nil
}

// run begins the work of a turn. The caller holds the lock.
func (e *engine) run(r *record, o order) {
	j := &job{
		engine: e, record: r, skill: r.skill, input: o.message.text(), turn: r.turns, accepts: o.accepts,
		traceparent: o.traceparent,
	}
	r.stop = e.background(func(ctx context.Context) {
		j.ctx = ctx
		r.skill.run(j)
	})
}

// cancel ends a task at its client's wish (A2A 1.0 §3.1.5). What the client says about it becomes metadata of the task.
func (e *engine) cancel(id string, metadata object) (task, *failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.tasks[id]
	switch {
	case r == nil:
		return task{}, taskNotFound(id)
	case r.task.status.state.terminal():
		return task{}, fail(codeTaskNotCancelable, "Task "+id+" has already ended ("+string(r.task.status.state)+")")
	}
	was := *r
	if len(metadata) > 0 {
		r.task.metadata = r.task.metadata.merge(metadata)
	}
	ev := e.change(r, canceled, text("["+r.skill.name+"] Task canceled by client request."))
	if f := e.save(r, r.pushConfigs()); f != nil {
		r.task, r.revision = was.task, was.revision
		return task{}, f
	}
	r.tail = r.tail.push(ev)
	r.stop()
	return r.task, nil
}

// get returns a task as it stands.
func (e *engine) get(id string) (task, *failure) {
	t, _, f := e.follow(id)
	return t, f
}

// follow returns a task as it stands and everything that will happen to it.
func (e *engine) follow(id string) (task, *feed, *failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.tasks[id]
	if r == nil {
		return task{}, nil, taskNotFound(id)
	}
	return r.task, r.tail, nil
}

// update changes the state of a task unless it has ended, and says whether it did.
func (e *engine) update(r *record, s state, parts []part) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.task.status.state.terminal() {
		return false
	}
	if e.moves != nil && r.task.status.state == s {
		return true // staying is no move
	}
	e.begin(r, s)
	e.setStatus(r, s, parts)
	return true
}

// begin has a task work before it does what only a working task may. The caller holds the lock.
func (e *engine) begin(r *record, then state) {
	if e.moves != nil && !slices.Contains(e.moves[r.task.status.state], then) {
		e.setStatus(r, working, nil)
	}
}

// setStatus sets the state, keeps the task and tells the subscribers. The caller holds the lock.
func (e *engine) setStatus(r *record, s state, parts []part) {
	ev := e.change(r, s, parts)
	e.save(r, r.pushConfigs()) // the work goes on; the log says that it is not kept
	r.tail = r.tail.push(ev)
}

// change sets the state, and returns the event to tell the subscribers. The caller holds the lock.
func (e *engine) change(r *record, s state, parts []part) event {
	e.archiveStatus(r)
	e.stamp(r, s, parts)
	return event{status: &statusUpdate{r.task.id, r.task.contextID, r.task.status}}
}

// stamp gives r a new status. The caller holds the lock.
func (e *engine) stamp(r *record, s state, parts []part) {
	e.revision++
	r.revision = e.revision
	r.task.status = status{state: s, at: e.now().UTC().Truncate(time.Millisecond)}
	if len(parts) > 0 {
		r.task.status.message = &message{
			id: e.newID(), role: roleAgent, taskID: r.task.id, contextID: r.task.contextID, parts: parts,
		}
	}
	if !e.noStatuses {
		r.task.statuses = append(r.task.statuses, r.task.status)
	}
}

// archiveStatus moves the message of the present status into the history. The caller holds the lock.
func (e *engine) archiveStatus(r *record) {
	if m := r.task.status.message; m != nil {
		r.task.history = append(r.task.history, *m)
		r.task.status.message = nil
	}
}

// publish adds a chunk of an artifact to a task unless it has ended, and says whether it did.
func (e *engine) publish(r *record, u artifactUpdate) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.task.status.state.terminal() {
		return false
	}
	e.begin(r, completed)
	u.taskID, u.contextID = r.task.id, r.task.contextID
	r.task.add(u)
	e.save(r, r.pushConfigs()) // as in setStatus
	u.index = slices.IndexFunc(r.task.artifacts, func(a artifact) bool { return a.id == u.artifact.id })
	r.tail = r.tail.push(event{artifact: &u})
	return true
}

// forget drops the oldest finished task if there are too many. The caller holds the lock.
func (e *engine) forget() {
	if len(e.order) <= maxTasks {
		return
	}
	i := slices.IndexFunc(e.order, func(r *record) bool { return r.task.status.state.terminal() })
	if i < 0 {
		return
	}
	e.drop(e.order[i].task.id)
	delete(e.tasks, e.order[i].task.id)
	e.order = slices.Delete(e.order, i, i+1)
}
