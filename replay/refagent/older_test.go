package refagent_test

import (
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

const jsonHeader = "\nContent-Type: application/json\n\n"

// legacySend is a message to a 0.1 task, whose id the client chooses.
func legacySend(id, text string) string {
	return `{"id":"` + id + `","sessionId":"s1","message":{"role":"user","parts":[{"type":"text","text":"` + text + `"}]}}`
}

// olderTests cover the dialects before 0.3, and 0.3 over HTTP+JSON.
var olderTests = []wireTest{
	{
		"0.2 task", "spec02", nil,
		"POST /spec02" + jsonHeader + rpc("1", "message/send", message03("task-lifecycle")),
		200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"id-1","contextId":"id-2","status":{"state":"completed",` +
			at + `},"artifacts":[{"artifactId":"id-3",` +
			`"name":"result","description":"The processed result","parts":[{"kind":"text","text":"[task-lifecycle] Processed: task-lifecycle"}]}],` +
			`"history":[{"kind":"message","messageId":"m1","contextId":"id-2","taskId":"id-1","role":"user","parts":[{"kind":"text","text":"task-lifecycle"}]}]}}`,
	},
	{
		"0.2 knows no method for the extended card", "spec02", nil,
		"POST /spec02" + jsonHeader + rpc("1", "agent/getAuthenticatedExtendedCard", `{}`),
		200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: agent/getAuthenticatedExtendedCard"}}`,
	},
	{
		"0.3 over HTTP+JSON wraps", "spec03-rest", nil,
		"POST /spec03-rest/v1/message:send" + jsonHeader + message03("tck-complete-task"),
		200, "application/json", `{"task":{"kind":"task","id":"id-1","contextId":"id-2","status":{"state":"completed","message":{"kind":"message","messageId":"id-3","contextId":"id-2","taskId":"id-1",` +
			`"role":"agent","parts":[{"kind":"text","text":"Hello from TCK"}]},` + at + `},` +
			`"history":[{"kind":"message","messageId":"m1","contextId":"id-2","taskId":"id-1","role":"user","parts":[{"kind":"text","text":"tck-complete-task"}]}]}}`,
	},
	{
		"0.3 over HTTP+JSON lists", "spec03-rest", nil,
		"GET /spec03-rest/v1/tasks", 200, "application/json", `[]`,
	},
	{
		"0.3 over HTTP+JSON refuses", "spec03-rest", nil,
		"GET /spec03-rest/v1/tasks/none", 404, "application/json", `{"code":-32001,"message":"Task not found: none"}`,
	},
	{
		"no route without the prefix", "spec03-rest", nil,
		"GET /spec03-rest/tasks/none", 404, "application/json", `{"code":-32601,"message":"No such route: GET /spec03-rest/tasks/none"}`,
	},
	{
		"0.3 as its proto", "spec03-proto",
		[]string{
			"POST /spec03-proto/v1/message:send" + jsonHeader +
				`{"message":{"messageId":"m1","role":"ROLE_USER","content":[{"text":"tck-artifact-file"}]}}`,
		},
		"GET /spec03-proto/v1/tasks/id-1",
		200, "application/json", `{"id":"id-1","contextId":"id-2","status":{"state":"TASK_STATE_COMPLETED",` + at +
			`},"artifacts":[{"artifactId":"id-3","name":"output",` +
			`"parts":[{"file":{"fileWithBytes":"ZmlsZSBjb250ZW50","mimeType":"text/plain"}}]}],` +
			`"history":[{"messageId":"m1","contextId":"id-2","taskId":"id-1","role":"ROLE_USER","content":[{"text":"tck-artifact-file"}]}]}`,
	},
	{
		"0.3 as its proto has no list", "spec03-proto", nil,
		"GET /spec03-proto/v1/tasks", 404, "application/json", `{"code":-32601,"message":"No such route: GET /spec03-proto/v1/tasks"}`,
	},
	{
		"0.1 task", "spec01", nil,
		"POST /spec01" + jsonHeader + rpc("1", "tasks/send", legacySend("t1", "task-lifecycle")),
		200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"id":"t1","sessionId":"s1","status":{"state":"completed",` + at + `},` +
			`"artifacts":[{"name":"result","description":"The processed result","parts":[{"type":"text","text":"[task-lifecycle] Processed: task-lifecycle"}],"index":0}],` +
			`"history":[{"role":"user","parts":[{"type":"text","text":"task-lifecycle"}]}]}}`,
	},
	{
		"0.1 answers with tasks only", "spec01", nil,
		"POST /spec01" + jsonHeader + rpc("1", "tasks/send", legacySend("t1", "message-only hi")),
		200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"id":"t1","sessionId":"s1","status":{"state":"completed","message":{"role":"agent",` +
			`"parts":[{"type":"text","text":"[message-only] You said: message-only hi"}]},` + at +
			`},"history":[{"role":"user","parts":[{"type":"text","text":"message-only hi"}]}]}}`,
	},
	{
		"0.1 stream", "spec01", nil,
		"POST /spec01" + jsonHeader + rpc("1", "tasks/sendSubscribe", legacySend("t1", "tck-complete-task")),
		200, "text/event-stream",
		`data: {"jsonrpc":"2.0","id":1,"result":{"id":"t1","status":{"state":"submitted",` + at + `},"final":false}}` +
			"\n\n" +
			`data: {"jsonrpc":"2.0","id":1,"result":{"id":"t1","status":{"state":"working",` + at + `},"final":false}}` +
			"\n\n" +
			`data: {"jsonrpc":"2.0","id":1,"result":{"id":"t1","status":{"state":"completed","message":{"role":"agent","parts":[{"type":"text","text":"Hello from TCK"}]},` + at + `},"final":true}}` + "\n\n",
	},
	{
		"0.1 params without id", "spec01", nil,
		"POST /spec01" + jsonHeader + rpc("1", "tasks/get", `{}`),
		200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid parameters: id is required"}}`,
	},
}

// A task of 0.1 continues under the id that its client chose, in its original session.
func TestLegacyTasksGoOn(t *testing.T) {
	c := agenttest.Connect(t, serve(t, "spec01", refagent.Options{Push: true})+"/spec01", client.JSONRPC01, client.Options{})
	m := client.Text("multi-turn start")
	m.TaskID, m.ContextID = "mine", "session"
	asked := send(t, c, m)
	if asked.ID != "mine" || asked.Status.State != client.InputRequired {
		t.Fatalf("got %s; want the task of that id, which asks back", asked.Raw)
	}
	expect.OK(t, expect.Err(c.CreatePush(t.Context(), client.PushConfig{TaskID: "mine", URL: "http://127.0.0.1:9/hook"})))
	expect.Equal(t, "", "mine", must.Get(c.GetPush(t.Context(), "mine", ""))(t).TaskID)
	var events []string
	for e, err := range c.Stream(t.Context(), followUp("done", asked), client.SendOptions{}) {
		must.Do(t, err)
		events = append(events, describe(e))
	}
	expect.Same(t, "events", "input-required working artifact:final! completed", strings.Join(events, " "))
	expect.Error(t, "0.1 has no list of tasks", expect.Err(c.List(t.Context(), client.ListOptions{})))
}

// Cards of 0.1 and 0.2 are at the paths of those versions, and nowhere else.
func TestOlderCards(t *testing.T) {
	for _, agent := range []string{"spec02", "spec01"} {
		origin := serve(t, agent, refagent.Options{})
		for name, want := range map[string]int{"agent.json": 200, "agent-card.json": 404} {
			expect.Equal(t, agent+": "+name+" answers",
				want, headOf(t, origin, "GET /"+agent+"/.well-known/"+name).StatusCode)
		}
	}
}
