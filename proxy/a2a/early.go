package a2a

import "strings"

// This file knows what was spoken before A2A 0.1 was written down, and still is: streams at an address of their own, a
// history of states, and error codes with another meaning. Its dialect is V0_1, and what differs shows.

// readAddress tells calls that have an address of their own beneath that of the interface: streams at "subscribe", or
// each method at the path of its name.
func (c *Call) readAddress(path string) {
	if c.Binding != JSONRPC || c.Method == "" {
		return
	}
	base, own := strings.CutSuffix(path, "/"+c.Method)
	if !own && c.Method == operations[SendStreamingMessage].methods[V0_1] {
		base, own = strings.CutSuffix(path, "/subscribe")
		c.Early = own
	}
	if own {
		c.Apart, c.Prefix = true, base
	}
}

// Early reports whether a card is written as before 0.1: nothing in it came later, and either its credentials are an
// object (a text in 0.1), or each skill names its modes, which no later version requires. The latter is not enough
// beside "authentication":null, which agents of 0.1 wrote, nor beside default modes, unless there is a history of states.
func (c Card) Early() bool {
	if !c.Legacy.Has(V0_1) || c.Modern {
		return false
	}
	authentication := c.Get("authentication")
	if authentication.Get("credentials").Kind() == Object {
		return true
	}
	history, _ := c.Get("capabilities").Get("stateTransitionHistory").Bool()
	if authentication.Exists() && authentication.Kind() != Object || !history && c.Has("defaultInputModes") {
		return false
	}
	skills := c.Get("skills")
	for _, s := range skills.Elems() {
		if s.Get("inputModes").Len() == 0 || s.Get("outputModes").Len() == 0 {
			return false
		}
	}
	return skills.Len() > 0
}

// hasStatusHistory reports whether the history of a task is a list of statuses, not of messages.
func hasStatusHistory(task Value) bool {
	first := task.Get("history").Elem(0)
	return first.Has("state") && !first.Has("role") && !first.Has("parts")
}

// isEarlyNotification reports whether the body of a notification says what happened in a member of its own, as before
// 0.1: the id of the task, the kind of the event, and the status or just the state.
func isEarlyNotification(v Value) bool {
	return v.Get("taskId").Kind() == String && v.Get("eventType").Kind() == String && v.Has("status")
}

// earlyName returns what an error means to those who write 0.1 as it was before: what its code says in 0.1 makes no
// sense as an answer to the call.
func (c *Call) earlyName(e *Error) ErrorName {
	if c.Dialects != onlyV0_1 || !e.CodeKnown {
		return e.Name
	}
	switch {
	case e.Code == -32000 && e.HTTPStatus == 401:
		return AuthenticationRequired
	case e.Code == -32002 && c.Operation.Sends():
		return InvalidTaskState
	case e.Code == -32003 && !c.Operation.Push() && !c.PushConfig.Exists():
		return ResourceExhausted
	case e.Code == -32004 && (c.Operation == CreatePushConfig || c.PushConfig.Exists()) &&
		!strings.HasPrefix(c.PushConfig.URL(), "https:"):
		return InsecureWebhook
	}
	return e.Name
}
