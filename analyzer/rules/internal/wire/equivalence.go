package wire

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/answer"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Equivalence is the family of rules about agents that offer several bindings: they are one agent over all of them.
var Equivalence = rule.Family{
	Name:     "equivalence",
	Category: analysis.Interop,
	Side:     a2a.Agent,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("3.4.1", a2a.V0_3).And("5.1", a2a.V1_0),
}.Of(
	equivErrorSame,
	equivResultSame,
)

var equivErrorSame = &analysis.Rule{
	ID:     "equiv-error-same",
	Title:  "one failing operation has different errors over two bindings",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen | analysis.EventSeen,
	If:     analysis.Refused,
	Needs:  []*analysis.Tracker{answer.Tracker, task.Tracker},
	Stands: "0.3.0:143 1.0.1:1151",
	Doc: `An agent behaves the same over every binding. If a client changes the binding, or a gateway translates, the
same call gets another error. The client then gives up on a task that exists, or changes a request that is right.`,
	Fix: `Map the errors of all bindings from one table, in shared code.`,
	Silent: `Other operations, clients, credentials or versions; tasks that were seen and not known to have ended,
since they may have changed in between; a task that is not found later, since it may have been removed; errors about
the version, extensions, content types or push, which have other causes; errors that a rule about ended tasks reports.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if p.RequestMissed() || p.Answer == nil || p.Answer.Err == nil || !p.Answer.Err.Name.A2A() ||
			x.Call.Operation.Sends() || p.Kind == analysis.EventSeen && !rule.OpensStream(p) {
			return
		}
		before := answer.Of(p).RefusedElsewhere(p.Observation)
		if before == nil || !sameState(p, before) || givenCause(before.Name) || givenCause(p.Answer.Err.Name) {
			return
		}
		p.Applied()
		now := p.Answer.Err
		if now.Name == before.Name || now.Name == a2a.TaskNotFound || !mayBeRight(x, before.Name) ||
			!mayBeRight(x, now.Name) {
			return
		}
		p.Report(p.Place.At(now.Pointer),
			fmt.Sprintf("%s of task %s is refused with %s, and over %s with %s at %s", x.Call.Operation,
				analysis.QuoteText(x.Call.TaskID), now, before.Binding, before.Name, before.Place),
			"expected the same error over all bindings")
	},
}

// sameState reports whether a task was certainly in the same state for two calls: it had ended, or was never seen.
func sameState(p *analysis.Pass, before *answer.Refusal) bool {
	return before.Terminal && task.Of(p).EndedBefore(p.Exchange) != nil ||
		before.Unseen && task.Of(p).Named(p.Exchange) == nil
}

// givenCause reports whether an error is about parts of each individual request, or about what the card offers.
func givenCause(name a2a.ErrorName) bool {
	switch name {
	case a2a.VersionNotSupported, a2a.ExtensionSupportRequired, a2a.ContentTypeNotSupported, a2a.PushNotSupported:
		return true
	}
	return false
}

// mayBeRight reports whether an error is one that an operation on an ended task may fail with; others have rules of
// their own.
func mayBeRight(x *analysis.Exchange, name a2a.ErrorName) bool {
	switch x.Call.Operation {
	case a2a.CancelTask:
		return name == a2a.TaskNotFound || name == a2a.TaskNotCancelable
	case a2a.SubscribeToTask:
		return name == a2a.TaskNotFound || name == a2a.UnsupportedOperation
	}
	return true
}

var equivResultSame = &analysis.Rule{
	ID:     "equiv-result-same",
	Title:  "one ended task looks different over two bindings",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen,
	Needs:  []*analysis.Tracker{answer.Tracker},
	Stands: "0.3.0:142 1.0.1:1150",
	Doc: `An agent returns the same task over every binding. If one binding omits an artifact or shows another state,
the result depends on how the client asks.`,
	Fix: `Keep tasks in one store for all bindings, and write each answer from the same object.`,
	Silent: `Tasks that have not ended; other clients, credentials, versions or history lengths; the order of members,
omitted defaults, metadata, links, times; the history, unless the client requests a certain length; tasks that also
change over one binding.`,
	Check: func(p *analysis.Pass) {
		before, part := answer.Of(p).ShownElsewhere(p.Observation)
		if before == nil || p.RequestMissed() {
			return
		}
		p.Applied()
		if part != "" {
			p.Report(p.Place.At(p.Answer.Payload.Pointer).In(part),
				fmt.Sprintf("task %s differs in %s from %s at %s",
					analysis.QuoteText(p.Exchange.Call.TaskID), part, before.Binding, before.Place),
				"expected the same task over all bindings")
		}
	},
}
