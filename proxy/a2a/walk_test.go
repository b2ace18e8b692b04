package a2a

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

// walked lists what a walk visits: type, pointer, holder, author.
func walked(walk func(w *Walker)) []string {
	var list []string
	w := Walker{Visit: func(o *Entity) bool {
		list = append(list,
			fmt.Sprintf("%v %s %s %v", o.Type, o.Pointer(),
				[...]string{"request", "result", "status", "history", "artifact"}[o.In], o.Author))
		return !o.Get("metadata").Has("stop")
	}}
	walk(&w)
	return list
}

func TestWalkRequest(t *testing.T) {
	for _, c := range []struct{ name, line, body, want string }{
		{
			"0.1", "POST /",
			rpc("tasks/send",
				`{"id":"t","message":{"role":"user","parts":[{"type":"file","file":{"uri":"u"}}]},`+
					`"pushNotification":{"url":"u"}}`),
			`parameters /params request client
Message /params/message request client
Part /params/message/parts/0 request client
file /params/message/parts/0/file request client
push notification config /params/pushNotification request client`,
		},
		{
			"0.3", "POST /",
			rpc("message/send",
				`{"message":{"kind":"message","messageId":"m","role":"user","content":[{}],"parts":[7,{"kind":"data",`+
					`"data":{"parts":[{}]}}],"metadata":{"message":{}}},"configuration":{"pushNotificationConfig":{`+
					`"url":"u","authentication":{"schemes":[]}}}}`),
			`parameters /params request client
Message /params/message request client
Part /params/message/parts/1 request client
send configuration /params/configuration request client
push notification config /params/configuration/pushNotificationConfig request client
authentication /params/configuration/pushNotificationConfig/authentication request client`,
		},
		{
			"1.0", "POST /",
			rpc("SendMessage",
				`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},`+
					`"configuration":{"taskPushNotificationConfig":{"url":"u"},"pushNotificationConfig":{"url":"u"}}}`),
			`parameters /params request client
Message /params/message request client
Part /params/message/parts/0 request client
send configuration /params/configuration request client
push notification config /params/configuration/taskPushNotificationConfig request client`,
		},
		{
			"0.3 over HTTP+JSON", "POST /v1/message:send",
			`{"request":{"messageId":"m","role":"ROLE_USER","content":[{"file":{"fileWithUri":"u"}}]},` +
				`"configuration":{"pushNotification":{"url":"u"}}}`,
			`parameters  request client
Message /request request client
Part /request/content/0 request client
file /request/content/0/file request client
send configuration /configuration request client
push notification config /configuration/pushNotification request client`,
		},
		{"0.3 get", "POST /", rpc("tasks/get", `{"id":"t","message":{}}`), "parameters /params request client"},
		{
			"0.3 set", "POST /",
			rpc("tasks/pushNotificationConfig/set", `{"taskId":"t","pushNotificationConfig":{"url":"u"}}`),
			"TaskPushNotificationConfig /params request client\npush notification config " +
				"/params/pushNotificationConfig request client",
		},
		{
			"1.0 set", "POST /", rpc("CreateTaskPushNotificationConfig", `{"taskId":"t","url":"u"}`),
			"push notification config /params request client",
		},
		{
			"0.3 set over HTTP+JSON", "POST /v1/tasks/t/pushNotificationConfigs",
			`{"parent":"tasks/t","config":{"name":"n","pushNotificationConfig":{"url":"u"}}}`,
			"TaskPushNotificationConfig  request client\nTaskPushNotificationConfig /config request client\npush " +
				"notification config /config/pushNotificationConfig request client",
		},
		{
			"0.3 set without container", "POST /v1/tasks/t/pushNotificationConfigs",
			`{"url":"u","authentication":{"schemes":[]}}`,
			"TaskPushNotificationConfig  request client\nauthentication /authentication request client",
		},
		{
			"0.3 set with a bare config", "POST /v1/tasks/t/pushNotificationConfigs", `{"config":{"url":"u"}}`,
			"TaskPushNotificationConfig  request client\npush notification config /config request client",
		},
		{"no params", "POST /", rpc("SendMessage", `null`), ""},
		{"batch", "POST /", `[` + rpc("SendMessage", `{"message":{}}`) + `]`, ""},
	} {
		call := ask(c.line, c.body, Known{Bindings: BindingsOf(JSONRPC)})
		expect.Same(t, c.name, c.want, strings.Join(walked(func(w *Walker) { w.Request(&call) }), "\n"))
	}
}

func TestWalkPayload(t *testing.T) {
	rpc1, rpc03, rest03 := Call{Binding: JSONRPC, Operation: SendMessage, Dialects: onlyV1_0}, Call{
		Binding:   JSONRPC,
		Operation: SendMessage, Dialects: kindDialects,
	}, Call{Binding: HTTPJSON, Operation: GetTask, Dialects: onlyV0_3}
	as := func(c Call, o Operation) Call { c.Operation = o; return c }
	for _, c := range []struct {
		name string
		call Call
		body string
		want string
	}{
		{
			"1.0 task", rpc1,
			result(`{"task":{"id":"t","status":{"state":"x","message":{"parts":[{"data":{"parts":[{}]}}]}},` +
				`"artifacts":[null,{"parts":[{"text":"a"}]}],"history":[{"role":"ROLE_USER","parts":[{}]},` +
				`{"role":"ROLE_AGENT","parts":[{}]},{"metadata":{"stop":1},"parts":[{}]}],"metadata":{"status":{}}}}`),
			`response /result result agent
Task /result/task result agent
TaskStatus /result/task/status result agent
Message /result/task/status/message status agent
Part /result/task/status/message/parts/0 status agent
Artifact /result/task/artifacts/1 artifact agent
Part /result/task/artifacts/1/parts/0 artifact agent
Message /result/task/history/0 history client
Part /result/task/history/0/parts/0 history client
Message /result/task/history/1 history agent
Part /result/task/history/1/parts/0 history agent
Message /result/task/history/2 history client`,
		},
		{
			"0.3 message", rpc03, result(`{"kind":"message","role":"agent","parts":[{"kind":"text","text":"a"}]}`),
			"Message /result result agent\nPart /result/parts/0 result agent",
		},
		{
			"0.3 status update", rpc03,
			result(`{"kind":"status-update","taskId":"t","status":{"state":"working","update":{}}}`),
			"TaskStatusUpdateEvent /result result agent\nTaskStatus /result/status result agent",
		},
		{
			"1.0 artifact update", rpc1, result(`{"artifactUpdate":{"taskId":"t","artifact":{"parts":[]}}}`),
			"response /result result agent\nTaskArtifactUpdateEvent /result/artifactUpdate result agent\nArtifact " +
				"/result/artifactUpdate/artifact artifact agent",
		},
		{
			"0.3 over HTTP+JSON", rest03,
			`{"id":"t","status":{"state":"TASK_STATE_WORKING","update":{"content":[{"file":{}}]}}}`,
			"Task  result agent\nTaskStatus /status result agent\nMessage /status/update status agent\nPart " +
				"/status/update/content/0 status agent\nfile /status/update/content/0/file status agent",
		},
		{
			"1.0 list", as(rpc1, ListTasks), result(`{"tasks":[{"id":"t","status":{}},{}]}`),
			"list of tasks /result result agent\nTask /result/tasks/0 result agent\nTaskStatus " +
				"/result/tasks/0/status result agent\nTask /result/tasks/1 result agent",
		},
		{"0.3 list has no type", as(rest03, ListTasks), `{"tasks":[{"id":"t"}]}`, ""},
		{
			"0.3 push configs", as(rpc03, ListPushConfigs),
			result(`[{"taskId":"t","pushNotificationConfig":{"url":"u"}}]`), "TaskPushNotificationConfig /result/0 " +
				"result agent\npush notification config /result/0/pushNotificationConfig result agent",
		},
		{
			"1.0 push configs", as(rpc1, ListPushConfigs), result(`{"configs":[{"url":"u","authentication":{}}]}`),
			"list of push notification configs /result result agent\npush notification config /result/configs/0 " +
				"result agent\nauthentication /result/configs/0/authentication result agent",
		},
		{"unknown operation", as(rpc1, NoOperation), result(`{"task":{"id":"t"}}`), ""},
		{"error", rpc1, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"x","data":{"task":{}}}}`, ""},
	} {
		a := DecodeAnswer(&c.call, 200, "application/json", []byte(c.body))
		got := walked(func(w *Walker) { w.Payload(&a.Payload, &c.call, c.call.Dialects) })
		expect.Same(t, c.name, c.want, strings.Join(got, "\n"))
	}
	hook := DecodeWebhook([]byte(`{"message":{"parts":[{"text":"a"}],"role":"ROLE_AGENT"}}`))
	call := Call{Operation: Webhook}
	if got := walked(func(w *Walker) { w.Payload(&hook, &call, onlyV1_0) }); len(got) != 3 {
		t.Errorf("a notification of 1.0 has %q", got)
	}
	if got := walked(func(w *Walker) { w.Payload(&hook, &call, onlyV0_3) }); len(got) != 0 {
		t.Errorf("a notification of 0.3 has %q", got)
	}
}

// A walk does not allocate.
func TestWalkAllocatesNothing(t *testing.T) {
	call := Call{Binding: JSONRPC, Operation: SendMessage, Dialects: onlyV1_0}
	a := DecodeAnswer(&call, 200, "application/json",
		[]byte(result(`{"task":{"id":"t","history":[{"parts":[{},{}]}],"artifacts":[{"parts":[{}]}]}}`)))
	n := 0
	w := Walker{Visit: func(*Entity) bool { n++; return true }}
	if allocs := testing.AllocsPerRun(10, func() { w.Payload(&a.Payload, &call, onlyV1_0) }); allocs > 0 || n == 0 {
		t.Errorf("%v allocations for %d objects", allocs, n)
	}
}

// checkWalk holds a walk against the text.
func checkWalk(t *testing.T, walk func(w *Walker)) {
	t.Helper()
	walk(&Walker{Visit: func(o *Entity) bool {
		if o.Kind() != Object || o.Type == NoEntity {
			t.Fatalf("%v visited as %v", o.Kind(), o.Type)
		}
		if o.Pointer() != o.Value.Pointer() {
			t.Fatalf("%v is at %q, Pointer says %q", o.Type, o.Value.Pointer(), o.Pointer())
		}
		return true
	}})
}
