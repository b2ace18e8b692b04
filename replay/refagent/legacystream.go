package refagent

import (
	"net/http"

	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// serveSubscribe serves the only method of the path /subscribe: a stream of a task's events. The task is created if no
// task has that id. The stream lasts until the task has ended, also while the agent waits for the client.
func (a *Agent) serveSubscribe(w http.ResponseWriter, r *http.Request) {
	c := rpcCall(subscribing{})
	c.Op, c.Named, c.UntilEnd = model.StreamMessage, true, true
	if !a.isPost(w, r, "POST", "a subscription is made with POST") {
		return
	}
	f := a.readRPC(w, r, c)
	switch {
	case f != nil && f.Code == model.CodeMethodNotFound:
		a.answer(w, c, wire.NewAnswer(http.StatusBadRequest, c.MediaType,
			jsonvalue.Object{{"error", "Only " + dialect.LegacyStream + " supported"}}))
		return
	case f != nil:
		a.failRPC(w, c, f)
		return
	}
	a.readHeader(c.Request, r)
	w.Header().Set("Connection", "keep-alive")
	result, f := a.perform(r.Context(), c)
	switch {
	case f != nil:
		a.failRPC(w, c, f)
	case result.Stream == nil: // by a fault
		a.answer(w, c, wire.NewAnswer(http.StatusOK, c.MediaType, c.Envelope(c.Dialect.Result(c.Op, result))))
	default:
		a.streamEvents(r.Context(), w, c, result.Stream)
	}
}

// subscribing is the dialect of the path /subscribe.
type subscribing struct{ dialect.Legacy }

func (subscribing) Operation(method string) (model.Operation, bool) {
	return model.StreamMessage, method == dialect.LegacyStream
}
