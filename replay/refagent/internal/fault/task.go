package fault

import (
	"sync"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of identity and of the life of tasks.
var taskFaults = []AgentFault{
	of(anyAgeTask, "id-task-unique",
		"Every message that starts a conversation is answered with the first task that the agent created.",
		always(wire.Hooks{Join: oldestTask})),
	of(withTask, "id-context-stable", "A task that is read is in another context.",
		onReply(moveContext)),
	of(withTask, "state-terminal-immutable", "A task that had ended is working again when it is read later.",
		func() wire.Hooks { return wire.Hooks{Reply: restartEnded()} }),
	of(only10, "state-send-terminal-code", "A message to a task that has ended is refused as TaskNotCancelable.",
		refuseAs(calls(model.SendMessage, model.StreamMessage), model.CodeUnsupported, model.CodeTaskNotCancelable)),
	of(only10, "state-subscribe-terminal-code",
		"A subscription to a task that has ended is refused as TaskNotCancelable.",
		refuseAs(calls(model.SubscribeTask), model.CodeUnsupported, model.CodeTaskNotCancelable)),
}

// oldestTask returns the task that a new message joins under id-task-unique.
func oldestTask(e *engine.Engine) (engine.Turn, bool) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	if len(e.Order) == 0 {
		return engine.Turn{}, false
	}
	r := e.Order[0]
	t := engine.Turn{First: r.Task, Accepted: r.Task}
	if !r.Task.Status.State.TerminalOrInterrupted() {
		t.Events, t.Rest = r.Tail, r.Tail
	}
	return t, true
}

// moveContext changes the context of a returned task; the messages in the same answer move along.
func moveContext(c *wire.Call, r *model.Reply) {
	if c.Op != model.GetTask {
		return
	}
	r.Task.ContextID += "-moved"
	r.Task.History = nil
	if m := r.Task.Status.Message; m != nil {
		r.Task.Status.Message = new(*m)
		r.Task.Status.Message.ContextID = r.Task.ContextID
	}
}

// restartEnded remembers which tasks it has shown as ended, and shows them as working when they are read again.
func restartEnded() func(*wire.Call, *model.Reply) {
	var mu sync.Mutex
	shown := make(map[string]bool)
	return func(c *wire.Call, r *model.Reply) {
		if r.Task == nil || !r.Task.Status.State.Terminal() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if c.Op == model.GetTask && shown[r.Task.ID] {
			r.Task.Status = model.Status{State: model.Working, At: r.Task.Status.At}
			return
		}
		shown[r.Task.ID] = true
	}
}
