package refagent_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// Each tenant has its interfaces in the card, which clients can choose, and sees only its own tasks.
func TestTenantsAreApart(t *testing.T) {
	for _, agent := range []string{"echo", "spec"} {
		origin := serve(t, agent, refagent.Options{Tenants: []string{"acme", "b c"}, BaseURL: "http://a.example"})
		card := bodyOf(t, origin, "GET /.well-known/agent-card.json")
		one := func(binding, tenant string) string {
			return `{"url":"http://a.example/` + agent + `","protocolBinding":"` + binding +
				`","protocolVersion":"1.0","tenant":"` + tenant + `"}`
		}
		want := `"supportedInterfaces":[` + one("JSONRPC", "acme") + "," + one("HTTP+JSON", "acme") + "," +
			one("JSONRPC", "b c") + "," + one("HTTP+JSON", "b c") + "]"
		if !strings.Contains(card, want) {
			t.Errorf("%s: the card %s lacks %s", agent, card, want)
		}
	}
	for _, p := range []client.Protocol{client.JSONRPC10, client.REST10} {
		t.Run(p.String(), func(t *testing.T) {
			origin := serve(t, "spec", refagent.Options{Tenants: []string{"acme", "b c"}, MaxTasks: 1})
			acme := agenttest.Connect(t, origin+"/spec", p, client.Options{})
			got := must.Get(acme.Send(t.Context(), client.Text("multi-turn x"), client.SendOptions{}))(t)
			if _, err := acme.Get(t.Context(), got.Task.ID, nil); err != nil {
				t.Errorf("the tenant's own task: %v", err)
			}
			other, err := client.New(
				client.Interface{URL: origin + "/spec", Protocol: p, Tenant: "b c"}, client.Options{})
			must.Do(t, err)
			defer other.Close()
			expect.ErrorHas(t, "another tenant's task",
				"Task not found", expect.Err(other.Get(t.Context(), got.Task.ID, nil)))
			expect.ErrorHas(t, "another tenant's task is canceled",
				"Task not found", expect.Err(other.Cancel(t.Context(), got.Task.ID, nil)))
			if _, err := other.Send(t.Context(), client.Text("multi-turn x"), client.SendOptions{}); err != nil {
				t.Errorf("another tenant's limit holds: %v", err)
			}
			expect.Error(t, "the tenant's limit does not hold",
				expect.Err(acme.Send(t.Context(), client.Text("multi-turn x"), client.SendOptions{})))
		})
	}
}

// A request names its tenant in a member, in the query or before the path. Requests without a tenant, or with an
// unknown one, are refused.
func TestTenantsOnTheWire(t *testing.T) {
	origin := serve(t, "spec", refagent.Options{Tenants: []string{"acme", "b c", "taskS"}})
	list := func(params string) string { return "POST /spec" + v10Header + rpc("1", "ListTasks", params) }
	for _, tt := range []struct {
		request string
		status  int
		want    string
	}{
		{list(`{"tenant":"acme"}`), 200, `"tasks":[]`},
		{list(`{}`), 200, `"code":-32602,"message":"This agent serves tenants, and the request names none"`},
		{list(`{"tenant":"zoo"}`), 200, `"code":-32602,"message":"No such tenant: zoo"`},
		{list(`{"tenant":7}`), 200, `tenant must be a string`},
		{"GET /spec/acme/tasks", 200, `"tasks":[]`},
		{"GET /spec/b%20c/tasks", 200, `"tasks":[]`},
		{"GET /spec/taskS/tasks", 200, `"tasks":[]`},
		{"GET /spec/tasks?tenant=acme", 200, `"tasks":[]`},
		{"GET /spec/acme/tasks?tenant=acme", 200, `"tasks":[]`},
		{"GET /spec/acme/tasks?tenant=b+c", 400, `tenant is not that of the path`},
		{"GET /spec/tasks", 404, `"status":"NOT_FOUND","message":"This agent serves tenants, and the request names none"`},
		{"GET /spec/zoo/tasks", 404, `"message":"No such tenant: zoo"`},
		{"GET /spec/acme/tasks/t1", 404, `Task not found: t1`},
		{"GET /spec/tasks/tasks?tenant=acme", 404, `Task not found: tasks`},
		{"GET /spec/acme/nothing", 404, `No such route`},
		{"GET /spec/acme/zoo/tasks", 404, `No such route`},
		{"GET /spec/acme/extendedAgentCard", 401, `UNAUTHENTICATED`},
		{
			"POST /spec/acme/message:send" + v10Header + `{"message":` + userMessage("", "message-only x") + `,"tenant":"b c"}`,
			400, `tenant is not that of the path`,
		},
		{
			"POST /spec/message:send" + v10Header + `{"message":` + userMessage("", "message-only x") + `,"tenant":"b c"}`,
			200, `You said`,
		},
		{
			"POST /spec/acme/message:stream" + v10Header + `{"message":` + userMessage("", "message-only x") + `}`,
			200, `You said`,
		},
	} {
		t.Run(tt.request, func(t *testing.T) {
			resp, body := exchange(t, origin, tt.request)
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("got %d %s, want %d %s", resp.StatusCode, body, tt.status, tt.want)
			}
		})
	}
	body := bodyOf(t, serve(t, "spec", refagent.Options{}), list(`{"tenant":"acme"}`))
	expect.Contains(t, "without tenants", `"tasks":[]`, body)
}

// A push notification config names its tenant.
func TestTenantOfAPushConfig(t *testing.T) {
	origin := serve(t, "spec", refagent.Options{Tenants: []string{"acme", "other"}, Push: true})
	call := func(method, params string) string {
		body := bodyOf(t, origin, "POST /spec"+v10Header+rpc("1", method, params))
		return body
	}
	_, sent, _ := strings.Cut(call("SendMessage", `{"tenant":"acme","message":`+userMessage("", "tck-input-required")+`}`),
		`"task":{"id":"`)
	task, _, _ := strings.Cut(sent, `"`)
	want := `"result":{"id":"c1","taskId":"` + task + `","url":"https://127.0.0.1:1/","tenant":"acme"}`
	for _, c := range []struct{ method, url string }{
		{"CreateTaskPushNotificationConfig", `,"url":"https://127.0.0.1:1/"`},
		{"GetTaskPushNotificationConfig", ""},
	} {
		expect.Contains(t, c.method, want, call(c.method, `{"tenant":"acme","taskId":"`+task+`","id":"c1"`+c.url+`}`))
	}
	expect.Contains(t, "another tenant",
		"Task not found", call("ListTaskPushNotificationConfigs", `{"tenant":"other","taskId":"`+task+`"}`))
}

func TestTenantsThatCannotBe(t *testing.T) {
	for _, tt := range []struct {
		agent   string
		tenants []string
		want    string
	}{
		{"spec03", []string{"acme"}, "agent spec03 has no tenants"},
		{"legacy", []string{"acme"}, "agent legacy has no tenants"},
		{"spec", []string{""}, "not empty"},
		{"spec", []string{"a/b"}, "no slash"},
		{"spec", []string{"a\nb"}, "no slash"},
		{"echo", []string{".."}, "means something else"},
		{"spec", []string{"tasks"}, "begins with that word"},
		{"spec", []string{"message:send"}, "begins with that word"},
		{"spec", []string{"a", "b", "a"}, `tenant "a" is named twice`},
	} {
		_, err := refagent.New(tt.agent, refagent.Options{Tenants: tt.tenants})
		expect.ErrorHas(t, fmt.Sprintf("%s %q", tt.agent, tt.tenants), tt.want, err)
	}
}
