package fault

import (
	"bytes"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

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

func skipFirstTask(c *wire.Call, n int, f *wire.Frame) []*wire.Frame {
	if n == 0 && c.Op == model.StreamMessage && f.Event.Task != nil && !f.Last {
		return nil
	}
	return []*wire.Frame{f}
}

func repeatMessage(c *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
	m := f.Event.Message
	if m == nil {
		return []*wire.Frame{f}
	}
	second := *m
	second.ID += "-2"
	return []*wire.Frame{f, {Body: c.FrameBody(model.Event{Message: &second})}}
}

func workOn(c *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
	if !f.Event.Terminal() {
		return []*wire.Frame{f}
	}
	u := *f.Event.Status
	u.Status.State, u.Status.Message = model.Working, nil
	return []*wire.Frame{f, {Body: c.FrameBody(model.Event{Status: &u})}}
}

func endEarly(_ *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
	if s := f.Event.Status; s != nil && s.Status.State == model.Working {
		f.Last = true
	}
	return []*wire.Frame{f}
}

func changeEventID(c *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
	if c.Binding == wire.JSONRPC {
		f.Body = f.Body.(jsonvalue.Object).With("id", "another-id")
	}
	return []*wire.Frame{f}
}

func leaveOpen(_ *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
	if !f.Last {
		return []*wire.Frame{f}
	}
	return []*wire.Frame{f, {Text: append(jsonvalue.Append([]byte("data: "), f.Body), '\n')}}
}

// Faults of the framing of events.
var eventFaults = []Fault{
	{
		Slug: "sse-utf8", agents: withTask,
		Doc:   "A comment in front of each event is in Latin-1.",
		hooks: onText(func(text []byte) []byte { return append([]byte(": caf\xe9\n"), text...) }),
	},
	{
		Slug: "sse-stray-line", agents: withTask,
		Doc:   "The JSON of each event is on two lines, after a single data field.",
		hooks: onText(func(text []byte) []byte { return bytes.Replace(text, []byte("data: {"), []byte("data: {\n"), 1) }),
	},
	{
		Slug: "sse-retry-digits", agents: withTask,
		Doc:   "Events bring a reconnection time with a unit.",
		hooks: onText(func(text []byte) []byte { return append([]byte("retry: 3s\n"), text...) }),
	},
	{
		Slug: "sse-id-nul", agents: withTask,
		Doc:   "Events bring an id that holds U+0000.",
		hooks: onText(func(text []byte) []byte { return append([]byte("id: 1\x00\n"), text...) }),
	},
	{
		Slug: "sse-empty-data", agents: withTask,
		Doc:   "An event with blank data comes before each event.",
		hooks: onText(func(text []byte) []byte { return append([]byte("data: \n\n"), text...) }),
	},
	{
		Slug: "sse-one-json", agents: withTask,
		Doc:   "Each event holds its JSON twice.",
		hooks: onText(func(text []byte) []byte { return append(append([]byte(nil), text[:len(text)-1]...), text...) }),
	},
}

// onText makes hooks that edit the text of each event of every stream.
func onText(edit func(text []byte) []byte) func() wire.Hooks {
	return onEvent(func(_ *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
		f.Text = edit(append(jsonvalue.Append([]byte("data: "), f.Body), "\n\n"...))
		return []*wire.Frame{f}
	})
}
