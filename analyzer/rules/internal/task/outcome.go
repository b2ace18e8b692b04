package task

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/artifact"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Outcomes is the family of rules about waiting for the end of a task, and about the results of the task by then.
var Outcomes = rule.Family{
	Name:     "outcome",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	Bindings: rule.OnCall,
}.Of(
	stateBlocking,
	stateBlockingArtifacts,
	stateBlocking0x,
	stateInputIgnored,
	stateArtifactsAfterTerminal,
)

var stateBlocking = &analysis.Rule{
	ID:     "state-blocking",
	Title:  "send is answered while the task is still active",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("3.2.2", a2a.V1_0),
	Stands: "1.0.1:446",
	Doc: `Unless the client sets returnImmediately, a SendMessage is answered when the task has ended or waits for the
client. A client that relies on this takes the answer for the final result, and never looks at the task again.`,
	Fix: `Hold the answer until the task is completed, failed, canceled or rejected, or requires input or
authorization. Return at once only if configuration.returnImmediately is true.`,
	Silent: `Streams; answers that are a Message; clients that set the member "blocking" of the release candidate,
which had another default; requests where neither the A2A-Version header nor a card names version 1.0.`,
	Check: func(p *analysis.Pass) {
		if p.Answer.Payload.Kind != a2a.TaskPayload || !card.Of(p).Waits(p.Exchange) {
			return
		}
		t := a2a.Task{Value: p.Answer.Payload.Value}
		if !t.State().Known() {
			return
		}
		p.Applied()
		if t.State().Active() {
			p.Report(p.Place.At(a2a.Ptr(p.Answer.Payload.Pointer, "status", "state")),
				fmt.Sprintf("the task is %s, and the client did not ask to return immediately", analysis.QuoteText(t.StateText())),
				"expected a task that has ended or waits for the client")
		}
	},
}

var stateBlocking0x = &analysis.Rule{
	ID:     "state-blocking-0x",
	Title:  "send with blocking:true is answered while the task is still active",
	Level:  analysis.Advice,
	On:     analysis.AnswerSeen,
	Cites:  rule.Cite("7.1.1", a2a.V0_2, a2a.V0_3),
	Stands: "0.2.6:types:299 0.3.0:types:624",
	Doc: `The client asked to wait for the outcome and got a task that is still active. Agents may do so; a client
that does not expect it shows its user nothing.`,
	Fix: `Hold the answer until the task has ended or waits for the client. In a client, poll the task or subscribe to
it if it comes back active.`,
	Silent: `Streams, answers that are a Message, and requests that leave the choice to the agent.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		wait, _ := call.Params.Get("configuration").Get("blocking").Bool()
		if call.Operation != a2a.SendMessage || !wait || p.Answer.Payload.Kind != a2a.TaskPayload {
			return
		}
		t := a2a.Task{Value: p.Answer.Payload.Value}
		p.Applied()
		if t.State().Active() {
			p.Report(p.Place.At(a2a.Ptr(p.Answer.Payload.Pointer, "status", "state")),
				fmt.Sprintf("the task is %s, and the client asked to wait", analysis.QuoteText(t.StateText())),
				"expected a task that has ended or waits for the client")
		}
	},
}

var stateBlockingArtifacts = &analysis.Rule{
	ID:     "state-blocking-artifacts",
	Title:  "blocking send was answered without all artifacts",
	Level:  analysis.Must,
	On:     analysis.TaskSeen,
	If:     analysis.OfTask,
	Needs:  []*analysis.Tracker{artifact.Tracker},
	Cites:  rule.Cite("3.2.2", a2a.V1_0),
	Stands: "1.0.1:446",
	Doc: `A send that waits for the end of its task is answered with the task and everything it has produced. This
answer lacks an artifact that the agent shows when asked for the task afterwards. A client that does not ask again
loses the artifact.`,
	Fix: `Store the last artifact first, then make the task terminal, then build the answer from the stored task.`,
	Silent: `Clients that set returnImmediately or accept only some media types; other clients, credentials,
extensions and bindings; polls that overlap the send; artifacts without an id; tasks with more artifacts than a2atap
remembers.`,
	Check: func(p *analysis.Pass) {
		t, index := missingArtifact(p)
		if index == judgedNothing {
			return
		}
		p.Applied()
		if index < 0 {
			return
		}
		w := artifact.Of(p).Ended(p.Exchange, p.Task.TaskID).Awaited
		p.Report(w.Place.In("artifacts"),
			fmt.Sprintf("artifact %s is missing, and is present at %s",
				artifact.Name(a2a.Artifact{Value: t.Get("artifacts").Elem(index)}), p.Place.In("artifacts", fmt.Sprint(index))),
			"expected all artifacts of the task", w.About())
	},
}

const judgedNothing = -2

// missingArtifact returns the Task of a poll, and the index of its first artifact that the answer to the send that
// waited for it did not have; -1 if it had all, judgedNothing if they cannot be compared.
func missingArtifact(p *analysis.Pass) (t a2a.Task, index int) {
	t, ok := p.Snapshot()
	if !ok || p.Exchange.Call.Operation != a2a.GetTask {
		return t, judgedNothing
	}
	known := artifact.Of(p).Ended(p.Exchange, p.Task.TaskID)
	if !known.Awaited.Before(p.Exchange) || t.Get("artifacts").Kind() != a2a.Array {
		return t, judgedNothing
	}
	return t, known.Awaited.Lacks(t)
}

var stateArtifactsAfterTerminal = &analysis.Rule{
	ID:     "state-artifacts-after-terminal",
	Title:  "artifacts change after the task has ended",
	Level:  analysis.Should,
	On:     analysis.TaskSeen,
	Needs:  []*analysis.Tracker{artifact.Tracker, card.Tracker},
	Cites:  rule.Cite("life-of-a-task guide §Task Immutability", a2a.V0_2, a2a.V0_3, a2a.V1_0),
	Stands: "0.2.6:life-of-a-task:36 0.3.0:life-of-a-task:36 1.0.1:life-of-a-task:88",
	Doc: `A task that has ended does not change any more, and neither do its artifacts. Clients fetch the result once:
if it changes afterwards, early and late clients work with different results.`,
	Fix: `Make the task terminal after its last artifact is stored. Put improved results into a new task that refers
to the old one.`,
	Silent: `References to files, whose links may be signed again for each answer; media types and metadata; answers
that leave artifacts out, as sends, cancellations, lists and notifications may; answers to clients that accept only
some media types; other clients, credentials, extensions and bindings; answers that overlap; artifacts without an id;
tasks with more artifacts than a2atap remembers; versions before 0.2.4, which allowed a restart.`,
	Check: func(p *analysis.Pass) {
		t, ok := p.Snapshot()
		worst := rule.RestartSeverity(p)
		if !ok || worst == analysis.Note || t.Get("artifacts").Kind() != a2a.Array {
			return
		}
		known := artifact.Of(p).Ended(p.Exchange, p.Task.TaskID)
		if !known.Shown.Earlier(p.Exchange) {
			return
		}
		if _, index := missingArtifact(p); index >= 0 {
			return
		}
		p.Applied()
		at, seen := changedMember(p, known.Shown, t)
		if seen != "" {
			p.Report(at, fmt.Sprintf("%s, and at %s the task had ended too", seen, known.Shown.Place),
				"expected the same artifacts", analysis.AtMost(worst))
		}
	},
}

// changedMember returns the place and the description of the first difference between the artifacts of a Task and those
// that it showed before; seen is empty without a difference.
func changedMember(p *analysis.Pass, before *artifact.Set, t a2a.Task) (at analysis.Place, seen string) {
	n := 0
	for i, a := range t.Artifacts() {
		if !artifact.Identified(a) {
			return at, ""
		}
		content, ok := before.Of(a)
		at = p.Place.At(a2a.Ptr(p.Place.Pointer, "artifacts", i))
		switch {
		case !ok:
			return at, "artifact " + artifact.Name(a) + " is new"
		case content != digest.ContentOf(a.Parts()):
			return at, "artifact " + artifact.Name(a) + " has different contents"
		}
		n++
	}
	if n < before.Len() {
		return p.Place.In("artifacts"), fmt.Sprintf("%d of %d artifacts are present", n, before.Len())
	}
	return at, ""
}

var stateInputIgnored = &analysis.Rule{
	ID:     "state-input-ignored",
	Title:  "answer to a task's question is ignored",
	Level:  analysis.Advice,
	On:     analysis.AnswerSeen,
	If:     analysis.NamesTask,
	Needs:  []*analysis.Tracker{task.Tracker},
	Cites:  rule.Cite("6.3", a2a.V0_1).And("6.4", a2a.V0_2, a2a.V0_3).And("4.1.4", a2a.V1_0),
	Stands: "0.1.0:463 0.2.6:types:370 0.3.0:types:716 1.0.1:proto:265",
	Doc: `The task waited for input, the client sent a message to it, and the agent answered with the unchanged task:
it still waits, and its status has the same timestamp and text as before the message. The conversation is stuck.`,
	Fix: `Work on the message: move the task to another state, or ask again with a new status that has a new
timestamp.`,
	Silent: `Statuses without a timestamp; 1.0 clients that asked to return immediately, and 0.2 and 0.3 clients that
did not ask to wait, since the agent may read the message after it has answered; a message that was sent to the task
before (a retry); streams, and answers with a Message or another task; tasks whose question was not fully delivered
before the request began.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		asked := task.Of(p).ActiveBefore(x)
		if x.Call.Operation != a2a.SendMessage || asked == nil || asked.State != a2a.InputRequired ||
			p.Answer.Payload.Kind != a2a.TaskPayload || task.Of(p).Retry(x) || !waitsForTask(p) {
			return
		}
		p.Applied()
		if task.Of(p).Named(x).StillWaits(&p.Answer.Payload) {
			p.Report(p.Place.At(p.Answer.Payload.Pointer),
				fmt.Sprintf("task %s waited for input at %s, and a message to it is answered with the same status",
					analysis.QuoteText(asked.TaskID), asked.StatePlace()), "expected work on the message, or another question")
		}
	},
}

// waitsForTask reports whether the client of a send waits until the agent has worked on the message: by default in 1.0
// and before 0.2, and on request in between.
func waitsForTask(p *analysis.Pass) bool {
	configuration := p.Exchange.Call.Params.Get("configuration")
	if p.Dialects.Has(a2a.V0_2) || p.Dialects.Has(a2a.V0_3) {
		waits, _ := configuration.Get("blocking").Bool()
		return waits
	}
	atOnce, _ := configuration.Get("returnImmediately").Bool()
	return !atOnce
}
