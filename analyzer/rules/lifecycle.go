package rules

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// Lifecycle is the family of rules about the states of a task and what is done to a finished one.
var Lifecycle = []*analyzer.Rule{
	StateTerminalImmutable,
	StateSendTerminalCode,
	StateSubscribeTerminalCode,
}

// StateTerminalImmutable reports another state of a task that has already ended.
var StateTerminalImmutable = &analyzer.Rule{
	ID:       "state-terminal-immutable",
	Title:    "another state after a terminal state",
	Family:   "lifecycle",
	Category: analyzer.Lifecycle,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.TaskSeen,
	Bindings: onAll,
	Cites: slices.Concat(
		cite("6.1", a2a.V0_2, a2a.V0_3),
		cite("3.1.1", a2a.V1_0),
	),
	Doc: `A task that is completed, failed, canceled or rejected stays so. Clients act on the terminal state (they pay, they
answer a user, they stop listening), and nothing tells them that it was taken back.`,
	Fix: `Send the terminal state last, when nothing can follow. More work on the same matter is a new task in the same context.`,
	Silent: `Observations that overlap in time, whose order nobody knows; the state unknown; notifications and replayed events of a 0.2 or 0.3
resubscription, which may be late, unless they show another terminal state; 0.1 and versions before 0.2.4, which allowed a restart. Where
no card says whether the agent may be that old, the finding is a warning.`,
	Check: func(p *analyzer.Pass) {
		now := p.Task
		known := p.Session.TaskOf(p.Exchange, now.TaskID)
		if known == nil || known.Terminal == nil || !now.State.Known() {
			return
		}
		before := known.Terminal
		worst, judged := restartable(p)
		if !judged || now.Late && !now.State.Terminal() || !now.After(before, p.Exchange) {
			return
		}
		p.Applied()
		if now.State == before.State {
			return
		}
		at := ""
		if before.Exchange != now.Exchange {
			at = " at " + before.StatePlace().String()
		}
		p.Report(now.StatePlace(),
			fmt.Sprintf("task %s is %s after terminal state %s%s", analyzer.QuoteText(now.TaskID), analyzer.QuoteText(now.Spelling), analyzer.QuoteText(before.Spelling), at),
			"expected no other state", analyzer.AtMost(worst))
	},
}

// restartable says how bad the restart of an ended task can be, and whether it is anything: versions before 0.2.4 allowed
// it, and cards name their version since 0.2.5 only.
func restartable(p *analyzer.Pass) (worst analyzer.Severity, judged bool) {
	if !p.Dialects.Has(a2a.V0_2) {
		return analyzer.Error, true
	}
	versions := p.Session.Versions(p.Exchange)
	for _, v := range versions {
		switch v {
		case "0.2", "0.2.0", "0.2.1", "0.2.2", "0.2.3":
			return 0, false
		}
	}
	switch {
	case len(versions) > 0:
		return analyzer.Error, true
	case p.Dialects == a2a.Of(a2a.V0_2):
		return 0, false
	}
	return analyzer.Warning, true
}

// StateSendTerminalCode reports a message to a finished task refused with the wrong error.
var StateSendTerminalCode = &analyzer.Rule{
	ID:       "state-send-terminal-code",
	Title:    "message to a finished task refused with the wrong error",
	Family:   "lifecycle",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.AnswerSeen | analyzer.EventSeen,
	Bindings: onCall,
	Cites:    cite("3.1.1", a2a.V1_0),
	Covers:   []string{"rpc-invalid-request-unfounded", "rpc-error-code-a2a-range"},
	Doc: `A message to a task that has ended is answered with UnsupportedOperationError (-32004). By that error a client knows
that it has to start a new task; with another one it repairs a request that was right, or tries again for ever.`,
	Fix: `Answer -32004 with the reason UNSUPPORTED_OPERATION (HTTP+JSON: status 400) as soon as the task named by the message is terminal.`,
	Silent: `TaskNotFoundError (the task may have been removed), a message id that was sent to the task before (a retry), refusals with a cause of
their own (credentials, rate, version, extensions, content types, a method that the agent does not know, a request that is wrong in itself),
errors with a code of the agent's own that do not speak of the task's state, HTTP+JSON errors that do not say which they are, and tasks
whose end was not fully delivered before the request began.`,
	Check: func(p *analyzer.Pass) {
		call := &p.Exchange.Call
		ended := p.Exchange.TerminalBefore()
		if !call.Operation.Sends() || ended == nil || p.Exchange.Retry || !refused(p) || badRequest(p) {
			return
		}
		p.Applied()
		reportWrongRefusal(p, ended)
	},
}

// StateSubscribeTerminalCode reports a subscription to a finished task refused with the wrong error.
var StateSubscribeTerminalCode = &analyzer.Rule{
	ID:       "state-subscribe-terminal-code",
	Title:    "subscription to a finished task refused with the wrong error",
	Family:   "lifecycle",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.AnswerSeen | analyzer.EventSeen | analyzer.TaskSeen,
	Bindings: onCall,
	Cites:    cite("3.1.6", a2a.V1_0),
	Covers:   []string{"rpc-invalid-request-unfounded", "rpc-error-code-a2a-range"},
	Doc: `A subscription to a task that has ended is answered with UnsupportedOperationError (-32004). By that error a client
knows that nothing more will come and that it can get the task instead.`,
	Fix: `Answer -32004 with the reason UNSUPPORTED_OPERATION (HTTP+JSON: status 400) when the task is terminal.`,
	Silent: `TaskNotFoundError, unless a later answer to the same client still knows the task; refusals with a cause of their own
(credentials, rate, version, extensions, a method that the agent does not know); errors with a code of the agent's own that do not speak
of the task's state; HTTP+JSON errors that do not say which they are; tasks whose end was not fully delivered before the request began.`,
	Check: func(p *analyzer.Pass) {
		if p.Kind == analyzer.TaskSeen {
			reportFalseNotFound(p)
			return
		}
		ended := p.Exchange.TerminalBefore()
		if p.Exchange.Call.Operation != a2a.SubscribeToTask || ended == nil || !refused(p) {
			return
		}
		p.Applied()
		reportWrongRefusal(p, ended)
	},
}

// refused reports whether what is at hand is an error that says which it is, without a cause that goes before the state
// of the task.
func refused(p *analyzer.Pass) bool {
	if p.Answer == nil || p.Answer.Err == nil || p.Kind == analyzer.EventSeen && !opensStream(p) {
		return false
	}
	switch p.Exchange.Response.Status {
	case 401, 403, 407, 408, 413, 429, 502, 503, 504:
		return false
	}
	switch p.Answer.Err.Name {
	case a2a.NoErrorName, a2a.VersionNotSupported, a2a.ExtensionSupportRequired, a2a.ContentTypeNotSupported, a2a.PushNotSupported,
		a2a.MethodNotFound, a2a.ParseError:
		return false
	case a2a.OtherError: // such as one about credentials, for which there is no code
		return speaksOfState(p.Answer.Err.Message)
	}
	return true
}

// speaksOfState reports whether an error's text gives the state of the task as its reason.
func speaksOfState(message string) bool {
	message = strings.ToLower(message)
	for _, word := range [...]string{"terminal", "state", "complete", "finished", "ended", "closed", "done", "cancel", "failed", "rejected"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// badRequest reports whether an error that blames the request may be right to do so: the request leaves out what every
// message needs, or names another context than the task's.
func badRequest(p *analyzer.Pass) bool {
	switch p.Answer.Err.Name {
	case a2a.InvalidParams, a2a.InvalidRequest:
	default:
		if p.Exchange.Response.Status != 400 {
			return false
		}
	}
	x := p.Exchange
	message := a2a.Message{Value: x.Call.Message}
	known := x.Known.Context
	foreign := known != nil && x.Call.ContextID != "" && x.Call.ContextID != known.ID
	if foreign || message.ID() == "" || message.Role() != a2a.UserRole || message.Parts().Len() == 0 || x.Call.HistoryLength < 0 {
		return true
	}
	for _, part := range message.Parts().All() {
		if part.PartKind() == a2a.UnknownPart {
			return true
		}
	}
	return false
}

func reportWrongRefusal(p *analyzer.Pass, ended *analyzer.Sighting) {
	failure := p.Answer.Err
	if failure.Name == a2a.UnsupportedOperation || failure.Name == a2a.TaskNotFound {
		return
	}
	p.Report(p.Place.At(failure.Pointer),
		fmt.Sprintf("task %s ended as %s at %s, and the refusal is %s", analyzer.QuoteText(ended.TaskID), analyzer.QuoteText(ended.Spelling), ended.StatePlace(), failure),
		"expected UnsupportedOperationError (-32004)")
}

// reportFalseNotFound reports a subscription that was told that the task is not found, when a later answer to the same
// client knows it.
func reportFalseNotFound(p *analyzer.Pass) {
	known := p.Session.TaskOf(p.Exchange, p.Task.TaskID)
	if known == nil || known.Denied == nil || p.Task.Late || !known.Denied.Before(p.Exchange) {
		return
	}
	denied := known.Denied
	p.Report(denied.Place,
		fmt.Sprintf("ended task %s is said not to be found, and is there at %s", analyzer.QuoteText(p.Task.TaskID), p.Task.StatePlace()),
		"expected UnsupportedOperationError (-32004)", analyzer.Of(denied.Exchange))
}
