package auth

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/stream"
	"a2atap/proxy/a2a"
)

// Tasks is the family of rules about tasks that wait for an authorization.
var Tasks = rule.Family{
	Name:     "taskauth",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("7.6.1", a2a.V1_0),
}.Of(
	authRequiredHasMessage,
	authRequiredHasMessage0x,
	authRequiredUsesTask,
	authRequiredStreamKept,
)

var authRequiredHasMessage = &analysis.Rule{
	ID:     "auth-required-has-message",
	Title:  "task waits for an authorization without saying which one",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	On:     analysis.StatusSeen,
	Stands: "1.0.1:1927",
	Doc: `The task waits until someone authorizes something. The status message is where the agent says what, by whom
and how. Without it the client knows only that nothing continues, and the task waits forever.`,
	Fix: `Put a message into the status: what has to be authorized, and where (a URL, a scheme, a scope).`,
	Silent: `The finding is a warning if the exchange uses an extension, in which both sides may have agreed on
another form. Only the first such status of an exchange is reported.`,
	Check: checkAuthMessage,
}

var authRequiredHasMessage0x = &analysis.Rule{
	ID:     "auth-required-has-message-0x",
	Title:  "task waits for an authorization without saying which one",
	Level:  analysis.Should,
	Once:   analysis.PerExchange,
	On:     analysis.StatusSeen,
	Cites:  rule.Cite("4.5", a2a.V0_2, a2a.V0_3),
	Stands: "0.2.6:113 0.3.0:260",
	Doc: `The task waits for further credentials. The status message is where the agent says which. Without it the
client knows only that nothing continues, and the task waits forever.`,
	Fix:    `Put a message into the status: which credentials are needed, and how to get them.`,
	Silent: `Only the first such status of an exchange is reported.`,
	Check:  checkAuthMessage,
}

func checkAuthMessage(p *analysis.Pass) {
	status := a2a.Status{Value: p.Entity.Value}
	if status.State() != a2a.AuthRequired {
		return
	}
	p.Applied()
	if message := status.Message(); message.Exists() && !message.IsNull() || p.Entity.Has("update") {
		return
	}
	worst := analysis.Error
	if fields := p.Exchange.Request.Fields; fields.Has("A2A-Extensions") || fields.Has("X-A2A-Extensions") {
		worst = analysis.Warning
	}
	p.Report(p.Here(), fmt.Sprintf("the state is %s without a message", analysis.QuoteText(status.StateText())),
		"expected a message that says what to authorize", analysis.AtMost(worst))
}

var authRequiredUsesTask = &analysis.Rule{
	ID:     "auth-required-uses-task",
	Title:  "request for an authorization without a task",
	Level:  analysis.Must,
	On:     analysis.UpdateSeen | analysis.SnapshotSeen,
	Covers: []string{"event-ids", "task-id-present"},
	Stands: "1.0.1:1925",
	Doc: `An agent that needs an authorization keeps a task for it: the client authorizes it, and then polls that task
or sends it a message. If the status names no task, the client cannot come back to it.`,
	Fix:    `Name the task in every status update (taskId), and give every Task its id.`,
	Silent: `Updates and tasks in other states, which other rules cover.`,
	Check: func(p *analysis.Pass) {
		if (a2a.Status{Value: p.Entity.Get("status")}).State() != a2a.AuthRequired {
			return
		}
		p.Applied()
		name := "taskId"
		if p.Kind == analysis.SnapshotSeen {
			name = "id"
		}
		if id := p.Entity.Get(name); id.Text() == "" {
			p.Report(p.Here(),
				fmt.Sprintf("%s waits for an authorization, and its %s is %s", p.Entity.Type, name, analysis.Quote(id)),
				"expected the id of the task")
		}
	},
}

var authRequiredStreamKept = &analysis.Rule{
	ID:       "auth-required-stream-kept",
	Title:    "stream closed while the task waits for an authorization",
	Category: analysis.Streaming,
	Level:    analysis.Should,
	On:       analysis.EventSeen | analysis.StreamEnded,
	Needs:    []*analysis.Tracker{stream.Tracker},
	Bindings: rule.OnCall,
	Stands:   "1.0.1:1931",
	Doc: `A task that waits for an authorization continues once it is granted, without the client. On an open stream
the client sees the task continue; without one it has to poll.`,
	Fix: `Keep the stream open in this state, or make sure that clients can subscribe to the task again.`,
	Silent: `Streams that broke, that the client left, or that have a gap. The finding is only a note, since another
section lets agents close the stream here.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if s.State != a2a.AuthRequired || s.Gap {
			return
		}
		if p.Kind == analysis.EventSeen { // it went on
			p.Applied()
			return
		}
		if !p.End.Clean {
			return
		}
		p.Report(p.Place, "the stream ends after the state AUTH_REQUIRED",
			"expected it to stay open until the authorization is granted", analysis.AtMost(analysis.Note))
	},
}
