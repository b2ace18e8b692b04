// Package lifecycle tests tasks: how agents create, read, list, continue and cancel them, and the kept history.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/live"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Scenarios follow tasks through their lives.
var Scenarios = scenario.In(probe.Scenario{
	Category: analysis.Lifecycle, Level: analysis.Must,
}, []*probe.Scenario{
	{
		ID: "send", Title: "a message is answered with a task or a message", First: true,
		Sections: []string{"1.0 §3.1.1", "0.3 §7.1"},
		Tags: []string{
			"core", "basic", "S0-2.1", "S0-P2", "S0-P7", "S0-I1", "S0-I2", "GRPC-SVC-001", "GRPC-SVC-002",
			"tck-main:message_send_valid_text", "S4-3.1a",
		},
		Fix: "Answer a message with a task that has an id and a state, or with a message.",
		Run: askSend,
	},
	{
		ID: "task-completes", Title: "a new task can be read, and completes",
		Sections: []string{"1.0 §3.1.1", "1.0 §3.1.3", "0.3 §7.1", "0.3 §7.3"},
		Tags: []string{
			"core", "basic", "acts:CORE-SEND-001", "S0-2.1", "S0-2.2", "S0-2.6", "S0-I5", "S0-V2", "S0-P1", "S0-P3", "S4-2.3", "S4-V2",
		},
		Fix: "Bring tasks to an end, and return their state on request.",
		Run: askCompletion,
	},
	{
		ID: "task-cancel", Title: "an active task is canceled", Sections: []string{"1.0 §3.1.5", "0.3 §7.4"},
		Tags: []string{
			"core", "S0-2.3", "S0-V3", "CORE-CANCEL-001", "acts:CORE-CANCEL-001", "tck-main:tasks_cancel_valid",
		},
		Fix: "Stop the work on a canceled task, and return it as canceled.",
		Run: askCancellation,
	},
	{
		ID: "multi-turn", Title: "a task that asks for input continues with the answer",
		Sections: []string{"1.0 §3.4.3", "0.3 §9.4"},
		Tags:     []string{"core", "S0-2.4", "acts:CORE-MULTI-001", "tck-main:message_send_continue_task"},
		Fix:      "Continue the task that a message names, in its context; do not create a new one.",
		Run:      askAgain,
	},
	{
		ID: "task-history", Title: "the history of a task is kept", Sections: []string{"0.3 §5.5.2", "0.3 §7.3"},
		Tags:      []string{"history", "S0-2.5"},
		Protocols: scenario.Before10,
		Fix:       "Keep each status of a task, or do not declare stateTransitionHistory.",
		Run:       askHistory,
	},
	{
		ID: "skills-answer", Title: "the first example of each skill is answered, and its task ends", Level: analysis.Should,
		Sections: []string{"1.0 §4.4.5", "0.3 §5.5.4"}, Tags: []string{"skills", "S0-I4", "S0-2.1", "S0-2.2"},
		EachSkill: true,
		Fix:       "Let the agent answer the examples of its own card, and bring the task of each skill to an end.",
		Run:       askSkills,
	},
	{
		ID: "concurrent-tasks", Title: "concurrent tasks do not interfere with each other",
		Category: analysis.Interop, Sections: []string{"1.0 §3.4.2", "0.3 §6.1"},
		Tags: []string{
			"core", "concurrency", "S0-5.5d", "tck-main:parallel_requests", "tck-main:rapid_sequential_requests",
			"tck-main:concurrent_method_calls",
		},
		Fix: "Keep ids, contexts, messages and artifacts of concurrent tasks separate.",
		Run: askAtOnce,
	},
})

func askSend(ctx context.Context, s *probe.Session) error {
	m := scenario.Named(s, s.Say(probe.CompletesTask))
	r, err := s.Client.Send(ctx, m, client.SendOptions{})
	if refused := scenario.Refusal(err); refused != nil && !expects(s) && choosy(refused) {
		return &probe.Inconclusive{Why: "the agent does not accept the message, which is allowed (" +
			probe.Describe(refused) + "); name a text that it accepts with --prompt task-lifecycle=TEXT", Cause: err}
	}
	if err != nil {
		return err
	}
	if r.Task == nil {
		return nil // a message, whose form the client has checked
	}
	if err := scenario.SameTask(r.Task, m.TaskID, m.ContextID); err != nil {
		return err
	}
	return likely(s, r.Task, "submitted, working or completed", client.Submitted, client.Working, client.Completed)
}

// choosy reports whether an agent refuses a message because of its contents.
func choosy(r *client.Error) bool {
	switch r.Code {
	case -32602, -32005:
		return true
	}
	return r.Invalid() || r.Code == 0 && (r.HTTPStatus == 415 || r.HTTPStatus == 422)
}

func askCompletion(ctx context.Context, s *probe.Session) error {
	task, done, err := s.Begin(ctx, probe.CompletesTask, client.SendOptions{})
	if err != nil {
		return err
	}
	defer done()
	ended := task.Status.State.Terminal()
	found, err := s.Await(ctx, task.ID, probe.Settled)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Reason == "TASK_NOT_FOUND" && ended {
		return probe.Unclear("task %s was %s at once, and was not kept", task.ID, task.Status.State)
	}
	if err != nil {
		return err
	}
	if err := scenario.SameTask(found, task.ID, task.ContextID); err != nil {
		return err
	}
	return likely(s, found, "completed", client.Completed)
}

func askCancellation(ctx context.Context, s *probe.Session) error {
	task, done, err := s.Begin(ctx, probe.WaitsForCancel, client.SendOptions{})
	if err != nil {
		return err
	}
	defer done()
	if task.Status.State.Terminal() {
		return probe.Unclear("task %s was %s before it could be canceled", task.ID, task.Status.State)
	}
	canceled, err := s.Client.Cancel(ctx, task.ID, nil)
	if err != nil {
		return notCanceled(ctx, s, task.ID, err)
	}
	if err := scenario.SameTask(canceled, task.ID, task.ContextID); err != nil {
		return err
	}
	if canceled.Status.State == client.Canceled {
		return nil
	}
	ended, err := s.Await(ctx, task.ID, client.State.Terminal)
	switch {
	case err == nil && ended.Status.State == client.Canceled:
		return nil
	case s.Protocol() == client.Early:
		return probe.Fail("a canceled task", "task %s is %s in the answer, and %s later", task.ID,
			canceled.Status.State, last(ended, canceled).Status.State)
	}
	// Since 0.1 no text promises that a cancellation succeeds.
	return probe.Unclear("task %s is %s after its cancellation", task.ID, last(ended, canceled).Status.State)
}

// last returns the newest known snapshot of a task.
func last(newer, older *client.Task) *client.Task {
	if newer != nil {
		return newer
	}
	return older
}

// notCanceled returns the outcome of a refused cancellation: the task may have ended meanwhile, and an agent need not
// be able to cancel.
func notCanceled(ctx context.Context, s *probe.Session, id string, err error) error {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Reason {
	case "TASK_NOT_CANCELABLE", "TASK_NOT_FOUND", client.EarlyInvalidState:
		task, getErr := s.Client.Get(ctx, id, nil)
		switch {
		case getErr != nil:
			return probe.Unclear("task %s no longer exists", id)
		case task.Status.State.Terminal():
			return probe.Unclear("task %s was %s before it could be canceled", id, task.Status.State)
		case refused.Reason == "TASK_NOT_FOUND" || expects(s):
			return probe.Fail("the cancellation of task "+id+", which is "+string(task.Status.State), "%s",
				probe.Describe(refused))
		}
		return probe.Unclear("the agent answers that task %s cannot be canceled", id)
	case "UNSUPPORTED_OPERATION":
		if s.Scripted() {
			return err
		}
		return probe.Unclear("the agent answers that it does not support cancellation")
	}
	return err
}

func askAgain(ctx context.Context, s *probe.Session) error {
	task, done, err := s.Begin(ctx, probe.AsksBack, client.SendOptions{})
	if err != nil {
		return err
	}
	defer done()
	if task, err = probe.AtRest(ctx, s, task); err != nil {
		return err
	}
	if task.Status.State != client.InputRequired {
		return &probe.Skip{Why: fmt.Sprintf("the agent did not ask for input: task %s is %s", task.ID, task.Status.State)}
	}
	m := client.Text("done")
	m.TaskID, m.ContextID = task.ID, task.ContextID
	r, err := s.Client.Send(ctx, m, client.SendOptions{})
	if err != nil {
		return err
	}
	if r.Task == nil {
		return probe.NoTask()
	}
	if err := scenario.SameTask(r.Task, task.ID, task.ContextID); err != nil {
		return err
	}
	if r.Task.Status.State == client.InputRequired && !s.Scripted() {
		return movedOn(ctx, s, task, r.Task)
	}
	if r.Task, err = probe.AtRest(ctx, s, r.Task); err != nil {
		return err
	}
	if r.Task.Status.State == client.InputRequired && !s.Scripted() {
		return nil // the agent asks for more input
	}
	return likely(s, r.Task, "working or completed", client.Working, client.Completed)
}

// movedOn asserts that a task that waited for input continues after it, even if only to another question. It polls
// until the status changes, because the agent may process the message after its answer.
func movedOn(ctx context.Context, s *probe.Session, before, now *client.Task) error {
	asked := statusText(before)
	if statusText(now) != asked {
		return nil
	}
	begun := time.Now()
	for pause := 50 * time.Millisecond; time.Since(begun) < s.Timeout; pause = min(2*pause, time.Second) {
		if !live.Sleep(ctx, pause) {
			return ctx.Err()
		}
		task, err := s.Client.Get(ctx, now.ID, nil)
		if err != nil {
			return err
		}
		if statusText(task) != asked {
			return nil
		}
	}
	if before.Status.Timestamp == "" && s.Protocol() != client.Early {
		return probe.Unclear("task %s asks the same question again, and its status has no timestamp", now.ID)
	}
	return probe.Fail("work on the follow-up, or another question", "task %s still waits for input with the same status",
		now.ID)
}

// statusText distinguishes the statuses of a task from each other.
func statusText(task *client.Task) string {
	text := string(task.Status.State) + " " + task.Status.Timestamp
	if m := task.Status.Message; m != nil {
		text += " " + m.ID + " " + m.Text()
	}
	return text
}

func askHistory(ctx context.Context, s *probe.Session) error {
	card, err := scenario.DeclaredCard(s)
	if err != nil {
		return err
	}
	if kept, _ := card.Get("capabilities").Get("stateTransitionHistory").Bool(); !kept {
		return &probe.Skip{Why: "the card does not advertise stateTransitionHistory"}
	}
	task, err := s.Finished(ctx, probe.CompletesTask)
	if err != nil {
		return err
	}
	if task, err = s.Client.Get(ctx, task.ID, new(100)); err != nil {
		return err
	}
	history := a2a.Parse(task.Raw).Root.Get("history")
	if history.Kind() == a2a.Array && history.Len() >= 2 {
		return nil
	}
	if s.Protocol() != client.Early {
		return probe.Unclear("the history of task %s has %d entries, which the protocol allows", task.ID,
			history.Len())
	}
	return probe.Fail("a history with at least 2 entries", "%s", scenario.Written(history))
}
