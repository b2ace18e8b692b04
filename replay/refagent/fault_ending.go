package refagent

// Faults of what a stream carries, how it ends, and how artifacts are sent in pieces.
var endingFaults = []Fault{
	{
		Slug: "stream-subscribe-first-task", agents: only10,
		Doc:   "A subscription begins with what happens next; the task itself is never sent.",
		hooks: onEvent(skipSubscribedTask),
	},
	{
		Slug: "stream-no-message-in-task-stream", agents: only10,
		Doc:   "A message follows the task at the beginning of a stream.",
		hooks: onEvent(greet),
	},
	{
		Slug: "stream-task-snapshot-position", agents: only10,
		Doc:   "The task comes a second time when it is working.",
		hooks: showTwice,
	},
	{
		Slug: "stream-rpc-envelope", agents: withTask,
		Doc:   "The events of JSON-RPC streams are bare objects.",
		hooks: onEvent(dropEnvelope),
	},
	{
		Slug: "stream-rest-bare", agents: only10,
		Doc:   "The events of HTTP+JSON streams are JSON-RPC responses.",
		hooks: onEvent(addEnvelope),
	},
	{
		Slug: "stream-error-last", agents: withTask,
		Doc:   "An error comes in the middle of JSON-RPC streams.",
		hooks: onEvent(failBetween),
	},
	{
		Slug: "stream-terminal-without-final", agents: only03,
		Doc:   "The event that ends the task does not say final.",
		hooks: onEvent(takeFinalBack),
	},
	{
		Slug: "stream-final-active-state", agents: only03,
		Doc:   "The stream ends with an event that says final, and the task is working.",
		hooks: onEvent(finishEarly),
	},
	{
		Slug: "stream-empty", agents: withTask,
		Doc:   "Streams end without an event.",
		hooks: onEvent(func(_ *call, _ int, f *frame) []*frame { f.last = true; return nil }),
	},
	{
		Slug: "stream-chunk-append-known", agents: withTask,
		Doc:   "The first piece of an artifact is to be appended.",
		hooks: onChunk(func(u *artifactUpdate) { u.append = true }),
	},
	{
		Slug: "stream-chunk-after-last", agents: withTask,
		Doc:   "Every piece of an artifact is marked as the last.",
		hooks: onChunk(func(u *artifactUpdate) { u.last = true }),
	},
	{
		Slug: "stream-chunk-incomplete", agents: withTask,
		Doc:   "No piece of an artifact is marked as the last.",
		hooks: onChunk(func(u *artifactUpdate) { u.last = false }),
	},
	{
		Slug: "stream-artifact-consistent", agents: withTask,
		Doc:   "Artifacts hold other text in a stream than in the task.",
		hooks: onChunk(func(u *artifactUpdate) { u.artifact.parts = text("Something else") }),
	},
	{
		Slug: "stream-same-events", agents: only10,
		Doc:   "Subscribers of a task are not told what the agent says at its end.",
		hooks: onEvent(keepQuiet),
	},
}

func skipSubscribedTask(c *call, n int, f *frame) []*frame {
	if n == 0 && c.op == subscribeTask {
		return nil
	}
	return []*frame{f}
}

func greet(c *call, n int, f *frame) []*frame {
	t := f.event.task
	if n > 0 || t == nil || f.last {
		return []*frame{f}
	}
	m := &message{id: t.id + "-hello", contextID: t.contextID, taskID: t.id, role: roleAgent, parts: text("Hello")}
	return []*frame{f, {body: c.frameBody(event{message: m})}}
}

// showTwice remembers the first event of each stream and sends it again, with the new state, when the task is working.
func showTwice() hooks {
	return hooks{events: func(c *call) func(*frame) []*frame {
		var shown *task
		return func(f *frame) []*frame {
			s := f.event.status
			if f.event.task != nil {
				shown = f.event.task
			}
			if shown == nil || s == nil || s.status.state != working {
				return []*frame{f}
			}
			second := *shown
			second.status = s.status
			return []*frame{f, {body: c.frameBody(event{task: &second})}}
		}
	}}
}

func dropEnvelope(c *call, _ int, f *frame) []*frame {
	if c.binding == jsonRPC {
		f.body = c.dialect.event(f.event)
	}
	return []*frame{f}
}

func addEnvelope(c *call, _ int, f *frame) []*frame {
	if c.binding == httpJSON {
		f.body = object{{"jsonrpc", "2.0"}, {"id", "1"}, {"result", f.body}}
	}
	return []*frame{f}
}

func failBetween(c *call, n int, f *frame) []*frame {
	if c.binding != jsonRPC || n != 0 || f.last {
		return []*frame{f}
	}
	e := object{{"code", codeInternal}, {"message", "Internal error: the store is away"}}
	return []*frame{f, {body: object{{"jsonrpc", "2.0"}, {"id", c.id}, {"error", e}}}}
}

func takeFinalBack(_ *call, _ int, f *frame) []*frame {
	if f.event.terminal() {
		f.body = withResult(f.body, func(o object) object { return o.with("final", false) })
	}
	return []*frame{f}
}

func finishEarly(_ *call, _ int, f *frame) []*frame {
	if s := f.event.status; s != nil && s.status.state == working {
		f.body = withResult(f.body, func(o object) object { return o.with("final", true) })
		f.last = true
	}
	return []*frame{f}
}

// withResult edits the result in the body of a JSON-RPC event.
func withResult(body any, edit func(o object) object) any {
	o := body.(object)
	result, _ := o.get("result")
	return o.with("result", edit(result.(object)))
}

// onChunk makes hooks that edit each artifact update of every stream.
func onChunk(edit func(u *artifactUpdate)) func() hooks {
	return onEvent(func(c *call, _ int, f *frame) []*frame {
		if f.event.artifact != nil {
			u := *f.event.artifact
			edit(&u)
			f.body = c.frameBody(event{artifact: &u})
		}
		return []*frame{f}
	})
}

func keepQuiet(c *call, _ int, f *frame) []*frame {
	if c.op == subscribeTask && f.event.terminal() {
		u := *f.event.status
		u.status.message = nil
		f.body = c.frameBody(event{status: &u})
	}
	return []*frame{f}
}
