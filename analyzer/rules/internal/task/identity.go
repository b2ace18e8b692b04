package task

import (
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/stream"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Identity is the family of rules about the ids of tasks.
var Identity = rule.Family{
	Name:     "identity",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	On:       analysis.TaskSeen,
	Bindings: rule.OnCall,
}.Of(
	idTaskEchoV01,
	idSessionEchoV01,
	idEventEchoV01,
	idGetEcho,
	idTaskUnique,
	idTaskContinued,
	idStreamTaskConsistent,
	idSubscribeMatch,
	idTaskHistoryConsistent,
)

var idTaskEchoV01 = &analysis.Rule{
	ID:       "id-task-echo-v01",
	Title:    "task has another id than the client gave it",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.1", a2a.V0_1),
	Stands:   "0.1.0:395",
	Doc: `In 0.1 the client creates the id of a task, and uses it to get, cancel and follow the task. If the task
comes back with another id, the client does not recognize it.`,
	Fix:    `Keep params.id of tasks/send as the id of the task.`,
	Silent: `Tasks without an id, which another rule reports.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Operation != a2a.SendMessage || call.TaskID == "" || !p.Task.Snapshot {
			return
		}
		p.Applied()
		reportOtherTask(p, "as sent by the client")
	},
}

var idSessionEchoV01 = &analysis.Rule{
	ID:       "id-session-echo-v01",
	Title:    "task is in another session than the client put it into",
	Level:    analysis.Advice,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.1", a2a.V0_1),
	Stands:   "0.1.0:424",
	Doc: `In 0.1 the client creates the id of a session to group its tasks. A task that comes back in another session
is missing from its group, and may be mixed with another client's tasks.`,
	Fix:    `Keep params.sessionId of tasks/send as the sessionId of the task.`,
	Silent: `Requests and tasks without sessionId, and tasks that a message continues.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		asked := call.Params.Get("sessionId")
		if call.Operation != a2a.SendMessage || p.Answer == nil || p.Answer.Payload.Kind != a2a.TaskPayload || asked.Text() == "" ||
			p.Dialects != a2a.Of(a2a.V0_1) || !p.Answer.Payload.Value.Get("id").Is(call.TaskID) {
			return
		}
		got := p.Answer.Payload.Value.Get("sessionId")
		if got.Text() == "" {
			return
		}
		p.Applied()
		if !got.Is(asked.Text()) {
			p.Report(p.Place.At(got.Pointer()), "sessionId is "+analysis.Quote(got), "expected "+analysis.Quote(asked)+", as sent by the client")
		}
	},
}

// reportOtherTask reports an object that is about another task than the request.
func reportOtherTask(p *analysis.Pass, why string, options ...analysis.Option) {
	if asked := p.Exchange.Call.TaskID; p.Task.TaskID != asked {
		p.Report(p.Task.TaskIDPlace(), "the id of the task is "+analysis.QuoteText(p.Task.TaskID),
			"expected "+analysis.QuoteText(asked)+", "+why, options...)
	}
}

var idEventEchoV01 = &analysis.Rule{
	ID:       "id-event-echo-v01",
	Title:    "event names another task than the request",
	Level:    analysis.Must,
	Once:     analysis.PerExchange,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.2.2", a2a.V0_1),
	Covers:   []string{"id-stream-task-consistent"},
	Stands:   "0.1.0:869",
	Doc: `Every event of tasks/sendSubscribe is about the task that the client sent, and carries that task's id. A
client that follows several tasks assigns the event to the wrong one, or drops it.`,
	Fix: `Write params.id of the request into the member id of every event.`,
	Silent: `If the event carries the id of the JSON-RPC request instead, the finding is a note: early documents show
that by mistake.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Operation != a2a.SendStreamingMessage || call.TaskID == "" {
			return
		}
		p.Applied()
		reportOtherTask(p, "as sent by the client",
			analysis.AtMostIf(call.ID.Is(p.Task.TaskID) || string(call.ID.Raw()) == p.Task.TaskID, analysis.Note))
	},
}

var idGetEcho = &analysis.Rule{
	ID:     "id-get-echo",
	Title:  "agent returned another task than requested",
	Level:  analysis.Must,
	If:     analysis.OfTask,
	Cites:  rule.Cite("7.3", rule.Before1...).And("3.1.3", a2a.V1_0),
	Stands: "0.1.0:919 0.2.6:600 0.3.0:809 1.0.1:226",
	Doc: `A request to get or cancel a task is answered with that task. Any other task is someone else's work, shown
to the wrong client; after a cancellation it may be the task that was stopped.`,
	Fix:    `Look the task up by exactly the id in the request, percent-decoded if the id is part of a path.`,
	Silent: `Tasks without an id, which another rule reports.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Operation != a2a.GetTask && call.Operation != a2a.CancelTask || call.TaskID == "" || !p.Task.Snapshot {
			return
		}
		p.Applied()
		reportOtherTask(p, "as requested")
	},
}

var idTaskUnique = &analysis.Rule{
	ID:     "id-task-unique",
	Title:  "two sends were given the same new task id",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Needs:  []*analysis.Tracker{task.Tracker},
	Cites:  rule.Cite("6.1", a2a.V0_2, a2a.V0_3).And("3.4.2", a2a.V1_0),
	Stands: "0.2.6:types:178 0.3.0:types:477 1.0.1:611",
	Doc: `A message that names no task may start one, and the agent gives the new task a unique id. If two clients get
the same id, each can read the other's answers and cancel the other's work.`,
	Fix: `Create a fresh id for every new task, such as a UUID. A counter that restarts with the process is not
enough.`,
	Silent: `A repeated message id (a retry may be answered with the first task), messages in the context of the first
task or with a reference to it (the agent may continue with that task), and messages without an id.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if !call.Operation.Sends() || call.TaskID != "" || call.MessageID == "" || !p.Task.Snapshot ||
			rule.Given(rule.Member(call.Message, "taskId", "task_id")) { // of another type; agents may read it either way
			return
		}
		p.Applied()
		known := task.Of(p).Get(p.Exchange, p.Task.TaskID)
		if known == nil || known.Created == nil || known.Created.Place.Exchange == p.Task.Exchange {
			return
		}
		first := known.Created
		common := call.ContextID != "" && call.ContextID == first.ContextID
		if first.MessageID == "" || known.WasSent(call.MessageID) || common {
			return
		}
		if mayContinue(known, call.ContextID, p.Exchange.References()) ||
			mayContinue(known, first.ContextID, first.References) {
			return
		}
		p.Report(p.Task.TaskIDPlace(),
			"new task "+analysis.QuoteText(p.Task.TaskID)+" has the id that was given to another new task at "+
				first.Place.String(),
			"expected a unique id")
	},
}

// mayContinue reports whether an agent may answer a message that names no task with an existing task: the message goes
// into the task's context, or refers to the task.
func mayContinue(known *task.Task, contextID string, references []string) bool {
	if slices.Contains(references, known.ID) {
		return true
	}
	return contextID != "" && (known.Context == nil || contextID == known.Context.ContextID)
}

var idTaskContinued = &analysis.Rule{
	ID:     "id-task-continued",
	Title:  "message to an active task is answered with another task",
	Level:  analysis.Should,
	If:     analysis.NamesTask,
	Needs:  []*analysis.Tracker{task.Tracker},
	Cites:  rule.Cite("6.4", a2a.V0_2, a2a.V0_3).And("4.1.4", a2a.V1_0),
	Stands: "0.2.6:types:370 0.3.0:types:716 1.0.1:proto:265",
	Doc: `A message that names a task continues that task. If a new task answers, the old one waits forever, and the
new one does not have the old one's data.`,
	Fix: `Look up the task that message.taskId names, and continue it if it has not ended. Some frameworks create a
task for every message unless configured otherwise.`,
	Silent: `Unknown tasks, and tasks that may have ended when the message arrived. Before 1.0 no text requires it:
there the finding is a note.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !x.Call.Operation.Sends() || !p.Task.Snapshot || x.Stream != nil && !rule.OpensStream(p) {
			return
		}
		active := task.Of(p).ActiveBefore(x)
		if active == nil {
			return
		}
		p.Applied()
		if p.Task.TaskID == active.TaskID {
			return
		}
		p.Report(p.Task.TaskIDPlace(),
			fmt.Sprintf("the answer is task %s, and task %s is %s at %s", analysis.QuoteText(p.Task.TaskID),
				analysis.QuoteText(active.TaskID), analysis.QuoteText(active.Spelling), active.StatePlace()),
			"expected the task that the message names", analysis.AtMostIf(!p.Dialects.Has(a2a.V1_0), analysis.Note))
	},
}

var idStreamTaskConsistent = &analysis.Rule{
	ID:     "id-stream-task-consistent",
	Title:  "events of one stream name different tasks",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	If:     analysis.Streamed,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("7.2.2", a2a.V0_1, a2a.V0_2, a2a.V0_3).And("3.1.2", a2a.V1_0),
	Stands: "0.1.0:869 0.2.6:types:213 0.3.0:types:520 1.0.1:210",
	Doc: `A stream is about one task. Clients read the id from the first event and use it for all of them; an event of
another task changes the wrong one.`,
	Fix: `Write the id of the task into every event of its stream. If one queue serves several tasks, filter it.`,
	Silent: `A switch to the task of the request after an event that named another one, which is reported by another
rule.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Stream == nil || stream.Of(p).In(x).NamedTask == nil {
			return
		}
		first := stream.Of(p).In(x).NamedTask
		p.Applied()
		if now := p.Task; now.TaskID != first.TaskID && now.TaskID != x.Call.TaskID {
			p.Report(now.TaskIDPlace(), "the event is about task "+analysis.QuoteText(now.TaskID),
				"expected "+analysis.QuoteText(first.TaskID)+", as at "+first.TaskIDPlace().String())
		}
	},
}

var idSubscribeMatch = &analysis.Rule{
	ID:     "id-subscribe-match",
	Title:  "subscription is about another task",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	If:     analysis.OfTask,
	Cites:  rule.Cite("7.7", a2a.V0_1).And("7.9", a2a.V0_2, a2a.V0_3).And("3.1.6", a2a.V1_0),
	Covers: []string{"id-stream-task-consistent"},
	Stands: "0.1.0:990 0.2.6:845 0.3.0:1054 1.0.1:311",
	Doc: `A client subscribes to a task to follow its progress. Events of another task make the client believe that
its own task has ended or failed.`,
	Fix:    `Attach the subscriber to the events of exactly the task in the request.`,
	Silent: `Events that name no task.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Operation != a2a.SubscribeToTask || call.TaskID == "" {
			return
		}
		p.Applied()
		reportOtherTask(p, "as requested")
	},
}

var idTaskHistoryConsistent = &analysis.Rule{
	ID:       "id-task-history-consistent",
	Title:    "message in a task's history names another task",
	Level:    analysis.Advice,
	Once:     analysis.PerExchange,
	On:       analysis.MessageSeen,
	If:       analysis.Told,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.4", a2a.V0_2, a2a.V0_3).And("4.1.4", a2a.V1_0),
	Stands:   "0.2.6:types:370 0.3.0:types:716 1.0.1:proto:265",
	Doc: `Messages of the agent in a task's history carry that task's id, or no task id. A client that files messages
by task id shows the message under another task, or under a task that it does not know.`,
	Fix: `Write the id of the task into the messages of its history, or leave taskId out.`,
	Silent: `Messages of the user, who may have sent them to an older task, and messages of a task that the client
continues or refers to. Only the first such message in an exchange is reported.`,
	Check: func(p *analysis.Pass) {
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
		p.Report(p.Here("taskId"), "taskId is "+analysis.QuoteText(id)+" in the history of task "+analysis.Quote(own),
			"expected that task's id")
	},
}
