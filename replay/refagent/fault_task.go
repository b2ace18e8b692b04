package refagent

import "sync"

// Faults of identity and of the life of tasks.
var taskFaults = []Fault{
	{
		Slug: "id-task-unique", agents: withTask,
		Doc:   "Every message that begins a conversation is answered with the first task that was ever made.",
		hooks: func() hooks { return hooks{join: oldestTask} },
	},
	{
		Slug: "id-context-stable", agents: withTask,
		Doc:   "Reading a task shows it in another context.",
		hooks: func() hooks { return hooks{reply: moveContext} },
	},
	{
		Slug: "state-terminal-immutable", agents: withTask,
		Doc:   "A task that was shown as ended is working again when it is read later.",
		hooks: func() hooks { return hooks{reply: restartEnded()} },
	},
	{
		Slug: "state-send-terminal-code", agents: only10,
		Doc:   "A message to a task that has ended is refused as TaskNotCancelable.",
		hooks: func() hooks { return hooks{refuse: refuseAs(codeTaskNotCancelable, sendMessage, streamMessage)} },
	},
	{
		Slug: "state-subscribe-terminal-code", agents: only10,
		Doc:   "A subscription to a task that has ended is refused as TaskNotCancelable.",
		hooks: func() hooks { return hooks{refuse: refuseAs(codeTaskNotCancelable, subscribeTask)} },
	},
}

// oldestTask is what a new message joins under id-task-unique.
func oldestTask(e *engine) (turn, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.order) == 0 {
		return turn{}, false
	}
	r := e.order[0]
	t := turn{first: r.task, accepted: r.task}
	if !r.task.status.state.terminalOrInterrupted() {
		t.events, t.rest = r.tail, r.tail
	}
	return t, true
}

// moveContext changes the context of a task that is read; within one answer its messages move along.
func moveContext(c *call, r *reply) {
	if c.op != getTask {
		return
	}
	r.task.contextID += "-moved"
	r.task.history = nil
	if m := r.task.status.message; m != nil {
		moved := *m
		moved.contextID = r.task.contextID
		r.task.status.message = &moved
	}
}

// restartEnded remembers which tasks it has shown as ended, and shows them as working when they are read again.
func restartEnded() func(*call, *reply) {
	var mu sync.Mutex
	shown := make(map[string]bool)
	return func(c *call, r *reply) {
		if r.task == nil || !r.task.status.state.terminal() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if c.op == getTask && shown[r.task.id] {
			r.task.status = status{state: working, at: r.task.status.at}
			return
		}
		shown[r.task.id] = true
	}
}

// refuseAs answers with another code where some operations meet a task that has ended.
func refuseAs(code int, ops ...operation) func(*call, *failure) *failure {
	return func(c *call, f *failure) *failure {
		for _, op := range ops {
			if c.op == op && f.code == codeUnsupported {
				return fail(code, f.message)
			}
		}
		return f
	}
}
