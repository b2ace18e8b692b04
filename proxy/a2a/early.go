package a2a

import "strings"

// This file handles the protocol before A2A 0.1 was specified, which is still in use: streams at a separate address, a
// history of states, and error codes with other meanings. Its dialect is V0_1.

// readAddress recognizes calls with a separate address below the interface's: streams at "subscribe", or each method at
// a path with its name.
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

// Early reports whether a card has the form used before 0.1: it has no later members, and either its credentials are an
// object (a string in 0.1), or modes appear in a skill and not as the card's defaults. If the card has default modes,
// it must have a history of states, and each skill must have modes. Modes are not sufficient with
// "authentication":null, which agents of 0.1 wrote.
func (c Card) Early() bool {
	if !c.Legacy.Has(V0_1) || c.Modern {
		return false
	}
	authentication := c.Get("authentication")
	if authentication.Get("credentials").Kind() == Object {
		return true
	}
	history, _ := c.Get("capabilities").Get("stateTransitionHistory").Bool()
	defaults := c.Has("defaultInputModes") || c.Has("defaultOutputModes")
	if authentication.Exists() && authentication.Kind() != Object || !history && defaults {
		return false
	}
	some, all := false, true
	for _, s := range c.Get("skills").Elems() {
		in, out := s.Get("inputModes").Len() > 0, s.Get("outputModes").Len() > 0
		some, all = some || in || out, all && in && out
	}
	return some && (all || !defaults)
}

// hasStatusHistory reports whether the history of a task is a list of statuses, not of messages.
func hasStatusHistory(task Value) bool {
	first := task.Get("history").Elem(0)
	return first.Has("state") && !first.Has("role") && !first.Has("parts")
}

// isEarlyNotification reports whether the body of a notification has the form used before 0.1: the task's id, the kind
// of the event, and the status or just the state.
func isEarlyNotification(v Value) bool {
	return v.Get("taskId").Kind() == String && v.Get("eventType").Kind() == String && v.Has("status")
}

// earlyName returns an error's meaning before 0.1 if the meaning of its code in 0.1 makes no sense as an answer to the
// call.
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
