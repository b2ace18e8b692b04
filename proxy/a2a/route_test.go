package a2a

import (
	"testing"

	"a2atap/proxy/expect"
)

// routed is what a REST path says.
type routed struct {
	Operation            Operation
	Dialects             string
	Prefix, Route        string
	Tenant, Task, Config string
}

func routeOf(c Call) routed {
	return routed{c.Operation, c.Dialects.String(), c.Prefix, c.Route, c.Tenant, c.TaskID, c.ConfigID}
}

// TestRoutes goes through all routes of HTTP+JSON. The version header proves that they are A2A.
func TestRoutes(t *testing.T) {
	const kind, v1 = "0.2/0.3", "1.0"
	tests := []struct {
		line string
		want routed
	}{
		{"POST /v1/message:send", routed{SendMessage, kind, "", "message:send", "", "", ""}},
		{"POST /v1/message:stream", routed{SendStreamingMessage, kind, "", "message:stream", "", "", ""}},
		{"POST /v1//message:send", routed{SendMessage, kind, "", "message:send", "", "", ""}},
		{"GET /v1/tasks/t1", routed{GetTask, kind, "", "tasks/t1", "", "t1", ""}},
		{"GET /v1/tasks", routed{ListTasks, kind, "", "tasks", "", "", ""}},
		{"POST /v1/tasks/t1:cancel", routed{CancelTask, kind, "", "tasks/t1:cancel", "", "t1", ""}},
		{"GET /v1/tasks/t1:subscribe", routed{SubscribeToTask, kind, "", "tasks/t1:subscribe", "", "t1", ""}},
		{"POST /v1/tasks/t1:subscribe", routed{SubscribeToTask, kind, "", "tasks/t1:subscribe", "", "t1", ""}},
		{
			"POST /v1/task/t1/pushNotifications",
			routed{CreatePushConfig, kind, "", "task/t1/pushNotifications", "", "t1", ""},
		},
		{
			"POST /v1/task/t1/pushNotificationConfigs",
			routed{CreatePushConfig, kind, "", "task/t1/pushNotificationConfigs", "", "t1", ""},
		},
		{
			"POST /v1/tasks/t1/pushNotificationConfigs",
			routed{CreatePushConfig, kind, "", "tasks/t1/pushNotificationConfigs", "", "t1", ""},
		},
		{
			"GET /v1/tasks/t1/pushNotifications/p1",
			routed{GetPushConfig, kind, "", "tasks/t1/pushNotifications/p1", "", "t1", "p1"},
		},
		{
			"GET /v1/tasks/t1/pushNotificationConfigs/p1",
			routed{GetPushConfig, kind, "", "tasks/t1/pushNotificationConfigs/p1", "", "t1", "p1"},
		},
		{
			"GET /v1/tasks/t1/pushNotifications",
			routed{ListPushConfigs, kind, "", "tasks/t1/pushNotifications", "", "t1", ""},
		},
		{
			"GET /v1/tasks/t1/pushNotificationConfigs",
			routed{ListPushConfigs, kind, "", "tasks/t1/pushNotificationConfigs", "", "t1", ""},
		},
		{
			"DELETE /v1/tasks/t1/pushNotificationConfigs/p1",
			routed{DeletePushConfig, kind, "", "tasks/t1/pushNotificationConfigs/p1", "", "t1", "p1"},
		},
		{"POST /message:send", routed{SendMessage, v1, "", "message:send", "", "", ""}},
		{"POST /message%3Asend", routed{SendMessage, v1, "", "message%3Asend", "", "", ""}},
		{"POST /a2a/message:stream", routed{SendStreamingMessage, v1, "/a2a", "message:stream", "", "", ""}},
		{"GET /tasks/t1?historyLength=2", routed{GetTask, v1, "", "tasks/t1", "", "t1", ""}},
		{"GET /tasks/", routed{ListTasks, v1, "", "tasks/", "", "", ""}},
		{"GET /tasks/tasks", routed{GetTask, v1, "", "tasks/tasks", "", "tasks", ""}},
		{"GET /tasks/urn:x:7", routed{GetTask, v1, "", "tasks/urn:x:7", "", "urn:x:7", ""}},
		{"POST /tasks/urn:x:7:cancel", routed{CancelTask, v1, "", "tasks/urn:x:7:cancel", "", "urn:x:7", ""}},
		{"GET /tasks/a%2Fb%3Acancel", routed{GetTask, v1, "", "tasks/a%2Fb%3Acancel", "", "a/b:cancel", ""}},
		{"GET /tasks/100%", routed{GetTask, v1, "", "tasks/100%", "", "100%", ""}},
		{"POST /tasks/t1:cancel", routed{CancelTask, v1, "", "tasks/t1:cancel", "", "t1", ""}},
		{"GET /tasks/t1:subscribe", routed{SubscribeToTask, v1, "", "tasks/t1:subscribe", "", "t1", ""}},
		{"POST /tasks/t1:subscribe", routed{SubscribeToTask, v1, "", "tasks/t1:subscribe", "", "t1", ""}},
		{
			"POST /tasks/t1/pushNotificationConfigs",
			routed{CreatePushConfig, v1, "", "tasks/t1/pushNotificationConfigs", "", "t1", ""},
		},
		{
			"GET /tasks/t1/pushNotificationConfigs/p%201",
			routed{GetPushConfig, v1, "", "tasks/t1/pushNotificationConfigs/p%201", "", "t1", "p 1"},
		},
		{
			"GET /tasks/t1/pushNotificationConfigs",
			routed{ListPushConfigs, v1, "", "tasks/t1/pushNotificationConfigs", "", "t1", ""},
		},
		{
			"DELETE /tasks/t1/pushNotificationConfigs/p1",
			routed{DeletePushConfig, v1, "", "tasks/t1/pushNotificationConfigs/p1", "", "t1", "p1"},
		},
		{"GET /extendedAgentCard", routed{GetExtendedCard, v1, "", "extendedAgentCard", "", "", ""}},
		{
			"GET http://proxy.example/x/extendedAgentCard",
			routed{GetExtendedCard, v1, "/x", "extendedAgentCard", "", "", ""},
		},
		{"GET /v1/card", routed{GetExtendedCard, kind, "", "card", "", "", ""}},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			header := "A2A-Version: 0.3"
			if test.want.Dialects == v1 {
				header = version1
			}
			c := ask(test.line, "", Known{}, header)
			expect.Same(t, "", test.want, routeOf(c))
			expect.Equal(t, "binding", HTTPJSON, c.Binding)
		})
	}
}

// TestRoutesBelowKnownInterface goes through what only a card says: where the interface ends and the tenant begins, and
// whose "v1" it is.
func TestRoutesBelowKnownInterface(t *testing.T) {
	modern := Known{Bases: []Base{{Path: "/a2a", Dialects: Of(V1_0)}}}
	tenant := Known{Bases: []Base{{Path: "", Dialects: Of(V1_0), Tenant: "tasks"}}}
	v1 := Known{Bases: []Base{{Path: "/a2a/v1", Dialects: Of(V1_0)}}}
	old := Known{Bases: []Base{{Path: "/a2a", Dialects: Of(V0_3)}}}
	nested := Known{Bases: []Base{
		{Path: "", Dialects: Of(V0_3)},
		{Path: "/a2a", Dialects: Of(V1_0)},
		{Path: "/a2a", Dialects: Of(V0_3)},
	}}
	tests := []struct {
		name, line string
		known      Known
		want       routed
	}{
		{"no tenant", "GET /a2a/tasks/7", modern, routed{GetTask, "1.0", "/a2a", "tasks/7", "", "7", ""}},
		{"tenant", "GET /a2a/acme/tasks/7", modern, routed{GetTask, "1.0", "/a2a", "tasks/7", "acme", "7", ""}},
		{
			"escaped tenant", "POST /a2a/a%20b/message:send", modern,
			routed{SendMessage, "1.0", "/a2a", "message:send", "a b", "", ""},
		},
		{
			"tenant in the query", "GET /a2a/tasks?tenant=acme&contextId=c+1", modern,
			routed{ListTasks, "1.0", "/a2a", "tasks", "acme", "", ""},
		},
		{
			"task named tasks", "GET /a2a/tasks/tasks", modern,
			routed{GetTask, "1.0", "/a2a", "tasks/tasks", "", "tasks", ""},
		},
		{"tenant named tasks", "GET /tasks/tasks", tenant, routed{ListTasks, "1.0", "", "tasks", "tasks", "", ""}},
		{
			"task of the tenant named tasks", "GET /tasks/tasks/7", tenant,
			routed{GetTask, "1.0", "", "tasks/7", "tasks", "7", ""},
		},
		{
			"v1 of the interface", "POST /a2a/v1/message:send", v1,
			routed{SendMessage, "1.0", "/a2a/v1", "message:send", "", "", ""},
		},
		{
			"v1 twice", "POST /a2a/v1/v1/message:send", v1,
			routed{SendMessage, "0.2/0.3", "/a2a/v1", "message:send", "", "", ""},
		},
		{"v1 of the route", "GET /a2a/v1/tasks/7", old, routed{GetTask, "0.2/0.3", "/a2a", "tasks/7", "", "7", ""}},
		{
			"no v1 where 0.3 is declared", "GET /a2a/tasks/7", old,
			routed{GetTask, "0.2/0.3", "/a2a", "tasks/7", "", "7", ""},
		},
		{
			"longest interface", "GET /a2a/acme/tasks/7", nested,
			routed{GetTask, "1.0", "/a2a", "tasks/7", "acme", "7", ""},
		},
		{"unknown below", "GET /a2a/x/y/tasks/7", modern, routed{GetTask, "1.0", "/a2a/x/y", "tasks/7", "", "7", ""}},
		{
			"not below", "POST /a2ax/message:send", modern,
			routed{SendMessage, "1.0", "/a2ax", "message:send", "", "", ""},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect.Same(t, "", test.want, routeOf(ask(test.line, "", test.known)))
		})
	}
}

func TestKnown(t *testing.T) {
	var k Known
	k.Add(Interface{URL: "HTTP://Agent.example:80/rpc/", Binding: JSONRPC, Dialects: Of(V0_3)},
		"http://agent.example/rpc")
	k.Add(Interface{URL: "http://agent.example/", Binding: HTTPJSON, Dialects: Of(V1_0), Tenant: "a"},
		"http://agent.example/rpc")
	k.Add(Interface{URL: "http://agent.example/rp", Binding: HTTPJSON, Dialects: Of(V1_0)}, "http://agent.example/rpc")
	k.Add(Interface{URL: "http://other.example/rpc", Binding: JSONRPC, Dialects: Of(V1_0)}, "http://agent.example/rpc")
	k.Add(Interface{URL: "agent.example:443", Binding: GRPC, Dialects: Of(V1_0)}, "http://agent.example/rpc")
	want := Known{
		Bindings: BindingsOf(JSONRPC), Dialects: Of(V0_3),
		Bases: []Base{{Path: "", Dialects: Of(V1_0), Tenant: "a"}}, Other: "/rpc",
	}
	expect.Same(t, "", want, k)
	var spoken Known
	spoken.Spoken(HTTPJSON, Of(V1_0))
	if c := ask("GET /x/tasks/7", "", spoken); c.Operation != GetTask || c.Prefix != "/x" {
		t.Errorf("where REST was spoken before, /x/tasks/7 is %v below %q", c.Operation, c.Prefix)
	}
	if prefix, ok := RoutePrefix("/x/v1/tasks/7:cancel"); prefix != "/x" || !ok {
		t.Errorf("RoutePrefix = %q, %v", prefix, ok)
	}
	if _, ok := RoutePrefix("/x/health"); ok {
		t.Error("/x/health has a route")
	}
}
