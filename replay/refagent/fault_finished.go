package refagent

import (
	"slices"
	"sync"
	"time"
)

// Faults of what is done to a task that has ended, and of what a task looks like when it has.
var finishedFaults = []Fault{
	{
		Slug: "state-terminal-immutable-early", agents: []string{"spec01"},
		Doc:   "A task that was shown as ended is working again when it is read later, as 0.1 allows.",
		hooks: func() hooks { return hooks{reply: restartEnded()} },
	},
	{
		Slug: "state-final-state-agrees", agents: withTask,
		Doc:   "A task that ended in a stream is working when it is read.",
		hooks: forgetEnds,
	},
	{
		Slug: "state-unknown-task-known", agents: withTask,
		Also:  []string{"req-taskid-exists", "list-scope"}, // the client goes on with it, and finds it in lists
		Doc:   "Reading any task says that it is not found.",
		hooks: func() hooks { return hooks{admit: forgetTasks} },
	},
	{
		Slug: "state-send-terminal-rejected", agents: only03,
		Doc:   "A message to a task that has ended is answered with that task.",
		hooks: acceptEnded(codeUnsupported, func(t *task) {}, sendMessage),
	},
	{
		Slug: "state-send-terminal-rejected-v1", agents: only10,
		Doc:   "A message to a task that has ended is answered with that task.",
		hooks: acceptEnded(codeUnsupported, func(t *task) {}, sendMessage),
	},
	{
		Slug: "state-cancel-terminal", agents: withTask,
		Doc:   "The cancellation of a task that has ended gives the task as it is.",
		hooks: acceptEnded(codeTaskNotCancelable, func(t *task) {}, cancelTask),
	},
	{
		Slug: "state-cancel-terminal-code", agents: withTask,
		Doc:   "The cancellation of a task that has ended is refused as an invalid parameter.",
		hooks: func() hooks { return hooks{refuse: refuseCancellation} },
	},
	{
		Slug: "state-cancel-changes-terminal", agents: withTask,
		Doc: "The cancellation of a task that has ended cancels it.",
		hooks: acceptEnded(codeTaskNotCancelable, func(t *task) { t.status.state, t.status.message = canceled, nil },
			cancelTask),
	},
	{
		Slug: "state-subscribe-terminal", agents: only10,
		Doc:   "A subscription to a task that has ended shows it.",
		hooks: acceptEnded(codeUnsupported, func(t *task) {}, subscribeTask),
	},
	{
		Slug: "state-blocking", agents: only10,
		Doc:   "A message is answered with a task at work, although the client did not ask for that.",
		hooks: func() hooks { return hooks{reply: answerEarly} },
	},
	{
		Slug: "state-blocking-0x", agents: only03,
		Doc:   "A message is answered with a task at work, although the client asked to wait.",
		hooks: func() hooks { return hooks{reply: answerEarly} },
	},
	{
		Slug: "state-blocking-artifacts", agents: only10,
		Doc:   "The answer to a message lacks the first artifact of the task.",
		hooks: func() hooks { return hooks{reply: leaveArtifactsOut} },
	},
	{
		Slug: "state-artifacts-after-terminal", agents: withTask,
		Doc:   "A task that has ended shows other text when it is read again.",
		hooks: func() hooks { return hooks{reply: rewriteArtifacts()} },
	},
	{
		Slug: "state-status-regress-time", agents: withTask,
		Doc:   "In a stream, a task is working an hour before it was submitted.",
		hooks: onEvent(workEarlier),
	},
}

// forgetEnds remembers which tasks have ended in a stream, and shows them as working when they are read.
func forgetEnds() hooks {
	var ended sync.Map // of task ids
	return hooks{
		events: func(*call) func(*frame) []*frame {
			return func(f *frame) []*frame {
				if f.event.terminal() {
					ended.Store(f.event.status.taskID, true)
				}
				return []*frame{f}
			}
		},
		reply: func(c *call, r *reply) {
			if c.op != getTask {
				return
			}
			if _, ok := ended.Load(r.task.id); ok {
				r.task.status = status{state: working, at: r.task.status.at}
			}
		},
	}
}

func forgetTasks(c *call) *failure {
	if c.op != getTask {
		return nil
	}
	return taskNotFound(c.request.taskID)
}

// acceptEnded makes hooks under which some operations succeed on a task that has ended. It is shown as it was shown
// last, but for what edit changes.
func acceptEnded(code int, edit func(*task), ops ...operation) func() hooks {
	return func() hooks {
		var mu sync.Mutex
		shown := make(map[string]task)
		asked := func(c *call) (t task, ok bool) {
			for _, op := range ops {
				if c.op == op {
					id := c.request.taskID
					if id == "" {
						id = c.request.message.taskID
					}
					mu.Lock()
					defer mu.Unlock()
					t, ok = shown[id]
					return t, ok
				}
			}
			return task{}, false
		}
		return hooks{
			refuse: func(c *call, f *failure) *failure {
				if _, ok := asked(c); ok && f.code == code {
					return nil
				}
				return f
			},
			reply: func(c *call, r *reply) {
				if r.task != nil && r.task.id != "" && r.task.status.state.terminal() {
					mu.Lock()
					shown[r.task.id] = *r.task
					mu.Unlock()
					return
				}
				t, ok := asked(c)
				if !ok || r.stream != nil || r.message != nil {
					return
				}
				edit(&t)
				if r.task = &t; c.op == subscribeTask {
					*r = reply{stream: &stream{first: event{task: &t}}}
				}
			},
		}
	}
}

func refuseCancellation(c *call, f *failure) *failure {
	if c.op == cancelTask && f.code == codeTaskNotCancelable {
		return invalidParams(violation{"id", "is a task that has ended"})
	}
	return f
}

// answerEarly shows a task that a message has ended as working.
func answerEarly(c *call, r *reply) {
	if c.op == sendMessage && r.task != nil && r.task.status.state.terminal() {
		r.task.status = status{state: working, at: r.task.status.at}
	}
}

func leaveArtifactsOut(c *call, r *reply) {
	if c.op == sendMessage && r.task != nil {
		r.task.artifacts = r.task.artifacts[min(1, len(r.task.artifacts)):]
	}
}

// rewriteArtifacts remembers which tasks it has shown as ended, and adds to their artifacts when they are read again.
func rewriteArtifacts() func(*call, *reply) {
	var shown sync.Map // of task ids
	return func(c *call, r *reply) {
		if r.task == nil || !r.task.status.state.terminal() {
			return
		}
		if _, again := shown.LoadOrStore(r.task.id, true); !again || c.op != getTask {
			return
		}
		edited := slices.Clone(r.task.artifacts)
		for i := range edited {
			edited[i].parts = append(text("Once more: "), edited[i].parts...)
		}
		r.task.artifacts = edited
	}
}

func workEarlier(c *call, _ int, f *frame) []*frame {
	if s := f.event.status; s != nil && s.status.state == working {
		u := *s
		u.status.at = u.status.at.Add(-time.Hour)
		f.body = c.frameBody(event{status: &u})
	}
	return []*frame{f}
}
