package fault

import (
	"bytes"
	"slices"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of streams: which events they carry, in which order, in which framing.
var streamFaults = []AgentFault{
	of(only10, "stream-first-event", "The stream of a send begins with the first update; the task itself is never sent.",
		onEvent(skipFirstTask)),
	of(only10, "stream-message-only", "A stream that begins with a message continues with a second one.", onEvent(repeatMessage)),
	of(only10, "stream-closed-on-terminal",
		"After the event that ends the task, the stream continues with an event in which the task is working.", onEvent(workOn)),
	of(only03, "stream-nothing-after-final",
		"After the event marked final, the stream continues with an event in which the task is working.", onEvent(workOn)),
	of(anyAgeTask, "stream-truncated", "The stream ends as soon as the task is working.", onFrame(endEarly)),
	of(anyAgeTask, "stream-rpc-id", "Events have another JSON-RPC id than the request.", onFrame(changeEventID)),
	of(anyAgeTask, "sse-unterminated-event",
		"Streams repeat their last event without the blank line that would dispatch it.", onEvent(leaveOpen)),
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
	again := edited(f.Event.Status, func(u *model.StatusUpdate) { u.Status.State, u.Status.Message = model.Working, nil })
	return []*wire.Frame{f, {Body: c.FrameBody(again)}}
}

func endEarly(_ *wire.Call, f *wire.Frame) {
	if s := f.Event.Status; s != nil && s.Status.State == model.Working {
		f.Last = true
	}
}

func changeEventID(c *wire.Call, f *wire.Frame) {
	if isRPC(c) {
		f.Body = f.Body.(jsonvalue.Object).With("id", "another-id")
	}
}

func leaveOpen(_ *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
	if !f.Last {
		return []*wire.Frame{f}
	}
	return []*wire.Frame{f, {Text: append(jsonvalue.Append([]byte("data: "), f.Body), '\n')}}
}

// Faults of the framing of events.
var eventFaults = []AgentFault{
	of(anyAgeTask, "sse-utf8", "Each event is preceded by a comment in Latin-1.",
		onText(func(text []byte) []byte { return append([]byte(": caf\xe9\n"), text...) })),
	of(withTask, "sse-cr-line", "The lines of each event end in CR alone.",
		onText(func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r")) })),
	of(anyAgeTask, "sse-stray-line", "The JSON of each event is on two lines, of which only the first is a data field.",
		onText(func(text []byte) []byte { return bytes.Replace(text, []byte("data: {"), []byte("data: {\n"), 1) })),
	of(withTask, "sse-retry-digits", "Events have a reconnection time with a unit.",
		onText(func(text []byte) []byte { return append([]byte("retry: 3s\n"), text...) })),
	of(withTask, "sse-id-nul", "Events have an id that contains U+0000.",
		onText(func(text []byte) []byte { return append([]byte("id: 1\x00\n"), text...) })),
	of(anyAgeTask, "sse-empty-data", "Each event is preceded by an event with blank data.",
		onText(func(text []byte) []byte { return append([]byte("data: \n\n"), text...) })),
	of(anyAgeTask, "sse-one-json", "Each event contains its JSON twice.",
		onText(func(text []byte) []byte { return slices.Concat(text[:len(text)-1], text) })),
}

// onText makes hooks that edit the text of each event of every stream.
func onText(edit func(text []byte) []byte) func() wire.Hooks {
	return onFrame(func(_ *wire.Call, f *wire.Frame) {
		var name []byte
		if f.Name != "" {
			name = []byte("event: " + f.Name + "\n")
		}
		f.Text = edit(append(jsonvalue.Append(append(name, "data: "...), f.Body), "\n\n"...))
	})
}
