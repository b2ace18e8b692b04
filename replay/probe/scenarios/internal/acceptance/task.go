package acceptance

import (
	"context"
	"encoding/json"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

// atOnce requests an answer before the task has ended.
var atOnce = client.SendOptions{ReturnImmediately: true}

// started creates a task that still works after the answer, and returns its id. A state that is not terminal shows
// that the answer did not wait; a clock would only show how busy the machine is.
func started(ctx context.Context, s *probe.Session, text string) (string, error) {
	return task(ctx, s, text, atOnce, oneOf("/task/status/state", wireSubmitted, wireWorking))
}

// workedOn asserts that a task started by a text continues after the answer, to its end.
func workedOn(text string) func(context.Context, *probe.Session) error {
	return func(ctx context.Context, s *probe.Session) error {
		id, err := started(ctx, s, text)
		if err != nil {
			return err
		}
		return polled(ctx, s, id)
	}
}

// polled reads a task until it has ended, and asserts that it is completed with artifacts.
func polled(ctx context.Context, s *probe.Session, id string) error {
	var broken error
	_, err := s.Await(ctx, id, func(state client.State) bool {
		_, broken = resultWith(s, []want{is("/id", id), word("/status/state")})
		return broken != nil || state.Terminal()
	})
	switch {
	case err != nil:
		return err
	case broken != nil:
		return broken
	}
	return get(ctx, s, id, nil, is("/status/state", wireCompleted), atLeast("/artifacts", 1),
		atLeast("/artifacts/0/parts", 1))
}

var turns = []*probe.Scenario{
	{
		ID: "spec-multi-turn", Title: "a task asks for input, receives it, and is completed",
		Sections: []string{"1.0 §3.4.2", "1.0 §4.1.3"},
		Fix:      "Wait in TASK_STATE_INPUT_REQUIRED, and continue the task that a message names as taskId.",
		Run: func(ctx context.Context, s *probe.Session) error {
			v, err := send(ctx, s, client.Text("multi-turn start conversation"), client.SendOptions{},
				has("/task"), word("/task/id"), is("/task/status/state", wireInputRequired), has("/task/status/message"),
				is("/task/status/message/role", wireAgentRole), contains("/task/status/message/parts/0/text", "multi-turn"))
			if err != nil {
				return err
			}
			id, context := v.At("/task/id").Text(), v.At("/task/contextId").Text()
			_, err = send(ctx, s, followUp("here is more input", id, context), client.SendOptions{},
				is("/task/id", id), is("/task/status/state", wireInputRequired))
			if err != nil {
				return err
			}
			_, err = send(ctx, s, followUp("done", id, context), client.SendOptions{},
				is("/task/id", id), is("/task/status/state", wireCompleted))
			return err
		},
	},
	{
		ID: "spec-task-cancel", Title: "an active task is canceled, and stays canceled",
		Sections: []string{"1.0 §3.1.5", "1.0 §3.2.2"},
		Fix:      "Answer CancelTask with the task in TASK_STATE_CANCELED, and keep that state.",
		Run: func(ctx context.Context, s *probe.Session) error {
			id, err := started(ctx, s, "task-cancel start")
			if err != nil {
				return err
			}
			if err := cancel(ctx, s, id, nil, is("/status/state", wireCanceled)); err != nil {
				return err
			}
			return get(ctx, s, id, nil, is("/status/state", wireCanceled))
		},
	},
	{
		// No section of A2A requires it, but the suite does.
		ID: "spec-cancel-with-metadata", Title: "a canceled task has the metadata of the cancellation",
		Sections: []string{"1.0 §3.1.5"},
		Fix:      "Merge the metadata of CancelTask into the task's metadata.",
		Run: func(ctx context.Context, s *probe.Session) error {
			id, err := started(ctx, s, "task-cancel start")
			if err != nil {
				return err
			}
			const reason, by = "test-cancel-reason", "a2atap"
			metadata, err := json.Marshal(map[string]string{"reason": reason, "requestedBy": by})
			if err != nil {
				return err
			}
			return cancel(ctx, s, id, metadata, is("/status/state", wireCanceled), is("/metadata/reason", reason),
				is("/metadata/requestedBy", by))
		},
	},
	{
		ID: "spec-list-tasks", Title: "a created task is in the list", Sections: []string{"1.0 §3.1.4"},
		Fix: "List all tasks of the client in pages, each with its id and its status.",
		Run: func(ctx context.Context, s *probe.Session) error {
			id, err := completed(ctx, s, "task-lifecycle for the list")
			if err != nil {
				return err
			}
			return listed(ctx, s, id)
		},
	},
	{
		ID: "spec-return-immediately", Title: "a client that does not wait gets the active task",
		Sections: []string{"1.0 §3.2.2"},
		Fix:      "With returnImmediately, answer as soon as there is a task, and continue the work.",
		Run:      workedOn("long-running test"),
	},
	{
		ID: "multi-turn-context-preserved", Title: "a task keeps its id and its context from turn to turn",
		Sections: []string{"1.0 §3.4.2", "1.0 §3.4.3"},
		Fix:      "Answer a message that names a task with that task, in the task's context.",
		Run: func(ctx context.Context, s *probe.Session) error {
			v, err := send(ctx, s, client.Text("multi-turn start context test"), client.SendOptions{},
				has("/task"), word("/task/id"))
			if err != nil {
				return err
			}
			id, context := v.At("/task/id").Text(), v.At("/task/contextId").Text()
			// Only the task is named: this also catches an agent that makes a new context for messages without one.
			_, err = send(ctx, s, followUp("more of the context test", id, ""), client.SendOptions{},
				is("/task/id", id), at("/task/contextId", "the context "+context, func(v a2a.Value) bool {
					return v.Text() == context
				}))
			return err
		},
	},
	{
		// The agent chooses which messages are history, so a task without any is a note.
		ID: "get-task-with-history", Title: "a task that is read contains its messages", Level: analysis.May,
		Sections: []string{"1.0 §3.1.3", "1.0 §3.2.4"},
		Fix:      "Keep the messages of a task, and return as many of them as historyLength allows.",
		Run: func(ctx context.Context, s *probe.Session) error {
			id, err := completed(ctx, s, "task-lifecycle history test")
			if err != nil {
				return err
			}
			return get(ctx, s, id, new(10), is("/status/state", wireCompleted),
				anyOf("/history", "the user's message", func(m a2a.Value) bool { return m.Get("role").Is("ROLE_USER") }))
		},
	},
	{
		ID: "get-task-after-failure", Title: "a task that failed is read as failed", Sections: []string{"1.0 §3.1.3"},
		Fix: "Keep tasks that failed for GetTask.",
		Run: func(ctx context.Context, s *probe.Session) error {
			id, err := task(ctx, s, "task-failure trigger error", client.SendOptions{})
			if err != nil {
				return err
			}
			return get(ctx, s, id, nil, is("/status/state", wireFailed))
		},
	},
}

// maxPages bounds the pages read from a list: the newest tasks come first (A2A 1.0 §3.1.4).
const maxPages = 50

// listed asserts that a task is in the list, on any page.
func listed(ctx context.Context, s *probe.Session, id string) error {
	o := client.ListOptions{PageSize: 10}
	for range maxPages {
		page, err := s.Client.List(ctx, o)
		if err != nil {
			return err
		}
		v, err := resultWith(s, []want{atLeast("/tasks", 1), each("/tasks", word("/id"), word("/status/state"))})
		if err != nil {
			return err
		}
		if some(v.Get("tasks"), func(t a2a.Value) bool { return t.Get("id").Is(id) }) {
			return nil
		}
		if page.NextPageToken == "" {
			return probe.Fail("task "+id+" in the list", "it is on no page")
		}
		o.PageToken = page.NextPageToken
	}
	return probe.Unclear("task %s is not on the first %d pages of the list", id, maxPages)
}
