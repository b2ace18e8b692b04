package fault

import (
	"slices"
	"sync"
	"time"

	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of operations on ended tasks, and of the form of ended tasks.
var finishedFaults = []AgentFault{
	of(before02, "state-terminal-immutable-early",
		"A task that had ended is working again when it is read later, as 0.1 allows.",
		func() wire.Hooks { return wire.Hooks{Reply: restartEnded()} }),
	of(everyTask, "state-final-state-agrees", "A task that ended in a stream is working when it is read.", forgetEnds),
	{
		Slug: "state-unknown-task-known", agents: anyAgeTask,
		// the client continues the task, which is accepted, and cancels it
		Also: []string{"req-taskid-exists", "id-denied-accepted", "state-lookup-differs"},
		Doc:  "Reading any task fails with TaskNotFoundError, and lists are empty.",
		hooks: always(wire.Hooks{
			Admit: func(c *wire.Call) *model.Failure {
				if c.Op != model.GetTask {
					return nil
				}
				return model.TaskNotFound(c.Request.TaskID)
			},
			Reply: func(_ *wire.Call, r *model.Reply) {
				if r.Page != nil {
					r.Page.Tasks, r.Page.Total, r.Page.Next = nil, 0, ""
				}
			},
		}),
	},
	of(only03, "state-send-terminal-rejected", "A message to a task that has ended is answered with that task.",
		acceptEnded(model.CodeUnsupported, func(t *model.Task) {}, model.SendMessage)),
	of(only10, "state-send-terminal-rejected-v1", "A message to a task that has ended is answered with that task.",
		acceptEnded(model.CodeUnsupported, func(t *model.Task) {}, model.SendMessage)),
	of(withTask, "state-cancel-terminal", "The cancellation of a task that has ended returns the unchanged task.",
		acceptEnded(model.CodeTaskNotCancelable, func(t *model.Task) {}, model.CancelTask)),
	of(anyAgeTask, "state-cancel-terminal-code",
		"The cancellation of a task that has ended is refused as an invalid parameter.",
		onRefuse(refuseCancellation)),
	of(everyAgeTask, "state-cancel-changes-terminal", "The cancellation of a task that has ended cancels it.",
		acceptEnded(model.CodeTaskNotCancelable,
			func(t *model.Task) { t.Status.State, t.Status.Message = model.Canceled, nil },
			model.CancelTask)),
	of(only10, "state-subscribe-terminal", "A subscription to a task that has ended returns the task.",
		acceptEnded(model.CodeUnsupported, func(t *model.Task) {}, model.SubscribeTask)),
	of(only10, "state-blocking", "A message is answered with an active task, although the client did not ask to return immediately.",
		onReply(answerEarly)),
	of(only03, "state-blocking-0x", "A message is answered with an active task, although the client asked to wait.",
		onReply(answerEarly)),
	of(only10, "state-blocking-artifacts", "The answer to a message lacks the first artifact of the task.",
		onReply(leaveArtifactsOut)),
	of(everyTask, "state-artifacts-after-terminal", "A task that has ended has other text when it is read again.",
		func() wire.Hooks { return wire.Hooks{Reply: rewriteArtifacts()} }),
	of(everyAgeTask, "state-status-regress-time", "In a stream, a task is working an hour before it was submitted.",
		onStatus(inState(model.Working), func(u *model.StatusUpdate) { u.Status.At = u.Status.At.Add(-time.Hour) })),
}

// forgetEnds remembers which tasks have ended in a stream, and shows them as working when they are read.
func forgetEnds() wire.Hooks {
	var ended sync.Map // of task ids
	h := onFrame(func(_ *wire.Call, f *wire.Frame) {
		if f.Event.Terminal() {
			ended.Store(f.Event.Status.TaskID, true)
		}
	})()
	h.Reply = func(c *wire.Call, r *model.Reply) {
		if c.Op != model.GetTask {
			return
		}
		if _, ok := ended.Load(r.Task.ID); ok {
			r.Task.Status = model.Status{State: model.Working, At: r.Task.Status.At}
		}
	}
	return h
}

// acceptEnded makes hooks that let some operations succeed on an ended task. They return the task as last shown, except
// for the changes by edit.
func acceptEnded(code int, edit func(*model.Task), ops ...model.Operation) func() wire.Hooks {
	return func() wire.Hooks {
		var mu sync.Mutex
		shown := make(map[string]model.Task)
		asked := func(c *wire.Call) (t model.Task, ok bool) {
			if !slices.Contains(ops, c.Op) {
				return model.Task{}, false
			}
			id := c.Request.TaskID
			if id == "" {
				id = c.Request.Message.TaskID
			}
			mu.Lock()
			defer mu.Unlock()
			t, ok = shown[id]
			return t, ok
		}
		return wire.Hooks{
			Refuse: func(c *wire.Call, f *model.Failure) *model.Failure {
				if _, ok := asked(c); ok && f.Code == code {
					return nil
				}
				return f
			},
			Reply: func(c *wire.Call, r *model.Reply) {
				if r.Task != nil && r.Task.ID != "" && r.Task.Status.State.Terminal() {
					mu.Lock()
					shown[r.Task.ID] = *r.Task
					mu.Unlock()
					return
				}
				t, ok := asked(c)
				if !ok || r.Stream != nil || r.Message != nil {
					return
				}
				edit(&t)
				if r.Task = &t; c.Op == model.SubscribeTask {
					*r = model.Reply{Stream: &model.Stream{First: model.Event{Task: &t}}}
				}
			},
		}
	}
}

func refuseCancellation(c *wire.Call, f *model.Failure) *model.Failure {
	if c.Op == model.CancelTask && f.Code == model.CodeTaskNotCancelable {
		return model.InvalidParam("id", "is a task that has ended")
	}
	return f
}

// answerEarly shows a task that a message has ended as working.
func answerEarly(c *wire.Call, r *model.Reply) {
	if c.Op == model.SendMessage && r.Task != nil && r.Task.Status.State.Terminal() {
		r.Task.Status = model.Status{State: model.Working, At: r.Task.Status.At}
	}
}

func leaveArtifactsOut(c *wire.Call, r *model.Reply) {
	if c.Op == model.SendMessage && r.Task != nil {
		r.Task.Artifacts = r.Task.Artifacts[min(1, len(r.Task.Artifacts)):]
	}
}

// rewriteArtifacts remembers which tasks it has shown as ended, and adds to their artifacts when they are read again.
func rewriteArtifacts() func(*wire.Call, *model.Reply) {
	var shown sync.Map // of task ids
	return func(c *wire.Call, r *model.Reply) {
		if r.Task == nil || !r.Task.Status.State.Terminal() {
			return
		}
		if _, again := shown.LoadOrStore(r.Task.ID, true); !again || c.Op != model.GetTask {
			return
		}
		edited := slices.Clone(r.Task.Artifacts)
		for i := range edited {
			edited[i].Parts = append(model.Text("Once more: "), edited[i].Parts...)
		}
		r.Task.Artifacts = edited
	}
}

// Faults of refusals for the wrong reason, and faults in a task's history.
var refusalFaults = []AgentFault{
	of(withTask, "id-task-history-consistent", "The agent's own messages in a history name another task.",
		onReply(func(c *wire.Call, r *model.Reply) {
			if r.Task == nil {
				return
			}
			history := append([]model.Message(nil), r.Task.History...)
			for i := range history {
				if history[i].Role == model.RoleAgent {
					history[i].TaskID = "another-task"
				}
			}
			r.Task.History = history
		})),
	of(anyAgeTask, "error-internal-for-named-case", "The cancellation of an unknown task fails with an internal error.",
		onRefuse(func(c *wire.Call, f *model.Failure) *model.Failure {
			if c.Op == model.CancelTask && f.Code == model.CodeTaskNotFound {
				return model.Fail(model.CodeInternal, "Something went wrong")
			}
			return f
		})),
	of(only03, "push-valid-config-refused", "Push configs are refused because an unknown member is missing.",
		admitNoneAs(calls(model.CreatePushConfig), *model.InvalidParam("retries", "is missing"))),
}
