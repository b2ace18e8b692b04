package refagent

import "net/http"

// Faults of how answers and streams use HTTP.
var httpFaults = []Fault{
	{
		Slug: "rpc-answer-missing", agents: withTask,
		Doc:   "A task that is asked for over JSON-RPC does not come, under status 200.",
		hooks: onAnswer(both(isRPCResult, isOp(getTask)), func(_ *call, out *answer) { out.text = []byte{} }),
	},
	{
		Slug: "stream-content-type", agents: withTask,
		Doc:   "Streams are sent as application/json.",
		hooks: onStream(func(out *answer) { out.header.Set("Content-Type", "application/json") }),
	},
	{
		Slug: "stream-status-200", agents: withTask,
		Doc:   "Streams begin with status 201.",
		hooks: onStream(func(out *answer) { out.status = http.StatusCreated }),
	},
	{
		Slug: "stream-method-answered-json", agents: withTask,
		Doc:   "A streaming call is answered with a message, as one JSON object.",
		hooks: func() hooks { return hooks{reply: messageAlone} },
	},
	{
		Slug: "nonstream-method-answered-sse", agents: withTask,
		Doc:   "A task that is asked for comes as an event.",
		hooks: onAnswer(both(isResult, isOp(getTask)), asEvent),
	},
	{
		Slug: "json-utf8", agents: anyAgent,
		Doc: "Results begin with a byte order mark.",
		hooks: onAnswer(isResult, func(_ *call, out *answer) {
			out.text = appendJSON([]byte("\xef\xbb\xbf"), out.body)
		}),
	},
	{
		Slug: "card-unavailable", agents: anyAgent,
		Doc: "The public card is answered with status 500.",
		hooks: func() hooks {
			return hooks{card: func(out *answer) {
				out.status, out.text = http.StatusInternalServerError, []byte("out of cards\n")
				out.header = http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
			}}
		},
	},
}

// onStream makes hooks that edit the head of every stream.
func onStream(edit func(out *answer)) func() hooks {
	return func() hooks {
		return hooks{answer: func(_ *call, out *answer) {
			if out.stream {
				edit(out)
			}
		}}
	}
}

func both(a, b func(*call) bool) func(*call) bool {
	return func(c *call) bool { return a(c) && b(c) }
}

func isOp(op operation) func(*call) bool { return func(c *call) bool { return c.op == op } }

// messageAlone takes a message out of the stream that would hold nothing else.
func messageAlone(_ *call, r *reply) {
	if r.stream != nil && r.stream.first.message != nil {
		r.message, r.stream = r.stream.first.message, nil
	}
}

func asEvent(_ *call, out *answer) {
	out.header.Set("Content-Type", "text/event-stream")
	out.text = append(appendJSON([]byte("data: "), out.body), "\n\n"...)
}
