package task

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/answer"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/message"
	"a2atap/analyzer/track/page"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// References is the family of rules about requests that refer to earlier traffic.
var References = rule.Family{
	Name:     "reference",
	Category: analysis.Lifecycle,
	Side:     a2a.Client,
	On:       analysis.RequestSeen,
	Bindings: rule.OnCall,
}.Of(
	reqPageTokenOrigin,
	reqToTerminal,
	reqContextTaskMismatch,
	reqTaskIDExists,
	idDeniedAccepted,
	reqMessageIDReuse,
)

var reqPageTokenOrigin = &analysis.Rule{
	ID:     "req-page-token-origin",
	Title:  "pageToken that no answer contained",
	Level:  analysis.Should,
	If:     analysis.OfTasks,
	Needs:  []*analysis.Tracker{page.Tracker},
	Cites:  rule.Cite("3.1.4", a2a.V1_0),
	Stands: "1.0.1:proto:688",
	Doc: `A pageToken is copied from the nextPageToken of the page before. A token that the client makes up, such as a
page number, works with one agent by luck and fails with the next.`,
	Fix: `Send the nextPageToken of the last answer, byte for byte, and no token for the first page.`,
	Silent: `Recordings that lack a request or an answer, and requests sent while another list is in progress. The
finding is a note, since the token may date from before the recording.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation != a2a.ListTasks || x.Call.PageToken == "" {
			return
		}
		p.Applied()
		if !page.Of(p).UnknownToken(x) {
			return
		}
		at := x.RequestPlace().Line()
		if v := rule.Member(x.Call.Params, "pageToken", "page_token"); v.Exists() {
			at = rule.InParams(p, v)
		}
		p.Report(at, "no answer in the recording contained the pageToken "+analysis.QuoteText(x.Call.PageToken),
			"expected a nextPageToken from the agent", analysis.AtMost(analysis.Note))
	},
}

var reqToTerminal = &analysis.Rule{
	ID:     "req-to-terminal",
	Title:  "message to a task that has ended",
	Level:  analysis.Advice,
	If:     analysis.NamesTask,
	Needs:  []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:  rule.Cite("7.1", a2a.V0_2, a2a.V0_3).And("3.1.1", a2a.V1_0),
	Stands: "0.2.6:453 0.3.0:662 1.0.1:175",
	Doc: `A task that is completed, failed, canceled or rejected accepts no more messages: the agent has to refuse
them. No sentence forbids a client to try, but this client had seen that the task had ended.`,
	Fix: `Start a new task in the same context: leave taskId out, keep contextId, and name the old task in referenceTaskIds
if it matters.`,
	Silent: `Tasks whose end was shown to another client or for other credentials, or only after the message was sent;
a message that is sent again; versions before 0.2.4, which allowed a restart.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !x.Call.Operation.Sends() || task.Of(p).Named(x) == nil || rule.RestartSeverity(p) == analysis.Note {
			return
		}
		p.Applied()
		ended := task.Of(p).EndedBefore(x)
		if ended == nil || task.Of(p).Retry(x) || !task.Of(p).ToldEnd(x) {
			return
		}
		p.Report(messagePlace(p, "taskId"),
			"the message goes to task "+analysis.QuoteText(ended.TaskID)+", which is "+analysis.QuoteText(ended.Spelling)+" at "+
				ended.StatePlace().String(),
			"expected a new task")
	},
}

// messagePlace returns the place of a member of the message that is sent.
func messagePlace(p *analysis.Pass, name string) analysis.Place {
	message := p.Exchange.Call.Message
	return rule.InParams(p, valueOrHolder(message.Get(name), message))
}

var reqContextTaskMismatch = &analysis.Rule{
	ID:     "req-context-task-mismatch",
	Title:  "message names a task, and another context than the task's",
	Level:  analysis.Should,
	If:     analysis.NamesTask,
	Needs:  []*analysis.Tracker{task.Tracker},
	Cites:  rule.Cite("4.1.4", a2a.V1_0),
	Stands: "1.0.1:proto:256",
	Doc: `A task belongs to one context, and a message that names both has to name that context. The agent has to
refuse the message, since it cannot know which of the two the client means.`,
	Fix: `Store the contextId with each task, or send the taskId alone.`,
	Silent: `Tasks whose context is unknown, and tasks that the agent has shown in more than one context. The finding
is a warning, since only the schema's comment binds the client; section 3.4.3 binds the agent, which
id-context-mismatch-rejected checks.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !x.Call.Operation.Sends() || x.Call.ContextID == "" || task.Of(p).Named(x) == nil ||
			task.Of(p).Named(x).Context == nil || task.Of(p).Named(x).Moved {
			return
		}
		p.Applied()
		if known := task.Of(p).Named(x).Context; known.ContextID != x.Call.ContextID {
			p.Report(messagePlace(p, "contextId"),
				"contextId is "+analysis.QuoteText(x.Call.ContextID)+" in a message to task "+analysis.QuoteText(x.Call.TaskID),
				"expected "+analysis.QuoteText(known.ContextID)+", as at "+known.ContextPlace().String())
		}
	},
}

var reqTaskIDExists = &analysis.Rule{
	ID:     "req-taskid-exists",
	Title:  "message to a task that does not exist",
	Level:  analysis.Must,
	If:     analysis.NamesTask,
	Needs:  []*analysis.Tracker{answer.Tracker},
	Cites:  rule.Cite("3.4.2", a2a.V1_0),
	Stands: "1.0.1:613",
	Doc: `In 1.0 agents create the ids of tasks, and a message may only name a task that exists. The agent has just
told this client that this task does not exist; sending a message does not create it.`,
	Fix: `Leave taskId out to start a new task, and take its id from the answer.`,
	Silent: `Tasks that were seen since, and tasks that a later answer shows the agent knows; answers to another
client, for other credentials, or that arrived after the message was sent.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !x.Call.Operation.Sends() || x.Call.TaskID == "" || p.AnswerMissed() {
			return
		}
		p.Applied()
		if absent := answer.Of(p).NotFoundBefore(x); absent != nil {
			p.Report(messagePlace(p, "taskId"),
				"the message goes to task "+analysis.QuoteText(x.Call.TaskID)+", which was reported as not found at "+
					absent.Place.String(),
				"expected a task that exists, or no task")
		}
	},
}

var idDeniedAccepted = &analysis.Rule{
	ID:     "id-denied-accepted",
	Title:  "message is accepted for a task that was reported as not found",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	On:     analysis.OutcomeSeen,
	If:     analysis.NamesTask,
	Needs:  []*analysis.Tracker{answer.Tracker},
	Cites:  rule.Cite("3.4.2", a2a.V1_0),
	Stands: "1.0.1:614",
	Doc: `In 1.0 a message to a task that does not exist is answered with TaskNotFoundError: clients do not create the
ids of tasks. The agent has answered that this task does not exist, and then accepted a message to it. One of the two
answers is wrong, and a client that believed the first one has given up on the task.`,
	Fix: `Look the task up in the same way for every operation, and answer -32001 with the reason TASK_NOT_FOUND if it
does not exist.`,
	Silent: `Tasks that were seen since, errors, and answers to another client or for other credentials.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !x.Call.Operation.Sends() || x.Call.TaskID == "" {
			return
		}
		denied := answer.Of(p).NotFoundBefore(x)
		if denied == nil {
			return
		}
		p.Applied()
		if rule.CallSucceeded(p) {
			p.Report(p.Place.At(p.Answer.Payload.Pointer),
				"the message to task "+analysis.QuoteText(x.Call.TaskID)+" is accepted, and the task was reported as not found at "+
					denied.Place.String(),
				"expected TaskNotFoundError (-32001)")
		}
	},
}

var reqMessageIDReuse = &analysis.Rule{
	ID:     "req-message-id-reuse",
	Title:  "message id used for another message",
	Level:  analysis.Should,
	Needs:  []*analysis.Tracker{message.Tracker},
	Cites:  rule.Cite("6.4", a2a.V0_2, a2a.V0_3).And("4.1.4", a2a.V1_0),
	Stands: "0.2.6:types:368 0.3.0:types:714 1.0.1:proto:261",
	Doc: `An agent may treat a message with a known id as a retry, and answer as it did before. Then a different
message with that id is never read.`,
	Fix: `Create a fresh id for every message, such as a UUID, and reuse it only to send the same message again. A
counter that restarts with the process is not enough.`,
	Silent: `The same role, text, bytes, data and files again, even if ids, metadata, media types and URL queries
differ; messages of another client, with other credentials or for another tenant.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !x.Call.Operation.Sends() || x.Call.MessageID == "" {
			return
		}
		p.Applied()
		if earlier, ok := message.Of(p).Other(x); ok {
			p.Report(messagePlace(p, "messageId"),
				"messageId "+analysis.QuoteText(x.Call.MessageID)+" was used for another message, at "+earlier.String(),
				"expected a unique id")
		}
	},
}
