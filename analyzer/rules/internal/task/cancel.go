package task

import (
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/answer"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Cancel is the family of rules about the cancellation of a task.
var Cancel = rule.Family{
	Name:     "cancel",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	On:       analysis.TaskSeen,
	Bindings: rule.OnCall,
}.Of(
	stateCancelTerminal,
	stateCancelTerminalCode,
	stateCancelChangesTerminal,
	stateCancelWithoutEffect,
	cancelMetadataLost,
)

var stateCancelTerminal = &analysis.Rule{
	ID:     "state-cancel-terminal",
	Title:  "cancellation of a finished task is not refused",
	Level:  analysis.Must,
	If:     analysis.OfTask,
	Needs:  []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:  rule.Cite("8.2", rule.Before1...).And("3.1.5", a2a.V1_0),
	Stands: "0.1.0:1027 0.2.6:975 0.3.0:1170 1.0.1:278",
	Doc: `A task that is completed, failed or rejected cannot be canceled, and the agent has to answer with an error.
A client that gets the task back instead believes that the cancellation worked, and may undo work that was already
done.`,
	Fix: `Answer -32002, TaskNotCancelableError, when the task has ended.`,
	Silent: `Tasks that are already canceled, where success is right; answers that show another state, which other
rules check; tasks whose end was not fully delivered before the request began; before 0.2.4, tasks that have received
a message since. Versions before 1.0 define the error but not when to send it: there the finding is a warning.`,
	Check: func(p *analysis.Pass) {
		ended, worst := cancels(p)
		if ended == nil || p.Task.TaskID != ended.TaskID {
			return
		}
		p.Applied()
		if now := p.Task.State; now != ended.State && now != a2a.Canceled && now.Known() {
			return
		}
		p.Report(p.Task.StatePlace(),
			fmt.Sprintf("task %s ended as %s at %s, and its cancellation succeeds", analysis.QuoteText(ended.TaskID),
				analysis.QuoteText(ended.Spelling), ended.StatePlace()),
			"expected TaskNotCancelableError (-32002)", analysis.AtMost(worst))
	},
}

// cancels returns how the task had ended that is being canceled, unless it was canceled before, and how bad it is to go
// along with that.
func cancels(p *analysis.Pass) (ended *analysis.TaskObservation, worst analysis.Severity) {
	if p.Exchange.Call.Operation != a2a.CancelTask {
		return nil, 0
	}
	ended = task.Of(p).EndedBefore(p.Exchange)
	if ended == nil || ended.State == a2a.Canceled || !rule.StillEnded(p, task.Of(p).Named(p.Exchange)) {
		return nil, 0
	}
	if p.Dialects == a2a.Of(a2a.V1_0) {
		return ended, analysis.Error
	}
	return ended, analysis.Warning
}

var stateCancelTerminalCode = &analysis.Rule{
	ID:       "state-cancel-terminal-code",
	Title:    "cancellation of a finished task refused with the wrong error",
	Category: analysis.ErrorHandling,
	Level:    analysis.Must,
	On:       analysis.AnswerSeen,
	If:       analysis.OfTask,
	Needs:    []*analysis.Tracker{answer.Tracker, card.Tracker, task.Tracker},
	Cites:    rule.Cite("8.2", rule.Before1...).And("5.4", a2a.V1_0),
	Covers:   rule.CodeRules,
	Stands:   "0.1.0:1027 0.2.6:975 0.3.0:1170 1.0.1:1178",
	Doc: `A cancellation of a task that is completed, failed or rejected is answered with TaskNotCancelableError
(-32002). The error tells the client that it came too late. With any other error the client tries again, or reports a
failure that did not happen.`,
	Fix: `Answer -32002 with the reason TASK_NOT_CANCELABLE when the task has ended.`,
	Silent: `TaskNotFoundError (the task may have been removed); tasks that are already canceled; refusals for another
reason (credentials, rate, version, extensions); errors with an agent-specific code that do not mention the task's
state; HTTP+JSON errors that do not say which they are; tasks whose end was not fully delivered before the request
began; before 0.2.4, tasks that have received a message since. If the agent answers that it does not support
cancellation at all, the finding is a note, unless the agent has canceled another task before. Before 1.0 the finding
is a warning.`,
	Check: func(p *analysis.Pass) {
		ended, worst := cancels(p)
		if ended == nil || !refused(p, a2a.MethodNotFound) {
			return
		}
		p.Applied()
		failure := p.Answer.Err
		switch failure.Name {
		case a2a.TaskNotCancelable, a2a.TaskNotFound, a2a.InvalidTaskState:
			return
		case a2a.UnsupportedOperation, a2a.MethodNotFound:
			if !answer.Of(p).Cancels(p.Exchange) {
				worst = analysis.Note
			}
		}
		p.Report(p.Place.At(failure.Pointer),
			fmt.Sprintf("task %s ended as %s at %s, and the refusal is %s", analysis.QuoteText(ended.TaskID),
				analysis.QuoteText(ended.Spelling), ended.StatePlace(), failure),
			"expected TaskNotCancelableError (-32002)", analysis.AtMost(worst))
	},
}

var stateCancelChangesTerminal = &analysis.Rule{
	ID:       "state-cancel-changes-terminal",
	Title:    "finished task becomes canceled",
	Level:    analysis.Must,
	Once:     analysis.PerExchange,
	Bindings: rule.OnAll,
	Needs:    []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:    rule.Cite("7.4", rule.Before1...).And("3.1.5", a2a.V1_0),
	Covers: []string{
		"state-cancel-terminal", "state-terminal-immutable", "state-terminal-immutable-early",
		"state-final-state-agrees",
	},
	Stands: "0.1.0:948 0.2.6:666 0.3.0:875 1.0.1:278",
	Doc: `A completed, failed or rejected task became canceled after a client asked for it. Clients that saw the first
outcome have acted on it; now the record says that nothing was delivered.`,
	Fix: `Check the state of the task before you cancel it, in the same transaction, and answer -32002 if it has ended.`,
	Silent: `Tasks whose end was not fully delivered before the cancellation began, and observations that overlap it;
before 0.2.4, tasks that have received a message since; there the finding is a warning.`,
	Check: func(p *analysis.Pass) {
		now := p.Task
		known := task.Of(p).Get(p.Exchange, now.TaskID)
		if known == nil || known.Terminal == nil || known.Terminal.State == a2a.Canceled || !now.State.Known() {
			return
		}
		cancellation := known.CanceledLate(p.Exchange)
		if cancellation == nil || !rule.StillEnded(p, known) {
			return
		}
		p.Applied()
		if now.State != a2a.Canceled {
			return
		}
		worst := max(rule.RestartSeverity(p), analysis.Warning)
		before := known.Terminal
		p.Report(now.StatePlace(),
			fmt.Sprintf("task %s is %s since the cancellation at %s, and had ended as %s at %s", analysis.QuoteText(now.TaskID),
				analysis.QuoteText(now.Spelling),
				cancellation.Place, analysis.QuoteText(before.Spelling), before.StatePlace()),
			"expected TaskNotCancelableError (-32002) and the state it had", analysis.AtMost(worst))
	},
}

var stateCancelWithoutEffect = &analysis.Rule{
	ID:     "state-cancel-without-effect",
	Title:  "cancellation succeeds, and the task is not canceled",
	Level:  analysis.Advice,
	On:     analysis.CancelSettled,
	Needs:  []*analysis.Tracker{task.Tracker},
	Cites:  rule.Cite("7.4", rule.Before1...).And("3.1.5", a2a.V1_0),
	Stands: "0.1.0:951 0.2.6:666 0.3.0:875 1.0.1:274",
	Doc: `The agent answered a cancellation with a task that is not canceled, and the task was never seen canceled
later. No version promises that a cancellation takes effect. But a client that gets a result assumes that it did,
while the work continues and costs money.`,
	Fix: `Cancel the task before you answer, and answer with the canceled task. If it cannot be canceled now, answer
TaskNotCancelableError (-32002).`,
	Silent: `Tasks that were seen canceled, failed or rejected at any later time, since an agent may cancel after it
has answered; answers with a task that has ended by itself; tasks that completed within 2 seconds of the answer,
unless a call that began later shows it; tasks that had ended before; tasks mentioned in a notification that may come
from another agent; a task that was canceled and is active again, which state-terminal-immutable reports; recordings
with gaps. The finding is reported when the recording ends.`,
	Check: func(p *analysis.Pass) {
		c := task.CancelOf(p)
		p.Applied()
		if !c.Answer.State.Known() || c.Answer.State.Terminal() || p.Task != nil && !completedLater(c, p.Task) {
			return
		}
		p.Report(p.Place,
			fmt.Sprintf("the cancellation of task %s is answered with %s%s", analysis.QuoteText(c.Answer.TaskID),
				analysis.QuoteText(c.Answer.Spelling), cancelAftermath(c)),
			"expected the canceled task, or TaskNotCancelableError (-32002)")
	},
}

// completedLater reports whether a task has certainly worked on after the answer to a cancellation, and completed.
func completedLater(c *task.Cancel, ended *analysis.TaskObservation) bool {
	if ended.State != a2a.Completed {
		return false
	}
	return c.After != nil || !c.Answer.At.IsZero() && ended.At.Sub(c.Answer.At) > cancelTakes
}

const cancelTakes = 2 * time.Second // that an answer to a cancellation may be older than its arrival

// cancelAftermath describes the observations of a task around a cancellation that did not cancel it.
func cancelAftermath(c *task.Cancel) string {
	var b strings.Builder
	if before := c.Before; before != nil && before.State == c.Answer.State {
		fmt.Fprintf(&b, ", as at %s", before.StatePlace())
		if !before.Stamp.IsZero() && before.Stamp.Equal(c.Answer.Stamp) {
			b.WriteString(" with the same timestamp")
		}
	}
	if after := c.After; after != nil {
		fmt.Fprintf(&b, ", and the task is %s at %s", analysis.QuoteText(after.Spelling), after.StatePlace())
	}
	return b.String()
}

var cancelMetadataLost = &analysis.Rule{
	ID:     "cancel-metadata-lost",
	Title:  "metadata of a cancellation is missing from the canceled task",
	Level:  analysis.Advice,
	On:     analysis.CancelSettled,
	Needs:  []*analysis.Tracker{task.Tracker},
	Cites:  rule.Cite("7.4.1", rule.Before1...).And("3.1.5", a2a.V1_0),
	Stands: "0.1.0:963 0.2.6:types:257 0.3.0:types:569 1.0.1:proto:721",
	Doc: `The metadata of the cancellation named who canceled the task and why, and the canceled task does not show
it. No version requires an agent to keep it. But people who look at the task later expect to find it there, and the
conformance suites of the SDKs check for it.`,
	Fix: `Copy the metadata of the request into the metadata of the task when you cancel it.`,
	Silent: `Members that an answer or event about the task shows anywhere at any later time, by name or by text;
members for extensions, whose names are URIs, and for tracing; tasks whose metadata is not an object; cancellations
that fail or do not cancel the task; recordings with gaps. It is reported once per agent, when the recording ends.`,
	Check: func(p *analysis.Pass) {
		c := task.CancelOf(p)
		if !c.Told || p.Task == nil || p.Task.State != a2a.Canceled {
			return
		}
		p.Applied()
		if len(c.Lost) == 0 || c.Again {
			return
		}
		names := make([]string, len(c.Lost))
		for i, name := range c.Lost {
			names[i] = analysis.QuoteText(name)
		}
		p.Report(c.Answer.Object,
			fmt.Sprintf("task %s shows nothing of %s in the metadata at %s", analysis.QuoteText(c.Answer.TaskID),
				strings.Join(names, ", "), c.Place),
			"expected the metadata of the cancellation with the task")
	},
}
