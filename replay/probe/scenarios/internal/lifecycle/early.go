package lifecycle

import (
	"context"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Early are about the life of tasks before 0.1, which specifies more than later versions: which states may follow
// each other, and how a client learns that a transition is not allowed.
var Early = scenario.In(probe.Scenario{
	Category: analysis.Lifecycle, Level: analysis.Must, Protocols: []client.Protocol{client.Early},
	Sections: []string{"0.1 §6.3"},
}, []*probe.Scenario{
	{
		ID: "legacy-canceled", Title: "a task that was canceled stays canceled", Tags: []string{"S0-2.3", "S4-V4", "S4-P6"},
		Fix: "Do not change an ended task.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := s.Live(ctx)
			if err != nil {
				return err
			}
			if canceled, err := s.Client.Cancel(ctx, task.ID, nil); err != nil || canceled.Status.State != client.Canceled {
				return probe.Unclear("task %s could not be canceled", task.ID)
			}
			return stays(ctx, s, task.ID, client.Canceled)
		},
	},
	{
		ID: "legacy-send-ended", Title: "a message to an ended task is refused with -32002",
		Category: analysis.ErrorHandling, Tags: []string{"errors", "S4-2.5", "S4-V7", "S4-P6"},
		Fix: "Refuse a message to an ended task with error -32002, and do not change the task.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := s.Finished(ctx, probe.CompletesTask)
			if err != nil {
				return err
			}
			m := s.Say(probe.CompletesTask)
			m.TaskID, m.ContextID = task.ID, task.ContextID
			_, err = s.Client.Send(ctx, m, client.SendOptions{})
			if err := probe.RefusedWith(err, -32002); err != nil {
				return err
			}
			return stays(ctx, s, task.ID, task.Status.State)
		},
	},
	{
		ID: "legacy-history-length", Title: "a history has at most the requested number of entries", Level: analysis.Should,
		Tags: []string{"history", "S4-3.2b"}, Fix: "Return at most the newest historyLength entries.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := s.Finished(ctx, probe.CompletesTask)
			if err != nil {
				return err
			}
			if _, err := s.Client.Get(ctx, task.ID, new(1)); err != nil {
				return err
			}
			if n := scenario.ResultOf(s, s.Last()).Get("history").Len(); n > 1 {
				return probe.Fail("one entry of history, as requested", "%d", n)
			}
			return nil
		},
	},
})

// stays asserts that a task that has ended is read in the same state.
func stays(ctx context.Context, s *probe.Session, id string, ended client.State) error {
	task, err := s.Client.Get(ctx, id, nil)
	if scenario.Gone(err) {
		return probe.Unclear("task %s was not kept", id)
	}
	if err == nil && task.Status.State != ended {
		err = probe.Fail("task "+id+" as it ended: "+string(ended), "it is %s", task.Status.State)
	}
	return err
}
