package rules

import (
	"slices"

	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// Identity is the family of rules about the ids of tasks and contexts.
var Identity = []*analyzer.Rule{
	IDTaskUnique,
	IDContextStable,
	IDTaskHistoryConsistent,
}

// IDTaskUnique reports one task id for two tasks.
var IDTaskUnique = &analyzer.Rule{
	ID:       "id-task-unique",
	Title:    "two sends were given the same new task id",
	Family:   "identity",
	Category: analyzer.Lifecycle,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.TaskSeen,
	Bindings: onCall,
	Cites: slices.Concat(
		cite("6.1", a2a.V0_2, a2a.V0_3),
		cite("3.4.2", a2a.V1_0),
	),
	Doc: `A message that names no task may start one, and then the agent gives it an id that no other task has. Where two
clients are given the same id, each reads the other's answers and can cancel the other's work.`,
	Fix: `Make a fresh id for every new task, such as a UUID. A counter that starts again with the process is not enough.`,
	Silent: `A repeated message id (a retry may be answered with the first task), messages into the context of the first task or that
refer to it (the agent may go on with that task), and messages without an id.`,
	Check: func(p *analyzer.Pass) {
		call := &p.Exchange.Call
		if !call.Operation.Sends() || call.TaskID != "" || call.MessageID == "" || !p.Task.Snapshot {
			return
		}
		p.Applied()
		known := p.Session.TaskOf(p.Exchange, p.Task.TaskID)
		if known == nil || known.Created == nil || known.Created.Place.Exchange == p.Task.Exchange {
			return
		}
		first := known.Created
		common := call.ContextID != "" && call.ContextID == first.ContextID
		if first.MessageID == "" || known.WasSent(call.MessageID) || common {
			return
		}
		if mayGoOn(known, call.ContextID, p.Exchange.References()) || mayGoOn(known, first.ContextID, first.References) {
			return
		}
		p.Report(p.Task.IDPlace(), "new task "+analyzer.QuoteText(p.Task.TaskID)+" has the id that was given to another new task at "+first.Place.String(),
			"expected an id of its own")
	},
}

// mayGoOn reports whether an agent may answer a message that names no task with a task that it has already: the message
// goes into the task's context, or refers to the task.
func mayGoOn(known *analyzer.Task, contextID string, references []string) bool {
	if slices.Contains(references, known.ID) {
		return true
	}
	return contextID != "" && (known.Context == nil || contextID == known.Context.ID)
}

// IDContextStable reports a task that moves to another context.
var IDContextStable = &analyzer.Rule{
	ID:       "id-context-stable",
	Title:    "context id of a task changes",
	Family:   "identity",
	Category: analyzer.Lifecycle,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.TaskSeen,
	Bindings: onAll,
	Cites: slices.Concat(
		cite("6.1", a2a.V0_2, a2a.V0_3),
		cite("4.1.1", a2a.V1_0),
	),
	Doc: `A task belongs to one context for all its life. Clients group conversations by the context id: with another one the
next turn lands in another conversation, and what was said before is lost to the agent.`,
	Fix:    `Store the context id with the task and write the stored one into every task, event and message about it.`,
	Silent: `Objects that carry no context id.`,
	Check: func(p *analyzer.Pass) {
		if p.Task.ContextID == "" {
			return
		}
		known := p.Session.TaskOf(p.Exchange, p.Task.TaskID)
		if known == nil || known.Context == nil {
			return
		}
		p.Applied()
		if known.Context.ID != p.Task.ContextID {
			p.Report(p.Task.ContextPlace(), "task "+analyzer.QuoteText(p.Task.TaskID)+" is in context "+analyzer.QuoteText(p.Task.ContextID),
				"expected "+analyzer.QuoteText(known.Context.ID)+", as at "+known.Context.Place.String())
		}
	},
}

// IDTaskHistoryConsistent reports a message in a task's history that says it belongs to another task.
var IDTaskHistoryConsistent = &analyzer.Rule{
	ID:       "id-task-history-consistent",
	Title:    "message in a task's history names another task",
	Family:   "identity",
	Category: analyzer.Lifecycle,
	Level:    analyzer.Should,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.MessageSeen,
	Bindings: onAll,
	Cites: slices.Concat(
		cite("6.4", a2a.V0_2, a2a.V0_3),
		cite("4.1.4", a2a.V1_0),
	),
	Doc: `What the agent said in the course of a task carries that task's id, or none. A client that files messages by the id that they name
shows it under another task, or under one that it has never heard of.`,
	Fix:    `Write the id of the task into the messages of its history, or leave taskId out.`,
	Silent: `Messages of the user, who may have sent them to an older task, and messages of a task that the client continues or refers to. Of several such messages in one exchange the first is reported.`,
	Check: func(p *analyzer.Pass) {
		m := p.Entity
		if m.In != a2a.InHistory || m.Author != a2a.Agent {
			return
		}
		named, own := m.Get("taskId"), m.Owner.Get("id")
		if named.Kind() != a2a.String || own.Kind() != a2a.String || named.Is("") {
			return
		}
		p.Applied()
		id := named.Text()
		if own.Is(id) || id == p.Exchange.Call.TaskID || slices.Contains(p.Exchange.References(), id) {
			return
		}
		p.Report(p.Here("taskId"), "taskId is "+analyzer.QuoteText(id)+" in the history of task "+analyzer.Quote(own), "expected that task's id")
	},
}
