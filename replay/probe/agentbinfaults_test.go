package probe_test

import (
	"net/http"

	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// More faults, until each test has one.
var moreAcceptanceFaults = []acceptanceFault{
	{name: "a card without version", opts: faulty("card-required-fields"), fails: "both/agent-card-echo"},
	{name: "a skill without name", opts: faulty("card-required-nested"), fails: "both/agent-card-spec"},
	{
		name: "no interface for HTTP+JSON", by: agenttest.Changing(isCard, `"HTTP\+JSON"`, `"GRPC"`),
		fails: "rest/agent-card-echo rest/agent-card-spec",
	},
	{
		name: "no echo agent",
		by: agenttest.Answering(agenttest.Path("GET", "^/echo"), func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(http.StatusNotFound)
		}),
		fails: "both/agent-card-echo",
	},
	{
		name: "a card of 0.3 that says of which version it is by mistake", opts: faulty("card-protocol-version-present"),
		fails: "v03/spec03-agent-card",
	},
	{name: "messages without id", opts: faulty("msg-id-present"), fails: "both/echo-send-message"},
	{
		name: "messages in the role of the user", opts: faulty("msg-role-server"),
		fails: `both/echo-send-message both/spec-message-only both/spec-task-failure both/spec-multi-turn
			v03/spec03-send-message v03/v03-task-failure jsonrpc/spec-help both/wire-format-enum-values`,
	},
	{
		name: "results in messages", opts: faulty("output-in-message"),
		fails: `both/spec-task-lifecycle both/spec-data-types both/spec-return-immediately v03/spec03-task-lifecycle
			both/spec-task-lifecycle-return-immediately jsonrpc/spec-long-running both/wire-format-camelcase`,
	},
	{name: "history that nobody wants", opts: faulty("history-max"), fails: "both/spec-get-task"},
	{
		name: "failed tasks that are completed",
		by: agenttest.All(agenttest.Changing(agenttest.Anything, `TASK_STATE_FAILED`, `TASK_STATE_COMPLETED`),
			agenttest.Changing(agenttest.Anything, `"state":"failed"`, `"state":"completed"`)),
		fails: "both/spec-task-failure both/get-task-after-failure v03/v03-task-failure",
	},
	{
		name: "files without media type", by: agenttest.Changing(agenttest.Anything, `"mediaType"`, `"mimeType"`),
		fails: "both/spec-data-types",
	},
	{
		name: "an event after the last", opts: faulty("stream-closed-on-terminal"),
		fails: "both/spec-streaming both/stream-task-lifecycle both/subscribe-after-stream-disconnect",
	},
	{name: "two messages in a stream", opts: faulty("stream-message-only"), fails: "both/stream-message-only"},
	{name: "a last event without its blank line", opts: faulty("sse-unterminated-event")},
	{
		name: "streams without events", opts: faulty("stream-empty"),
		fails: `both/spec-streaming both/subscribe-to-task both/stream-message-only both/stream-task-lifecycle
			v03/spec03-streaming v03/spec03-streaming-final both/subscribe-after-stream-disconnect`,
	},
	{
		name: "events without their envelope", opts: faulty("stream-rpc-envelope"),
		fails: `jsonrpc/spec-streaming jsonrpc/subscribe-to-task jsonrpc/stream-message-only
			jsonrpc/stream-task-lifecycle v03/spec03-streaming v03/spec03-streaming-final
			jsonrpc/subscribe-after-stream-disconnect`,
	},
	{
		name: "events in an envelope", opts: faulty("stream-rest-bare"),
		fails: `rest/spec-streaming rest/subscribe-to-task rest/stream-message-only rest/stream-task-lifecycle
			rest/subscribe-after-stream-disconnect`,
	},
	{
		name: "a new task for each turn", opts: faulty("id-task-continued"),
		fails: "both/spec-multi-turn both/multi-turn-context-preserved",
	},
	{
		name: "finished tasks that can be canceled", opts: faulty("state-cancel-terminal"),
		fails: "both/error-cancel-terminal both/error-cancel-terminal-code",
	},
	{
		name: "the wrong error for them", opts: faulty("state-cancel-terminal-code"),
		by: agenttest.RefusedWith(agenttest.Path("POST", `:cancel$`), 422), fails: "both/error-cancel-terminal-code",
	},
	{
		name: "finished tasks that take messages", opts: faulty("state-send-terminal-rejected-v1"),
		fails: "both/error-send-terminal both/error-send-terminal-code",
	},
	{
		name: "the wrong error for those", opts: faulty("state-send-terminal-code"),
		by:    agenttest.RefusedWith(agenttest.Path("POST", `message:send$`), 422),
		fails: "both/error-send-terminal-code",
	},
	{
		name: "an internal error for nobody's task", opts: faulty("error-internal-for-named-case"),
		fails: "both/error-cancel-not-found",
	},
	{
		name: "errors without a text", opts: faulty("rpc-error-message"),
		fails: `jsonrpc/error-task-not-found jsonrpc/error-cancel-not-found jsonrpc/error-send-invalid-task
			jsonrpc/error-push-not-supported jsonrpc/error-subscribe-not-found jsonrpc/subscribe-terminal
			jsonrpc/error-cancel-terminal-code jsonrpc/error-send-terminal-code jsonrpc/error-method-not-found
			jsonrpc/error-invalid-json`,
	},
	{
		name: "a message to nobody's task that makes one", by: agenttest.Asking(sends, `,"taskId":"`+nobodys+`"`, ``),
		fails: "both/error-send-invalid-task",
	},
	{name: "errors without reason", opts: faulty("rest-errorinfo-present"), fails: "rest/error-task-not-found"},
	{
		name: "the extended card for everybody", opts: faulty("auth-extended-card-server"),
		fails: "both/spec-extended-card",
	},
	{
		name: "names as the proto has them", by: agenttest.Changing(sends, `"contextId"`, `"context_id"`),
		fails: "both/wire-format-camelcase",
	},
	{
		name:  "ids that are empty",
		by:    agenttest.Changing(agenttest.Anything, `"message":\{(.*)"contextId":"[^"]*"`, `"message":{${1}"contextId":""`),
		fails: "both/wire-format-default-values-omitted",
	},
	{
		name: "parts of 0.3 that do not say what they are", opts: faulty("part-discriminator"),
		fails: "v03/spec03-send-message v03/spec03-task-lifecycle v03/v03-task-failure",
	},
	{name: "tasks of 0.3 of another kind", opts: faulty("task-kind"), fails: "v03/v03-get-task"},
}

func faulty(slug string) refagent.Options { return refagent.Options{Fault: slug} }
