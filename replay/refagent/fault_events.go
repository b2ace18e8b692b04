package refagent

import "bytes"

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
func onText(edit func(text []byte) []byte) func() hooks {
	return onEvent(func(_ *call, _ int, f *frame) []*frame {
		f.text = edit(append(appendJSON([]byte("data: "), f.body), "\n\n"...))
		return []*frame{f}
	})
}
