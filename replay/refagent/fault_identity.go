package refagent

// Faults of whose task and context an answer is about.
var identityFaults = []Fault{
	{
		Slug: "id-task-echo-v01", agents: []string{"spec01"}, Also: []string{"state-unknown-task-known"},
		Doc:   "A message is answered with a task under an id of the agent's own.",
		hooks: onTask(sendMessage, func(_ *call, t *task) { renameTask(t, t.id+"-b") }),
	},
	{
		Slug: "id-event-echo-v01", agents: []string{"spec01"}, Also: []string{"state-unknown-task-known"},
		Doc:   "The events of a stream name the task by an id of the agent's own.",
		hooks: onUpdate(streamMessage, func(u *statusUpdate) { u.taskID += "-b" }),
	},
	{
		Slug: "id-get-echo", agents: withTask,
		Doc:   "Reading a task gives another one.",
		hooks: onTask(getTask, func(_ *call, t *task) { renameTask(t, t.id+"-b") }),
	},
	{
		Slug: "id-task-continued", agents: withTask,
		Doc: "A message that continues a task is answered with a new one.",
		hooks: onTask(sendMessage, func(c *call, t *task) {
			if c.request.message.taskID != "" {
				renameTask(t, t.id+"-b")
			}
		}),
	},
	{
		Slug: "id-stream-task-consistent", agents: withTask, Also: []string{"state-unknown-task-known"},
		Doc:   "Streams hold updates of another task.",
		hooks: onUpdate(streamMessage, func(u *statusUpdate) { u.taskID += "-b" }),
	},
	{
		Slug: "id-subscribe-match", agents: withTask,
		Doc: "A subscription begins with another task.",
		hooks: onEvent(func(c *call, n int, f *frame) []*frame {
			if c.op != subscribeTask || n > 0 {
				return []*frame{f}
			}
			e := f.event
			if t := e.task; t != nil {
				other := *t
				renameTask(&other, t.id+"-b")
				e.task = &other
			}
			if u := e.status; u != nil {
				other := *u
				other.taskID += "-b"
				e.status = &other
			}
			f.body = c.frameBody(e)
			return []*frame{f}
		}),
	},
	{
		Slug: "id-context-preserved", agents: only10,
		Doc:   "A message that begins a task in a known context is answered in a new one.",
		hooks: func() hooks { return hooks{admit: forgetContext} },
	},
	{
		Slug: "id-context-preserved-0x", agents: only03,
		Doc:   "A message that begins a task in a known context is answered in a new one.",
		hooks: func() hooks { return hooks{admit: forgetContext} },
	},
	{
		Slug: "id-context-inferred", agents: only10,
		Doc: "A message that names a task, and no context, is answered in a new context.",
		hooks: onTask(sendMessage, func(c *call, t *task) {
			if c.request.message.taskID != "" && c.request.message.contextID == "" {
				renameTask(t, t.id)
				t.contextID += "-b"
			}
		}),
	},
	{
		Slug: "id-context-mismatch-rejected", agents: only10,
		Doc: "A message to a task of another context is answered with a message.",
		hooks: func() hooks {
			return hooks{
				refuse: func(c *call, f *failure) *failure {
					if c.op == sendMessage && f.code == codeInvalidParams && c.request.message.taskID != "" {
						return nil
					}
					return f
				},
				reply: func(c *call, r *reply) {
					if r.task == nil && r.message == nil && c.op == sendMessage {
						r.message = &message{id: "b", contextID: c.request.message.contextID, role: roleAgent, parts: text("Very well")}
					}
				},
			}
		},
	},
	{
		Slug: "id-stream-context-consistent", agents: withTask,
		Doc:   "Streams hold updates in another context.",
		hooks: onUpdate(streamMessage, func(u *statusUpdate) { u.contextID += "-b" }),
	},
	{
		Slug: "id-status-message-task", agents: withTask,
		Doc: "The message of a status says that it belongs to another task.",
		hooks: onTask(getTask, func(_ *call, t *task) {
			t.status.message = &message{
				id: "b", taskID: t.id + "-b", contextID: t.contextID, role: roleAgent,
				parts: text("Which day?"),
			}
		}),
	},
}

// onTask makes hooks that edit the task which an operation gives.
func onTask(op operation, edit func(c *call, t *task)) func() hooks {
	return func() hooks {
		return hooks{reply: func(c *call, r *reply) {
			if c.op == op && r.task != nil {
				edit(c, r.task)
			}
		}}
	}
}

// onUpdate makes hooks that edit the status updates of streams, but for the one that ends them.
func onUpdate(op operation, edit func(u *statusUpdate)) func() hooks {
	return onEvent(func(c *call, _ int, f *frame) []*frame {
		if c.op != op || f.event.status == nil || f.last {
			return []*frame{f}
		}
		u := *f.event.status
		u.status.message = nil
		edit(&u)
		f.body = c.frameBody(event{status: &u})
		return []*frame{f}
	})
}

// renameTask gives a task another id. Its history, whose messages bear the old one, is left out.
func renameTask(t *task, id string) {
	t.id, t.history = id, nil
	if m := t.status.message; m != nil {
		said := *m
		said.taskID, said.contextID = "", ""
		t.status.message = &said
	}
}

func forgetContext(c *call) *failure {
	if m := &c.request.message; c.op == sendMessage && m.taskID == "" {
		m.contextID = ""
	}
	return nil
}
