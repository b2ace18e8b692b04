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
			if _, err := s.Client.GetPush(ctx, s.NewID(), s.NewID()); Refused(err, "TASK_NOT_FOUND") != nil {
				return Refused(err, "TASK_NOT_FOUND")
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
