// Package lifecycle asks for tasks: how they are made, read, listed, continued and canceled, and what they remember.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Scenarios follow tasks through their lives.
var Scenarios = scenario.In(probe.Scenario{
	Category: analysis.Lifecycle, Level: analysis.Must,
}, []*probe.Scenario{
	{
		ID: "send", Title: "a message is answered with a task, or with a message", First: true,
		Sections: []string{"1.0 §3.1.1", "0.3 §7.1"},
		Tags: []string{
			"core", "basic", "S0-2.1", "S0-P2", "S0-P7", "S0-I1", "S0-I2", "GRPC-SVC-001", "GRPC-SVC-002",
			"tck-main:message_send_valid_text",
		},
		Fix: "Answer a message with a task that has an id and a state, or with a message.",
		Run: askSend,
	},
	{
		ID: "task-completes", Title: "a task that was sent is found, and completes",
		Sections: []string{"1.0 §3.1.1", "1.0 §3.1.3", "0.3 §7.1", "0.3 §7.3"},
		Tags: []string{
			"core", "basic", "acts:CORE-SEND-001", "S0-2.1", "S0-2.2", "S0-2.6", "S0-I5", "S0-V2", "S0-P1", "S0-P3",
		},
		Fix: "Bring tasks to an end, and show their state to who asks for them.",
		Run: askCompletion,
	},
	{
		ID: "task-cancel", Title: "a task at work is canceled", Sections: []string{"1.0 §3.1.5", "0.3 §7.4"},
		Tags: []string{
			"core", "S0-2.3", "S0-V3", "CORE-CANCEL-001", "acts:CORE-CANCEL-001", "tck-main:tasks_cancel_valid",
		},
		Fix: "End the work on a task that is canceled, and show it as canceled.",
		Run: askCancellation,
	},
	{
		ID: "multi-turn", Title: "a task that asks back goes on with the answer",
		Sections: []string{"1.0 §3.4.3", "0.3 §9.4"},
		Tags:     []string{"core", "S0-2.4", "acts:CORE-MULTI-001", "tck-main:message_send_continue_task"},
		Fix:      "Continue the task that a message names, in its context; make no new one.",
		Run:      askAgain,
	},
	{
		ID: "task-history", Title: "the history of a task is kept", Sections: []string{"0.3 §5.5.2", "0.3 §7.3"},
		Tags:      []string{"history", "S0-2.5"},
		Protocols: scenario.Before10,
		Fix:       "Keep each status that a task had, or do not declare stateTransitionHistory.",
		Run:       askHistory,
	},
	{
		ID: "skills-answer", Title: "the first example of each skill is answered", Level: analysis.Should,
		Sections: []string{"1.0 §4.4.5", "0.3 §5.5.4"}, Tags: []string{"skills", "S0-I4", "S0-2.1"},
		Fix: "Make the agent answer the examples of its own card.",
		Run: askSkills,
	},
	{
		ID: "concurrent-tasks", Title: "tasks at the same time do not get in each other's way",
		Category: analysis.Interop, Sections: []string{"1.0 §3.4.2", "0.3 §6.1"},
		Tags: []string{
			"core", "concurrency", "S0-5.5d", "tck-main:parallel_requests", "tck-main:rapid_sequential_requests",
			"tck-main:concurrent_method_calls",
		},
		Fix: "Keep ids, contexts, messages and artifacts of tasks apart that are worked on at the same time.",
		Run: askAtOnce,
	},
})

// expects reports whether an agent has to do what it was told: it is known to, or it was told an example of its card,
// and its dialect says that these work.
func expects(s *probe.Session) bool {
	_, told := s.Example()
	return s.Scripted() || told && s.Protocol() == client.Early
}

func askSend(ctx context.Context, s *probe.Session) error {
	m := scenario.Named(s, s.Say(probe.CompletesTask))
	r, err := s.Client.Send(ctx, m, client.SendOptions{})
	if refused := scenario.Refusal(err); refused != nil && !expects(s) && choosy(refused) {
		return &probe.Inconclusive{Why: "the agent does not take what it was sent, which is its own affair (" +
			probe.Describe(refused) + "); give it a text that it takes with --prompt task-lifecycle=TEXT", Cause: err}
	}
	if err != nil {
		return err
	}
	if r.Task == nil {
		return nil // a message, whose form the client has read
	}
	if err := scenario.SameTask(r.Task, m.TaskID, m.ContextID); err != nil {
		return err
	}
	return likely(s, r.Task, "submitted, working or completed", client.Submitted, client.Working, client.Completed)
}

// choosy reports whether an agent refuses a message for what is in it.
func choosy(r *client.Error) bool {
	switch r.Code {
	case -32602, -32005:
		return true
	}
	return r.Invalid() || r.Code == 0 && (r.HTTPStatus == 415 || r.HTTPStatus == 422)
}

// knownStates are those that a task may be in.
var knownStates = []client.State{
	client.Submitted, client.Working, client.InputRequired, client.AuthRequired, client.Completed, client.Failed,
	client.Canceled, client.Rejected,
}

// likely asserts that a task is in one of some states. An agent of which it is not known what it does with a message
// may as well have failed.
func likely(s *probe.Session, task *client.Task, words string, states ...client.State) error {
	state := task.Status.State
	switch {
	case slices.Contains(states, state):
		return nil
	case !slices.Contains(knownStates, state):
		return probe.Fail("a task that is "+words, "task %s is %q, which is not a state", task.ID, state)
	case expects(s):
		return probe.Fail("a task that is "+words, "task %s is %s", task.ID, said(task))
	}
	return probe.Unclear("task %s is %s, which may be as the agent wants it", task.ID, said(task))
}

// said describes the state of a task, and what the agent says about it.
func said(task *client.Task) string {
	text := string(task.Status.State)
	if m := task.Status.Message; m != nil && m.Text() != "" {
		text += fmt.Sprintf(" (%s)", probe.Excerpt([]byte(m.Text())))
	}
	return text
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
		return probe.Unclear("task %s was %s at once, and is not kept", task.ID, task.Status.State)
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
		return probe.Fail("a task that is canceled", "task %s is %s in the answer, and %s later", task.ID,
			canceled.Status.State, last(ended, canceled).Status.State)
	}
	// Since 0.1 nobody promises that a cancellation succeeds.
	return probe.Unclear("task %s is %s after its cancellation", task.ID, last(ended, canceled).Status.State)
}

// last returns the newest of what is known of a task.
func last(newer, older *client.Task) *client.Task {
	if newer != nil {
		return newer
	}
	return older
}

// notCanceled says what a refused cancellation amounts to: a task may have ended meanwhile, and an agent need not be
// able to cancel.
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
			return probe.Unclear("task %s is gone", id)
		case task.Status.State.Terminal():
			return probe.Unclear("task %s was %s before it could be canceled", id, task.Status.State)
		case refused.Reason == "TASK_NOT_FOUND" || expects(s):
			return probe.Fail("the cancellation of task "+id+", which is "+string(task.Status.State), "%s",
				probe.Describe(refused))
		}
		return probe.Unclear("task %s cannot be canceled, as the agent says", id)
	case "UNSUPPORTED_OPERATION":
		if s.Scripted() {
			return err
		}
		return probe.Unclear("the agent cancels nothing, as it says")
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
		return &probe.Skip{Why: fmt.Sprintf("the agent did not ask back: task %s is %s", task.ID, task.Status.State)}
	}
	m := client.Text("done")
	m.TaskID, m.ContextID = task.ID, task.ContextID
	r, err := s.Client.Send(ctx, m, client.SendOptions{})
	if err != nil {
		return err
	}
	if r.Task == nil {
		return probe.Unclear("the agent answered with a message, and this is about tasks")
	}
	if err := scenario.SameTask(r.Task, task.ID, task.ContextID); err != nil {
		return err
	}
	if r.Task, err = probe.AtRest(ctx, s, r.Task); err != nil {
		return err
	}
	if r.Task.Status.State == client.InputRequired && !s.Scripted() {
		return nil // it asks for more
	}
	return likely(s, r.Task, "working or completed", client.Working, client.Completed)
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
		return probe.Unclear("the history of task %s has %d entries, which is not against the protocol", task.ID,
			history.Len())
	}
	return probe.Fail("a history with at least 2 entries", "%s", scenario.Written(history))
}

func askSkills(ctx context.Context, s *probe.Session) error {
	if s.Card == nil {
		return probe.Unclear("there is no card with skills")
	}
	var wrong []string
	asked := 0
	for _, skill := range s.Skills() {
		if len(skill.Examples) == 0 {
			continue
		}
		asked++
		task, done, err := s.BeginWith(ctx, client.Text(skill.Examples[0]), client.SendOptions{})
		var unclear *probe.Inconclusive
		switch {
		case errors.As(err, &unclear): // a message
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("skill %q: %v", skill.ID, err))
		case !task.Status.State.Terminal():
			s.Client.Cancel(ctx, task.ID, nil) //nolint:errcheck // so that it does no work for nothing
		}
		done()
	}
	switch {
	case len(wrong) > 0:
		return probe.Fail("a task or a message", "%s", strings.Join(wrong, "; "))
	case asked == 0:
		return probe.Unclear("no skill of the card has an example")
	}
	return nil
}
