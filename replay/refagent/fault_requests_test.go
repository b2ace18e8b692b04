package refagent_test

// Requests in the fault tests.
var (
	sendRPC   = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage", `{"message":`+userMessage("", "task-lifecycle")+`}`)
	sendREST  = "POST /spec/message:send" + v10Header + `{"message":` + userMessage("", "task-lifecycle") + `}`
	streamRPC = "POST /spec" + v10Header +
		rpc(`"r"`, "SendStreamingMessage", `{"message":`+userMessage("", "task-lifecycle")+`}`)
	streamREST = "POST /spec/message:stream" + v10Header + `{"message":` + userMessage("", "task-lifecycle") + `}`
	messageRPC = "POST /spec" + v10Header +
		rpc(`"r"`, "SendStreamingMessage", `{"message":`+userMessage("", "message-only")+`}`)
	unknownRPC  = "POST /spec" + v10Header + rpc(`"r"`, "GetTask", `{"id":"t9"}`)
	unknownREST = "GET /spec/tasks/t9\nA2A-Version: 1.0"
	getRPC      = "POST /spec" + v10Header + rpc(`"r"`, "GetTask", `{"id":"id-1"}`)
	againRPC    = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage",
		`{"message":{"messageId":"m2","taskId":"id-1","role":"ROLE_USER","parts":[{"text":"more"}]}}`)
	cancelRPC = "POST /spec" + v10Header + rpc(`"r"`, "CancelTask", `{"id":"id-1"}`)
	chunksRPC = "POST /spec" + v10Header +
		rpc(`"r"`, "SendStreamingMessage", `{"message":`+userMessage("", "streaming")+`}`)
	subscribeRPC = "POST /spec" + v10Header + rpc(`"r"`, "SubscribeToTask", `{"id":"id-1"}`)
	pushRPC      = "POST /spec" + v10Header + rpc(`"r"`, "ListTaskPushNotificationConfigs", `{"taskId":"id-1"}`)

	strangeRPC = "POST /spec" + v10Header + rpc(`"r"`, "NoSuchMethod", `{}`)
	brokenRPC  = "POST /spec" + v10Header + `{"jsonrpc":"2.0","id":"r"`
	muteRPC    = "POST /spec" + v10Header + `{"jsonrpc":"2.0","method":"GetTask","params":{"id":"t9"}}`
	aimlessRPC = "POST /spec" + v10Header + `{"jsonrpc":"2.0","id":"r","params":{"id":"t9"}}`
	emptyRPC   = "POST /spec" + v10Header + rpc(`"r"`, "GetTask", `{}`)
	batchRPC   = "POST /spec" + v10Header + "[" + rpc(`"a"`, "GetTask", `{"id":"t9"}`) + "," +
		rpc(`"b"`, "GetTask", `{"id":"t9"}`) + "]"

	strange03 = "POST /spec03\n\n" + rpc("1", "no/such", `{}`)
	broken03  = "POST /spec03\n\n" + `{"jsonrpc":"2.0","id":1`
	mute03    = "POST /spec03\n\n" + `{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"t9"}}`
	aimless03 = "POST /spec03\n\n" + `{"jsonrpc":"2.0","id":1,"params":{"id":"t9"}}`
	empty03   = "POST /spec03\n\n" + rpc("1", "tasks/get", `{}`)
	batch03   = "POST /spec03\n\n[" + rpc("1", "tasks/get", `{"id":"t9"}`) + "," +
		rpc("2", "tasks/get", `{"id":"t9"}`) + "]"
	cancelUnknownRPC = "POST /spec" + v10Header + rpc(`"r"`, "CancelTask", `{"id":"t9"}`)
	cancelREST       = "POST /spec/tasks/id-1:cancel" + v10Header + `{}`
	getREST          = "GET /spec/tasks/id-1\nA2A-Version: 1.0"
	turnRPC          = "POST /spec" + v10Header +
		rpc(`"r"`, "SendMessage", `{"message":`+userMessage("", "multi-turn")+`}`)
	turnAgainRPC = "POST /spec" + v10Header +
		rpc(`"r"`, "SendMessage",
			`{"message":{"messageId":"m2","taskId":"id-1","role":"ROLE_USER","parts":[{"text":"more"}]}}`)

	setPush03 = "POST /spec03\n\n" +
		rpc("1", "tasks/pushNotificationConfig/set",
			`{"taskId":"id-1","pushNotificationConfig":{"id":"p1","url":"http://127.0.0.1:9/hook"}}`)
	cancelUnknown03 = "POST /spec03\n\n" + rpc("1", "tasks/cancel", `{"id":"t9"}`)
	streamMessage03 = "POST /spec03\n\n" + rpc("1", "message/stream", message03("message-only"))
	turn03          = "POST /spec03\n\n" + rpc("1", "message/send", message03("multi-turn"))
	turnAgain03     = "POST /spec03\n\n" +
		rpc("1", "message/send",
			`{"message":{"kind":"message","messageId":"m2","taskId":"id-1","role":"user","parts":[{"kind":"text","text":"more"}]}}`)

	extendedRPC = "POST /spec" + v10Header + rpc(`"r"`, "GetExtendedAgentCard", `{}`)
	knownRPC    = "POST /spec\nAuthorization: Bearer agentbin-test-token" + v10Header +
		rpc(`"r"`, "GetExtendedAgentCard", `{}`)
	waitRPC = "POST /spec" + v10Header +
		rpc(`"r"`, "SendMessage", `{"message":`+userMessage("", "tck-auth-required")+`}`)
	waitStream = "POST /spec" + v10Header +
		rpc(`"r"`, "SendStreamingMessage", `{"message":`+userMessage("", "tck-auth-required")+`}`)

	parts01 = "POST /spec01\n\n" +
		rpc("1", "tasks/send", `{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"task-lifecycle"}]}}`)
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

// Requests to tasks that wait for the client, and to lists.
var (
	multiRPC = "POST /spec" + v10Header +
		rpc(`"r"`, "SendMessage", `{"message":`+userMessage("", "multi-turn start")+`}`)
	multi03 = "POST /spec03\n\n" + rpc("1", "message/send", message03("multi-turn start"))
	goOn03  = "POST /spec03\n\n" +
		rpc("1", "message/send",
			`{"message":{"kind":"message","messageId":"m2","taskId":"id-1","role":"user","parts":[{"kind":"text","text":"more"}]}}`)
	sameRPC = "POST /spec" + v10Header +
		rpc(`"r"`, "SendMessage",
			`{"message":{"messageId":"m2","contextId":"id-2","role":"ROLE_USER","parts":[{"text":"task-lifecycle"}]}}`)
	same03 = "POST /spec03\n\n" +
		rpc("1", "message/send",
			`{"message":{"kind":"message","messageId":"m2","contextId":"id-2","role":"user","parts":[{"kind":"text","text":"task-lifecycle"}]}}`)
	mismatchRPC = "POST /spec" + v10Header +
		rpc(`"r"`, "SendMessage",
			`{"message":{"messageId":"m2","taskId":"id-1","contextId":"another","role":"ROLE_USER","parts":[{"text":"more"}]}}`)
	getOneRPC = "POST /spec" + v10Header + rpc(`"r"`, "GetTask", `{"id":"id-1","historyLength":1}`)
	getOne03  = "POST /spec03\n\n" + rpc("1", "tasks/get", `{"id":"id-1","historyLength":1}`)
	tasksREST = "GET /spec/tasks\nA2A-Version: 1.0"
)

func listing(query string) string { return "GET /spec/tasks?" + query + "\nA2A-Version: 1.0" }

func message03(text string) string {
	return `{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"` + text + `"}]}}`
}
