package acceptance

import (
	"context"
	"net/http"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

var refusals = []*probe.Scenario{
	{
		ID: "error-task-not-found", Title: "an unknown task is not found",
		Sections: []string{"1.0 §3.1.3", "1.0 §5.4"},
		Fix:      "Answer GetTask for an unknown id with TaskNotFoundError: -32001, or HTTP 404 with reason TASK_NOT_FOUND.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Client.Get(ctx, nobodysTask, nil)
			if err := refused(s, err, -32001, http.StatusNotFound); err != nil || s.RPC() {
				return err
			}
			return holds(s.Last().JSON(), anyOf("/error/details", "the reason TASK_NOT_FOUND", func(d a2a.Value) bool {
				return d.Get("reason").Is("TASK_NOT_FOUND")
			}))
		},
	},
	{
		ID: "error-cancel-not-found", Title: "an unknown task cannot be canceled",
		Sections: []string{"1.0 §3.1.5", "1.0 §5.4"},
		Fix:      "Answer CancelTask for an unknown id with TaskNotFoundError: -32001, or HTTP 404.",
		Run:      ofNobody(cancelIt, with(-32001, http.StatusNotFound)),
	},
	{
		// The strict form is error-cancel-terminal-code; the same applies to error-send-terminal.
		ID: "error-cancel-terminal", Title: "an ended task cannot be canceled", Level: analysis.Should,
		Sections: []string{"1.0 §3.1.5"},
		Fix:      "Refuse to cancel an ended task.",
		Run:      afterEnd(cancelIt, somehow),
	},
	{
		ID: "error-send-terminal", Title: "an ended task accepts no message", Level: analysis.Should,
		Sections: []string{"1.0 §3.1.1"},
		Fix:      "Refuse messages to a task that has ended.",
		Run:      afterEnd(continueIt, somehow),
	},
	{
		ID: "error-send-invalid-task", Title: "a message to an unknown task is refused",
		Sections: []string{"1.0 §3.4.2", "1.0 §5.4"},
		Fix:      "Answer a message with an unknown taskId with TaskNotFoundError: -32001, or HTTP 404.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Client.Send(ctx, followUp("to an unknown task", nobodysTask, ""), client.SendOptions{})
			return refused(s, err, -32001, http.StatusNotFound)
		},
	},
	{
		ID: "error-push-not-supported", Title: "push configs are refused by an agent without push notifications",
		Sections: []string{"1.0 §3.1.7", "1.0 §3.3.4"},
		Fix:      "Answer with PushNotificationNotSupportedError: -32003, or HTTP 400.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if s.Card != nil && s.Card.Push {
				return &probe.Skip{Why: "the card advertises push notifications"}
			}
			_, err := s.Client.CreatePush(ctx, client.PushConfig{
				TaskID: nobodysTask, ID: "test-config", URL: "https://example.com/webhook",
			})
			return refused(s, err, -32003, http.StatusBadRequest)
		},
	},
	{
		ID: "error-subscribe-not-found", Title: "subscribing to an unknown task fails",
		Sections: []string{"1.0 §3.1.6", "1.0 §5.4"},
		Fix:      "Answer with TaskNotFoundError, as JSON or as the first event: -32001, or HTTP 404.",
		Run:      ofNobody(subscribeToIt, with(-32001, http.StatusNotFound)),
	},
}

// ofNobody performs an operation on an unknown task, and checks the refusal.
func ofNobody(
	ask func(ctx context.Context, s *probe.Session, id string) error, judge func(*probe.Session, error) error,
) func(context.Context, *probe.Session) error {
	return func(ctx context.Context, s *probe.Session) error { return judge(s, ask(ctx, s, nobodysTask)) }
}

// afterEnd completes a task, performs an operation that is no longer possible, and checks the refusal.
func afterEnd(
	ask func(ctx context.Context, s *probe.Session, id string) error, judge func(*probe.Session, error) error,
) func(context.Context, *probe.Session) error {
	return func(ctx context.Context, s *probe.Session) error {
		id, err := completed(ctx, s, "task-lifecycle quick test")
		if err != nil {
			return err
		}
		return judge(s, ask(ctx, s, id))
	}
}

func cancelIt(ctx context.Context, s *probe.Session, id string) error {
	_, err := s.Client.Cancel(ctx, id, nil)
	return err
}

func continueIt(ctx context.Context, s *probe.Session, id string) error {
	_, err := s.Client.Send(ctx, followUp("one more thing", id, ""), client.SendOptions{})
	return err
}

func subscribeToIt(ctx context.Context, s *probe.Session, id string) error {
	_, err := first(ctx, s, s.Client.Subscribe, id)
	return err
}

// somehow accepts any refusal: a JSON-RPC error, or a status that blames the request.
func somehow(s *probe.Session, err error) error {
	if err := probe.Refused(err); err != nil {
		return err
	}
	a := s.Last()
	if s.RPC() {
		return holds(a.JSON(), has("/error"), lacks("/result"))
	}
	if a.Status/100 != 4 {
		return probe.Fail("HTTP 4xx", "HTTP %d, %s", a.Status, probe.Excerpt(a.Body))
	}
	return nil
}

// with accepts one refusal: its code over JSON-RPC, one of the statuses over HTTP+JSON.
func with(code int, statuses ...int) func(*probe.Session, error) error {
	return func(s *probe.Session, err error) error { return refused(s, err, code, statuses...) }
}
