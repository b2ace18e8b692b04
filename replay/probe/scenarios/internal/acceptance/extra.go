package acceptance

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

// extendedCardToken is the token that the spec agent requires for its extended card.
const extendedCardToken = "agentbin-test-token"

var extras = []*probe.Scenario{
	{
		ID: "spec-extended-card", Title: "the extended card has more skills, and requires a token",
		Needs: []probe.Capability{probe.ExtendedCard}, Sections: []string{"1.0 §3.1.11", "1.0 §13.3"},
		Fix: "Serve the extended card with more skills to clients with the token, and refuse it to others: " +
			"HTTP+JSON with 401.",
		Run: func(ctx context.Context, s *probe.Session) error {
			known := s.Edited(func(out *client.Outgoing) {
				out.Header.Set("Authorization", "Bearer "+extendedCardToken)
			})
			defer known.Close()
			if _, err := known.ExtendedCard(ctx); err != nil {
				return err
			}
			public := 0
			if s.Card != nil {
				public = len(s.Card.Skills)
			}
			if _, err := resultWith(s, []want{moreSkills(public)}); err != nil {
				return err
			}
			stranger := s.Anonymous()
			defer stranger.Close()
			_, err := stranger.ExtendedCard(ctx)
			if err := probe.Refused(err); err != nil || s.RPC() { // the agent may choose any JSON-RPC error
				return err
			}
			a := s.Last()
			challenge := a.Header.Get("WWW-Authenticate")
			if a.Status != http.StatusUnauthorized || !strings.HasPrefix(strings.ToLower(challenge), "bearer") {
				return probe.Fail("HTTP 401 with WWW-Authenticate: Bearer", "HTTP %d, WWW-Authenticate %q", a.Status, challenge)
			}
			return nil
		},
	},
	{
		ID: "subscribe-after-stream-disconnect", Title: "a client that lost a stream sees the end of the task in a new one",
		Sections: []string{"1.0 §3.1.6", "1.0 §3.5.2"},
		Fix:      "Continue a task when a client leaves its stream, and send updates to subscribers until it ends.",
		Run: func(ctx context.Context, s *probe.Session) error {
			open := s.Client.Stream(ctx, client.Text("long-running start process"), client.SendOptions{})
			event, err := s.First(open)
			if err != nil {
				return err
			}
			id := event.TaskID()
			if id == "" {
				return probe.Fail("a first event that names the task", "%s", probe.Excerpt(event.Raw))
			}
			events, err := streamed(ctx, s, func(ctx context.Context) iter.Seq2[client.Event, error] {
				return s.Client.Subscribe(ctx, id)
			})
			if ended, unclear := endedBefore(ctx, s, id, err); ended {
				return unclear
			}
			if err != nil {
				return err
			}
			return endsIn(events, wireCompleted, wireFailed, wireCanceled, wireRejected)
		},
	},
	{
		ID: "subscribe-terminal", Title: "subscribing to an ended task fails",
		Sections: []string{"1.0 §3.1.6"},
		Fix:      "Refuse with UnsupportedOperationError: -32004, or HTTP 400.",
		Run:      afterEnd(subscribeToIt, with(-32004, http.StatusBadRequest)),
	},
	{
		ID: "error-cancel-terminal-code", Title: "canceling an ended task fails with TaskNotCancelableError",
		Sections: []string{"1.0 §3.1.5", "1.0 §5.4"},
		Fix:      "Refuse with TaskNotCancelableError: -32002, or HTTP 409 (1.0.0) or 400 (1.0.1).",
		Run:      afterEnd(cancelIt, with(-32002, http.StatusConflict, http.StatusBadRequest)),
	},
	{
		ID: "error-send-terminal-code", Title: "a message to an ended task fails with UnsupportedOperationError",
		Sections: []string{"1.0 §3.1.1", "1.0 §5.4"},
		Fix:      "Refuse with UnsupportedOperationError: -32004, or HTTP 400.",
		Run:      afterEnd(continueIt, with(-32004, http.StatusBadRequest)),
	},
	{
		ID: "spec-task-lifecycle-return-immediately", Title: "a short task that no client waited for is completed",
		Sections: []string{"1.0 §3.2.2"},
		Fix:      "With returnImmediately, answer as soon as there is a task, and continue the work to its end.",
		Run: func(ctx context.Context, s *probe.Session) error {
			// Such a short task may end before the answer is written.
			id, err := task(ctx, s, "task-lifecycle process this data", atOnce,
				oneOf("/task/status/state", wireSubmitted, wireWorking, wireCompleted))
			if err != nil {
				return err
			}
			return polled(ctx, s, id)
		},
	},
}

// moreSkills requires a card with more skills than the public one, or with the skill that only the extended card has.
func moreSkills(public int) want {
	return at("/skills", "more skills than the public card's", func(v a2a.Value) bool {
		return v.Len() > public || some(v, func(skill a2a.Value) bool { return skill.Get("id").Is("admin-status") })
	})
}

// endedBefore reports whether a subscription was refused because the task had ended: then the case is inconclusive.
func endedBefore(ctx context.Context, s *probe.Session, id string, err error) (bool, error) {
	var e *client.Error
	if !errors.As(err, &e) {
		return false, nil
	}
	task, err := s.Client.Get(ctx, id, nil)
	switch {
	case err != nil && e.Reason == "UNSUPPORTED_OPERATION": // the agent says that the task ended, and does not show it
	case err != nil || !task.Status.State.Terminal():
		return false, nil
	}
	return true, probe.Unclear("task %s had ended before it could be subscribed to again", id)
}
