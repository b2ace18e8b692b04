package fault

import (
	"net/http"
	"sync"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of answers before 0.1.
var legacyAnswerFaults = []AgentFault{
	of(onlyLegacy, "error-unknown-method-accepted", "A method that does not exist succeeds.",
		onAnswer(failsWith(model.CodeMethodNotFound), succeed(jsonvalue.Object{}))),
	of(onlyLegacy, "not-json-rpc-crash", "JSON that is not a request is answered with HTTP 500.",
		onAnswer(failsWith(model.CodeInvalidRequest), crash)),
	of(onlyLegacy, "act-parse-error-crash", "Text that is not JSON is answered with HTTP 500.",
		onAnswer(failsWith(model.CodeParse), crash)),
	of(onlyLegacy, "act-id-types", "Request ids are returned as strings.", onAnswer(isRPC,
		editObject(func(o jsonvalue.Object) jsonvalue.Object {
			id, _ := o.Get("id")
			if _, text := id.(string); text || id == nil {
				return o
			}
			return o.With("id", string(jsonvalue.Append(nil, id)))
		}))),
	of(onlyLegacy, "error-task-not-found-accepted", "Every requested task exists.",
		findAll(model.GetTask, model.Completed)),
	of(onlyLegacy, "act-task-not-found-canceled", "A task that does not exist can be canceled.",
		findAll(model.CancelTask, model.Canceled)),
}

func succeed(result any) func(*wire.Call, *wire.Answer) {
	return func(c *wire.Call, out *wire.Answer) { out.Body = c.Envelope(result) }
}

// crash answers as a server does whose handler has failed.
func crash(_ *wire.Call, out *wire.Answer) {
	out.Status, out.Text = http.StatusInternalServerError, []byte("Internal Server Error\n")
	out.Header = http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
}

// findAll returns hooks with which an operation succeeds on a task that does not exist.
func findAll(op model.Operation, state model.State) func() wire.Hooks {
	return always(wire.Hooks{
		Refuse: func(c *wire.Call, f *model.Failure) *model.Failure {
			if c.Op == op && f.Code == model.CodeTaskNotFound {
				return nil
			}
			return f
		},
		Reply: func(c *wire.Call, r *model.Reply) {
			if c.Op == op && r.Task != nil && r.Task.ID == "" {
				r.Task = &model.Task{ID: c.Request.TaskID, Status: model.Status{State: state}}
			}
		},
	})
}

// Faults of how tasks go before 0.1.
var legacyTaskFaults = []AgentFault{
	of(onlyLegacy, "task-cancel-without-effect", "The cancellation of an active task returns the unchanged task.",
		showAgain(func(c *wire.Call, shown model.Task) bool {
			return c.Op == model.CancelTask && !shown.Status.State.Terminal()
		}, func(*model.Task) {})),
	of(onlyLegacy, "legacy-canceled", "A task that was canceled is working when it is read.",
		onTask(model.GetTask, func(_ *wire.Call, t *model.Task) {
			if t.Status.State == model.Canceled {
				t.Status = model.Status{State: model.Working, At: t.Status.At}
			}
		})),
	of(onlyLegacy, "multi-turn-ignored", "A message to a task that waits for input changes nothing.",
		showAgain(func(c *wire.Call, shown model.Task) bool {
			return c.Op == model.SendMessage && shown.Status.State == model.InputRequired
		}, func(*model.Task) {})),
	of(onlyLegacy, "legacy-send-ended-ignored", "A message to a task that has ended changes nothing.",
		showAgain(sentToEnded, func(*model.Task) {})),
	of(onlyLegacy, "legacy-send-ended-restarts", "A message to a task that has ended starts it again.",
		showAgain(sentToEnded, func(t *model.Task) { t.Status.State, t.Status.Message = model.Working, nil })),
	of(onlyLegacy, "legacy-send-ended-code", "A message to a task that has ended is refused as an internal error.",
		refuseAs(calls(model.SendMessage), model.CodeUnsupported, model.CodeInternal)),
	of(onlyLegacy, "legacy-history-length", "A task is returned with its whole history, whatever length was requested.",
		onAdmit(func(c *wire.Call) *model.Failure {
			c.Request.History = nil
			return nil
		})),
	of(onlyLegacy, "task-history-none", "Tasks are returned without their history.",
		onTask(model.GetTask, func(_ *wire.Call, t *model.Task) { t.Statuses = nil })),
	of(onlyLegacy, "task-completes-never", "Tasks fail instead of completing.", func() wire.Hooks {
		h := onStatus(inState(model.Completed), func(u *model.StatusUpdate) { u.Status.State = model.Failed })()
		h.Reply = func(_ *wire.Call, r *model.Reply) {
			if r.Task != nil && r.Task.Status.State == model.Completed {
				r.Task.Status.State = model.Failed
			}
		}
		return h
	}),
}

func sentToEnded(c *wire.Call, shown model.Task) bool {
	return c.Op == model.SendMessage && shown.Status.State.Terminal()
}

// showAgain makes hooks that keep matching calls from having an effect; they return the task as last shown, except for
// the changes by edit.
func showAgain(fits func(c *wire.Call, shown model.Task) bool, edit func(*model.Task)) func() wire.Hooks {
	return func() wire.Hooks {
		var tasks sync.Map // by their ids
		asked := func(c *wire.Call) (model.Task, bool) {
			id := c.Request.TaskID
			if id == "" {
				id = c.Request.Message.TaskID
			}
			shown, ok := tasks.Load(id)
			if !ok || !fits(c, shown.(model.Task)) {
				return model.Task{}, false
			}
			return shown.(model.Task), true
		}
		undone := model.Fail(model.CodeInternal, "")
		return wire.Hooks{
			Admit: func(c *wire.Call) *model.Failure {
				if _, ok := asked(c); ok {
					return undone
				}
				return nil
			},
			Refuse: func(_ *wire.Call, f *model.Failure) *model.Failure {
				if f == undone {
					return nil
				}
				return f
			},
			Reply: func(c *wire.Call, r *model.Reply) {
				if r.Task != nil {
					tasks.Store(r.Task.ID, *r.Task)
				} else if t, ok := asked(c); ok {
					edit(&t)
					r.Task = &t
				}
			},
		}
	}
}

// Faults of streams before 0.1.
var legacyStreamFaults = []AgentFault{
	of(onlyLegacy, "stream-content-type-json", "A streaming call is answered with the task, as JSON.",
		onReply(func(c *wire.Call, r *model.Reply) {
			if r.Stream != nil {
				r.Task, r.Stream = r.Stream.First.Task, nil
			}
		})),
	of(onlyLegacy, "stream-middle-events-unnamed", "Events have no names.",
		onFrame(func(_ *wire.Call, f *wire.Frame) { f.Name = "" })),
	of(onlyLegacy, "legacy-stream-envelope", "Events are not marked as JSON-RPC 2.0.",
		onFrame(func(_ *wire.Call, f *wire.Frame) { f.Body = f.Body.(jsonvalue.Object).Without("jsonrpc") })),
	of(onlyLegacy, "legacy-stream-moves", "A task completes in a stream without having been working.",
		onEvent(func(_ *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
			if u := f.Event.Status; u != nil && u.Status.State == model.Working {
				return nil
			}
			return []*wire.Frame{f}
		})),
	of(onlyLegacy, "legacy-stream-artifacts", "Streams have no events for artifacts.",
		onEvent(func(_ *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
			if f.Event.Artifact != nil {
				return nil
			}
			return []*wire.Frame{f}
		})),
	of(onlyLegacy, "stream-closes", "Streams stay open after their task has ended.",
		onFrame(func(_ *wire.Call, f *wire.Frame) { f.Last = false })),
	of(onlyLegacy, "legacy-stream-cache", "Streams have headers that allow caching.",
		onStream(func(out *wire.Answer) { out.Header.Set("Cache-Control", "public, max-age=60") })),
	of(onlyLegacy, "legacy-stream-input", "Streams have no event when their task waits for input.",
		onEvent(func(_ *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
			if u := f.Event.Status; u != nil && u.Status.State == model.InputRequired {
				return nil
			}
			return []*wire.Frame{f}
		})),
	of(onlyLegacy, "legacy-stream-method", "The path of streams accepts every method.",
		onAnswer(func(c *wire.Call) bool { return c.Named && c.Failure == nil }, func(c *wire.Call, out *wire.Answer) {
			out.Status, out.Body = http.StatusOK, c.Envelope(jsonvalue.Object{})
		})),
}
