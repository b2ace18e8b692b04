package refagent_test

import (
	"strings"
)

// What the fault tests send.
var (
	sendRPC     = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage", `{"message":`+userMessage("", "task-lifecycle")+`}`)
	sendREST    = "POST /spec/message:send" + v10Header + `{"message":` + userMessage("", "task-lifecycle") + `}`
	streamRPC   = "POST /spec" + v10Header + rpc(`"r"`, "SendStreamingMessage", `{"message":`+userMessage("", "task-lifecycle")+`}`)
	streamREST  = "POST /spec/message:stream" + v10Header + `{"message":` + userMessage("", "task-lifecycle") + `}`
	messageRPC  = "POST /spec" + v10Header + rpc(`"r"`, "SendStreamingMessage", `{"message":`+userMessage("", "message-only")+`}`)
	unknownRPC  = "POST /spec" + v10Header + rpc(`"r"`, "GetTask", `{"id":"t9"}`)
	unknownREST = "GET /spec/tasks/t9\nA2A-Version: 1.0"
	getRPC      = "POST /spec" + v10Header + rpc(`"r"`, "GetTask", `{"id":"id-1"}`)
	againRPC    = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage",
		`{"message":{"messageId":"m2","taskId":"id-1","role":"ROLE_USER","parts":[{"text":"more"}]}}`)
	cancelRPC    = "POST /spec" + v10Header + rpc(`"r"`, "CancelTask", `{"id":"id-1"}`)
	chunksRPC    = "POST /spec" + v10Header + rpc(`"r"`, "SendStreamingMessage", `{"message":`+userMessage("", "streaming")+`}`)
	subscribeRPC = "POST /spec" + v10Header + rpc(`"r"`, "SubscribeToTask", `{"id":"id-1"}`)
	pushRPC      = "POST /spec" + v10Header + rpc(`"r"`, "ListTaskPushNotificationConfigs", `{"taskId":"id-1"}`)

	strangeRPC = "POST /spec" + v10Header + rpc(`"r"`, "NoSuchMethod", `{}`)
	brokenRPC  = "POST /spec" + v10Header + `{"jsonrpc":"2.0","id":"r"`
	muteRPC    = "POST /spec" + v10Header + `{"jsonrpc":"2.0","method":"GetTask","params":{"id":"t9"}}`
	aimlessRPC = "POST /spec" + v10Header + `{"jsonrpc":"2.0","id":"r","params":{"id":"t9"}}`
	emptyRPC   = "POST /spec" + v10Header + rpc(`"r"`, "GetTask", `{}`)
	batchRPC   = "POST /spec" + v10Header + "[" + rpc(`"a"`, "GetTask", `{"id":"t9"}`) + "," + rpc(`"b"`, "GetTask", `{"id":"t9"}`) + "]"

	strange03        = "POST /spec03\n\n" + rpc("1", "no/such", `{}`)
	broken03         = "POST /spec03\n\n" + `{"jsonrpc":"2.0","id":1`
	mute03           = "POST /spec03\n\n" + `{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"t9"}}`
	aimless03        = "POST /spec03\n\n" + `{"jsonrpc":"2.0","id":1,"params":{"id":"t9"}}`
	empty03          = "POST /spec03\n\n" + rpc("1", "tasks/get", `{}`)
	batch03          = "POST /spec03\n\n[" + rpc("1", "tasks/get", `{"id":"t9"}`) + "," + rpc("2", "tasks/get", `{"id":"t9"}`) + "]"
	cancelUnknownRPC = "POST /spec" + v10Header + rpc(`"r"`, "CancelTask", `{"id":"t9"}`)
	cancelREST       = "POST /spec/tasks/id-1:cancel" + v10Header + `{}`
	getREST          = "GET /spec/tasks/id-1\nA2A-Version: 1.0"
	turnRPC          = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage", `{"message":`+userMessage("", "multi-turn")+`}`)
	turnAgainRPC     = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage", `{"message":{"messageId":"m2","taskId":"id-1","role":"ROLE_USER","parts":[{"text":"more"}]}}`)

	setPush03       = "POST /spec03\n\n" + rpc("1", "tasks/pushNotificationConfig/set", `{"taskId":"id-1","pushNotificationConfig":{"id":"p1","url":"http://127.0.0.1:9/hook"}}`)
	cancelUnknown03 = "POST /spec03\n\n" + rpc("1", "tasks/cancel", `{"id":"t9"}`)
	streamMessage03 = "POST /spec03\n\n" + rpc("1", "message/stream", message03("message-only"))
	turn03          = "POST /spec03\n\n" + rpc("1", "message/send", message03("multi-turn"))
	turnAgain03     = "POST /spec03\n\n" + rpc("1", "message/send", `{"message":{"kind":"message","messageId":"m2","taskId":"id-1","role":"user","parts":[{"kind":"text","text":"more"}]}}`)

	extendedRPC = "POST /spec" + v10Header + rpc(`"r"`, "GetExtendedAgentCard", `{}`)
	knownRPC    = "POST /spec\nAuthorization: Bearer agentbin-test-token" + v10Header + rpc(`"r"`, "GetExtendedAgentCard", `{}`)
	waitRPC     = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage", `{"message":`+userMessage("", "tck-auth-required")+`}`)
	waitStream  = "POST /spec" + v10Header + rpc(`"r"`, "SendStreamingMessage", `{"message":`+userMessage("", "tck-auth-required")+`}`)

	parts01  = "POST /legacy\n\n" + rpc("1", "tasks/send", `{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"task-lifecycle"}]}}`)
	wait03   = "POST /spec03\n\n" + rpc("1", "message/send", message03("tck-auth-required"))
	push03   = "POST /spec03\n\n" + rpc("1", "tasks/pushNotificationConfig/get", `{"id":"id-1"}`)
	send03   = "POST /spec03\n\n" + rpc("1", "message/send", message03("task-lifecycle"))
	stream03 = "POST /spec03\n\n" + rpc("1", "message/stream", message03("task-lifecycle"))
	chunks03 = "POST /spec03\n\n" + rpc("1", "message/stream", message03("streaming"))
	cancel03 = "POST /spec03\n\n" + rpc("1", "tasks/cancel", `{"id":"id-1"}`)
	again03  = "POST /spec03\n\n" + rpc("1", "message/send",
		`{"message":{"kind":"message","messageId":"m2","taskId":"id-1","role":"user","parts":[{"kind":"text","text":"more"}]}}`)
	get03     = "POST /spec03\n\n" + rpc("1", "tasks/get", `{"id":"id-1"}`)
	unknown03 = "POST /spec03\n\n" + rpc("1", "tasks/get", `{"id":"t9"}`)
)

// What they send to tasks that wait for the client, and to lists.
var (
	multiRPC    = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage", `{"message":`+userMessage("", "multi-turn start")+`}`)
	multi03     = "POST /spec03\n\n" + rpc("1", "message/send", message03("multi-turn start"))
	goOn03      = "POST /spec03\n\n" + rpc("1", "message/send", `{"message":{"kind":"message","messageId":"m2","taskId":"id-1","role":"user","parts":[{"kind":"text","text":"more"}]}}`)
	sameRPC     = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage", `{"message":{"messageId":"m2","contextId":"id-2","role":"ROLE_USER","parts":[{"text":"task-lifecycle"}]}}`)
	same03      = "POST /spec03\n\n" + rpc("1", "message/send", `{"message":{"kind":"message","messageId":"m2","contextId":"id-2","role":"user","parts":[{"kind":"text","text":"task-lifecycle"}]}}`)
	mismatchRPC = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage", `{"message":{"messageId":"m2","taskId":"id-1","contextId":"another","role":"ROLE_USER","parts":[{"text":"more"}]}}`)
	getOneRPC   = "POST /spec" + v10Header + rpc(`"r"`, "GetTask", `{"id":"id-1","historyLength":1}`)
	getOne03    = "POST /spec03\n\n" + rpc("1", "tasks/get", `{"id":"id-1","historyLength":1}`)
	tasksREST   = "GET /spec/tasks\nA2A-Version: 1.0"
)

func listing(query string) string { return "GET /spec/tasks?" + query + "\nA2A-Version: 1.0" }

func message03(text string) string {
	return `{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"` + text + `"}]}}`
}

// faultTests show each fault on the wire: what the faulty answer has and the faithful one has not, or the reverse.
var faultTests = []struct {
	slug, agent string
	before      []string
	request     string
	has, lacks  string
}{
	{"rpc-response-content-type", "spec03", nil, send03, "200 text/plain", "application/json"},
	{"rpc-response-content-type-v1", "spec", nil, sendRPC, "200 text/plain", "application/json"},
	{"json-wellformed", "spec", nil, sendRPC, `}},}`, ""},
	{"json-wellformed", "spec", nil, sendREST, `]},}`, ""},
	{"json-wellformed", "spec03", nil, send03, `]},}`, ""},
	{"json-duplicate-keys", "spec", nil, sendRPC, `{"jsonrpc":"2.0","jsonrpc":"2.0"`, ""},
	{"json-duplicate-keys", "spec", []string{sendREST}, "GET /spec/tasks/id-1", `{"id":"id-1","id":"id-1"`, ""},
	{"json-duplicate-keys", "spec03", nil, send03, `{"jsonrpc":"2.0","jsonrpc":"2.0"`, ""},
	{"rpc-response-jsonrpc", "spec", nil, sendRPC, `{"jsonrpc":"1.0"`, `"2.0"`},
	{"rpc-response-jsonrpc", "spec03", nil, unknown03, `{"jsonrpc":"1.0"`, `"2.0"`},
	{"rpc-id-echo", "spec", nil, sendRPC, `"id":"another-id"`, `"id":"r"`},
	{"rpc-id-echo", "spec03", nil, send03, `"id":"another-id"`, `"id":1,`},
	{"rpc-result-xor-error", "spec", nil, sendRPC, `,"error":{"code":-32603,"message":"Internal error"}}`, ""},
	{"rpc-result-xor-error", "spec03", nil, send03, `,"error":{"code":-32603,"message":"Internal error"}}`, ""},
	{"rpc-error-code-int", "spec", nil, unknownRPC, `"code":"-32001"`, `"code":-32001`},
	{"rpc-error-code-int", "spec03", nil, unknown03, `"code":"-32001"`, `"code":-32001`},
	{"rpc-error-message", "spec", nil, unknownRPC, `{"code":-32001,"data"`, `"message"`},
	{"rpc-error-message", "spec03", nil, unknown03, `{"code":-32001}`, `"message"`},
	{"rpc-unknown-method-code", "spec", nil, strangeRPC, `"code":-32603`, `"code":-32601`},
	{"rpc-unknown-method-code", "spec03", nil, strange03, `"code":-32603`, `"code":-32601`},
	{"rpc-core-method-missing", "spec03", []string{send03}, get03, `"code":-32601`, `"result"`},
	{"rpc-core-method-missing-v1", "spec", []string{sendRPC}, getRPC, `"code":-32601`, `"result"`},
	{"rpc-response-id-present", "spec", nil, sendRPC, `{"jsonrpc":"2.0","result"`, `"id":"r"`},
	{"rpc-response-id-present", "spec03", nil, send03, `{"jsonrpc":"2.0","result"`, `"id":1,`},
	{"rpc-id-null-parse-error", "spec", nil, brokenRPC, `"id":"none"`, `"id":null`},
	{"rpc-id-null-parse-error", "spec03", nil, broken03, `"id":"none"`, `"id":null`},
	{"rpc-id-null-unjustified", "spec", nil, unknownRPC, `"id":null`, `"id":"r"`},
	{"rpc-id-null-unjustified", "spec03", nil, unknown03, `"id":null`, `"id":1,`},
	{
		"rpc-result-xor-error-v01", "legacy", nil, "POST /legacy" + jsonHeader + rpc("1", "tasks/send", legacySend("t1", "task-lifecycle")),
		`,"error":{"code":-32603,"message":"Internal error"}}`, "",
	},
	{"rpc-result-null", "spec", []string{sendRPC}, getRPC, `"result":null`, "TASK_STATE"},
	{"rpc-result-null", "spec03", []string{send03}, get03, `"result":null`, `"status"`},
	{"rpc-notification-answered", "spec", nil, muteRPC, `"code":-32001`, `"code":-32600`},
	{"rpc-notification-answered", "spec03", nil, mute03, `"code":-32001`, `"code":-32600`},
	{"rpc-error-object", "spec", nil, unknownRPC, `"error":"Task not found: t9"`, `"code"`},
	{"rpc-error-object", "spec03", nil, unknown03, `"error":"Task not found: t9"`, `"code"`},
	{"rpc-error-data-array", "spec", nil, unknownRPC, `"data":{"@type"`, `"data":[`},
	{"rpc-error-data-type-key", "spec", nil, unknownRPC, `"data":[{"reason"`, `"@type"`},
	{"rpc-error-code-reserved", "spec", nil, emptyRPC, `"code":-32650`, `"code":-32602`},
	{"rpc-error-code-reserved", "spec03", nil, empty03, `"code":-32650`, `"code":-32602`},
	{"rpc-error-code-a2a-range", "spec", nil, emptyRPC, `"code":-32050`, `"code":-32602`},
	{"rpc-error-code-dialect", "spec03", nil, empty03, `"code":-32008`, `"code":-32602`},
	{"rpc-parse-error-unfounded", "spec", nil, emptyRPC, `"code":-32700`, `"code":-32602`},
	{"rpc-parse-error-unfounded", "spec03", nil, empty03, `"code":-32700`, `"code":-32602`},
	{"rpc-invalid-json-wrong-code", "spec", nil, brokenRPC, `"code":-32600`, `"code":-32700`},
	{"rpc-invalid-json-wrong-code", "spec03", nil, broken03, `"code":-32600`, `"code":-32700`},
	{"rpc-invalid-request-wrong-code", "spec", nil, aimlessRPC, `"code":-32603`, `"code":-32600`},
	{"rpc-invalid-request-wrong-code", "spec03", nil, aimless03, `"code":-32603`, `"code":-32600`},
	{"rpc-invalid-request-unfounded", "spec", nil, emptyRPC, `"code":-32600`, `"code":-32602`},
	{"rpc-invalid-request-unfounded", "spec03", nil, empty03, `"code":-32600`, `"code":-32602`},
	{"rpc-a2a-errorinfo", "spec", nil, unknownRPC, `"code":-32001`, `"data"`},
	{"rpc-errorinfo-domain", "spec", nil, unknownRPC, `"domain":"agentbin.example"`, "a2a-protocol.org"},
	{"rpc-errorinfo-reason", "spec", nil, unknownRPC, `"reason":"TASK_NOT_FOUND_ERROR"`, `"reason":"TASK_NOT_FOUND"`},
	{"rpc-errorinfo-code-match", "spec", nil, unknownRPC, `"reason":"TASK_NOT_CANCELABLE"`, `"reason":"TASK_NOT_FOUND"`},
	{"rpc-validation-detail", "spec", nil, emptyRPC, `"message":"Invalid parameters"}`, `"data"`},
	{"rpc-batch-response-array", "spec", nil, batchRPC, `{"jsonrpc":"2.0","id":"a","result":{}}`, `"error"`},
	{"rpc-batch-response-array", "spec03", nil, batch03, `{"jsonrpc":"2.0","id":1,"result":{}}`, `"error"`},
	{"rpc-batch-response-complete", "spec", nil, batchRPC, `[{"jsonrpc":"2.0","id":"a","error"`, `"id":null`},
	{"rpc-batch-response-complete", "spec03", nil, batch03, `[{"jsonrpc":"2.0","id":1,"error"`, `"id":null`},
	{"rpc-batch-response-empty-array", "spec", nil, batchRPC, "json []", `"error"`},
	{"rpc-batch-response-empty-array", "spec03", nil, batch03, "json []", `"error"`},
	{"rest-error-not-2xx", "spec", nil, unknownREST, `200 application/a2a+json {"error":{"code":404`, ""},
	{"rest-error-envelope", "spec", nil, unknownREST, `404 application/a2a+json {"code":404`, `"error"`},
	{"rpc-answer-missing", "spec", []string{sendRPC}, getRPC, "200 application/json $", "result"},
	{"rpc-answer-missing", "spec03", []string{send03}, get03, "200 application/json $", "result"},
	{"stream-content-type", "spec", nil, streamRPC, "200 application/json data: ", "text/event-stream"},
	{"stream-content-type", "spec", nil, streamREST, "200 application/json data: ", "text/event-stream"},
	{"stream-content-type", "spec03", nil, stream03, "200 application/json data: ", "text/event-stream"},
	{"stream-status-200", "spec", nil, streamRPC, "201 text/event-stream", "200"},
	{"stream-status-200", "spec03", nil, stream03, "201 text/event-stream", "200"},
	{"stream-method-answered-json", "spec", nil, messageRPC, `200 application/json {"jsonrpc":"2.0","id":"r","result":{"message"`, "data: "},
	{"stream-method-answered-json", "spec03", nil, streamMessage03, `200 application/json {"jsonrpc":"2.0","id":1,"result":{"kind":"message"`, "data: "},
	{"nonstream-method-answered-sse", "spec", []string{sendRPC}, getRPC, `200 text/event-stream data: {"jsonrpc"`, "application/json"},
	{"nonstream-method-answered-sse", "spec03", []string{send03}, get03, `200 text/event-stream data: {"jsonrpc"`, "application/json"},
	{"json-utf8", "spec", nil, sendRPC, "200 application/json \xef\xbb\xbf{", ""},
	{"json-utf8", "spec03", nil, send03, "200 application/json \xef\xbb\xbf{", ""},
	{"card-unavailable", "spec", nil, "GET /spec/.well-known/agent-card.json", "500 text/plain; charset=utf-8 out of cards", "skills"},
	{"card-unavailable", "spec03", nil, "GET /spec03/.well-known/agent-card.json", "500 text/plain; charset=utf-8 out of cards", "skills"},
	{"rest-response-content-type", "spec03-rest", nil, "POST /spec03-rest/v1/message:send\n\n" + message03("task-lifecycle"), "200 text/plain", "application/json"},
	{"rest-answer-missing", "spec03-rest", []string{"POST /spec03-rest/v1/message:send\n\n" + message03("task-lifecycle")}, "GET /spec03-rest/v1/tasks/id-1", "200 application/json $", "id-1"},
	{"rest-content-type-v1", "spec", nil, sendREST, "200 text/plain", "application/a2a+json"},
	{"rest-success-status", "spec", []string{sendREST}, getREST, "202 application/a2a+json", "200"},
	{"rest-answer-missing", "spec", []string{sendREST}, getREST, "200 application/a2a+json $", "id-1"},
	{"rest-error-body", "spec", []string{sendREST}, cancelREST, "400 application/a2a+json $", "error"},
	{"rest-error-code-equals-status", "spec", nil, unknownREST, `"code":-32001`, `"code":404`},
	{"rest-error-message", "spec", nil, unknownREST, `"status":"NOT_FOUND","details"`, `"message"`},
	{"rest-error-status-name", "spec", nil, unknownREST, `"status":"Not Found"`, `"status":"NOT_FOUND"`},
	{"rest-error-details-array", "spec", nil, unknownREST, `"details":{`, `"details":[`},
	{"rest-error-details-type", "spec", nil, unknownREST, `"details":[{"reason"`, "@type"},
	{"rest-errorinfo-present", "spec", nil, unknownREST, "Task not found: t9\"}}", "ErrorInfo"},
	{"rest-error-status-map", "spec", nil, unknownREST, `500 application/a2a+json {"error":{"code":500,"status":"INTERNAL"`, "404"},
	{"equiv-error-same", "spec", nil, cancelUnknownRPC, `"code":-32002`, `"code":-32001`},
	{"equiv-result-same", "spec", []string{sendREST}, getREST, `"name":"artifact"`, ""},
	{"id-task-history-consistent", "spec", []string{turnRPC, turnAgainRPC}, getRPC, `"taskId":"another-task"`, ""},
	{"id-task-history-consistent", "spec03", []string{turn03, turnAgain03}, get03, `"taskId":"another-task"`, ""},
	{"error-internal-for-named-case", "spec", nil, cancelUnknownRPC, `"code":-32603`, `"code":-32001`},
	{"error-internal-for-named-case", "spec03", nil, cancelUnknown03, `"code":-32603`, `"code":-32001`},
	{"push-valid-config-refused", "spec03", []string{send03}, setPush03, `"message":"Invalid parameters: retries is missing"`, ""},
	{"id-get-echo", "spec", []string{sendRPC}, getRPC, `"id":"id-1-b"`, `"id":"id-1"`},
	{"id-get-echo", "spec03", []string{send03}, get03, `"id":"id-1-b"`, `"id":"id-1"`},
	{"id-task-continued", "spec", []string{multiRPC}, againRPC, `"id":"id-1-b"`, `"id":"id-1"`},
	{"id-task-continued", "spec03", []string{multi03}, goOn03, `"id":"id-1-b"`, `"id":"id-1"`},
	{"id-stream-task-consistent", "spec", nil, streamRPC, `"taskId":"id-1-b"`, ""},
	{"id-stream-task-consistent", "spec03", nil, stream03, `"taskId":"id-1-b"`, ""},
	{"id-context-preserved", "spec", []string{sendRPC}, sameRPC, `"contextId":`, `"contextId":"id-2"`},
	{"id-context-preserved-0x", "spec03", []string{send03}, same03, `"contextId":`, `"contextId":"id-2"`},
	{"id-context-inferred", "spec", []string{multiRPC}, againRPC, `"contextId":"id-2-b"`, ""},
	{"id-context-mismatch-rejected", "spec", []string{multiRPC}, mismatchRPC, `"Very well"`, `-32602`},
	{"id-stream-context-consistent", "spec", nil, streamRPC, `"contextId":"id-2-b"`, ""},
	{"id-stream-context-consistent", "spec03", nil, stream03, `"contextId":"id-2-b"`, ""},
	{"id-status-message-task", "spec", []string{sendRPC}, getRPC, `"taskId":"id-1-b"`, ""},
	{"id-status-message-task", "spec03", []string{send03}, get03, `"taskId":"id-1-b"`, ""},
	{"id-task-unique", "spec", []string{sendRPC}, sendRPC, `"id":"id-1"`, ""},
	{"id-task-unique", "spec", []string{sendRPC}, streamREST, `{"task":{"id":"id-1","contextId":"id-2","status":{"state":"TASK_STATE_COMPLETED"`, "Update"},
	{"id-task-unique", "spec03", []string{send03}, send03, `"kind":"task","id":"id-1"`, ""},
	{"id-context-stable", "spec", []string{sendRPC}, getRPC, `"contextId":"id-2-moved"`, `"contextId":"id-2"`},
	{"id-context-stable", "spec03", []string{send03}, get03, `"contextId":"id-2-moved"`, `"contextId":"id-2"`},
	{"state-terminal-immutable", "spec", []string{sendRPC}, getRPC, "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"},
	{"state-terminal-immutable", "spec03", []string{send03}, get03, `"state":"working"`, `"state":"completed"`},
	{"state-send-terminal-code", "spec", []string{sendRPC}, againRPC, `"code":-32002`, "-32004"},
	{"state-subscribe-terminal-code", "spec", []string{sendRPC}, subscribeRPC, `"reason":"TASK_NOT_CANCELABLE"`, "-32004"},
	{"history-max", "spec", []string{sendRPC}, getOneRPC, "sunny", ""},
	{"history-max-0x", "spec03", []string{send03}, getOne03, "sunny", ""},
	{"history-zero-omitted", "spec", []string{sendRPC}, listing("historyLength=0"), `"history":[]`, ""},
	{"list-next-token-present", "spec", []string{sendRPC}, tasksREST, `"tasks":[{`, "nextPageToken"},
	{"list-last-page-token", "spec", []string{sendRPC}, tasksREST, `"nextPageToken":"MS4w"`, `"nextPageToken":""`},
	{"list-required-fields", "spec", []string{sendRPC}, tasksREST, `"tasks":[{`, "totalSize"},
	{"list-page-limit", "spec", []string{sendRPC}, listing("pageSize=1"), `"id":"id-1-b-c"`, ""},
	{"list-page-size-echo", "spec", []string{sendRPC}, tasksREST, `"pageSize":51`, `"pageSize":50`},
	{"list-total-size", "spec", []string{sendRPC}, tasksREST, `"totalSize":0`, `"totalSize":1`},
	{"list-sorted", "spec", []string{sendRPC, sameRPC}, tasksREST, `"tasks":[{"id":"id-1"`, ""},
	{"list-filter-context", "spec", []string{sendRPC}, listing("contextId=id-2"), `"contextId":"id-2-b"`, ""},
	{"list-filter-status", "spec", []string{sendRPC}, listing("status=TASK_STATE_COMPLETED"), "TASK_STATE_FAILED", "TASK_STATE_COMPLETED"},
	{"list-filter-time", "spec", []string{sendRPC}, listing("statusTimestampAfter=2020-01-01T00:00:00.000Z"), `"2019-12-31T23:00:00.000Z"`, ""},
	{"list-artifacts-omitted", "spec", []string{sendRPC}, tasksREST, `"artifacts":[]`, ""},
	{"list-duplicate-task", "spec", []string{sendRPC}, tasksREST, `"totalSize":2`, `"totalSize":1`},
	{"list-scope", "spec", []string{sendRPC}, getRPC, `"code":-32001`, "TASK_STATE"},
	{"stream-first-event", "spec", nil, streamRPC, `event-stream data: {"jsonrpc":"2.0","id":"r","result":{"statusUpdate"`, `{"task"`},
	{"stream-first-event", "spec", nil, streamREST, `event-stream data: {"statusUpdate"`, `{"task"`},
	{"stream-message-only", "spec", nil, messageRPC, `{"message":{"messageId":"id-1-2"`, ""},
	{"stream-closed-on-terminal", "spec", nil, streamRPC, "COMPLETED\"," + at + "}}}}\n\ndata: " + `{"jsonrpc":"2.0","id":"r","result":{"statusUpdate":{"taskId":"id-1","contextId":"id-2","status":{"state":"TASK_STATE_WORKING"`, ""},
	{"stream-closed-on-terminal", "spec", nil, streamREST, "COMPLETED\"," + at + "}}}\n\ndata: " + `{"statusUpdate":{"taskId":"id-1","contextId":"id-2","status":{"state":"TASK_STATE_WORKING"`, ""},
	{"stream-nothing-after-final", "spec03", nil, stream03, `"final":true}}` + "\n\ndata: " + `{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"id-1","contextId":"id-2","status":{"state":"working"`, ""},
	{"stream-truncated", "spec", nil, streamRPC, "WORKING\"," + at + "}}}}\n\n$", "COMPLETED"},
	{"stream-truncated", "spec03", nil, stream03, `"final":false}}` + "\n\n$", "completed"},
	{"stream-rpc-id", "spec", nil, streamRPC, `"id":"another-id"`, `"id":"r"`},
	{"stream-rpc-id", "spec03", nil, stream03, `"id":"another-id"`, `"id":1,`},
	{"sse-unterminated-event", "spec", nil, streamRPC, "COMPLETED\"," + at + "}}}}\n$", ""},
	{"sse-unterminated-event", "spec03", nil, stream03, `"final":true}}` + "\n$", ""},
	{
		"state-terminal-immutable-early", "legacy",
		[]string{"POST /legacy" + jsonHeader + rpc("1", "tasks/send", legacySend("t1", "task-lifecycle"))},
		"POST /legacy" + jsonHeader + rpc("1", "tasks/get", `{"id":"t1"}`), `"state":"working"`, `"state":"completed"`,
	},
	{"state-final-state-agrees", "spec", []string{streamRPC}, getRPC, "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"},
	{"state-final-state-agrees", "spec03", []string{stream03}, get03, `"state":"working"`, `"state":"completed"`},
	{"state-unknown-task-known", "spec", []string{sendRPC}, getRPC, `"code":-32001`, "TASK_STATE_COMPLETED"},
	{"state-unknown-task-known", "spec03", []string{send03}, get03, `"code":-32001`, `"state":"completed"`},
	{"state-send-terminal-rejected", "spec03", []string{send03}, again03, `"state":"completed"`, `"error"`},
	{"state-send-terminal-rejected-v1", "spec", []string{sendRPC}, againRPC, "TASK_STATE_COMPLETED", `"error"`},
	{"state-cancel-terminal", "spec", []string{sendRPC}, cancelRPC, "TASK_STATE_COMPLETED", `"error"`},
	{"state-cancel-terminal", "spec03", []string{send03}, cancel03, `"state":"completed"`, `"error"`},
	{"state-cancel-terminal-code", "spec", []string{sendRPC}, cancelRPC, `"code":-32602`, "-32002"},
	{"state-cancel-terminal-code", "spec03", []string{send03}, cancel03, `"code":-32602`, "-32002"},
	{"state-cancel-changes-terminal", "spec", []string{sendRPC}, cancelRPC, "TASK_STATE_CANCELED", `"error"`},
	{"state-cancel-changes-terminal", "spec03", []string{send03}, cancel03, `"state":"canceled"`, `"error"`},
	{"state-subscribe-terminal", "spec", []string{sendRPC}, subscribeRPC, `event-stream data: {"jsonrpc":"2.0","id":"r","result":{"task":{"id":"id-1"`, `"error"`},
	{"state-blocking", "spec", nil, sendRPC, "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"},
	{"state-blocking-0x", "spec03", nil, send03, `"state":"working"`, `"state":"completed"`},
	{"state-blocking-artifacts", "spec", nil, sendRPC, "TASK_STATE_COMPLETED\"," + at + "},\"history\"", `"artifacts"`},
	{"state-artifacts-after-terminal", "spec", []string{sendRPC}, getRPC, `"Once more: "`, ""},
	{"state-artifacts-after-terminal", "spec03", []string{send03}, get03, `"Once more: "`, ""},
	{"state-status-regress-time", "spec", nil, streamRPC, "WORKING\",\"timestamp\":\"2026-03-01T09:00:00.000Z", ""},
	{"state-status-regress-time", "spec03", nil, stream03, "working\",\"timestamp\":\"2026-03-01T09:00:00.000Z", ""},
	{"stream-no-message-in-task-stream", "spec", nil, streamRPC, `"result":{"message":{"messageId":"id-1-hello"`, ""},
	{"stream-no-message-in-task-stream", "spec", nil, streamREST, `data: {"message":{"messageId":"id-1-hello"`, ""},
	{"stream-task-snapshot-position", "spec", nil, streamRPC, `"result":{"task":{"id":"id-1","contextId":"id-2","status":{"state":"TASK_STATE_WORKING"`, ""},
	{"stream-rpc-envelope", "spec", nil, streamRPC, `event-stream data: {"task"`, "jsonrpc"},
	{"stream-rpc-envelope", "spec03", nil, stream03, `event-stream data: {"kind":"task"`, "jsonrpc"},
	{"stream-rest-bare", "spec", nil, streamREST, `event-stream data: {"jsonrpc":"2.0","id":"1","result":{"task"`, `data: {"task"`},
	{"stream-error-last", "spec", nil, streamRPC, `{"jsonrpc":"2.0","id":"r","error":{"code":-32603`, ""},
	{"stream-error-last", "spec03", nil, stream03, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603`, ""},
	{"stream-terminal-without-final", "spec03", nil, stream03, `"final":false}}` + "\n\n$", `"final":true`},
	{"stream-final-active-state", "spec03", nil, stream03, `"state":"working",` + at + `},"final":true`, "completed"},
	{"stream-empty", "spec", nil, streamRPC, "event-stream $", "data"},
	{"stream-empty", "spec03", nil, stream03, "event-stream $", "data"},
	{"stream-chunk-append-known", "spec", nil, streamRPC, `"append":true`, ""},
	{"stream-chunk-append-known", "spec03", nil, stream03, `"append":true`, ""},
	{"stream-chunk-after-last", "spec", nil, chunksRPC, `Chunk 2: Analyzing input data..."}]},"append":true,"lastChunk":true`, ""},
	{"stream-chunk-after-last", "spec03", nil, chunks03, `Chunk 2: Analyzing input data..."}]},"append":true,"lastChunk":true`, ""},
	{"stream-chunk-incomplete", "spec", nil, chunksRPC, `"append":true}`, `"lastChunk":true`},
	{"stream-chunk-incomplete", "spec03", nil, chunks03, `"append":true`, `"lastChunk":true`},
	{"stream-artifact-consistent", "spec", nil, streamRPC, `"Something else"`, "Processed"},
	{"stream-artifact-consistent", "spec03", nil, stream03, `"Something else"`, "Processed"},
	{"sse-utf8", "spec", nil, streamRPC, "event-stream : caf\xe9\ndata: ", ""},
	{"sse-utf8", "spec03", nil, stream03, "event-stream : caf\xe9\ndata: ", ""},
	{"sse-stray-line", "spec", nil, streamRPC, "event-stream data: {\n\"jsonrpc\"", ""},
	{"sse-stray-line", "spec03", nil, stream03, "event-stream data: {\n\"jsonrpc\"", ""},
	{"sse-retry-digits", "spec", nil, streamRPC, "event-stream retry: 3s\ndata: ", ""},
	{"sse-retry-digits", "spec03", nil, stream03, "event-stream retry: 3s\ndata: ", ""},
	{"sse-id-nul", "spec", nil, streamRPC, "event-stream id: 1\x00\ndata: ", ""},
	{"sse-id-nul", "spec03", nil, stream03, "event-stream id: 1\x00\ndata: ", ""},
	{"sse-empty-data", "spec", nil, streamRPC, "event-stream data: \n\ndata: ", ""},
	{"sse-empty-data", "spec03", nil, stream03, "event-stream data: \n\ndata: ", ""},
	{"sse-one-json", "spec", nil, streamRPC, "}}\ndata: ", ""},
	{"sse-one-json", "spec03", nil, stream03, "}}\ndata: ", ""},
	{"push-supported-but-refused", "spec", nil, "GET /spec", `"pushNotifications":true`, `"pushNotifications":false`},
	{"push-supported-but-refused", "spec03", nil, "GET /spec03", `"pushNotifications":true`, `"pushNotifications":false`},
	{"card-required-fields", "spec", nil, "GET /spec", `"capabilities"`, `"version"`},
	{"card-required-fields", "spec03", nil, "GET /spec03", `"capabilities"`, `"version"`},
	{"auth-not-enforced", "spec", nil, "GET /spec", `"securityRequirements":[{"schemes":{"bearer_token":{"list":[]}}}]`, ""},
	{"auth-not-enforced", "spec03", nil, "GET /spec03", `"security":[{"bearer_token":[]}]`, ""},
	{"auth-extended-card-server", "spec", nil, extendedRPC, "Extended", "401 "},
	{"auth-error-no-leak", "spec", []string{sendRPC}, getRPC, "403 application/json", ""},
	{"auth-required-has-message", "spec", nil, waitRPC, `"state":"TASK_STATE_AUTH_REQUIRED",` + at, `"state":"TASK_STATE_AUTH_REQUIRED","message"`},
	{"auth-required-has-message-0x", "spec03", nil, wait03, `"state":"auth-required",` + at, `"state":"auth-required","message"`},
	{"auth-required-uses-task", "spec", nil, waitStream, `{"statusUpdate":{"taskId":"","contextId":"id-2","status":{"state":"TASK_STATE_AUTH_REQUIRED"`, ""},
	{"cap-streaming-unsupported", "spec", nil, "GET /spec", `"streaming":false`, `"streaming":true`},
	{"cap-streaming-unsupported-0x", "spec03", nil, "GET /spec03", `"streaming":false`, `"streaming":true`},
	{"cap-streaming-refused", "spec", nil, streamRPC, `"code":-32004`, ""},
	{"cap-streaming-refused", "spec03", nil, stream03, `"code":-32004`, ""},
	{"cap-extended-undeclared", "spec", nil, "GET /spec", `"extendedAgentCard":false`, `"extendedAgentCard":true`},
	{"cap-extended-declared", "spec", nil, knownRPC, `"code":-32004`, ""},
	{"ext-uri-version", "spec", nil, "GET /spec", `"uri":"urn:example:seats"`, ""},
	{"ext-uri-version", "spec03", nil, "GET /spec03", `"uri":"urn:example:seats"`, ""},
	{"ext-response-echo", "spec", nil, "GET /spec", `seats/v1","required":false`, ""},
	{"ext-response-echo", "spec03", nil, "GET /spec03", `seats/v1","required":false`, ""},
	{"ext-required-missing", "spec", nil, "GET /spec", `"required":true`, ""},
	{"ext-required-missing-code", "spec", nil, sendRPC, `"code":-32002`, ""},
	{"ext-required-missing-0x", "spec03", nil, "GET /spec03", `"required":true`, ""},
	{"ver-unsupported-error", "spec", nil, strings.Replace(sendRPC, "1.0", "9.9", 1), `"code":-32603`, `"code":-32009`},
	{"ver-supported-refused", "spec", nil, "GET /spec/tasks\nA2A-Version: 1.0", "VERSION_NOT_SUPPORTED", ""},
	{"ver-semantics", "spec", nil, sendRPC, `"kind":"task"`, `{"task":`},
	{"version-semantics-mixed", "legacy", nil, parts01, `{"kind":"text"`, `{"type":"text"`},
	{"ver-empty-means-03", "spec03", nil, send03, `{"task":`, `"kind":"task"`},
}

// render writes an answer as one text, with $ at the end.
