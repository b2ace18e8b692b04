package acceptance

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

var streams = []*probe.Scenario{
	{
		ID: "spec-streaming", Title: "a stream delivers an artifact in chunks, and ends with the task",
		Sections: []string{"1.0 §3.1.2", "1.0 §9.4.2", "1.0 §11.7"},
		Fix:      "Stream an artifactUpdate for each chunk, and end with the event that completes the task.",
		Run: func(ctx context.Context, s *probe.Session) error {
			events, err := stream(ctx, s, "streaming generate output")
			if err != nil {
				return err
			}
			if len(events) < 3 {
				return probe.Fail("at least three events", "%d", len(events))
			}
			part := atLeast("/artifactUpdate/artifact/parts", 1)
			if !slices.ContainsFunc(events, func(e a2a.Value) bool { return part(e) == nil }) {
				return probe.Fail("an artifactUpdate with parts", "%d events, none of that kind", len(events))
			}
			return endsIn(events, wireCompleted, wireFailed)
		},
	},
	{
		ID: "subscribe-to-task", Title: "a subscription to an active task begins with the task",
		Sections: []string{"1.0 §3.1.6"},
		Fix:      "Begin a subscription with the current task.",
		Run: func(ctx context.Context, s *probe.Session) error {
			id, err := started(ctx, s, "task-cancel start")
			if err != nil {
				return err
			}
			event, err := first(ctx, s, s.Client.Subscribe, id)
			if err != nil {
				return err
			}
			return holds(event, is("/task/id", id), word("/task/status/state"))
		},
	},
	{
		ID: "stream-message-only", Title: "the stream for a message that creates no task has only the answering message",
		Sections: []string{"1.0 §3.1.2"},
		Fix:      "Send the message as the only event, and close the stream.",
		Run: func(ctx context.Context, s *probe.Session) error {
			events, err := stream(ctx, s, "message-only hello")
			if err != nil {
				return err
			}
			if len(events) != 1 {
				return probe.Fail("one event", "%d", len(events))
			}
			return holds(events[0], has("/message"), lacks("/task"))
		},
	},
	{
		ID: "stream-task-lifecycle", Title: "a stream contains the task, its updates with an artifact, and its end",
		Sections: []string{"1.0 §3.1.2"},
		Fix:      "Begin the stream with the task, send each update, and end with the one that completes the task.",
		Run: func(ctx context.Context, s *probe.Session) error {
			events, err := stream(ctx, s, "task-lifecycle through a stream")
			if err != nil {
				return err
			}
			if len(events) < 2 {
				return probe.Fail("several events", "%d", len(events))
			}
			if err := holds(events[0], has("/task"), word("/task/id")); err != nil {
				return err
			}
			if err := endsIn(events, wireCompleted); err != nil {
				return err
			}
			for _, e := range events {
				if has("/artifactUpdate/artifact")(e) == nil || atLeast("/task/artifacts", 1)(e) == nil {
					return nil
				}
			}
			return probe.Fail("an artifact", "%d events without an artifact", len(events))
		},
	},
}

// endsIn asserts that the last of some events shows one of the states.
func endsIn(events []a2a.Value, states ...string) error {
	if len(events) == 0 {
		return probe.Fail("events", "a stream without events")
	}
	last := events[len(events)-1]
	if slices.Contains(states, stateOf(last)) {
		return nil
	}
	return probe.Fail(fmt.Sprintf("a last event with one of the states %v", states), "%s", probe.Excerpt(last.Raw()))
}

// first subscribes to a task, returns the first event as it was on the wire, and leaves the stream. A stream without
// events is a failure.
func first(
	ctx context.Context, s *probe.Session, subscribe func(context.Context, string) iter.Seq2[client.Event, error],
	id string,
) (a2a.Value, error) {
	limited, stop := context.WithTimeout(ctx, s.Timeout)
	defer stop()
	event, err := s.First(subscribe(limited, id))
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return a2a.Value{}, probe.Fail("an event, or an error", "nothing within %v", s.Timeout)
	}
	return a2a.Parse(event.Result).Root, err
}
