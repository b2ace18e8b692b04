package workflow

import (
	"fmt"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/delegation"
	"a2atap/proxy/a2a"
)

// Workflows is the family of rules about requests on which several agents work.
var Workflows = rule.Family{
	Name:     "workflow",
	Category: analysis.Interop,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("6.3", rule.Before1...).And("4.1.3", a2a.V1_0), // where the states of a task are
	Needs:    []*analysis.Tracker{delegation.Tracker},
}.Of(
	workflowAnsweredEarly,
	workflowFailureHidden,
	workflowOrphanTask,
	workflowTraceDropped,
)

var workflowAnsweredEarly = &analysis.Rule{
	ID:     "workflow-answered-early",
	Title:  "task is completed before another agent has answered what was asked for it",
	Level:  analysis.Advice,
	Side:   a2a.Agent,
	On:     analysis.CalleeAwaited,
	Stands: "0.1.0:463 0.2.6:types:324 0.3.0:types:657 1.0.1:proto:194",
	Doc: `An agent asked another one for something that its task needs, and called the task completed before there was an
answer. Nobody looks at a completed task again: what the other agent answers then reaches no user.`,
	Fix: `Wait for all calls that the task needs before it is completed. What it does not need belongs in a send that does
not wait: returnImmediately (before 1.0 blocking: false), or a push config.`,
	Silent: `Calls of which it is only likely what they were made for; sends that want no answer at once, or have a push
config; calls that the agent gave up, and those that never ended; the same message to several agents, once one of them
has answered it; answers that were on their way; other ends than completed, and answers that are a Message; records from
which anything is missing.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if c := delegation.Of(p); c.Broken {
			p.Report(p.Place,
				fmt.Sprintf("%s completed the task before exchange %d was over, which it had asked of %s for it (%s)",
					analysis.Clip(c.Link.Client), c.Exchange, analysis.Clip(c.Link.Agent), c.By),
				"expected a task that is at work until then")
		}
	},
}

var workflowFailureHidden = &analysis.Rule{
	ID:     "workflow-failure-hidden",
	Title:  "task is completed and does not mention what another agent failed to do for it",
	Level:  analysis.Advice,
	Side:   a2a.Agent,
	On:     analysis.CalleeFailed,
	Stands: "0.1.0:465 0.2.6:types:326 0.3.0:types:661 1.0.1:proto:196",
	Doc: `An agent asked another one for something, that failed, and nothing that it asked later came out well. Its own
task is completed all the same, and shows nothing that it did not show before: neither a person nor a program can know
that something is missing.`,
	Fix: `Say in the task's status message or in an artifact what could not be done. If the task is nothing without it,
let it fail.`,
	Silent: `Tasks that say anything new since the call was made, be it text, data, a file or metadata: it may be about the
failure; what callees that did not fail have said is not new. Failures after which anything that the agent asked came
out well, or was not seen to fail; the same message that another agent did not fail at; calls of which it is only likely
what they were made for; tasks with a push config; other ends than completed; records from which anything is missing.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if c := delegation.Of(p); c.Broken {
			p.Report(p.Place,
				fmt.Sprintf("%s completed the task and says nothing new since exchange %d, which it had asked of %s for it (%s) and "+
					"which failed with %s",
					analysis.Clip(c.Link.Client), c.Exchange, analysis.Clip(c.Link.Agent), c.By, c.Failure),
				"expected a task that fails or says so")
		}
	},
}

var workflowOrphanTask = &analysis.Rule{
	ID:     "workflow-orphan-task",
	Title:  "task still at work after the task it was made for has ended",
	Level:  analysis.Advice,
	Side:   a2a.Client,
	On:     analysis.CalleeLeft,
	Stands: "0.1.0:461 0.2.6:types:322 0.3.0:types:653 1.0.1:proto:192",
	Doc: `An agent made a task at another one, for a task of its own. Its own is over, the other was last seen at work, and
nobody asked for it since. What it does costs time and money, and what comes of it reaches nobody.`,
	Fix: `Poll the task or subscribe to it until it has ended, set a push config, or cancel it when nobody needs it any
more.`,
	Silent: `Tasks that anybody has named since, or asked for in a list, or of which a notification told; tasks with a push
config; tasks that wait for input or credentials; calls of which it is only likely what they were made for; recordings
that end less than 5 seconds later, or have no times; records from which anything is missing.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if c := delegation.Of(p); c.Broken {
			p.Report(p.Place,
				fmt.Sprintf("task %s is %s, and nobody asked for it again in %s: %s, which had asked for it (%s), was done at %s",
					analysis.QuoteText(p.Task.TaskID), analysis.QuoteText(p.Task.Spelling),
					p.At.Sub(p.Task.At).Round(100*time.Millisecond), analysis.Clip(c.Link.Client), c.By, c.Ended),
				"expected somebody to follow or cancel it")
		}
	},
}

var workflowTraceDropped = &analysis.Rule{
	ID:     "workflow-trace-dropped",
	Title:  "agent does not pass on the traceparent that it received",
	Level:  analysis.Should,
	Side:   a2a.Client,
	On:     analysis.TraceDropped,
	Cites:  rule.Cite("enterprise guide §Tracing, Observability, and Monitoring", rule.Every...),
	Stands: "0.1.0:enterprise-ready:53 0.2.6:enterprise-ready:53 0.3.0:enterprise-ready:53 1.0.1:enterprise-ready:107",
	Doc: `An agent was answering a call with a traceparent, and sent a message to another agent without one. The trace of the
user's request ends at this agent: what the others do for it shows up as requests of their own.`,
	Fix: `Send the trace id that you received, with a new span id, in the traceparent of each call that you make for a request.
The instrumentation of OpenTelemetry for your HTTP client does it.`,
	Silent: `Agents of which any call carries trace context, in traceparent, in a header of another tracing system, or in the
metadata: they decide what to trace. Clients that are known by their User-Agent alone; calls that an agent makes while it
answers nobody, or while any call that it works on has no traceparent; fetches of cards; records from which headers or
exchanges are missing. It is a note, reported once for each agent when the recording ends.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		t := delegation.TraceOf(p)
		p.Report(p.Place,
			fmt.Sprintf("%s received a traceparent with exchange %d, and sent %s without one while it answered",
				analysis.Clip(p.Exchange.Link.Client), t.Received, analysis.Plural(t.Calls, "message")),
			"expected the trace id that it received", analysis.AtMost(analysis.Note))
	},
}
