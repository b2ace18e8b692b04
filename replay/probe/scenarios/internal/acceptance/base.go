package acceptance

import (
	"context"
	"net/http"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

var cards = []*probe.Scenario{
	{
		ID: "agent-card-echo", Title: "the echo agent's card has what 1.0 requires", CardOnly: true,
		Sections: []string{"1.0 §4.4.1", "1.0 §8.2"},
		Fix:      "Serve a card of 1.0 at /echo/.well-known/agent-card.json that lists JSONRPC first, and HTTP+JSON.",
		Run: func(ctx context.Context, s *probe.Session) error {
			return card10(ctx, s, word("/name"), isA("/description", a2a.String), word("/version"),
				contains("/supportedInterfaces/0/url", "/"+echoAgent), is("/supportedInterfaces/0/protocolBinding", "JSONRPC"),
				isA("/capabilities", a2a.Object), atLeast("/skills", 1), isA("/defaultInputModes", a2a.Array),
				isA("/defaultOutputModes", a2a.Array))
		},
	},
	{
		ID: "agent-card-spec", Title: "the spec agent's card offers streaming and eight skills", CardOnly: true,
		Sections: []string{"1.0 §4.4.1", "1.0 §8.2"},
		Fix:      "Serve a card of 1.0 that declares streaming and each of the eight skills with id, name and description.",
		Run: func(ctx context.Context, s *probe.Session) error {
			return card10(ctx, s, word("/name"), isTrue("/capabilities/streaming"), exactly("/skills", 8),
				each("/skills", word("/id"), word("/name"), isA("/description", a2a.String)))
		},
	},
}

// card10 reads the public card of 1.0 and checks what every card of the suite has, and more.
func card10(ctx context.Context, s *probe.Session, wants ...want) error {
	url := s.URL + "/.well-known/agent-card.json"
	if _, err := s.Ask(ctx, http.MethodGet, url, http.Header{"A2A-Version": {"1.0"}}, nil); err != nil {
		return err
	}
	card, err := document(s)
	if err != nil {
		return err
	}
	wants = append([]want{
		atLeast("/supportedInterfaces", 1), word("/supportedInterfaces/0/url"),
		is("/supportedInterfaces/0/protocolVersion", "1.0"),
	}, wants...)
	if !s.RPC() {
		wants = append(wants, anyOf("/supportedInterfaces", "an interface for HTTP+JSON", func(i a2a.Value) bool {
			return i.Get("protocolBinding").Is("HTTP+JSON") && i.Get("url").Text() != ""
		}))
	}
	return holds(card, wants...)
}

var echo = []*probe.Scenario{
	{
		ID: "echo-send-message", Title: "the echo agent answers with a message, not a task",
		Sections: []string{"1.0 §3.1.1", "1.0 §4.1.4"},
		Fix:      "Answer with a message whose one text part is the text that was sent.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := send(ctx, s, client.Text("hello world"), client.SendOptions{},
				has("/message"), lacks("/task"), is("/message/role", wireAgentRole), word("/message/messageId"),
				exactly("/message/parts", 1), contains("/message/parts/0/text", "hello world"))
			return err
		},
	},
}

var tasks = []*probe.Scenario{
	{
		ID: "spec-message-only", Title: "a message that creates no task is answered with a message",
		Sections: []string{"1.0 §3.1.1"},
		Fix:      "Answer the skill message-only with a message, and create no task.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := send(ctx, s, client.Text("message-only hello world"), client.SendOptions{},
				has("/message"), lacks("/task"), is("/message/role", wireAgentRole), atLeast("/message/parts", 1),
				contains("/message/parts/0/text", "message-only"))
			return err
		},
	},
	{
		ID: "spec-task-lifecycle", Title: "a task is completed when the answer arrives, and when it is read again",
		Sections: []string{"1.0 §3.1.1", "1.0 §3.1.3", "1.0 §3.2.2"},
		Fix:      "Answer when the task has ended, with its artifact, and keep both for GetTask.",
		Run: func(ctx context.Context, s *probe.Session) error {
			id, err := task(ctx, s, "task-lifecycle process this data", client.SendOptions{},
				is("/task/status/state", wireCompleted), atLeast("/task/artifacts", 1),
				atLeast("/task/artifacts/0/parts", 1), isA("/task/artifacts/0/parts/0/text", a2a.String))
			if err != nil {
				return err
			}
			return get(ctx, s, id, nil, is("/status/state", wireCompleted), atLeast("/artifacts", 1))
		},
	},
	{
		ID: "spec-get-task", Title: "a task is kept, and is returned without history on request",
		Sections: []string{"1.0 §3.1.3", "1.0 §3.2.4"},
		Fix:      "Keep tasks for GetTask, and leave out the history if historyLength is 0.",
		Run: func(ctx context.Context, s *probe.Session) error {
			id, err := completed(ctx, s, "task-lifecycle for history test")
			if err != nil {
				return err
			}
			noHistory := at("/history", "no message", func(v a2a.Value) bool {
				return missing(v) || v.Kind() == a2a.Array && v.Len() == 0
			})
			if err := get(ctx, s, id, new(0), noHistory); err != nil {
				return err
			}
			return get(ctx, s, id, nil, is("/status/state", wireCompleted))
		},
	},
	{
		ID: "spec-task-failure", Title: "a failed task has the state failed, and a message with the reason",
		Sections: []string{"1.0 §4.1.2", "1.0 §4.1.3"},
		Fix:      "End a failed task in TASK_STATE_FAILED, with a status message of the agent.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := task(ctx, s, "task-failure trigger error", client.SendOptions{},
				is("/task/status/state", wireFailed), has("/task/status/message"),
				is("/task/status/message/role", wireAgentRole), atLeast("/task/status/message/parts", 1),
				contains("/task/status/message/parts/0/text", "task-failure"))
			return err
		},
	},
	{
		ID: "spec-data-types", Title: "artifacts contain text, data and a file with its media type",
		Sections: []string{"1.0 §4.1.6", "1.0 §4.1.7"},
		Fix:      "Give each kind of content a separate artifact, and files a media type.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := task(ctx, s, "data-types show all", client.SendOptions{},
				is("/task/status/state", wireCompleted), atLeast("/task/artifacts", 4),
				somePart("a text", func(p a2a.Value) bool { return p.Get("text").Kind() == a2a.String }),
				somePart("an object as data", func(p a2a.Value) bool { return p.Get("data").Kind() == a2a.Object }),
				somePart("a file with its media type", func(p a2a.Value) bool {
					file := p.Get("url").Kind() == a2a.String || p.Get("raw").Kind() == a2a.String
					return file && p.Get("mediaType").Kind() == a2a.String
				}))
			return err
		},
	},
}

// somePart requires that a part, among all artifacts of a task, meets a condition.
func somePart(expected string, ok func(a2a.Value) bool) want {
	return anyOf("/task/artifacts", "a part that contains "+expected, func(artifact a2a.Value) bool {
		return some(artifact.Get("parts"), ok)
	})
}
