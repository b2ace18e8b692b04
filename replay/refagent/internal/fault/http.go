package fault

import (
	"net/http"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of how answers and streams use HTTP.
var httpFaults = []AgentFault{
	of(anyAgeTask, "rpc-answer-missing", "The answer to a request for a task over JSON-RPC has no body, with status 200.",
		onAnswer(both(isRPCResult, calls(model.GetTask)),
			func(_ *wire.Call, out *wire.Answer) { out.Text = []byte{} })),
	of(withTask, "stream-content-type", "Streams are sent as application/json.",
		onStream(func(out *wire.Answer) { out.Header.Set("Content-Type", "application/json") })),
	of(anyAgeTask, "stream-status-200", "Streams begin with status 201.",
		onStream(func(out *wire.Answer) { out.Status = http.StatusCreated })),
	of(withTask, "stream-method-answered-json",
		"A streaming call is answered with a message, as one JSON object.",
		onReply(messageAlone)),
	of(anyAgeTask, "nonstream-method-answered-sse", "A requested task is sent as an event.",
		onAnswer(both(isResult, calls(model.GetTask)), asEvent)),
	of(anyAge, "json-utf8", "Results begin with a byte order mark.",
		onAnswer(isResult, func(_ *wire.Call, out *wire.Answer) {
			out.Text = jsonvalue.Append([]byte("\xef\xbb\xbf"), out.Body)
		})),
	of(anyAge, "card-unavailable", "The public card is answered with status 500.", onCard(func(out *wire.Answer) {
		out.Status, out.Text = http.StatusInternalServerError, []byte("out of cards\n")
		out.Header = http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
	})),
}

// onStream makes hooks that edit the head of every stream.
func onStream(edit func(out *wire.Answer)) func() wire.Hooks {
	return onEachAnswer(func(_ *wire.Call, out *wire.Answer) {
		if out.Stream {
			edit(out)
		}
	})
}

func both(a, b func(*wire.Call) bool) func(*wire.Call) bool {
	return func(c *wire.Call) bool { return a(c) && b(c) }
}

// messageAlone returns a message directly instead of in a stream of one event.
func messageAlone(_ *wire.Call, r *model.Reply) {
	if r.Stream != nil && r.Stream.First.Message != nil {
		r.Message, r.Stream = r.Stream.First.Message, nil
	}
}

func asEvent(_ *wire.Call, out *wire.Answer) {
	out.Header.Set("Content-Type", "text/event-stream")
	out.Text = append(jsonvalue.Append([]byte("data: "), out.Body), "\n\n"...)
}
