package refagent_test

import (
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/replay/refagent"
)

func TestVersions(t *testing.T) {
	origin := serve(t, "spec", refagent.Options{})
	for _, tt := range []struct {
		name, path, header, method, want string
	}{
		{"1.0", "/spec", "A2A-Version: 1.0", "ListTasks", `"result"`},
		{"patch number", "/spec", "A2A-Version: 1.0.7", "ListTasks", `"result"`},
		{"in the query", "/spec?A2A-Version=1.0", "X: y", "ListTasks", `"result"`},
		{"missing, unmistakably 1.0", "/spec", "X: y", "ListTasks", `"result"`},
		{"missing, unmistakably 0.3", "/spec", "X: y", "message/send", `"code":-32009`},
		{"0.3", "/spec", "A2A-Version: 0.3", "message/send", `"code":-32009`},
		{"unknown", "/spec", "A2A-Version: 9.9", "ListTasks", `"code":-32009`},
		{"unknown in the query", "/spec?A2A-Version=9.9", "X: y", "ListTasks", `"code":-32009`},
		{"no version", "/spec", "A2A-Version: latest", "ListTasks", `"reason":"VERSION_NOT_SUPPORTED"`},
		{"1.0 asked, 0.3 method", "/spec", "A2A-Version: 1.0", "message/send", `"code":-32601`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := bodyOf(t, origin, "POST "+tt.path+"\n"+tt.header+"\n\n"+rpc("1", tt.method, `{}`))
			expect.Contains(t, "", tt.want, body)
		})
	}
	resp, body := exchange(t, origin, "GET /spec/tasks\nA2A-Version: 9.9")
	if resp.StatusCode != 400 || !strings.Contains(body, "VERSION_NOT_SUPPORTED") {
		t.Errorf("HTTP+JSON: got %d %s, want 400 VERSION_NOT_SUPPORTED", resp.StatusCode, body)
	}
}

func TestMediaTypes(t *testing.T) {
	origin := serve(t, "spec", refagent.Options{})
	for accept, want := range map[string]string{
		"X: y": "application/a2a+json", "Accept: */*": "application/a2a+json", "Accept: application/json": "application/json",
		"Accept: application/json;q=0.9, text/html": "application/json", "Accept: text/html": "application/a2a+json",
		"Accept: application/json\nAccept: application/a2a+json": "application/a2a+json",
	} {
		for _, path := range []string{"/spec/tasks", "/spec/tasks/t1"} {
			expect.Equal(t, accept, want, headOf(t, origin, "GET "+path+"\n"+accept).Header.Get("Content-Type"))
		}
	}
}

func TestRoutes(t *testing.T) {
	origin := serve(t, "spec", refagent.Options{})
	for _, tt := range []struct {
		request string
		status  int
		want    string
	}{
		{"GET /spec/tasks", 200, `"tasks":[]`},
		{"HEAD /spec/tasks", 200, ``},
		{"GET /spec/tasks?pageSize=abc", 400, `pageSize must be an integer`},
		{"GET /spec/tasks?includeArtifacts=TRUE", 400, `includeArtifacts must be true or false`},
		{"GET /spec/tasks?status=TASK_STATE_WORKING&page_size=500", 200, `"pageSize":50`},
		{"GET /spec/tasks/urn:x:7", 404, `Task not found: urn:x:7`},
		{"GET /spec/tasks/a%2Fb%3Acancel", 404, `Task not found: a/b:cancel`},
		{"POST /spec/tasks/t1:cancel", 404, `TASK_NOT_FOUND`},
		{"POST /spec/tasks/t1:cancel\n\nnull", 404, `TASK_NOT_FOUND`},
		{"POST /spec/tasks/t1:subscribe", 404, `TASK_NOT_FOUND`},
		{"GET /spec/tasks/t1:subscribe", 404, `TASK_NOT_FOUND`},
		{"GET /spec/tasks/t1:cancel", 405, `"status":"UNIMPLEMENTED"`},
		{"DELETE /spec/tasks/t1", 405, `not allowed`},
		{"GET /spec/tasks/t1/pushNotificationConfigs/c", 400, `PUSH_NOTIFICATION_NOT_SUPPORTED`},
		{"DELETE /spec/tasks/t1/pushNotificationConfigs/c", 400, `PUSH_NOTIFICATION_NOT_SUPPORTED`},
		{"GET /spec/tasks/", 404, `No such route`},
		{"GET /spec/tenant/tasks", 404, `No such route`},
		{"POST /spec/v1/message:send", 404, `"code":404`},
		{"POST /spec/message:send", 400, `message is required`},
		{"POST /spec/message:send\n\n[]", 400, `must be a JSON object`},
		{"POST /spec/message:send\n\n{", 400, `Invalid JSON`},
		{"POST /spec/message:send\nContent-Type: text/plain\n\n{}", 415, `"code":415`},
		{"POST /spec\nContent-Type: text/plain\n\n{}", 415, `"jsonrpc"`},
		{"PUT /spec\n\n{}", 405, ``},
		{"GET /spec/extendedAgentCard", 401, `UNAUTHENTICATED`},
		{"GET /spec/extendedAgentCard\nAuthorization: bearer agentbin-test-token", 200, `admin-status`},
		{"GET /specific", 404, ``},
		{"POST /other", 404, ``},
	} {
		t.Run(tt.request, func(t *testing.T) {
			resp, body := exchange(t, origin, tt.request)
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("got %d %s, want %d %s", resp.StatusCode, body, tt.status, tt.want)
			}
			if resp.StatusCode == 405 && resp.Header.Get("Allow") == "" {
				t.Error("no Allow header")
			}
			if resp.StatusCode == 401 && !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Bearer") {
				t.Error("no challenge")
			}
		})
	}
	resp := headOf(t, serve(t, "spec03", refagent.Options{}), "GET /spec03/tasks")
	expect.Equal(t, "spec03 serves HTTP+JSON", 404, resp.StatusCode)
}
