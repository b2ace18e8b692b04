package task

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/stream"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Contexts is the family of rules about the ids of contexts.
var Contexts = rule.Family{
	Name:     "context",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	Bindings: rule.OnCall,
}.Of(
	idContextPreserved,
	idContextPreserved0x,
	idContextInferred,
	idContextMismatchRejected,
	idContextStable,
	idStreamContextConsistent,
	idStatusMessageTask,
)

var idContextPreserved = &analysis.Rule{
	ID:     "id-context-preserved",
	Title:  "answer is in another context than the message",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen | analysis.EventSeen | analysis.TaskSeen,
	Needs:  []*analysis.Tracker{stream.Tracker, task.Tracker},
	Cites:  rule.Cite("3.4.1", a2a.V1_0),
	Stands: "1.0.1:593",
	Doc: `A client that names a context continues a conversation. An agent that cannot use the context has to refuse
the message. If it uses another context instead, the client does not notice that the agent has lost the conversation.`,
	Fix: `Put the task or message into the context that the message names, or answer with an error.`,
	Silent: `Messages that name a task, where the task's context counts. If the answer names no context, the first
context that is named for its task counts.`,
	Check: func(p *analysis.Pass) {
		checkContextPreserved(p)
	},
}

var idContextPreserved0x = &analysis.Rule{
	ID:     "id-context-preserved-0x",
	Title:  "answer is in another context than the message, before 1.0",
	Level:  analysis.Advice,
	On:     analysis.AnswerSeen | analysis.EventSeen | analysis.TaskSeen,
	Needs:  []*analysis.Tracker{stream.Tracker, task.Tracker},
	Cites:  rule.Cite("6.1", a2a.V0_2, a2a.V0_3),
	Stands: "0.2.6:types:180 0.3.0:types:479",
	Doc: `A client that names a context continues a conversation. An agent that uses another context has lost the
conversation, and the client does not notice.`,
	Fix: `Put the task or message into the context that the message names. 1.0 requires it.`,
	Silent: `Messages that name a task, where the task's context counts. If the answer names no context, the first
context that is named for its task counts.`,
	Check: func(p *analysis.Pass) {
		checkContextPreserved(p)
	},
}

func checkContextPreserved(p *analysis.Pass) {
	call := &p.Exchange.Call
	if p.Kind == analysis.TaskSeen {
		checkFirstContext(p)
		return
	}
	if call.TaskID != "" || call.ContextID == "" {
		return
	}
	payload, ok := answeredSend(p)
	if !ok {
		return
	}
	if id := payload.Value.Get("contextId"); id.Text() != "" {
		p.Applied()
		if !id.Is(call.ContextID) {
			p.Report(p.Place.At(id.Pointer()), "contextId is "+analysis.Quote(id),
				"expected "+analysis.QuoteText(call.ContextID)+", as the client sent it")
		}
	}
}

// checkFirstContext judges the first context that is named for a task, where the answer to the message that made the
// task named none.
func checkFirstContext(p *analysis.Pass) {
	x, now := p.Exchange, p.Task
	if now.ContextID == "" {
		return
	}
	known := task.Of(p).Get(x, now.TaskID)
	var asked string
	switch {
	case x.Call.Operation.Sends() && x.Call.TaskID == "":
		if x.Stream == nil || rule.OpensStream(p) || stream.Of(p).In(x).NamedContext != nil {
			return
		}
		asked = x.Call.ContextID
	case known != nil && known.Created != nil && known.Context == nil:
		asked = known.Created.ContextID
	}
	if asked == "" {
		return
	}
	p.Applied()
	if now.ContextID != asked {
		p.Report(now.ContextPlace(),
			"task "+analysis.QuoteText(now.TaskID)+" is in context "+analysis.QuoteText(now.ContextID),
			"expected "+analysis.QuoteText(asked)+", named by the message that created it")
	}
}

// answeredSend returns the object in a successful answer to a message, or in its first event.
func answeredSend(p *analysis.Pass) (*a2a.Payload, bool) {
	if !p.Exchange.Call.Operation.Sends() || p.Answer == nil || p.Answer.Err != nil ||
		p.Kind == analysis.EventSeen && !rule.OpensStream(p) {
		return nil, false
	}
	switch p.Answer.Payload.Kind {
	case a2a.TaskPayload, a2a.MessagePayload, a2a.StatusPayload, a2a.ArtifactPayload:
		return &p.Answer.Payload, true
	}
	return nil, false
}

var idContextInferred = &analysis.Rule{
	ID:     "id-context-inferred",
	Title:  "message without a context moves its task to another one",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	On:     analysis.TaskSeen | analysis.AnswerSeen | analysis.EventSeen,
	If:     analysis.NamesTask,
	Needs:  []*analysis.Tracker{task.Tracker},
	Cites:  rule.Cite("3.4.3", a2a.V1_0),
	Covers: []string{"id-context-stable"},
	Stands: "1.0.1:627",
	Doc: `A message that names only a task belongs to the context of that task. An agent that creates a new context
for it splits the conversation.`,
	Fix:    `Take the context from the stored task when the message names none.`,
	Silent: `Answers that name no context or another task, and tasks whose context is not known.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if !call.Operation.Sends() || call.TaskID == "" || call.ContextID != "" {
			return
		}
		id, got, at := answerContext(p)
		known := task.Of(p).Get(p.Exchange, call.TaskID)
		if id != call.TaskID || got == "" || known == nil || known.Context == nil {
			return
		}
		p.Applied()
		if known.Context.ContextID != got {
			p.Report(at,
				"the answer to a message to task "+analysis.QuoteText(id)+" is in context "+analysis.QuoteText(got),
				"expected "+analysis.QuoteText(known.Context.ContextID)+", as at "+known.Context.ContextPlace().String())
		}
	},
}

// answerContext returns the current task, or the task of the current message, and its context.
func answerContext(p *analysis.Pass) (taskID, contextID string, at analysis.Place) {
	switch {
	case p.Task != nil:
		return p.Task.TaskID, p.Task.ContextID, p.Task.ContextPlace()
	case p.Answer != nil && p.Answer.Payload.Kind == a2a.MessagePayload:
		m := a2a.Message{Value: p.Answer.Payload.Value}
		return m.TaskID(), m.ContextID(), p.Place.At(m.Get("contextId").Pointer())
	}
	return "", "", analysis.Place{}
}

var idContextMismatchRejected = &analysis.Rule{
	ID:     "id-context-mismatch-rejected",
	Title:  "message is accepted although its task is in another context",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen | analysis.EventSeen,
	If:     analysis.NamesTask,
	Needs:  []*analysis.Tracker{task.Tracker},
	Cites:  rule.Cite("3.4.3", a2a.V1_0),
	Covers: []string{"id-context-stable"},
	Stands: "1.0.1:628",
	Doc: `A message that names a task and a different context contradicts itself, and the agent has to refuse it. An
agent that accepts it answers in a conversation that the client did not mean.`,
	Fix: `Compare message.contextId with the context of the stored task, and answer with InvalidParams (-32602) if they
differ.`,
	Silent: `Tasks whose context is unknown, and tasks that were seen in more than one context.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if task.Of(p).Named(x) == nil || task.Of(p).Named(x).Context == nil || task.Of(p).Named(x).Moved ||
			x.Call.ContextID == "" || task.Of(p).Named(x).Context.ContextID == x.Call.ContextID {
			return
		}
		known := task.Of(p).Named(x).Context
		payload, taken := answeredSend(p)
		if !taken && (p.Answer == nil || p.Answer.Err == nil) {
			return
		}
		p.Applied()
		if taken {
			p.Report(p.Place.At(payload.Pointer),
				"the answer to a message in context "+analysis.QuoteText(x.Call.ContextID)+" to task "+
					analysis.QuoteText(x.Call.TaskID)+" is a "+payload.Kind.String(),
				"expected an error, since the task is in context "+analysis.QuoteText(known.ContextID)+" at "+
					known.ContextPlace().String())
		}
	},
}

var idContextStable = &analysis.Rule{
	ID:       "id-context-stable",
	Title:    "context id of a task changes",
	Level:    analysis.Must,
	Once:     analysis.PerExchange,
	On:       analysis.TaskSeen,
	Needs:    []*analysis.Tracker{task.Tracker},
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.1", a2a.V0_2, a2a.V0_3).And("4.1.1", a2a.V1_0),
	Stands:   "0.2.6:types:180 0.3.0:types:479 1.0.1:proto:171",
	Doc: `A task stays in one context all its life. Clients group conversations by context id: with another id the
next turn lands in another conversation, and the agent does not see what was said before.`,
	Fix:    `Store the context id with the task and write the stored one into every task, event and message about it.`,
	Silent: `Objects that carry no context id.`,
	Check: func(p *analysis.Pass) {
		if p.Task.ContextID == "" {
			return
		}
		known := task.Of(p).Get(p.Exchange, p.Task.TaskID)
		if known == nil || known.Context == nil {
			return
		}
		p.Applied()
		if known.Context.ContextID != p.Task.ContextID {
			p.Report(p.Task.ContextPlace(),
				"task "+analysis.QuoteText(p.Task.TaskID)+" is in context "+analysis.QuoteText(p.Task.ContextID),
				"expected "+analysis.QuoteText(known.Context.ContextID)+", as at "+known.Context.ContextPlace().String())
		}
	},
}

var idStreamContextConsistent = &analysis.Rule{
	ID:     "id-stream-context-consistent",
	Title:  "events of one stream name different contexts",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	On:     analysis.TaskSeen,
	If:     analysis.Streamed,
	Needs:  []*analysis.Tracker{stream.Tracker, task.Tracker},
	Cites:  rule.Cite("7.2.2", a2a.V0_2, a2a.V0_3).And("4.2.1", a2a.V1_0),
	Covers: []string{"id-context-stable", "id-context-inferred"},
	Stands: "0.2.6:types:216 0.3.0:types:523 1.0.1:proto:299",
	Doc: `A stream is about one task, and a task is in one context. Clients use the context id of an event for their
next message, so a wrong id sends that message to another conversation.`,
	Fix: `Create the context id once, with the task, and write the stored id into every event.`,
	Silent: `Events without a context id, and a switch to the task's own context after events that named another one,
which is reported by another rule.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		now := p.Task
		if x.Stream == nil || stream.Of(p).In(x).NamedContext == nil || now.ContextID == "" {
			return
		}
		first := stream.Of(p).In(x).NamedContext
		p.Applied()
		if now.ContextID == first.ContextID || first.TaskID != now.TaskID {
			return
		}
		if known := task.Of(p).Get(x, now.TaskID); known != nil && known.Context != nil &&
			known.Context.ContextID == now.ContextID {
			return
		}
		p.Report(now.ContextPlace(), "the event is in context "+analysis.QuoteText(now.ContextID),
			"expected "+analysis.QuoteText(first.ContextID)+", as at "+first.ContextPlace().String())
	},
}

var idStatusMessageTask = &analysis.Rule{
	ID:       "id-status-message-task",
	Title:    "message of a status names another task or context",
	Level:    analysis.Advice,
	Once:     analysis.PerExchange,
	On:       analysis.SnapshotSeen | analysis.UpdateSeen,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.4", a2a.V0_2, a2a.V0_3).And("4.1.4", a2a.V1_0),
	Stands:   "0.2.6:types:370 0.3.0:types:716 1.0.1:proto:263",
	Doc: `The message in a status belongs to the task of that status. If it names another task or context, clients
that file messages by these ids put it in the wrong place.`,
	Fix:    `Write the ids of the task into the message, or leave both out.`,
	Silent: `Messages without either id, and tasks without an id.`,
	Check: func(p *analysis.Pass) {
		o := p.Entity
		message := a2a.Status{Value: o.Get("status")}.Message()
		if message.Kind() != a2a.Object {
			return
		}
		id := o.Get("id")
		if p.Kind == analysis.UpdateSeen {
			id = o.Get("taskId")
		}
		for _, pair := range [...]struct {
			name      string
			own, said a2a.Value
		}{{"taskId", id, message.Get("taskId")}, {"contextId", o.Get("contextId"), message.Get("contextId")}} {
			own := pair.own.Text()
			if own == "" || pair.said.Text() == "" {
				continue
			}
			p.Applied()
			if !pair.said.Is(own) {
				p.Report(p.Place.At(pair.said.Pointer()), pair.name+" is "+analysis.Quote(pair.said),
					"expected "+analysis.QuoteText(own)+", as in the task")
				return
			}
		}
	},
}
