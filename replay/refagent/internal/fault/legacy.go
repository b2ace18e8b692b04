package fault

import (
	"net/http"
	"time"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of the dialect before 0.1, which no specification defines. Each fault is named after the scenario of probe
// that finds it, or begins with the scenario's name. Faults shared with agents of later versions are named after a
// rule.
var legacyFaults = []AgentFault{
	of(onlyLegacy, "card-description", "The card does not describe the agent.",
		onCard(editCard(without("description")))),
	of(onlyLegacy, "skill-description", "The first skill of the card is not described.",
		onCards(onFirstSkill(without("description")))),
	of(onlyLegacy, "skill-input-modes", "The first skill of the card has no input modes.",
		onCards(onFirstSkill(with("inputModes", []any{})))),
	of(onlyLegacy, "card-capability-flags", "The streaming flag of the card is the string \"true\".",
		onCard(offer("streaming", "true"))),
	of(onlyLegacy, "task-completes", "A task that has completed is working when it is read.",
		onTask(model.GetTask, func(_ *wire.Call, t *model.Task) {
			if t.Status.State == model.Completed {
				t.Status.State = model.Working
			}
		})),
	of(onlyLegacy, "task-cancel", "No task can be canceled.", admitNone(calls(model.CancelTask),
		model.CodeTaskNotCancelable, "Tasks cannot be canceled")),
	of(onlyLegacy, "task-cancel-crash", "The cancellation of a task is answered with HTTP 500.",
		admitNoneAs(calls(model.CancelTask), model.Failure{
			Code: model.CodeInternal, Message: "Internal error", HTTP: http.StatusInternalServerError,
		})),
	of(onlyLegacy, "multi-turn", "A message that continues a task is answered with another one.",
		onTask(model.SendMessage, func(c *wire.Call, t *model.Task) {
			if len(t.Statuses) > 3 {
				renameTask(t, t.ID+"-b")
			}
		})),
	of(onlyLegacy, "task-history", "The history of a task has only its last status.",
		onTask(model.GetTask, func(_ *wire.Call, t *model.Task) { t.Statuses = t.Statuses[max(0, len(t.Statuses)-1):] })),
	of(onlyLegacy, "stream-content-type", "Streams are sent as application/json.",
		onStream(func(out *wire.Answer) { out.Header.Set("Content-Type", "application/json") })),
	of(onlyLegacy, "stream-first-event", "Streams begin only with the first result.",
		onEvent(func(_ *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
			if f.Event.Artifact != nil || f.Event.Terminal() {
				return []*wire.Frame{f}
			}
			return nil
		})),
	of(onlyLegacy, "stream-middle-events", "Events about artifacts are named progress.",
		onFrame(func(_ *wire.Call, f *wire.Frame) {
			if f.Event.Artifact != nil {
				f.Name = "progress"
			}
		})),
	of(onlyLegacy, "act-stream-order", "A task that was working in a stream becomes submitted again.",
		onEvent(func(c *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
			u := f.Event.Status
			if u == nil || u.Status.State != model.Working {
				return []*wire.Frame{f}
			}
			again := *f
			again.Body = c.FrameBody(edited(u, func(u *model.StatusUpdate) { u.Status.State = model.Submitted }))
			return []*wire.Frame{f, &again}
		})),
	of(onlyLegacy, "stream-dropped", "A task is forgotten 20 ms after a client has left its stream.",
		always(wire.Hooks{Left: func(e *engine.Engine, first model.Event) {
			e.Lose(first.TaskID(), 20*time.Millisecond)
		}})),
	of(onlyLegacy, "stream-last-event", "Streams are closed before the task has ended.",
		onEvent(func(_ *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
			if f.Last {
				return nil
			}
			f.Last = f.Event.Artifact != nil
			return []*wire.Frame{f}
		})),
	of(onlyLegacy, "sse-final-event", "The event that ends the task is not marked as final.", onFrame(takeFinalBack)),
	of(onlyLegacy, "stream-nothing-after-end", "The task is working again after the event that ends it.",
		onEvent(func(c *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
			if f.Event.Status == nil || !f.Event.Terminal() {
				return []*wire.Frame{f}
			}
			again := *f
			again.Event = edited(f.Event.Status, func(u *model.StatusUpdate) { u.Status.State = model.Working })
			again.Body = c.FrameBody(again.Event)
			f.Last = false
			return []*wire.Frame{f, &again}
		})),
	of(onlyLegacy, "error-unknown-method", "A method that does not exist is refused as an invalid request.",
		onAnswer(failsWith(model.CodeMethodNotFound), setCode(model.CodeInvalidRequest))),
	of(onlyLegacy, "not-json-rpc", "JSON that is not a request is refused for wrong parameters.",
		onAnswer(failsWith(model.CodeInvalidRequest), setCode(model.CodeInvalidParams))),
	of(onlyLegacy, "error-task-not-found", "A request for an unknown task fails with an internal error.",
		onAnswer(failsWith(model.CodeTaskNotFound), setCode(model.CodeInternal))),
	of(onlyLegacy, "cancel-completed-task", "The cancellation of a task that has ended returns the unchanged task.",
		acceptEnded(model.CodeTaskNotCancelable, func(*model.Task) {}, model.CancelTask)),
	of(onlyLegacy, "concurrent-tasks", "All tasks are in one session.",
		onTask(model.SendMessage, func(_ *wire.Call, t *model.Task) { t.ContextID = "session" })),
	of(onlyLegacy, "push-config", "The webhook of a task is returned with another URL.",
		onConfig(model.GetPushConfig, func(c *model.PushConfig) { c.URL += "/elsewhere" })),
	of(onlyLegacy, "push-https", "Webhooks without TLS are refused for wrong parameters.",
		onAnswer(failsWith(model.CodeWebhookScheme), setCode(model.CodeInvalidParams))),
}
