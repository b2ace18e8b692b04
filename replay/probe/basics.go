package probe

import (
	"context"
	"net/http"

	"a2atap/analyzer"
	"a2atap/replay/client"
)

// basics are what every agent is asked, in every dialect: S0 in the words of each.
var basics = []*Scenario{
	{
		ID: "card", Title: "the card can be read", Category: analyzer.AgentCard, Level: analyzer.Must, Once: true,
		Sections: []string{"1.0 §8.2", "0.3 §5.3"}, Tags: []string{"core", "card", "CARD-DISC-001", "S0-1.1"},
		Fix: "Serve the agent card as JSON at /.well-known/agent-card.json.",
		Run: func(_ context.Context, s *Session) error {
			if s.Card == nil {
				return Fail("an agent card", "%v", s.target.noCard)
			}
			return nil
		},
	},
	{
		ID: "error-task-not-found", Title: "a task that nobody made is not found", Category: analyzer.ErrorHandling,
		Level: analyzer.Must, Sections: []string{"1.0 §3.3.2", "0.3 §8.2"}, Tags: []string{"core", "errors", "S0-4.3"},
		Fix: "Answer with the error TaskNotFound for an id that does not exist.",
		Run: func(ctx context.Context, s *Session) error {
			_, err := s.Client.Get(ctx, s.NewID(), nil)
			return Refused(err, "TASK_NOT_FOUND")
		},
	},
	{
		ID: "error-unknown-method", Title: "a method that does not exist is refused", Category: analyzer.ErrorHandling,
		Level: analyzer.Must, Sections: []string{"JSON-RPC §5.1"}, Protocols: jsonRPC,
		Tags: []string{"core", "errors", "S0-4.1"},
		Fix:  "Answer with the error -32601 for a method that does not exist.",
		Run: func(ctx context.Context, s *Session) error {
			a, err := s.Ask(ctx, http.MethodPost, s.Endpoint().URL,
				http.Header{"Content-Type": {"application/json"}, "A2A-Version": {s.Version}},
				[]byte(`{"jsonrpc":"2.0","id":"`+s.NewID()+`","method":"tasks/nonexistent","params":{}}`))
			if err != nil {
				return err
			}
			if code, ok := a.JSON().Get("error").Get("code").Int(); !ok || code != -32601 {
				return Fail("error code -32601", "HTTP %d, %s", a.Status, excerpt(a.Body))
			}
			return nil
		},
	},
	{
		ID: "task-completes", Title: "a task that was sent is found, and completes", Category: analyzer.Lifecycle,
		Level: analyzer.Must, Sections: []string{"1.0 §3.1.1", "0.3 §7.1"}, Tags: []string{"core", "S0-2.1", "S0-2.2"},
		Fix: "Bring tasks to an end, and show their state to tasks/get.",
		Run: func(ctx context.Context, s *Session) error {
			task, err := s.Finished(ctx, CompletesTask)
			if err != nil {
				return err
			}
			if task.Status.State != client.Completed {
				return Fail("a task that is completed", "task %s is %s", task.ID, task.Status.State)
			}
			return nil
		},
	},
}
