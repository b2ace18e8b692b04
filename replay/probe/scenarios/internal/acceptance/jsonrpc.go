package acceptance

import (
	"context"
	"fmt"
	"net/http"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

var jsonRPC = []*probe.Scenario{
	{
		ID: "error-method-not-found", Title: "a method that does not exist is refused",
		Sections: []string{"1.0 §9.5", "JSON-RPC §5.1"},
		Fix:      "Answer with the error -32601.",
		Run: func(ctx context.Context, s *probe.Session) error {
			return posted(ctx, s, `{"jsonrpc":"2.0","id":"`+s.NewID()+`","method":"DoSomethingUnsupported","params":{}}`,
				-32601)
		},
	},
	{
		ID: "error-invalid-json", Title: "a body that is not JSON is refused", Sections: []string{"1.0 §9.5", "JSON-RPC §5.1"},
		Fix: "Answer with the error -32700.",
		Run: func(ctx context.Context, s *probe.Session) error {
			return posted(ctx, s, `{this is not valid json`, -32700)
		},
	},
	{
		ID: "spec-help", Title: "a message that matches no skill is answered with the skills",
		Sections: []string{"1.0 §3.1.1"},
		Fix:      "Answer a message that matches no skill with a message that names the skills.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := send(ctx, s, client.Text("what can you do?"), client.SendOptions{},
				has("/message"), lacks("/task"), is("/message/role", wireAgentRole),
				contains("/message/parts/0/text", "message-only"))
			return err
		},
	},
	{
		ID: "spec-long-running", Title: "a long task that no client waits for is completed with its artifacts",
		Sections: []string{"1.0 §3.2.2", "1.0 §3.1.3"},
		Fix:      "Continue the work after the answer, and return each state and artifact from GetTask.",
		Run:      workedOn("long-running start process"),
	},
}

// posted posts a body to the JSON-RPC endpoint, and asserts the code of the error.
func posted(ctx context.Context, s *probe.Session, body string, code int64) error {
	header := http.Header{"Content-Type": {"application/json"}, "A2A-Version": {"1.0"}}
	a, err := s.Ask(ctx, http.MethodPost, s.Endpoint().URL, header, []byte(body))
	if err != nil {
		return err
	}
	err = holds(a.JSON(), is("/jsonrpc", "2.0"), lacks("/result"), isA("/error/message", a2a.String))
	if err != nil {
		return err
	}
	if got, ok := a.JSON().At("/error/code").Int(); !ok || got != code {
		return probe.Fail(fmt.Sprintf("error code %d", code), "HTTP %d, %s", a.Status, probe.Excerpt(a.Body))
	}
	return nil
}

var wireFormat = []*probe.Scenario{
	{
		ID: "wire-format-camelcase", Title: "member names are in camelCase", Sections: []string{"1.0 §5.5"},
		Fix: "Write member names as in ProtoJSON: contextId, not context_id.",
		Run: func(ctx context.Context, s *probe.Session) error {
			v, err := send(ctx, s, client.Text("task-lifecycle verify wire format"), client.SendOptions{},
				word("/task/id"), has("/task/status"), isA("/task/artifacts", a2a.Array))
			if err != nil {
				return err
			}
			if member := snakeCase(v); member.Exists() {
				return probe.Fail("names in camelCase", "%s", member.Pointer())
			}
			return nil
		},
	},
	{
		ID: "wire-format-enum-values", Title: "roles and states are written by their full names",
		Sections: []string{"1.0 §5.5"},
		Fix:      "Write enum values by their proto names: ROLE_AGENT, TASK_STATE_COMPLETED.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := send(ctx, s, client.Text("message-only verify enums"), client.SendOptions{},
				is("/message/role", wireAgentRole))
			if err != nil {
				return err
			}
			_, err = completed(ctx, s, "task-lifecycle verify state enum")
			return err
		},
	},
	{
		ID: "wire-format-default-values-omitted", Title: "ids that are not set are left out",
		Sections: []string{"1.0 §4.1.4", "1.0 §5.7"},
		Fix:      "Leave taskId and contextId out of a message that has none; do not write an empty string.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := send(ctx, s, client.Text("default value test"), client.SendOptions{}, has("/message"),
				notEmpty("/message/taskId"), notEmpty("/message/contextId"))
			return err
		},
	},
}

// notEmpty requires anything except an empty text.
func notEmpty(pointer string) want {
	return at(pointer, "nothing, or an id", func(v a2a.Value) bool { return !v.Is("") })
}

// snakeNames are members of 1.0 in the proto spelling, which JSON must not use.
var snakeNames = map[string]bool{
	"context_id": true, "message_id": true, "task_id": true, "artifact_id": true, "status_update": true,
	"artifact_update": true, "protocol_version": true, "media_type": true,
}

// snakeCase returns the first member whose name is in snakeNames, outside the agent's own content.
func snakeCase(v a2a.Value) (found a2a.Value) {
	for name, member := range v.Members() {
		switch {
		case snakeNames[name]:
			return member
		case name == "data" || name == "metadata":
			continue
		}
		if found = snakeCase(member); found.Exists() {
			return found
		}
	}
	for _, element := range v.Elems() {
		if found = snakeCase(element); found.Exists() {
			return found
		}
	}
	return found
}
