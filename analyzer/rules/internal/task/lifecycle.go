package task

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/answer"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/stream"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Lifecycle is the family of rules about the states of a task.
var Lifecycle = rule.Family{
	Name:     "lifecycle",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	On:       analysis.TaskSeen,
	Bindings: rule.OnCall,
}.Of(
	stateTerminalImmutable,
	stateTerminalImmutableEarly,
	stateFinalStateAgrees,
	stateStatusRegressTime,
	stateUnknownTaskKnown,
	stateLookupDiffers,
)

var stateTerminalImmutable = &analysis.Rule{
	ID:       "state-terminal-immutable",
	Title:    "another state after a terminal state",
	Level:    analysis.Must,
	Once:     analysis.PerExchange,
	Needs:    []*analysis.Tracker{card.Tracker, stream.Tracker, task.Tracker},
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.1", a2a.V0_2, a2a.V0_3).And("4.1.3", a2a.V1_0),
	Stands:   "0.2.6:290 0.3.0:499 1.0.1:proto:194",
	Doc: `A task that is completed, failed, canceled or rejected stays in that state. Clients act on the terminal
state (they pay, they answer a user, they stop listening), and nothing tells them that it has changed.`,
	Fix: `Send the terminal state last. Start a new task in the same context for more work on the same subject.`,
	Silent: `Observations that overlap in time, whose order is unknown; the state unknown; notifications and replayed
events of a 0.2 or 0.3 resubscription, which may be late, unless they show another terminal state; 0.1 and versions
before 0.2.4, which allowed a restart. If no card shows whether the agent may be that old, the finding is a warning.`,
	Check: func(p *analysis.Pass) {
		before, worst, judged := terminalBefore(p)
		if !judged || worst == analysis.Note || rule.Reopens(p) {
			return
		}
		p.Applied()
		if p.Task.State != before.State {
			reportRestart(p, before, worst)
		}
	},
}

// terminalBefore returns the terminal state of the task that is certainly older than the current state, and how bad
// another state can be: a note where the version allows a restart.
func terminalBefore(p *analysis.Pass) (before *analysis.TaskObservation, worst analysis.Severity, judged bool) {
	now := p.Task
	known := task.Of(p).Get(p.Exchange, now.TaskID)
	if known == nil || known.Terminal == nil || !now.State.Known() {
		return nil, 0, false
	}
	if now.Late && !now.State.Terminal() || !now.After(known.Terminal, p.Exchange) {
		return nil, 0, false
	}
	return known.Terminal, rule.RestartSeverity(p), true
}

func reportRestart(p *analysis.Pass, before *analysis.TaskObservation, worst analysis.Severity) {
	now, at := p.Task, ""
	if before.Exchange != now.Exchange {
		at = " at " + before.StatePlace().String()
	}
	p.Report(now.StatePlace(),
		fmt.Sprintf("task %s is %s after terminal state %s%s", analysis.QuoteText(now.TaskID),
			analysis.QuoteText(now.Spelling), analysis.QuoteText(before.Spelling), at),
		"expected no other state", analysis.AtMost(worst))
}

var stateTerminalImmutableEarly = &analysis.Rule{
	ID:       "state-terminal-immutable-early",
	Title:    "ended task is resumed",
	Level:    analysis.Advice,
	Once:     analysis.PerExchange,
	Needs:    []*analysis.Tracker{card.Tracker, task.Tracker},
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.3", a2a.V0_1, a2a.V0_2),
	Stands:   "0.1.0:463 0.2.6:types:320",
	Doc: `Before 0.2.4 a client may resume a task that has ended. Later versions forbid it, so clients written for
them stop watching the task when it ends, and miss what follows.`,
	Fix: `Start a new task for more work even now: it is right in every version.`,
	Silent: `Versions since 0.2.4, which state-terminal-immutable checks; observations that overlap in time; the state
unknown; notifications and replayed events, unless they show another terminal state.`,
	Check: func(p *analysis.Pass) {
		before, worst, judged := terminalBefore(p)
		if !judged || worst != analysis.Note {
			return
		}
		p.Applied()
		if p.Task.State != before.State {
			reportRestart(p, before, worst)
		}
	},
}

var stateFinalStateAgrees = &analysis.Rule{
	ID:     "state-final-state-agrees",
	Title:  "polled task contradicts the end that was announced",
	Level:  analysis.Must,
	If:     analysis.OfTask,
	Needs:  []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:  rule.Cite("6.1", a2a.V0_2, a2a.V0_3).And("3.1.3", a2a.V1_0),
	Covers: []string{"state-terminal-immutable"},
	Stands: "0.2.6:290 0.3.0:499 1.0.1:216",
	Doc: `A stream or a notification reported that the task had ended, and a client that asked for the task later got
another state. Clients use the stream to stop waiting and the poll to fetch the result, so one of the two misled them.`,
	Fix: `Store the terminal state before you announce it, and read the same store for every operation that returns a
task.`,
	Silent: `Polls that began before the announcement was delivered; the state unknown; versions before 0.2.4, which
allowed a restart. If no card shows whether the agent may be that old, the finding is a warning.`,
	Check: func(p *analysis.Pass) {
		before, worst, judged := terminalBefore(p)
		if !judged || worst == analysis.Note || !before.Event || p.Exchange.Call.Operation != a2a.GetTask {
			return
		}
		p.Applied()
		now := p.Task
		if now.State != before.State {
			p.Report(now.StatePlace(),
				fmt.Sprintf("task %s is %s, and %s announced %s", analysis.QuoteText(now.TaskID), analysis.QuoteText(now.Spelling),
					before.StatePlace(), analysis.QuoteText(before.Spelling)),
				"expected the state that was announced as terminal", analysis.AtMost(worst))
		}
	},
}

var stateStatusRegressTime = &analysis.Rule{
	ID:     "state-status-regress-time",
	Title:  "status is older than the one before it",
	Level:  analysis.Advice,
	Once:   analysis.PerExchange,
	On:     analysis.EventSeen,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Cites:  rule.Cite("6.2", rule.Before1...).And("3.5.2", a2a.V1_0),
	Stands: "0.1.0:442 0.2.6:types:203 0.3.0:types:506 1.0.1:683",
	Doc: `The timestamps of a task's states go backwards within one stream. Events are sent in the order in which they
happened, so either the order or the clock is wrong. A client that sorts by time keeps the wrong state as the newest.`,
	Fix: `Take the timestamp when the state changes, from one clock, and send events in that order.`,
	Silent: `Timestamps that cannot be read or have no time zone, differences smaller than the coarser of the two
precisions, replays of a 0.x resubscription, and other tasks. Only the first such event is reported.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if s.Stamp == nil || p.Answer == nil ||
			p.Exchange.Call.Operation == a2a.SubscribeToTask && !p.Dialects.Has(a2a.V1_0) {
			return
		}
		payload := p.Answer.Payload
		task, status := "", a2a.Status{}
		switch payload.Kind {
		case a2a.TaskPayload:
			t := a2a.Task{Value: payload.Value}
			task, status = t.ID(), t.Status()
		case a2a.StatusPayload:
			u := a2a.StatusUpdate{Value: payload.Value}
			task, status = u.TaskID(), u.Status()
		}
		text := status.Get("timestamp").Text()
		at, unit, ok := stream.ReadTimestamp(text)
		if !ok || task != s.TaskID {
			return
		}
		p.Applied()
		if s.Stamp.Earlier(at, unit) {
			p.Report(p.Place.At(a2a.Ptr(payload.Pointer, "status", "timestamp")),
				fmt.Sprintf("timestamp %s is before %s of event %d", analysis.QuoteText(text), analysis.QuoteText(s.Stamp.Text),
					s.Stamp.K), "expected timestamps that do not go backwards")
		}
	},
}

var stateUnknownTaskKnown = &analysis.Rule{
	ID:     "state-unknown-task-known",
	Title:  "task is not found shortly after it was shown",
	Level:  analysis.Advice,
	On:     analysis.AnswerSeen | analysis.EventSeen | analysis.TaskMissed,
	Needs:  []*analysis.Tracker{answer.Tracker},
	Cites:  rule.Cite("8.2", rule.Before1...).And("3.1.3", a2a.V1_0),
	Stands: "0.1.0:1026 0.2.6:974 0.3.0:1169 1.0.1:230",
	Doc: `The agent showed this task to the same client less than a minute ago, and now does not find it. The agent
may remove a task at any time. More often, the agent runs in several processes that do not share their tasks.`,
	Fix: `Keep tasks in a store that all processes of the agent share, and keep ended tasks for a while: clients fetch
results late.`,
	Silent: `Other clients and other credentials; calls that overlap the last answer with the task; recordings without
times; push configurations; and messages to, cancellations of and subscriptions to a task that has ended, where this
error is an accepted answer. Tasks that another call finds, which state-lookup-differs reports. The finding is
reported when the recording ends.`,
	Check: func(p *analysis.Pass) {
		if p.Kind != analysis.TaskMissed {
			lookedUp(p)
			return
		}
		if missed := answer.MissedOf(p); missed.Found == nil {
			p.Report(p.Place, fmt.Sprintf("task %s is not found, and was shown at %s", analysis.QuoteText(missed.Shown.TaskID),
				missed.Shown.Object), "expected to find it again")
		}
	},
}

var stateLookupDiffers = &analysis.Rule{
	ID:     "state-lookup-differs",
	Title:  "task is not found by one call and found by another",
	Level:  analysis.Advice,
	On:     analysis.AnswerSeen | analysis.EventSeen | analysis.TaskMissed,
	Needs:  []*analysis.Tracker{answer.Tracker},
	Cites:  rule.Cite("8.2", rule.Before1...).And("3.1.3", a2a.V1_0),
	Stands: "0.1.0:1026 0.2.6:974 0.3.0:1169 1.0.1:230",
	Doc: `One call reports that the task does not exist, and another call finds it. The task exists, and the two calls
look in different places: different operations, different routes, or different processes.`,
	Fix: `Compare the two calls. If only one operation fails, make it look tasks up as GetTask does. If the same
operation fails now and then, make all processes of the agent share their tasks, and store a task before you show it.`,
	Silent: `The same cases as for state-unknown-task-known, except tasks that another call finds. The finding is reported
when the recording ends.`,
	Check: func(p *analysis.Pass) {
		if p.Kind != analysis.TaskMissed {
			lookedUp(p)
			return
		}
		missed := answer.MissedOf(p)
		if missed.Found == nil {
			return
		}
		p.Report(p.Place, fmt.Sprintf("%s does not find task %s, and %s found it at %s", p.Exchange.Call.Operation,
			analysis.QuoteText(missed.Shown.TaskID), missed.Found.Operation, missed.Found.Object),
			"expected every call to find it")
	},
}

// lookedUp notes that a call has asked for a task that was shown shortly before.
func lookedUp(p *analysis.Pass) {
	if p.Answer != nil && (p.Kind != analysis.EventSeen || rule.OpensStream(p)) &&
		answer.Of(p).ShownShortlyBefore(p.Exchange) != nil {
		p.Applied()
	}
}
