package refagent

import "net/http"

// serveSubscribe answers the one method of the path /subscribe: a stream of what happens to a task, which is made if
// there is none of that id. The stream lasts until the task has ended, also while the agent waits for the client.
func (a *Agent) serveSubscribe(w http.ResponseWriter, r *http.Request) {
	c := &call{
		binding: jsonRPC, dialect: subscribing{}, mediaType: "application/json", op: streamMessage,
		named: true, untilEnd: true,
	}
	c.envelope = func(result any) any {
		return object{{"jsonrpc", "2.0"}, {"id", c.id}, {"result", result}}
	}
	if r.Method != http.MethodPost {
		if a.refuseStranger(w, r) {
			return
		}
		w.Header().Set("Allow", "POST")
		http.Error(w, "a subscription is made with POST", http.StatusMethodNotAllowed)
		return
	}
	f := a.readRPC(w, r, c)
	switch {
	case f != nil && f.code == codeMethodNotFound:
		a.answer(w, c, newAnswer(http.StatusBadRequest, c.mediaType,
			object{{"error", "Only " + legacyStream + " supported"}}))
		return
	case f != nil:
		a.failRPC(w, c, f)
		return
	}
	a.readHeader(c.request, r)
	w.Header().Set("Connection", "keep-alive")
	result, f := a.perform(r.Context(), c)
	if f != nil {
		a.failRPC(w, c, f)
		return
	}
	a.streamEvents(r.Context(), w, c, result.stream)
}

// subscribing is the dialect of the path /subscribe.
type subscribing struct{ legacy }

func (subscribing) operation(method string) (operation, bool) {
	return streamMessage, method == legacyStream
}

// streamOrFollow is stream for a client that may come back: a task that does not wait for it is followed, and one that
// has ended is shown once.
func (a *Agent) streamOrFollow(r *request) (reply, *failure) {
	t, events, f := a.engineOf(r).follow(r.taskID)
	switch {
	case f != nil || t.status.state.interrupted():
		return a.stream(r)
	case t.status.state.terminal():
		return reply{stream: &stream{first: event{task: &t}}}, nil
	}
	return reply{stream: &stream{first: event{task: &t}, rest: events}}, nil
}
