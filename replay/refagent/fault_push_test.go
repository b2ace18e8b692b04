package refagent_test

// Requests in the tests of push config faults: the task is the agent's first.
var (
	turnsRPC = "POST /spec" + v10Header +
		rpc(`"r"`, "SendMessage", `{"message":`+userMessage("", "multi-turn start")+`}`)
	turns03 = "POST /spec03\n\n" + rpc("1", "message/send", message03("multi-turn start"))
	hookRPC = "POST /spec" + v10Header +
		rpc(`"r"`, "CreateTaskPushNotificationConfig", `{"taskId":"id-1","id":"h","url":"http://127.0.0.1:9/h"}`)
	hookREST = "POST /spec/tasks/id-1/pushNotificationConfigs" + v10Header + `{"id":"h","url":"http://127.0.0.1:9/h"}`
	hook03   = "POST /spec03\n\n" +
		rpc("1", "tasks/pushNotificationConfig/set",
			`{"taskId":"id-1","pushNotificationConfig":{"id":"h","url":"http://127.0.0.1:9/h"}}`)
	lookRPC = "POST /spec" + v10Header + rpc(`"r"`, "GetTaskPushNotificationConfig", `{"taskId":"id-1","id":"h"}`)
	look03  = "POST /spec03\n\n" +
		rpc("1", "tasks/pushNotificationConfig/get", `{"id":"id-1","pushNotificationConfigId":"h"}`)
	list03    = "POST /spec03\n\n" + rpc("1", "tasks/pushNotificationConfig/list", `{"id":"id-1"}`)
	listREST  = "GET /spec/tasks/id-1/pushNotificationConfigs\nA2A-Version: 1.0"
	unhookRPC = "POST /spec" + v10Header + rpc(`"r"`, "DeleteTaskPushNotificationConfig", `{"taskId":"id-1","id":"h"}`)
	unhook03  = "POST /spec03\n\n" +
		rpc("1", "tasks/pushNotificationConfig/delete", `{"id":"id-1","pushNotificationConfigId":"h"}`)
	taskRPC    = []string{turnsRPC}
	hookedRPC  = []string{turnsRPC, hookRPC}
	task03     = []string{turns03}
	hooked03   = []string{turns03, hook03}
	deletedRPC = []string{turnsRPC, hookRPC, unhookRPC}
)

// pushFaultTests show the faults of push configs, on agents with push notifications.
var pushFaultTests = []faultTest{
	{"push-unsupported-error", "spec", nil, "GET /spec", `"pushNotifications":false`, `"pushNotifications":true`},
	{"push-unsupported-error-0x", "spec03", nil, "GET /spec03", `"pushNotifications":false`, `"pushNotifications":true`},
	{
		"push-create-echo", "spec", taskRPC, hookRPC, `"url":"http://127.0.0.1:9/h/elsewhere"`,
		`"url":"http://127.0.0.1:9/h"`,
	},
	{
		"push-create-echo", "spec03", task03, hook03, `"url":"http://127.0.0.1:9/h/elsewhere"`,
		`"url":"http://127.0.0.1:9/h"`,
	},
	{"push-create-id", "spec", taskRPC, hookRPC, `"result":{"taskId"`, `"id":"h"`},
	{"push-create-id", "spec", taskRPC, hookREST, `{"taskId"`, `"id":"h"`},
	{"result-object", "spec", taskRPC, hookRPC, `"result":"done"`, `"url"`},
	{"result-object", "spec03", task03, hook03, `"result":"done"`, `"url"`},
	{"push-create-id-kept", "spec03", task03, hook03, `"id":"h-ours"`, `"id":"h"`},
	{"push-get-details", "spec", hookedRPC, lookRPC, `"id":"h","taskId":"id-1"}`, `"url"`},
	{"push-get-missing", "spec", deletedRPC, lookRPC, `"url":"http://127.0.0.1:9/h"`, "-32001"},
	{"push-get-id-match", "spec", hookedRPC, lookRPC, `"id":"h-other"`, `"id":"h"`},
	{"push-get-id-match", "spec03", hooked03, look03, `"id":"h-other"`, `"id":"h"`},
	{"push-list-shape", "spec03", hooked03, list03, `"result":{"configs":[`, `"result":[`},
	{"push-list-shape-v1", "spec", hookedRPC, listREST, ` [{"id":"h"`, `"configs"`},
	{"push-list-complete", "spec", hookedRPC, listREST, `"configs":[]`, `"id":"h"`},
	{"push-list-no-deleted", "spec", deletedRPC, listREST, `"id":"h"`, `"configs":[]`},
	{"push-delete-result", "spec03", hooked03, unhook03, `"result":true`, `"result":null`},
	{"push-delete-idempotent", "spec", deletedRPC, unhookRPC, `"code":-32602`, `"result"`},
}
