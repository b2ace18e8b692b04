package acceptance

import (
	"context"
	"net/http"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

var v03 = []*probe.Scenario{
	{
		ID: "spec03-agent-card", Title: "the card of the 0.3 agent is a 0.3 card", CardOnly: true,
		Sections: []string{"0.3 §5.5"},
		Fix:      "Serve a card with url and protocolVersion 0.3.0, and without supportedInterfaces.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if _, err := s.Ask(ctx, http.MethodGet, s.URL+"/.well-known/agent-card.json", nil, nil); err != nil {
				return err
			}
			card, err := document(s)
			if err != nil {
				return err
			}
			return holds(card, word("/url"), is("/protocolVersion", "0.3.0"), lacks("/supportedInterfaces"))
		},
	},
	{
		ID: "spec03-send-message", Title: "a client of the 0.3 card gets a 0.3 message",
		Sections: []string{"0.3 §6.4", "0.3 §7.1"},
		Fix:      "Answer message/send in the form of 0.3: kind message, role agent, parts of kind text.",
		Run: func(ctx context.Context, s *probe.Session) error {
			const text = "message-only hello"
			_, err := send(ctx, s, client.Text(text), client.SendOptions{}, is("/kind", "message"), is("/role", "agent"),
				is("/parts/0/kind", "text"), contains("/parts/0/text", text))
			return err
		},
	},
	{
		ID: "spec03-task-lifecycle", Title: "a 0.3 task is completed when the answer arrives",
		Sections: []string{"0.3 §6.1", "0.3 §7.1"},
		Fix:      "Answer message/send with the task in the form of 0.3: kind task, state completed, parts of kind text.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := send(ctx, s, client.Text("task-lifecycle process"), client.SendOptions{}, is("/kind", "task"),
				is("/status/state", "completed"), atLeast("/artifacts", 1), is("/artifacts/0/parts/0/kind", "text"))
			return err
		},
	},
	{
		ID: "spec03-streaming", Title: "a 0.3 stream has events of the right kinds, and ends with the state completed",
		Sections: []string{"0.3 §7.2"},
		Fix:      "Stream events of the kinds task, status-update and artifact-update, and end with the state completed.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := streamed03(ctx, s)
			return err
		},
	},
	{
		// Without the flag, a client may still treat the event as the last, so it is not part of the cell.
		ID: "spec03-streaming-final", Title: "the last status of a 0.3 stream is marked as final",
		Level: analysis.Should, Sections: []string{"0.3 §7.2.2"},
		Fix: "Set final to true in the status update that ends the stream.",
		Run: func(ctx context.Context, s *probe.Session) error {
			events, err := stream(ctx, s, "streaming generate")
			if err != nil {
				return err
			}
			if len(events) == 0 {
				return probe.Fail("events", "a stream without events")
			}
			last := events[len(events)-1]
			if !last.Get("kind").Is("status-update") {
				return probe.Unclear("the stream does not end with a status update")
			}
			return holds(last, isTrue("/final"))
		},
	},
	{
		ID: "v03-task-failure", Title: "a failed 0.3 task has the state failed, and a message with the reason",
		Sections: []string{"0.3 §6.2", "0.3 §6.3"},
		Fix:      "End a failed task in the state failed, with a status message of the agent.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := send(ctx, s, client.Text("task-failure trigger error"), client.SendOptions{}, is("/kind", "task"),
				is("/status/state", "failed"), is("/status/message/role", "agent"),
				is("/status/message/parts/0/kind", "text"))
			return err
		},
	},
	{
		ID: "v03-get-task", Title: "a 0.3 task is kept", Sections: []string{"0.3 §7.3"},
		Fix: "Keep tasks for tasks/get.",
		Run: func(ctx context.Context, s *probe.Session) error {
			v, err := send(ctx, s, client.Text("task-lifecycle test"), client.SendOptions{}, is("/kind", "task"), word("/id"))
			if err != nil {
				return err
			}
			return get(ctx, s, v.Get("id").Text(), nil, is("/kind", "task"), is("/status/state", "completed"))
		},
	},
}

// streamed03 reads a stream of 0.3 and checks the form of its events; it returns at least one.
func streamed03(ctx context.Context, s *probe.Session) ([]a2a.Value, error) {
	events, err := stream(ctx, s, "streaming generate")
	if err != nil {
		return nil, err
	}
	if len(events) < 2 {
		return nil, probe.Fail("several events", "%d", len(events))
	}
	artifact := false
	for _, e := range events {
		if err := holds(e, oneOf("/kind", "task", "status-update", "artifact-update")); err != nil {
			return nil, err
		}
		artifact = artifact || e.Get("kind").Is("artifact-update")
	}
	if !artifact {
		return nil, probe.Fail("an event of kind artifact-update", "%d events, none of that kind", len(events))
	}
	return events, holds(events[len(events)-1], is("/status/state", "completed"))
}
