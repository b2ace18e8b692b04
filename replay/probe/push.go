package probe

import (
	"context"

	"a2atap/analyzer"
)

// configScenarios are about configs of push notifications that are not there.
var configScenarios = []*Scenario{
	{
		ID: "act-push-not-found", Title: "a push config that nobody made, or of a task that nobody made, is not found",
		Category: analyzer.ErrorHandling, Level: analyzer.Must, Protocols: v10, Needs: []Capability{Push},
		Sections: []string{"1.0 §3.1.7", "1.0 §3.1.8"},
		Tags:     []string{"push", "errors", "A9", "PUSH-GET-002", "acts:PUSH-ERR-001"},
		Fix:      "Answer with TaskNotFound for configs and tasks that do not exist.",
		Run: func(ctx context.Context, s *Session) error {
			_, err := s.Client.GetPush(ctx, s.NewID(), s.NewID())
			if r := refusal(err); r != nil && r.Reason == "PUSH_NOTIFICATION_NOT_SUPPORTED" && s.Card == nil {
				return &Skip{Why: "the agent has no push notifications, as it says"}
			}
			if err := Refused(err, "TASK_NOT_FOUND"); err != nil {
				return err
			}
			task, err := s.Live(ctx)
			if err != nil {
				return err
			}
			defer s.release(ctx, task.ID)
			_, err = s.Client.GetPush(ctx, task.ID, s.NewID())
			return Refused(err)
		},
	},
}
