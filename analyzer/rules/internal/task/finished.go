package task

import (
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/answer"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/stream"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Finished is the family of rules about messages and subscriptions to a task that has ended.
var Finished = rule.Family{
	Name:     "finished",
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	Bindings: rule.OnCall,
	Category: analysis.Lifecycle,
}.Of(
	stateSendTerminalRejected,
	stateSendTerminalRejectedV1,
	stateSendTerminalIgnored,
	stateSendTerminalCode,
	stateSubscribeTerminal,
	stateSubscribeTerminalCode,
)

const unless = "a message id that was sent to the task before (a retry), tasks whose end was not fully delivered " +
	"before the request began"

var stateSendTerminalRejected = &analysis.Rule{
	ID:     "state-send-terminal-rejected",
	Title:  "message to a finished task is not refused",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Needs:  []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:  rule.Cite("7.1", a2a.V0_2, a2a.V0_3).And("7.2", a2a.V0_2, a2a.V0_3),
	Covers: []string{"state-terminal-immutable", "stream-closed-on-terminal"},
	Stands: "0.2.6:453 0.3.0:662 0.2.6:517 0.3.0:726",
	Doc: `A task that has ended accepts no more messages: since 0.2.4 agents answer them with an error. A client that
gets a success believes that its message is being processed, while other clients have stopped watching the task.`,
	Fix: `Refuse messages that name an ended task with an error. The client should start a new task in the same
context and refer to the old one.`,
	Silent: `Versions before 0.2.4, which allowed it; ` + unless + `. If the answer is another task or a
message, the finding is a note. If no card shows whether the agent may be older than 0.2.4, the finding is a warning.`,
	Check: checkNotRefused,
}

var stateSendTerminalRejectedV1 = &analysis.Rule{
	ID:     "state-send-terminal-rejected-v1",
	Title:  "message to a finished task is not refused",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	If:     analysis.NamesTask,
	Needs:  []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:  rule.Cite("3.1.1", a2a.V1_0).And("3.1.2", a2a.V1_0),
	Covers: []string{"state-terminal-immutable", "stream-closed-on-terminal"},
	Stands: "1.0.1:175 1.0.1:200",
	Doc: `A task that has ended accepts no more messages: the answer is UnsupportedOperationError. A client that gets
a success believes that its message is being processed, while other clients have stopped watching the task.`,
	Fix: `Answer -32004 with the reason UNSUPPORTED_OPERATION when a message names an ended task. The client should
start a new task in the same context and refer to the old one.`,
	Silent: `If the answer is another task or a message, the finding is a note. Not reported: ` + unless + `.`,
	Check:  checkNotRefused,
}

func checkNotRefused(p *analysis.Pass) {
	x := p.Exchange
	ended := task.Of(p).EndedBefore(x)
	if !x.Call.Operation.Sends() || ended == nil || task.Of(p).Retry(x) || p.Answer == nil ||
		p.Kind == analysis.EventSeen && !rule.OpensStream(p) {
		return
	}
	worst := rule.RestartSeverity(p)
	if worst == analysis.Note {
		return
	}
	p.Applied()
	payload := p.Answer.Payload
	task := ""
	switch payload.Kind {
	case a2a.TaskPayload:
		task = a2a.Task{Value: payload.Value}.ID()
	case a2a.StatusPayload:
		task = a2a.StatusUpdate{Value: payload.Value}.TaskID()
	case a2a.ArtifactPayload:
		task = a2a.ArtifactUpdate{Value: payload.Value}.TaskID()
	case a2a.MessagePayload:
	default:
		return
	}
	if task != ended.TaskID {
		worst = analysis.Note
	}
	p.Report(p.Place.At(payload.Pointer),
		fmt.Sprintf("task %s ended as %s at %s, and a message to it is answered with a %s", analysis.QuoteText(ended.TaskID),
			analysis.QuoteText(ended.Spelling), ended.StatePlace(), payload.Kind),
		"expected an error", analysis.AtMost(worst))
}

var stateSendTerminalIgnored = &analysis.Rule{
	ID:     "state-send-terminal-ignored",
	Title:  "message to a finished task is ignored",
	Level:  analysis.Advice,
	Once:   analysis.PerExchange,
	If:     analysis.NamesTask,
	Needs:  []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:  rule.Cite("6.3", a2a.V0_1, a2a.V0_2),
	Stands: "0.1.0:463 0.2.6:types:320",
	Doc: `Before 0.2.4 a client may send a message to a task that has ended: the agent either resumes the task or
refuses. This agent answered with the unchanged task. The client takes the old result for the answer to its new
message.`,
	Fix: `Work on the message, or answer with an error, such as -32009 (InvalidTaskStateError) in 0.1. Starting a new
task for more work is right in every version.`,
	Silent: `Versions since 0.2.4 and agents that may use one, which state-send-terminal-rejected checks; a task that
is active again, which state-terminal-immutable-early reports; a message that was sent to the task before (a retry);
answers in which the status, the artifacts or the history has anything new; a task without a timestamp whose end was
shown only by an update; tasks whose end was not fully delivered before the request began.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		ended := task.Of(p).EndedBefore(x)
		if !x.Call.Operation.Sends() || ended == nil || task.Of(p).Retry(x) || p.Answer == nil ||
			p.Kind == analysis.EventSeen && !rule.OpensStream(p) || rule.RestartSeverity(p) != analysis.Note ||
			x.Call.Dialects.Has(a2a.V0_3) && len(card.Of(p).Versions(x)) == 0 { // it may be of a version that forbids it
			return
		}
		p.Applied()
		payload := &p.Answer.Payload
		if !task.Of(p).Named(x).Unchanged(payload) || repliesInHistory(payload) {
			return
		}
		p.Report(p.Place.At(payload.Pointer),
			fmt.Sprintf("task %s ended as %s at %s, and a message to it is answered with the unchanged task",
				analysis.QuoteText(ended.TaskID), analysis.QuoteText(ended.Spelling), ended.StatePlace()),
			"expected work on the message, or an error")
	},
}

// repliesInHistory reports whether the history of a Task ends with a message of the agent.
func repliesInHistory(payload *a2a.Payload) bool {
	if payload.Kind != a2a.TaskPayload {
		return false
	}
	role := a2a.NoRole
	for _, m := range (a2a.Task{Value: payload.Value}).History() {
		role = m.Role()
	}
	return role == a2a.AgentRole
}

var stateSendTerminalCode = &analysis.Rule{
	ID:       "state-send-terminal-code",
	Title:    "message to a finished task refused with the wrong error",
	Category: analysis.ErrorHandling,
	Level:    analysis.Must,
	If:       analysis.NamesTask,
	Needs:    []*analysis.Tracker{task.Tracker},
	Cites:    rule.Cite("3.1.1", a2a.V1_0),
	Covers:   rule.CodeRules,
	Stands:   "1.0.1:175",
	Doc: `A message to a task that has ended is answered with UnsupportedOperationError (-32004). The error tells the
client to start a new task. With any other error the client changes a request that was right, or retries forever.`,
	Fix: `Answer -32004 with the reason UNSUPPORTED_OPERATION (HTTP+JSON: status 400) if the task named by the message
is terminal.`,
	Silent: `TaskNotFoundError (the task may have been removed), a message id that was sent to the task before (a
retry), refusals for another reason (credentials, rate, version, extensions, content types, a method that the agent
does not know, a request that is wrong in itself), errors with an agent-specific code that do not mention the task's
state, HTTP+JSON errors that do not say which they are, and tasks whose end was not fully delivered before the request
began.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		ended := task.Of(p).EndedBefore(p.Exchange)
		if !call.Operation.Sends() || ended == nil || task.Of(p).Retry(p.Exchange) || !refused(p) || badRequest(p) {
			return
		}
		p.Applied()
		reportWrongRefusal(p, ended)
	},
}

var stateSubscribeTerminal = &analysis.Rule{
	ID:     "state-subscribe-terminal",
	Title:  "subscription to a finished task is not refused",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	On:     analysis.EventSeen,
	Needs:  []*analysis.Tracker{stream.Tracker, task.Tracker},
	Cites:  rule.Cite("3.1.6", a2a.V1_0),
	Covers: []string{"stream-closed-on-terminal", "stream-subscribe-first-task", "state-terminal-immutable"},
	Stands: "1.0.1:305",
	Doc: `A subscription to a task that has ended is answered with UnsupportedOperationError. If the stream opens
anyway, the client waits for updates that never come, or treats a finished task as active.`,
	Fix: `Answer -32004 with the reason UNSUPPORTED_OPERATION if the task is terminal. Clients can still get the task
with GetTask.`,
	Silent: `Streams that begin with an error, which state-subscribe-terminal-code checks; tasks whose end was not
fully delivered before the request began.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		s, ended := stream.Of(p).In(x), task.Of(p).EndedBefore(x)
		if x.Call.Operation != a2a.SubscribeToTask || ended == nil || s.Gap || s.Events > 0 || p.Answer == nil {
			return
		}
		switch payload := p.Answer.Payload; {
		case p.Answer.Err != nil:
			p.Applied()
		case payload.Kind == a2a.UnknownPayload, payload.Kind == a2a.NoPayload:
		default:
			p.Report(p.Place,
				fmt.Sprintf("task %s ended as %s at %s, and the subscription is answered with a stream that begins with a %s",
					analysis.QuoteText(ended.TaskID), analysis.QuoteText(ended.Spelling), ended.StatePlace(), payload.Kind),
				"expected UnsupportedOperationError (-32004)")
		}
	},
}

var stateSubscribeTerminalCode = &analysis.Rule{
	ID:       "state-subscribe-terminal-code",
	Title:    "subscription to a finished task refused with the wrong error",
	Category: analysis.ErrorHandling,
	Level:    analysis.Must,
	On:       analysis.AnswerSeen | analysis.EventSeen | analysis.TaskSeen,
	Needs:    []*analysis.Tracker{answer.Tracker, task.Tracker},
	Cites:    rule.Cite("3.1.6", a2a.V1_0),
	Covers:   rule.CodeRules,
	Stands:   "1.0.1:305",
	Doc: `A subscription to a task that has ended is answered with UnsupportedOperationError (-32004). The error tells
the client that no more updates will come and that it should get the task instead.`,
	Fix: `Answer -32004 with the reason UNSUPPORTED_OPERATION (HTTP+JSON: status 400) if the task is terminal.`,
	Silent: `TaskNotFoundError, unless a later answer to the same client still knows the task; refusals for another
reason (credentials, rate, version, extensions, a method that the agent does not know); errors with an agent-specific
code that do not mention the task's state; HTTP+JSON errors that do not say which they are; tasks whose end was not
fully delivered before the request began.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.TaskSeen {
			reportFalseNotFound(p)
			return
		}
		ended := task.Of(p).EndedBefore(p.Exchange)
		if p.Exchange.Call.Operation != a2a.SubscribeToTask || ended == nil || !refused(p) {
			return
		}
		p.Applied()
		reportWrongRefusal(p, ended)
	},
}

// refused reports whether the current observation is an error that identifies itself, without a cause that takes
// precedence over the state of the task. Errors with the names in accept count too.
func refused(p *analysis.Pass, accept ...a2a.ErrorName) bool {
	if p.Answer == nil || p.Answer.Err == nil || p.Kind == analysis.EventSeen && !rule.OpensStream(p) {
		return false
	}
	switch p.Exchange.Response.Status {
	case 401, 403, 407, 408, 413, 415, 429, 502, 503, 504:
		return false
	}
	name := p.Answer.Err.Name
	failed := p.Exchange.Call.Binding == a2a.HTTPJSON && p.Exchange.Response.Status == 500 && p.Answer.Err.Value.Exists()
	if name == a2a.NoErrorName && failed { // where JSON-RPC has InternalError
		return true
	}
	switch name {
	case a2a.NoErrorName, a2a.VersionNotSupported, a2a.ExtensionSupportRequired, a2a.ContentTypeNotSupported,
		a2a.PushNotSupported,
		a2a.MethodNotFound, a2a.ParseError:
		return slices.Contains(accept, name)
	case a2a.OtherError: // such as one about credentials, for which no code exists
		return rule.SpeaksOfState(p.Answer.Err.Message)
	}
	return true
}

// badRequest reports whether an error that blames the request may be right: the request lacks something that every
// message needs, or names another context than the task's.
func badRequest(p *analysis.Pass) bool {
	switch p.Answer.Err.Name {
	case a2a.InvalidParams, a2a.InvalidRequest:
	default:
		if p.Exchange.Response.Status != 400 {
			return false
		}
	}
	x := p.Exchange
	message := a2a.Message{Value: x.Call.Message}
	known := task.Of(p).Named(x).Context
	foreign := known != nil && x.Call.ContextID != "" && x.Call.ContextID != known.ContextID
	if foreign || message.ID() == "" || message.Role() != a2a.UserRole || message.Parts().Len() == 0 ||
		x.Call.HistoryLength < 0 {
		return true
	}
	for _, part := range message.Parts().All() {
		if part.PartKind() == a2a.UnknownPart {
			return true
		}
	}
	return false
}

func reportWrongRefusal(p *analysis.Pass, ended *analysis.TaskObservation) {
	failure := p.Answer.Err
	if failure.Name == a2a.UnsupportedOperation || failure.Name == a2a.TaskNotFound {
		return
	}
	p.Report(p.Place.At(failure.Pointer),
		fmt.Sprintf("task %s ended as %s at %s, and the refusal is %s", analysis.QuoteText(ended.TaskID),
			analysis.QuoteText(ended.Spelling), ended.StatePlace(), failure),
		"expected UnsupportedOperationError (-32004)")
}

// reportFalseNotFound reports a subscription that was answered with task not found, when a later answer to the same
// client knows the task.
func reportFalseNotFound(p *analysis.Pass) {
	refused := answer.Of(p).RefusedSubscription(p.Exchange, p.Task.TaskID)
	if refused == nil || p.Task.Late || !refused.Before(p.Exchange) {
		return
	}
	p.Report(refused.Place,
		fmt.Sprintf("ended task %s is reported as not found, and exists at %s", analysis.QuoteText(p.Task.TaskID),
			p.Task.StatePlace()),
		"expected UnsupportedOperationError (-32004)", analysis.Of(refused.Exchange))
}
