package fault

import (
	"net/http"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of how answers and streams use HTTP.
var httpFaults = []Fault{
	{
		Slug: "rpc-answer-missing", agents: withTask,
		Doc: "A task that is asked for over JSON-RPC does not come, under status 200.",
		hooks: onAnswer(both(isRPCResult, isOp(model.GetTask)),
			func(_ *wire.Call, out *wire.Answer) { out.Text = []byte{} }),
	},
	{
		Slug: "stream-content-type", agents: withTask,
		Doc:   "Streams are sent as application/json.",
		hooks: onStream(func(out *wire.Answer) { out.Header.Set("Content-Type", "application/json") }),
	},
	{
		Slug: "stream-status-200", agents: withTask,
		Doc:   "Streams begin with status 201.",
		hooks: onStream(func(out *wire.Answer) { out.Status = http.StatusCreated }),
	},
	{
		Slug: "stream-method-answered-json", agents: withTask,
		Doc:   "A message is no stream: it answers a streaming call as one JSON object.",
		hooks: func() wire.Hooks { return wire.Hooks{Reply: messageAlone} },
	},
	{
		Slug: "nonstream-method-answered-sse", agents: withTask,
		Doc:   "A task that is asked for comes as an event.",
		hooks: onAnswer(both(isResult, isOp(model.GetTask)), asEvent),
	},
	{
		Slug: "json-utf8", agents: anyAgent,
		Doc: "Results begin with a byte order mark.",
		hooks: onAnswer(isResult, func(_ *wire.Call, out *wire.Answer) {
			out.Text = jsonvalue.Append([]byte("\xef\xbb\xbf"), out.Body)
		}),
	},
	{
		Slug: "card-unavailable", agents: anyAgent,
		Doc: "The public card is answered with status 500.",
		hooks: func() wire.Hooks {
			return wire.Hooks{Card: func(out *wire.Answer) {
				out.Status, out.Text = http.StatusInternalServerError, []byte("out of cards\n")
				out.Header = http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
			}}
		},
	},
}

// onStream makes hooks that edit the head of every stream.
func onStream(edit func(out *wire.Answer)) func() wire.Hooks {
	return func() wire.Hooks {
		return wire.Hooks{Answer: func(_ *wire.Call, out *wire.Answer) {
			if out.Stream {
				edit(out)
			}
		}}
	}
}

func both(a, b func(*wire.Call) bool) func(*wire.Call) bool {
	return func(c *wire.Call) bool { return a(c) && b(c) }
}

func isOp(op model.Operation) func(*wire.Call) bool {
	return func(c *wire.Call) bool { return c.Op == op }
}

// messageAlone takes a message out of the stream that would hold nothing else.
func messageAlone(_ *wire.Call, r *model.Reply) {
	if r.Stream != nil && r.Stream.First.Message != nil {
		r.Message, r.Stream = r.Stream.First.Message, nil
	}
}

func asEvent(_ *wire.Call, out *wire.Answer) {
	out.Header.Set("Content-Type", "text/event-stream")
	out.Text = append(jsonvalue.Append([]byte("data: "), out.Body), "\n\n"...)
}
