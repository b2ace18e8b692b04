package replay_test

import (
	"a2atap/replay/compare"
)

// planted are changes to the recording, and the kind of the only difference by each profile; "" means no difference.
// The rule silences the change under every profile; if it is empty, no rule does.
var planted = []struct {
	name, session, in, was, now string
	protocol, shape, exact      compare.Kind
	rule                        string
}{
	{
		"a text", "1.0 jsonrpc", "send", "two seats", "three seats",
		"", "", "value", "SendMessage:/artifacts/*/parts/*/text",
	},
	{
		"another part", "1.0 jsonrpc", "send", `{"text":"two seats"}`, `{"data":{"x":1}}`,
		"part", "part", "part", "/artifacts/*/parts",
	},
	{
		"two texts", "1.0 jsonrpc", "send", `{"text":"two seats"}`, `{"text":"two "},{"text":"seats"}`,
		"", "structure", "value", "/artifacts/0/parts/*",
	},
	{
		"a part more", "1.0 jsonrpc", "send", `{"text":"two seats"},`, ``,
		"part", "part", "part", "/artifacts/0/parts",
	},
	{
		"a type", "1.0 jsonrpc", "send", `"seats":2`, `"seats":"2"`,
		"type", "type", "type", "/artifacts/*/parts/1/data/seats",
	},
	{
		"a number", "1.0 jsonrpc", "send", `"seats":2`, `"seats":3`,
		"", "", "value", "2.response.body#/result/task/artifacts/0/parts/1/data/seats",
	},
	{
		"a name of a member", "1.0 jsonrpc", "send", `"seats":2`, `"chairs":2`,
		"member", "member", "member", "/artifacts/0/parts/1/data",
	},
	{
		"a member less", "1.0 jsonrpc", "send", `"contextId":"ctx-00000001",`, ``,
		"member", "member", "member", "/contextId",
	},
	{
		"a member more", "1.0 jsonrpc", "send", `"metadata":`, `"owner":"o","metadata":`,
		"member", "member", "member", "/owner",
	},
	{
		"an empty member", "1.0 jsonrpc", "send", `"metadata":`, `"history":[],"metadata":`,
		"", "structure", "value", "/result/task/history",
	},
	{
		"a media type", "1.0 jsonrpc", "send", `"application/json"`, `"text/csv"`,
		"media-type", "media-type", "media-type", "/artifacts/*/parts/*/mediaType",
	},
	{
		"a name of an artifact", "1.0 jsonrpc", "send", `"tickets"`, `"passes"`,
		"content", "content", "content", "SendMessage:/artifacts/*/name",
	},
	{
		"an element less", "1.0 jsonrpc", "send", `["a","b"]`, `["a"]`,
		"", "structure", "value", "/artifacts/*/parts/*/data/rows",
	},
	{"metadata", "1.0 jsonrpc", "send", `"m1"`, `"m2"`, "", "", "value", "*:/metadata/model"},
	{
		"a role", "1.0 jsonrpc", "send", `ROLE_AGENT`, `ROLE_USER`,
		"content", "content", "content", "/status/message/role",
	},
	{
		"a state", "1.0 jsonrpc", "send", `TASK_STATE_COMPLETED`, `TASK_STATE_FAILED`,
		"state", "state", "state", "/status/state",
	},
	{"a time", "1.0 jsonrpc", "send", `2026-01-02T03:04:05Z`, `2025-01-02T03:04:05.123Z`, "", "", "", ""},
	{"a task id", "1.0 jsonrpc", "", `task-00000001`, `task-00000002`, "", "", "", ""},
	{"a message id", "1.0 jsonrpc", "send", `"m-9"`, `"m-10"`, "", "", "", ""},
	{
		"an artifact less", "1.0 jsonrpc", "send", `}]}],"metadata"`,
		`}]},{"artifactId":"a2","name":"n","parts":[{"text":"x"}]}],"metadata"`,
		"content", "content", "content", "/artifacts",
	},
	{
		"a message for a task", "1.0 jsonrpc", "send", `{"task":` + richTask + `}`, message1,
		"outcome", "outcome", "outcome", "",
	},
	{
		"a media type of the answer", "1.0 jsonrpc", "send", `Content-Type: application/json`,
		`Content-Type: text/json`,
		"media-type", "media-type", "media-type", "SendMessage:header[Content-Type]",
	},

	{"a text of a chunk", "1.0 jsonrpc", "stream", `"one"`, `"eins"`, "", "", "value", "/artifact/parts/*/text"},
	{
		"a name in a chunk", "1.0 jsonrpc", "stream", `"tickets"`, `"passes"`,
		"content", "content", "content", "/result/artifactUpdate/artifact/name",
	},
	{
		"a part of a chunk", "1.0 jsonrpc", "stream", `{"text":"one"}`, `{"data":{"x":1}}`,
		"part", "part", "part", "SendStreamingMessage:/artifact/parts",
	},
	{
		"a member in a chunk", "1.0 jsonrpc", "stream", `"artifactId":"a1"`, `"artifactId":"a1","metadata":{"x":1}`,
		"member", "member", "member", "/artifact/metadata",
	},
	{
		"the size of chunks", "1.0 jsonrpc", "stream", `{"text":"one"}`, `{"text":"o"},{"text":"ne"}`,
		"", "", "value", "/artifact/parts",
	},
	{
		"a state of an event", "1.0 jsonrpc", "stream", `TASK_STATE_WORKING`, `TASK_STATE_INPUT_REQUIRED`,
		"state", "state", "state", "SendStreamingMessage:/status/state",
	},
	{"another event", "1.0 jsonrpc", "stream", status("WORKING"), message1, "event", "event", "event", ""},
	{
		"an unknown event", "1.0 jsonrpc", "stream", status("WORKING"), `{"unknown":{}}`,
		"event", "event", "event", "",
	},
	{
		"the end of a subscription", "1.0 jsonrpc", "subscribe", `TASK_STATE_INPUT_REQUIRED`,
		`TASK_STATE_AUTH_REQUIRED`,
		"state", "state", "state", "SubscribeToTask:/status/state",
	},
	{
		"a state of a canceled task", "1.0 jsonrpc", "cancel", `TASK_STATE_CANCELED`, `TASK_STATE_FAILED`,
		"state", "state", "state", "CancelTask:/status/state",
	},
	{
		"a state in a list", "1.0 jsonrpc", "list", `TASK_STATE_CANCELED`, `TASK_STATE_FAILED`,
		"state", "state", "state", "ListTasks:/tasks/*/status/state",
	},
	{
		"a member in a list", "1.0 jsonrpc", "list", `"contextId":"ctx-00000001",`,
		`"contextId":"ctx-00000001","owner":"o",`,
		"member", "member", "member", "/tasks/*/owner",
	},
	{"a number of a list", "1.0 jsonrpc", "list", `"totalSize":1`, `"totalSize":7`, "", "", "", ""},
	{
		"a config's scheme", "1.0 jsonrpc", "set hook", `"Bearer"`, `"Basic"`,
		"", "", "value", "CreatePushConfig:/authentication/scheme",
	},
	{
		"a config's type", "1.0 jsonrpc", "get hook", `{"scheme":"Bearer"}`, `"Bearer"`,
		"type", "type", "type", "GetPushConfig:/authentication",
	},
	{
		"a config less", "1.0 jsonrpc", "list hooks", `"configs":[`, `"configs":[` + config + `,`,
		"content", "content", "content", "/configs",
	},
	{
		"an error for a confirmation", "1.0 jsonrpc", "delete hook", `"result":{}`, `"error":` + noTask,
		"outcome", "outcome", "outcome", "",
	},
	{
		"a capability more", "1.0 jsonrpc", "card", `"streaming":true`, `"streaming":false`,
		"", "", "value", "GetAgentCard:/capabilities/streaming",
	},
	{
		"a capability less", "1.0 jsonrpc", "extended card", `"pushNotifications":false`, `"pushNotifications":true`,
		"content", "content", "content", "GetExtendedAgentCard:/capabilities",
	},
	{
		"an interface less", "1.0 jsonrpc", "card", `"supportedInterfaces":[`,
		`"supportedInterfaces":[{"url":"http://x.example","protocolBinding":"GRPC","protocolVersion":"1.0"},`,
		"content", "content", "content", "/supportedInterfaces",
	},
	{
		"a member of a card less", "1.0 jsonrpc", "card", `"version":"1.0.0",`,
		`"version":"1.0.0","iconUrl":"http://x.example/i",`,
		"member", "member", "member", "GetAgentCard:/iconUrl",
	},
	{
		"a member of a card more", "1.0 jsonrpc", "card", `"version":"1.0.0",`, ``,
		"", "member", "member", "/version",
	},
	{"a skill's tag", "1.0 jsonrpc", "extended card", `["a","b"]`, `["a","c"]`, "", "", "value", "/skills/*/tags"},
	{"an error", "1.0 jsonrpc", "unknown", `-32001`, `-32002`, "error", "error", "error", "GetTask:/error/code"},
	{
		"an error's words", "1.0 jsonrpc", "unknown", `no such task`, `what task?`,
		"", "", "value", "GetTask:/error/message",
	},
	{
		"an error's details", "1.0 jsonrpc", "unknown", `"domain":"a2a-protocol.org",`, ``,
		"member", "member", "member", "/error/data/*/domain",
	},
	{
		"an error's metadata", "1.0 jsonrpc", "unknown", `"taskId":"x"`, `"taskId":"y"`,
		"", "", "value", "/data/0/metadata/taskId",
	},

	{
		"a text over HTTP", "1.0 http", "send", "two seats", "three seats",
		"", "", "value", "SendMessage:/artifacts/*/parts/*/text",
	},
	{
		"a state over HTTP", "1.0 http", "get", `TASK_STATE_COMPLETED`, `TASK_STATE_FAILED`,
		"state", "state", "state", "GetTask:/status/state",
	},
	{
		"a member over HTTP", "1.0 http", "get", `"model":"m1"`, `"model":"m1","took":3`,
		"member", "member", "member", "GetTask:/metadata/took",
	},
	{
		"a status of HTTP", "1.0 http", "get", `HTTP/1.1 200`, `HTTP/1.1 201`,
		"", "structure", "structure", "GetTask:status",
	},
	{
		"a media type over HTTP", "1.0 http", "get", `Content-Type: application/json`,
		`Content-Type: application/a2a+json`,
		"media-type", "media-type", "media-type", "header[content-type]",
	},
	{
		"an event over HTTP", "1.0 http", "stream", `TASK_STATE_WORKING`, `TASK_STATE_AUTH_REQUIRED`,
		"state", "state", "state", "/statusUpdate/status/state",
	},
	{
		"a state in a list over HTTP", "1.0 http", "list", `TASK_STATE_CANCELED`, `TASK_STATE_FAILED`,
		"state", "state", "state", "/tasks/0/status/state",
	},
	{
		"an error over HTTP", "1.0 http", "unknown", `TASK_NOT_FOUND`, `TASK_NOT_CANCELABLE`,
		"error", "error", "error", "/error/details/*/reason",
	},
	{
		"an error's type over HTTP", "1.0 http", "unknown", `"code":404`, `"code":"404"`,
		"type", "type", "type", "GetTask:/error/code",
	},

	{"a text of a message", "1.0 message", "send", `"hi"`, `"ho"`, "", "", "value", "/parts/*/text"},
	{
		"a part of a message", "1.0 message", "send", `{"text":"hi"}`,
		`{"url":"http://x.example","mediaType":"text/csv"}`,
		"part", "part", "part", "/message/parts",
	},
	{
		"a task for a message", "1.0 message", "send", message1, snapshot("COMPLETED"),
		"outcome", "outcome", "outcome", "",
	},

	{
		"a state of 0.3", "0.3 jsonrpc", "send", `"completed"`, `"failed"`,
		"state", "state", "state", "message/send:/status/state",
	},
	{
		"a part of 0.3", "0.3 jsonrpc", "get", `{"kind":"text","text":"two seats"}`,
		`{"kind":"data","data":{"x":1}}`,
		"part", "part", "part", "tasks/get:/artifacts/*/parts",
	},
	{
		"a media type of 0.3", "0.3 jsonrpc", "get", `"text/csv"`, `"text/tsv"`,
		"media-type", "media-type", "media-type", "GetTask:/artifacts/0/parts/*/file/mimeType",
	},
	{"the last event of 0.3", "0.3 jsonrpc", "stream", `"final":true`, `"final":false`, "", "", "value", "/final"},
	{"an event of 0.3", "0.3 jsonrpc", "stream", working03, message03, "event", "event", "event", ""},
	{"an error of 0.3", "0.3 jsonrpc", "unknown", `-32001`, `-32002`, "error", "error", "error", "/error/code"},
	{
		"a capability of 0.3", "0.3 jsonrpc", "card", `"streaming":true`,
		`"streaming":true,"stateTransitionHistory":true`,
		"member", "member", "member", "/capabilities/*",
	},
}
