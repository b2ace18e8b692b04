package refagent

// Faults of streams: which events they carry, in which order, in which framing.
var streamFaults = []Fault{
	{
		Slug: "stream-first-event", agents: only10,
		Doc:   "The stream of a send begins with the first update; the task itself is never sent.",
		hooks: onEvent(skipFirstTask),
	},
	{
		Slug: "stream-message-only", agents: only10,
		Doc:   "A stream that holds a message goes on with a second one.",
		hooks: onEvent(repeatMessage),
	},
	{
		Slug: "stream-closed-on-terminal", agents: only10,
		Doc:   "After the event that ends the task, the stream goes on with one that says it is working.",
		hooks: onEvent(workOn),
	},
	{
		Slug: "stream-nothing-after-final", agents: only03,
		Doc:   "After the event marked final, the stream goes on with one that says the task is working.",
		hooks: onEvent(workOn),
	},
	{
		Slug: "stream-truncated", agents: withTask,
		Doc:   "The stream ends as soon as the task is working.",
		hooks: onEvent(endEarly),
	},
	{
		Slug: "stream-rpc-id", agents: withTask,
		Doc:   "Events carry a JSON-RPC id that is not the request's.",
		hooks: onEvent(changeEventID),
	},
	{
		Slug: "sse-unterminated-event", agents: withTask,
		Doc:   "Streams repeat their last event without the blank line that would dispatch it.",
		hooks: onEvent(leaveOpen),
	},
}

func skipFirstTask(c *call, n int, f *frame) []*frame {
	if n == 0 && c.op == streamMessage && f.event.task != nil && !f.last {
		return nil
	}
	return []*frame{f}
}

func repeatMessage(c *call, _ int, f *frame) []*frame {
	m := f.event.message
	if m == nil {
		return []*frame{f}
	}
	second := *m
	second.id += "-2"
	return []*frame{f, {body: c.frameBody(event{message: &second})}}
}

func workOn(c *call, _ int, f *frame) []*frame {
	if !f.event.terminal() {
		return []*frame{f}
	}
	u := *f.event.status
	u.status.state, u.status.message = working, nil
	return []*frame{f, {body: c.frameBody(event{status: &u})}}
}

func endEarly(_ *call, _ int, f *frame) []*frame {
	if s := f.event.status; s != nil && s.status.state == working {
		f.last = true
	}
	return []*frame{f}
}

func changeEventID(c *call, _ int, f *frame) []*frame {
	if c.binding == jsonRPC {
		f.body = f.body.(object).with("id", "another-id")
	}
	return []*frame{f}
}

func leaveOpen(_ *call, _ int, f *frame) []*frame {
	if !f.last {
		return []*frame{f}
	}
	return []*frame{f, {text: append(appendJSON([]byte("data: "), f.body), '\n')}}
}
