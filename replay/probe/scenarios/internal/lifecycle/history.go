package lifecycle

import (
	"context"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Histories are about the shown part of a task's history (A2A 1.0 §3.2.4).
var Histories = scenario.In(probe.Scenario{
	Category: analysis.Lifecycle, Level: analysis.Must, Protocols: scenario.V10,
}, []*probe.Scenario{
	{
		ID: "act-history-length", Title: "a task has at most the requested number of history messages",
		Protocols: scenario.Since01, Levels: scenario.Levels(analysis.Should, scenario.Old...),
		Sections: []string{"1.0 §3.2.4", "0.3 §7.3.1"},
		Tags: []string{
			"history", "A23", "CORE-HIST-002", "acts:CORE-HIST-002", "tck-main:tasks_get_with_history_length",
			"tck-main:task_history_length", "tck-main:history_length_parameter_compliance",
		},
		Fix: "Return at most the newest historyLength messages.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := scenario.Conversation(ctx, s)
			if err != nil {
				return err
			}
			return scenario.HistoryAtMost(ctx, s, task.ID, 1)
		},
	},
	{
		ID: "act-history-zero", Title: "a task has no history if historyLength is 0", Level: analysis.Should,
		Sections: []string{"1.0 §3.2.4"},
		Tags: []string{
			"history", "A23", "CORE-HIST-001", "acts:CORE-HIST-001", "acts:CORE-GET-002", "tck-main:history_length_zero",
		},
		Fix: "Leave history out if historyLength is 0.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := scenario.Conversation(ctx, s)
			if err != nil {
				return err
			}
			return scenario.HistoryAtMost(ctx, s, task.ID, 0)
		},
	},
	{
		ID: "act-history-zero-send", Title: "the answer to a message has no history if historyLength is 0",
		Level: analysis.Should, Sections: []string{"1.0 §3.2.4"},
		Tags: []string{"history", "A23", "CORE-HIST-003", "acts:CORE-HIST-003"},
		Fix:  "Apply historyLength in the configuration of SendMessage too.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := s.Task(ctx, probe.CompletesTask, client.SendOptions{HistoryLength: new(int)})
			if err != nil {
				return err
			}
			if len(task.History) > 0 {
				return probe.Fail("a task without history", "%d messages", len(task.History))
			}
			return nil
		},
	},
	{
		ID: "act-history-negative", Title: "a negative historyLength is refused",
		// Only an example shows this.
		Category: analysis.ErrorHandling, Level: analysis.Should, Sections: []string{"1.0 §3.2.4", "1.0 §6.5"},
		Tags: []string{
			"history", "errors", "A23", "tck-main:negative_history_length_error",
			"tck-main:boundary_values",
		},
		Fix: "Refuse a negative historyLength as an invalid parameter.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := s.Finished(ctx, probe.CompletesTask)
			if err != nil {
				return err
			}
			_, err = s.Client.Get(ctx, task.ID, new(-1))
			return scenario.RefusedParams(s, err, "historyLength -1")
		},
	},
	{
		ID: "act-history-large", Title: "a historyLength above the number of messages is accepted", Sections: []string{"1.0 §3.2.4"},
		Tags: []string{"history", "tck-main:history_length_exceeds_actual", "tck-main:boundary_values"},
		Fix:  "Return the whole history if historyLength is larger than the history.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := s.Finished(ctx, probe.CompletesTask)
			if err != nil {
				return err
			}
			return scenario.HistoryAtMost(ctx, s, task.ID, 1<<20)
		},
	},
	{
		ID: "act-history-order", Title: "the history has the messages that were sent, in order",
		Level: analysis.Should, Sections: []string{"1.0 §3.7", "1.0 §3.2.4"},
		Tags: []string{
			"history", "CORE-HIST-004", "CORE-HIST-005", "CORE-HIST-006", "acts:CORE-HIST-004", "acts:CORE-HIST-005",
			"acts:CORE-HIST-006", "tck-main:unicode_and_special_chars",
		},
		Fix: "Keep messages in the order in which they arrived, the oldest first.",
		Run: askHistoryOrder,
	},
})

func askHistoryOrder(ctx context.Context, s *probe.Session) error {
	first := s.Say(probe.AsksBack)
	first.ID = s.NewID()
	first.Parts[0].Text += " 1: ü ✓ \" \\ \u2028 𝄞"
	task, err := probe.TaskOf(s.Client.Send(ctx, first, client.SendOptions{}))
	if err != nil {
		return err
	}
	sent := []client.Message{first}
	if task.Status.State == client.InputRequired {
		second := s.Say(probe.AsksBack)
		second.ID, second.TaskID = s.NewID(), task.ID
		second.Parts[0].Text += " 2"
		if _, err := s.Client.Send(ctx, second, client.SendOptions{}); err != nil {
			return err
		}
		sent = append(sent, second)
	}
	task, err = s.Client.Get(ctx, task.ID, new(10))
	if scenario.Gone(err) {
		return probe.Unclear("the task is not kept")
	}
	if err != nil {
		return err
	}
	last := -1
	for _, m := range sent {
		at := slices.IndexFunc(task.History, func(h client.Message) bool { return h.ID == m.ID })
		switch {
		case at < 0:
			return probe.Unclear("the agent does not keep message %s in its history, which is allowed", m.ID)
		case at < last:
			return probe.Fail("history in the order in which messages were sent", "message %s is before one that was sent earlier",
				m.ID)
		case task.History[at].Text() != m.Text():
			return probe.Fail("the text as it was sent: "+m.Text(), "%q", task.History[at].Text())
		}
		last = at
	}
	return nil
}
