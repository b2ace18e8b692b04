package rules

import (
	"a2atap/analyzer"
	"a2atap/proxy/a2a"
)

// otherCause reports whether the error of a refused call may have another cause than the one that a rule has in mind.
// Where several apply at once, no order of checks is laid down.
func otherCause(p *analyzer.Pass) bool {
	x := p.Exchange
	switch x.Response.Status {
	case 401, 403, 407, 408, 413, 415, 429, 502, 503, 504:
		return true
	}
	switch p.Answer.Err.Name {
	case a2a.TaskNotFound:
		return aboutTask(x)
	case a2a.TaskNotCancelable:
		return x.Call.Operation == a2a.CancelTask
	case a2a.PushNotSupported:
		return x.Call.Operation.Push() || x.Call.PushConfig.Exists()
	case a2a.UnsupportedOperation: // ended tasks, streaming, the extended card
		return aboutTask(x) || x.Call.Operation.Streams() || x.Call.Operation == a2a.GetExtendedCard
	case a2a.ExtendedCardNotConfigured:
		return x.Call.Operation == a2a.GetExtendedCard
	case a2a.ParseError:
		return x.Call.Doc.Err != nil
	case a2a.InvalidParams, a2a.InvalidRequest:
		return !plain(x)
	case a2a.MethodNotFound, a2a.InternalError:
		return false
	}
	return true
}

// aboutTask reports whether a call is about a task that the agent may not have, or that may have ended.
func aboutTask(x *analyzer.Exchange) bool {
	return x.Call.TaskID != "" || x.Call.Message.Get("referenceTaskIds").Len() > 0
}

// plain reports whether a request has nothing that an agent could find fault with: a message with all that it needs, sent
// without conditions, or no parameters at all.
func plain(x *analyzer.Exchange) bool {
	if x.Call.Operation == a2a.GetExtendedCard {
		return x.Call.Params.Len() == 0
	}
	message := a2a.Message{Value: x.Call.Message}
	if !x.Call.Operation.Sends() || x.Call.Params.Len() != 1 || aboutTask(x) || x.Call.ContextID != "" || x.Call.Doc.Err != nil {
		return false
	}
	if message.ID() == "" || message.Role() != a2a.UserRole || message.Parts().Len() == 0 {
		return false
	}
	for _, part := range message.Parts().All() {
		if part.PartKind() == a2a.UnknownPart {
			return false
		}
	}
	return true
}
