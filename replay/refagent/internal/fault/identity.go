package fault

import (
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of whose task and context an answer is about.
var identityFaults = []AgentFault{
	of(before02, "id-task-echo-v01", "A message is answered with a task under another id than the client's.",
		onTask(model.SendMessage, func(_ *wire.Call, t *model.Task) { renameTask(t, t.ID+"-b") }),
		"state-unknown-task-known"),
	of(before02, "id-event-echo-v01", "The events of a stream name the task by another id than the client's.",
		onUpdate(model.StreamMessage, func(u *model.StatusUpdate) { u.TaskID += "-b" }), "state-unknown-task-known"),
	of(everyAgeTask, "id-get-echo", "Reading a task returns another one.",
		onTask(model.GetTask, func(_ *wire.Call, t *model.Task) { renameTask(t, t.ID+"-b") })),
	of(everyTask, "id-task-continued", "A message that continues a task is answered with a new one.",
		onTask(model.SendMessage, func(c *wire.Call, t *model.Task) {
			if c.Request.Message.TaskID != "" {
				renameTask(t, t.ID+"-b")
			}
		})),
	of(everyTask, "id-stream-task-consistent", "Streams contain updates of another task.",
		onUpdate(model.StreamMessage, func(u *model.StatusUpdate) { u.TaskID += "-b" }), "state-unknown-task-known"),
	of(everyTask, "id-subscribe-match", "A subscription begins with another task.",
		onEvent(func(c *wire.Call, n int, f *wire.Frame) []*wire.Frame {
			if c.Op != model.SubscribeTask || n > 0 {
				return []*wire.Frame{f}
			}
			e := f.Event
			if t := e.Task; t != nil {
				e.Task = new(*t)
				renameTask(e.Task, t.ID+"-b")
			}
			if u := e.Status; u != nil {
				e.Status = new(*u)
				e.Status.TaskID += "-b"
			}
			f.Body = c.FrameBody(e)
			return []*wire.Frame{f}
		})),
	of(only10, "id-context-preserved", "A message that starts a task in a known context is answered in a new one.",
		onAdmit(forgetContext)),
	of(only03, "id-context-preserved-0x", "A message that starts a task in a known context is answered in a new one.",
		onAdmit(forgetContext)),
	of(only10, "id-context-inferred", "A message that names a task, and no context, is answered in a new context.",
		onTask(model.SendMessage, func(c *wire.Call, t *model.Task) {
			if c.Request.Message.TaskID != "" && c.Request.Message.ContextID == "" {
				renameTask(t, t.ID)
				t.ContextID += "-b"
			}
		})),
	of(only10, "id-context-mismatch-rejected", "A message to a task of another context is answered with a message.",
		func() wire.Hooks {
			return wire.Hooks{
				Refuse: func(c *wire.Call, f *model.Failure) *model.Failure {
					if c.Op == model.SendMessage && f.Code == model.CodeInvalidParams && c.Request.Message.TaskID != "" {
						return nil
					}
					return f
				},
				Reply: func(c *wire.Call, r *model.Reply) {
					if r.Task == nil && r.Message == nil && c.Op == model.SendMessage {
						r.Message = &model.Message{
							ID: "b", ContextID: c.Request.Message.ContextID, Role: model.RoleAgent,
							Parts: model.Text("Very well"),
						}
					}
				},
			}
		}),
	of(everyTask, "id-stream-context-consistent", "Streams contain updates in another context.",
		onUpdate(model.StreamMessage, func(u *model.StatusUpdate) { u.ContextID += "-b" })),
	of(withTask, "id-status-message-task", "The message of a status names another task.",
		onTask(model.GetTask, func(_ *wire.Call, t *model.Task) {
			t.Status.Message = &model.Message{
				ID: "b", TaskID: t.ID + "-b", ContextID: t.ContextID, Role: model.RoleAgent,
				Parts: model.Text("Which day?"),
			}
		})),
}

// onTask makes hooks that edit the task that an operation returns.
func onTask(op model.Operation, edit func(c *wire.Call, t *model.Task)) func() wire.Hooks {
	return onReply(func(c *wire.Call, r *model.Reply) {
		if c.Op == op && r.Task != nil {
			edit(c, r.Task)
		}
	})
}

// onUpdate makes hooks that edit the status updates of streams, except the last one.
func onUpdate(op model.Operation, edit func(u *model.StatusUpdate)) func() wire.Hooks {
	return onStatus(func(c *wire.Call, f *wire.Frame) bool { return c.Op == op && !f.Last }, func(u *model.StatusUpdate) {
		u.Status.Message = nil
		edit(u)
	})
}

// renameTask gives a task another id. It drops the history, whose messages have the old id.
func renameTask(t *model.Task, id string) {
	t.ID, t.History = id, nil
	if m := t.Status.Message; m != nil {
		t.Status.Message = new(*m)
		t.Status.Message.TaskID, t.Status.Message.ContextID = "", ""
	}
}

func forgetContext(c *wire.Call) *model.Failure {
	if m := &c.Request.Message; c.Op == model.SendMessage && m.TaskID == "" {
		m.ContextID = ""
	}
	return nil
}
