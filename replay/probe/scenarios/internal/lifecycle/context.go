package lifecycle

import (
	"context"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Contexts are about the task and the context that a message belongs to (A2A 1.0 §3.4).
var Contexts = scenario.In(probe.Scenario{
	Category: analysis.Lifecycle, Level: analysis.Must, Protocols: scenario.V10,
}, []*probe.Scenario{
	{
		ID: "act-unknown-taskid-in-message", Title: "a message to an unknown task is refused, and creates none",
		Sections: []string{"1.0 §3.4.2"}, Tags: []string{"errors", "context", "A10", "CORE-MULTI-004"},
		Fix: "Answer a message with an unknown taskId with TaskNotFound; only agents create task ids.",
		Run: func(ctx context.Context, s *probe.Session) error {
			m := s.Say(probe.CompletesTask)
			m.TaskID = s.NewID()
			_, err := s.Client.Send(ctx, m, client.SendOptions{})
			if err := probe.Refused(err, "TASK_NOT_FOUND"); err != nil {
				return err
			}
			_, err = s.Client.Get(ctx, m.TaskID, nil)
			return probe.Refused(err, "TASK_NOT_FOUND")
		},
	},
	{
		ID: "act-context-mismatch", Title: "a message to a task of another context is refused",
		Sections: []string{"1.0 §3.4.3"},
		Tags:     []string{"errors", "context", "A11", "CORE-MULTI-006", "acts:CORE-MULTI-003", "acts:CORE-MULTI-006"},
		Fix:      "Refuse a message whose contextId differs from the context of the task that it names.",
		Run:      askContextMismatch,
	},
	{
		ID: "act-context-accept-or-reject", Title: "a context from the client is used or refused",
		// No sentence before 1.0 requires it, but a context exists to be continued.
		Protocols: scenario.Since03, Levels: scenario.Levels(analysis.Advice, scenario.V03...),
		Sections: []string{"1.0 §3.4.1", "0.3 §6.1"},
		Tags: []string{
			"context", "A12", "CORE-MULTI-002", "CORE-MULTI-002a", "acts:CORE-CTX-001", "tck-main:continue_with_contextid",
		},
		Fix: "Answer in the context that the message names, or refuse the message; never use another context.",
		Run: askContextKept,
	},
	{
		ID: "act-context-inferred", Title: "a message that names only a task belongs to the task's context",
		Sections: []string{"1.0 §3.4.3"}, Tags: []string{"context", "A13", "CORE-MULTI-005", "acts:CORE-MULTI-005"},
		Fix: "If a message names a task, use the task's context.",
		Run: askContextInferred,
	},
	{
		ID: "act-context-made", Title: "the answer to a message without a context has one",
		// An agent that makes no context need not name one, although the proto file requires it in messages.
		Level: analysis.Should, Sections: []string{"1.0 §3.4.1"},
		Tags: []string{"context", "CORE-MULTI-001", "CORE-MULTI-001a"},
		Fix:  "Write the contextId that the agent created into the answering task or message.",
		Run: func(ctx context.Context, s *probe.Session) error {
			r, err := s.Client.Send(ctx, s.Say(probe.Anything), client.SendOptions{})
			if err != nil {
				return err
			}
			if contextOf(r) == "" {
				return probe.Fail("an answer with a contextId", "%s", scenario.Brief(s.Last()))
			}
			return nil
		},
	},
	{
		ID: "act-task-ids-unique", Title: "two messages create two tasks", Sections: []string{"1.0 §3.4.2"},
		Tags: []string{"context", "CORE-MULTI-003"},
		Fix:  "Create a unique id for each new task.",
		Run: func(ctx context.Context, s *probe.Session) error {
			first, err := s.Task(ctx, probe.CompletesTask, client.SendOptions{})
			if err != nil {
				return err
			}
			second, err := s.Task(ctx, probe.CompletesTask, client.SendOptions{})
			if err != nil {
				return err
			}
			if first.ID == second.ID {
				return probe.Fail("two tasks", "task %s twice", first.ID)
			}
			return nil
		},
	},
	{
		ID: "act-reference-tasks", Title: "a message that refers to other tasks is answered, whether they exist or not",
		Level: analysis.May, Sections: []string{"1.0 §3.4.3"},
		Tags: []string{"context", "tck-main:reference_task_ids_valid", "tck-main:reference_task_ids_invalid"},
		Fix:  "Ignore references to unknown tasks, or refuse them with an A2A error.",
		Run:  askReferences,
	},
})

func askContextKept(ctx context.Context, s *probe.Session) error {
	m := s.Say(probe.Anything)
	m.ContextID = s.NewID()
	if s.Protocol().Version != "1.0" { // in 1.0 the agent makes contexts, and knows only its own
		first, err := s.Client.Send(ctx, s.Say(probe.Anything), client.SendOptions{})
		if err != nil {
			return err
		}
		if m.ContextID = contextOf(first); m.ContextID == "" {
			return probe.Unclear("the answer names no context")
		}
	}
	r, err := s.Client.Send(ctx, m, client.SendOptions{})
	if scenario.Refusal(err) != nil && !scenario.Broken(err) {
		return nil
	}
	if err != nil {
		return err
	}
	switch got := contextOf(r); got {
	case m.ContextID:
		return nil
	case "":
		return probe.Unclear("the answer names no context")
	default:
		return probe.Fail("the context "+m.ContextID+" or a refusal", "context %q", got)
	}
}

func askContextMismatch(ctx context.Context, s *probe.Session) error {
	task, err := s.Waiting(ctx)
	if err != nil {
		return err
	}
	other, err := s.Task(ctx, probe.CompletesTask, client.SendOptions{})
	if err != nil {
		return err
	}
	if other.ContextID == "" || other.ContextID == task.ContextID {
		return probe.Unclear("two messages were answered in one context, or in none")
	}
	m := s.Say(probe.AsksBack)
	m.TaskID, m.ContextID = task.ID, other.ContextID
	_, err = s.Client.Send(ctx, m, client.SendOptions{})
	if scenario.Broken(err) {
		return probe.Fail("a refusal of the message", "an internal error: %s", probe.Describe(scenario.Refusal(err)))
	}
	return probe.Refused(err)
}

func askContextInferred(ctx context.Context, s *probe.Session) error {
	task, err := s.Waiting(ctx)
	if err != nil {
		return err
	}
	m := client.Text("done")
	m.TaskID = task.ID
	r, err := s.Client.Send(ctx, m, client.SendOptions{})
	if err != nil {
		return err
	}
	if got := contextOf(r); got != task.ContextID {
		return probe.Fail("context "+task.ContextID+", the context of task "+task.ID, "context %q", got)
	}
	return nil
}

func askReferences(ctx context.Context, s *probe.Session) error {
	known, err := s.Task(ctx, probe.CompletesTask, client.SendOptions{})
	if err != nil {
		return err
	}
	m := s.Say(probe.CompletesTask)
	m.ContextID, m.References = known.ContextID, []string{known.ID}
	if _, err := s.Client.Send(ctx, m, client.SendOptions{}); err != nil {
		return err
	}
	m.References = []string{s.NewID()}
	_, err = s.Client.Send(ctx, m, client.SendOptions{})
	if scenario.Broken(err) || scenario.Refusal(err) == nil && err != nil {
		return probe.Fail("an answer, or a refusal for an unknown task", "%v", err)
	}
	return nil
}

// contextOf returns the context in the answer to a message.
func contextOf(r *client.Result) string {
	if r.Task != nil {
		return r.Task.ContextID
	}
	return r.Message.ContextID
}
