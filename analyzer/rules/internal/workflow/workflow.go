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
	Title:  "task is completed before another agent has answered a request made for it",
	Level:  analysis.Advice,
	Side:   a2a.Agent,
	On:     analysis.CalleeAwaited,
	Stands: "0.1.0:463 0.2.6:types:324 0.3.0:types:657 1.0.1:proto:194",
	Doc: `An agent called another one for something that its task needs, and completed the task before there was an
answer. No one looks at a completed task again: the other agent's answer never reaches a user.`,
	Fix: `Wait for all calls that the task needs before you complete it. For other calls use a non-blocking send, with
returnImmediately (before 1.0 blocking: false), or a push config.`,
	Silent: `Calls whose cause is only likely; sends that do not wait for an answer, or have a push config; calls that
the agent gave up, and those that never ended; the same message to several agents, once one of them has answered it;
answers that were in transit; other ends than completed, and answers that are a Message; recordings with gaps.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if c := delegation.Of(p); c.Broken {
			p.Report(p.Place,
				fmt.Sprintf("%s completed the task before exchange %d was over, a request made for it to %s (%s)",
					analysis.Clip(c.Link.Client), c.Exchange, analysis.Clip(c.Link.Agent), c.By),
				"expected the task to stay active until then")
		}
	},
}

var workflowFailureHidden = &analysis.Rule{
	ID:     "workflow-failure-hidden",
	Title:  "task is completed and does not mention that another agent failed",
	Level:  analysis.Advice,
	Side:   a2a.Agent,
	On:     analysis.CalleeFailed,
	Stands: "0.1.0:465 0.2.6:types:326 0.3.0:types:661 1.0.1:proto:196",
	Doc: `An agent called another one, the call failed, and no later call succeeded. Its own task is completed anyway,
and shows nothing that it did not show before: neither a person nor a program can know that something is missing.`,
	Fix: `Say in the task's status message or in an artifact what could not be done. If the task is useless without
it, let it fail.`,
	Silent: `Tasks that show any new text, data, file or metadata since the call, since that may be about the failure;
output of agents that did not fail is not new. Failures that were followed by a successful call of the agent, or by one
that was not seen to fail; messages that another agent also received and handled; calls whose cause is only likely;
tasks with a push config; other ends than completed; recordings with gaps.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if c := delegation.Of(p); c.Broken {
			p.Report(p.Place,
				fmt.Sprintf("%s completed the task and shows nothing new since exchange %d, a request made for it to %s (%s) "+
					"which failed with %s",
					analysis.Clip(c.Link.Client), c.Exchange, analysis.Clip(c.Link.Agent), c.By, c.Failure),
				"expected a task that fails or reports the failure")
		}
	},
}

var workflowOrphanTask = &analysis.Rule{
	ID:     "workflow-orphan-task",
	Title:  "task still active after the task that needed it has ended",
	Level:  analysis.Advice,
	Side:   a2a.Client,
	On:     analysis.CalleeLeft,
	Stands: "0.1.0:461 0.2.6:types:322 0.3.0:types:653 1.0.1:proto:192",
	Doc: `An agent created a task at another agent for its own task. Its own task is over, the other was last seen
active, and no one asked for it since. The other task costs time and money, and its result reaches no one.`,
	Fix: `Poll the task or subscribe to it until it has ended, set a push config, or cancel it when it is no longer
needed.`,
	Silent: `Tasks that anyone has named since, or requested in a list, or that a notification reported; tasks with a
push config; tasks that wait for input or credentials; calls whose cause is only likely; recordings that end less than
5 seconds later, or have no times; recordings with gaps.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if c := delegation.Of(p); c.Broken {
			p.Report(p.Place,
				fmt.Sprintf("task %s is %s, and no one asked for it again in %s: %s, which had started it (%s), was done at %s",
					analysis.QuoteText(p.Task.TaskID), analysis.QuoteText(p.Task.Spelling),
					p.At.Sub(p.Task.At).Round(100*time.Millisecond), analysis.Clip(c.Link.Client), c.By, c.Ended),
				"expected someone to follow or cancel it")
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
	Doc: `An agent received a call with a traceparent, and in the meantime sent a message to another agent without
one. The trace of the user's request ends at this agent: the work of the others appears as separate traces.`,
	Fix: `Send the trace id that you received, with a new span id, in the traceparent of each call that you make for a
request. The OpenTelemetry instrumentation of your HTTP client does so.`,
	Silent: `Agents with any call that carries trace context, in traceparent, in a header of another tracing system,
or in the metadata: they decide what to trace. Clients that are identified only by their User-Agent; calls that an
agent makes while it answers no one, or while any call in progress has no traceparent; fetches of cards; recordings
that lack headers or exchanges. The finding is a note, reported once per agent when the recording ends.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		t := delegation.TraceOf(p)
		p.Report(p.Place,
			fmt.Sprintf("%s received a traceparent with exchange %d, and sent %s without one while it answered",
				analysis.Clip(p.Exchange.Link.Client), t.Received, analysis.Plural(t.Calls, "message")),
			"expected the trace id that it received", analysis.AtMost(analysis.Note))
	},
}
