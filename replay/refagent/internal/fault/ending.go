package fault

import (
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults in the events of a stream, in its end, and in artifacts sent in pieces.
var endingFaults = []AgentFault{
	of(only10, "stream-subscribe-first-task",
		"A subscription begins with the next update; the task itself is never sent.", onEvent(skipSubscribedTask)),
	of(only10, "stream-no-message-in-task-stream", "A message follows the task at the beginning of a stream.",
		onEvent(greet)),
	of(only03, "stream-no-message-in-task-stream-0x", "A message follows the task at the beginning of a stream.",
		onEvent(greet)),
	of(only10, "stream-task-snapshot-position", "The task is sent a second time when it is working.", showTwice),
	of(anyAgeTask, "stream-rpc-envelope", "The events of JSON-RPC streams are bare objects.", onFrame(dropEnvelope)),
	of(only10, "stream-rest-bare", "The events of HTTP+JSON streams are JSON-RPC responses.", onFrame(addEnvelope)),
	of(anyAgeTask, "stream-error-last", "An error is in the middle of JSON-RPC streams.", onEvent(failBetween)),
	of(only03, "stream-terminal-without-final", "The event that ends the task is not marked as final.",
		onFrame(takeFinalBack)),
	of(only03, "stream-final-active-state", "The stream ends with an event that is marked as final, while the task is working.",
		onFrame(finishEarly)),
	of(everyAgeTask, "stream-empty", "Streams end without an event.",
		onEvent(func(_ *wire.Call, _ int, f *wire.Frame) []*wire.Frame { f.Last = true; return nil })),
	of(everyTask, "stream-chunk-append-known", "The first piece of an artifact has append true.",
		onChunk(func(u *model.ArtifactUpdate) { u.Append = true })),
	of(withTask, "stream-chunk-after-last", "Every piece of an artifact is marked as the last.",
		onChunk(func(u *model.ArtifactUpdate) { u.Last = true })),
	of(withTask, "stream-chunk-incomplete", "No piece of an artifact is marked as the last.",
		onChunk(func(u *model.ArtifactUpdate) { u.Last = false })),
	of(everyAgeTask, "stream-artifact-consistent", "The text of artifacts differs between the stream and the task.",
		onChunk(func(u *model.ArtifactUpdate) { u.Artifact.Parts = model.Text("Something else") })),
	of(only10, "stream-same-events", "Subscribers of a task do not get the message in its last status.",
		onStatus(func(c *wire.Call, f *wire.Frame) bool { return c.Op == model.SubscribeTask && f.Event.Terminal() },
			func(u *model.StatusUpdate) { u.Status.Message = nil })),
}

func skipSubscribedTask(c *wire.Call, n int, f *wire.Frame) []*wire.Frame {
	if n == 0 && c.Op == model.SubscribeTask {
		return nil
	}
	return []*wire.Frame{f}
}

func greet(c *wire.Call, n int, f *wire.Frame) []*wire.Frame {
	t := f.Event.Task
	if n > 0 || t == nil || f.Last {
		return []*wire.Frame{f}
	}
	m := &model.Message{
		ID: t.ID + "-hello", ContextID: t.ContextID, TaskID: t.ID, Role: model.RoleAgent,
		Parts: model.Text("Hello"),
	}
	return []*wire.Frame{f, {Body: c.FrameBody(model.Event{Message: m})}}
}

// showTwice remembers the first event of each stream and sends it again, with the new state, when the task is working.
func showTwice() wire.Hooks {
	return wire.Hooks{Events: func(c *wire.Call) func(*wire.Frame) []*wire.Frame {
		var shown *model.Task
		return func(f *wire.Frame) []*wire.Frame {
			s := f.Event.Status
			if f.Event.Task != nil {
				shown = f.Event.Task
			}
			if shown == nil || s == nil || s.Status.State != model.Working {
				return []*wire.Frame{f}
			}
			second := *shown
			second.Status = s.Status
			return []*wire.Frame{f, {Body: c.FrameBody(model.Event{Task: &second})}}
		}
	}}
}

func dropEnvelope(c *wire.Call, f *wire.Frame) {
	if isRPC(c) {
		f.Body = c.Dialect.Event(f.Event)
	}
}

func addEnvelope(c *wire.Call, f *wire.Frame) {
	if isREST(c) {
		f.Body = jsonvalue.Object{{"jsonrpc", "2.0"}, {"id", "1"}, {"result", f.Body}}
	}
}

func failBetween(c *wire.Call, n int, f *wire.Frame) []*wire.Frame {
	if c.Binding != wire.JSONRPC || n != 0 || f.Last {
		return []*wire.Frame{f}
	}
	e := jsonvalue.Object{{"code", model.CodeInternal}, {"message", "Internal error: the store is away"}}
	return []*wire.Frame{f, {Body: jsonvalue.Object{{"jsonrpc", "2.0"}, {"id", c.ID}, {"error", e}}}}
}

func takeFinalBack(_ *wire.Call, f *wire.Frame) {
	if f.Event.Terminal() {
		f.Body = reshape(f.Body, isStatusUpdate, with("final", false))
	}
}

func finishEarly(_ *wire.Call, f *wire.Frame) {
	if s := f.Event.Status; s != nil && s.Status.State == model.Working {
		f.Body = reshape(f.Body, isStatusUpdate, with("final", true))
		f.Last = true
	}
}

// onChunk makes hooks that edit each artifact update of every stream.
func onChunk(edit func(u *model.ArtifactUpdate)) func() wire.Hooks {
	return onFrame(func(c *wire.Call, f *wire.Frame) {
		if f.Event.Artifact != nil {
			u := *f.Event.Artifact
			edit(&u)
			f.Body = c.FrameBody(model.Event{Artifact: &u})
		}
	})
}
