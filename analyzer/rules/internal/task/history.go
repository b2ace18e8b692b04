package task

import (
	"strconv"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// History is the family of rules about how much of a task's history is sent.
var History = rule.Family{
	Name:     "history",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	Once:     analysis.PerExchange,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("3.2.4", a2a.V1_0),
}.Of(
	historyMax,
	historyMax0x,
	historyZeroOmitted,
)

var historyMax = &analysis.Rule{
	ID:     "history-max",
	Title:  "more history than was asked for",
	Level:  analysis.Must,
	Stands: "1.0.1:471",
	Doc: `A client that limits the history has a reason: a small screen, a model with a small context window, a bill
per byte. The agent may send fewer messages than the limit, but never more.`,
	Fix: `Cut history to the newest historyLength messages in every answer: to a message, to GetTask and ListTasks,
and in every Task of a stream.`,
	Silent: `Requests without the limit, or with a limit that is not a whole number of 0 or more. In a list of tasks
the finding is a warning: only the schema's comments set the limit there.`,
	Check: func(p *analysis.Pass) {
		limit, ok := historyLimit(p)
		if !ok || limit < 0 {
			return
		}
		checkHistory(p, limit, analysis.AtMostIf(p.Answer.Payload.Kind == a2a.TaskListPayload, analysis.Warning))
	},
}

var historyMax0x = &analysis.Rule{
	ID:     "history-max-0x",
	Title:  "more history than was asked for, before 1.0",
	Level:  analysis.Should,
	Cites:  rule.Cite("7.3.1", rule.Before1...),
	Stands: "0.1.0:931 0.2.6:types:266 0.3.0:types:581",
	Doc: `A client that limits the history has a reason: a small screen, a model with a small context window, a bill
per byte. The agent answers with the newest messages, up to that number.`,
	Fix: `Cut history to the newest historyLength messages in the answers to a message and to tasks/get, and in each Task
of a stream.`,
	Silent: `A limit of zero, which before 1.0 means that the client asks for no history, and requests without the
limit.`,
	Check: func(p *analysis.Pass) {
		if limit, ok := historyLimit(p); ok && limit > 0 {
			checkHistory(p, limit)
		}
	},
}

var historyZeroOmitted = &analysis.Rule{
	ID:     "history-zero-omitted",
	Title:  "empty history although none was wanted",
	Level:  analysis.Should,
	Stands: "1.0.1:470",
	Doc: `With historyLength 0 the client asks for no history, and the agent leaves the member out. An empty list says
that the task has no history, and clients may believe it.`,
	Fix:    `Leave history out of tasks when historyLength is 0.`,
	Silent: `null. A history with messages breaks a stricter rule, which reports it.`,
	Check: func(p *analysis.Pass) {
		limit, ok := historyLimit(p)
		if !ok || limit != 0 {
			return
		}
		tasksOf(p, func(t a2a.Task) bool {
			history := t.Get("history")
			p.Applied()
			if history.Kind() != a2a.Array || history.Len() > 0 {
				return true
			}
			p.Report(p.Place.At(history.Pointer()), "history is [] with historyLength 0", "expected no such member")
			return false
		})
	},
}

// historyLimit returns how many messages of history a request wants at most, if the current observation answers it.
func historyLimit(p *analysis.Pass) (int64, bool) {
	if p.Answer == nil || p.Answer.Err != nil {
		return 0, false
	}
	call := &p.Exchange.Call
	switch call.Operation {
	case a2a.SendMessage, a2a.SendStreamingMessage, a2a.GetTask:
	case a2a.ListTasks:
		if !p.Dialects.Has(a2a.V1_0) { // before that, no text defines a list
			return 0, false
		}
	default:
		return 0, false
	}
	if v := historyLength(call); rule.Given(v) {
		return wholeNumber(call, v)
	}
	return queryNumber(call, "historyLength")
}

// tasksOf calls f for the task of an answer, or for each of a list, until f returns false.
func tasksOf(p *analysis.Pass, f func(t a2a.Task) bool) {
	switch payload := &p.Answer.Payload; payload.Kind {
	case a2a.TaskPayload:
		f(a2a.Task{Value: payload.Value})
	case a2a.TaskListPayload:
		for t := range payload.Tasks() {
			if t.Kind() == a2a.Object && !f(t) {
				return
			}
		}
	}
}

func checkHistory(p *analysis.Pass, limit int64, options ...analysis.Option) {
	tasksOf(p, func(t a2a.Task) bool {
		p.Applied()
		history := t.Get("history")
		n := history.Len()
		if history.Kind() != a2a.Array || int64(n) <= limit {
			return true
		}
		p.Report(p.Place.At(history.Pointer()), "history has "+analysis.Plural(n, "message"),
			"expected at most "+strconv.FormatInt(limit, 10)+", as historyLength asks", options...)
		return false
	})
}
