package a2a

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

// ask decodes a request written as "METHOD target", with headers as "Name: value" in pairs.
func ask(line, body string, known Known, headers ...string) Call {
	method, target, _ := strings.Cut(line, " ")
	h := http.Header{}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		h.Add(name, value)
	}
	return DecodeRequest(Request{
		Method: method, Target: target, Header: h.Get, Body: []byte(body), HasBody: body != "",
		BodyKept: true,
	}, known)
}

// rpc returns a JSON-RPC request.
func rpc(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

const version1 = "A2A-Version: 1.0"

// TestRequestDialects goes through the rows of evidence that a request can show, and what happens where they disagree.
func TestRequestDialects(t *testing.T) {
	const message1 = `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}`
	const message0 = `{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}`
	const spelled = `{"message":{"messageId":"m","role":"user","parts":[{"text":"hi"}]}}`
	at0_1 := Known{Bindings: BindingsOf(JSONRPC), Dialects: Of(V0_1)}
	at := func(declared ...Dialect) Known {
		return Known{Bases: []Base{{Path: "/a2a", Dialects: Of(declared...)}}}
	}
	tests := []struct {
		name     string
		line     string
		body     string
		known    Known
		header   []string
		want     string
		evidence Evidence
	}{
		{"1: 0.1", "POST /", rpc("tasks/send", `{"id":"t"}`), Known{}, nil, "0.1", Decisive},
		{"1: 0.2 or 0.3", "POST /", rpc("message/send", `{}`), Known{}, nil, "0.2/0.3", Decisive},
		{"1: 0.3", "POST /", rpc("agent/getAuthenticatedExtendedCard", `{}`), Known{}, nil, "0.3", Decisive},
		{"1: 1.0", "POST /", rpc("SendMessage", `{}`), Known{}, nil, "1.0", Decisive},
		{
			"1: release candidate", "POST /", rpc("ListTaskPushNotificationConfig", `{"taskId":"t"}`),
			Known{},
			nil, "1.0",
			Decisive,
		},
		{
			"1 before 6 to 9: old message", "POST /",
			rpc("SendMessage", `{"message":`+message0+`,"configuration":{"blocking":true}}`),
			Known{},
			nil, "1.0", Decisive,
		},
		{
			"1 before 8: new message", "POST /", rpc("message/send", `{"message":`+message1+`}`),
			Known{},
			nil, "0.2/0.3",
			Decisive,
		},
		{"1 before 10", "POST /", rpc("message/send", `{}`), Known{}, []string{version1}, "0.2/0.3", Decisive},
		{
			"1 before 10: new method, old version", "POST /", rpc("SendMessage", `{}`),
			Known{},
			[]string{"A2A-Version: 0.3"},
			"1.0", Decisive,
		},
		{"2", "POST /", rpc("tasks/get", `{"id":"t","historyLength":1}`), Known{}, nil, "0.2/0.3", Decisive},
		{"2: mark of 0.1", "POST /", rpc("tasks/get", `{"id":"t","sessionId":"s"}`), Known{}, nil, "0.1", Decisive},
		{"2: where 0.1 is spoken", "POST /", rpc("tasks/cancel", `{"id":"t"}`), at0_1, nil, "0.1", Decisive},
		{
			"2: where all 0.x is spoken", "POST /", rpc("tasks/resubscribe", `{"id":"t"}`),
			Known{Bindings: BindingsOf(JSONRPC), Dialects: allDialects},
			nil, "0.1/0.2/0.3", Decisive,
		},
		{"3: before 1.0", "POST /a2a.v1.A2AService/TaskSubscription", ``, Known{}, nil, "0.2/0.3", Decisive},
		{"3: 1.0", "POST /lf.a2a.v1.A2AService/SendMessage", "\x00\x00", Known{}, nil, "1.0", Decisive},
		{"4: v1", "POST /v1/message:send", `{}`, Known{}, nil, "0.2/0.3", Strong},
		{"4: bare", "POST /message:send", `{}`, Known{}, nil, "1.0", Strong},
		{"4: extended card of 0.2", "GET /agent/authenticatedExtendedCard", ``, Known{}, nil, "0.2", Strong},
		{"4: extended card of 1.0", "GET /x/extendedAgentCard", ``, Known{}, nil, "1.0", Strong},
		{"4: misspelt lists are of 0.x", "POST /task/t/pushNotificationConfigs", `{}`, Known{}, nil, "0.2/0.3", Strong},
		{
			"10 before 4: v1 is the interface's", "POST /a2a/v1/message:send", `{}`,
			Known{},
			[]string{version1},
			"1.0",
			Strong,
		},
		{"10 before 4: no v1", "POST /message:send", `{}`, Known{}, []string{"A2A-Version: 0.3"}, "0.2/0.3", Strong},
		{"10: in the query", "GET /tasks/7?A2A-Version=1.0", ``, Known{}, nil, "1.0", Strong},
		{"10: later version", "GET /tasks/7", ``, Known{}, []string{"A2A-Version: 1.1"}, "1.0", Strong},
		{
			"10 before 7", "POST /message:send", spelled, Known{}, []string{version1}, "1.0", Strong,
		},
		{"4 against 7", "POST /message:send", spelled, Known{}, nil, "0.2/0.3/1.0", Hint},
		{"10 against 4 and 7", "POST /v1/message:send", spelled, Known{}, []string{version1}, "0.2/0.3/1.0", Hint},
		{"4 and 7", "POST /v1/message:send", spelled, Known{}, nil, "0.2/0.3", Strong},
		{"13 and 4 before 7", "POST /a2a/message:send", spelled, at(V1_0), nil, "1.0", Strong},
		{"13 and 7 before 4", "POST /a2a/message:send", spelled, at(V0_3), nil, "0.2/0.3", Strong},
		{"13 before 4", "POST /a2a/message:send", `{}`, at(V0_3), nil, "0.2/0.3", Strong},
		{"4 before 13: no route of 1.0", "POST /a2a/v1/message:send", `{}`, at(V1_0), nil, "0.2/0.3", Strong},
		{"13 says nothing: no version is 0.3", "POST /a2a/message:send", `{}`, at(V0_3, V1_0), nil, "0.2/0.3/1.0", Hint},
		{"13 says nothing: 7 and no version", "POST /a2a/message:send", spelled, at(V0_3, V1_0), nil, "0.2/0.3", Strong},
		{
			"10 and 13 before 5", "POST /a2a/message:send", `{"message":` + message0 + `}`,
			at(V1_0),
			[]string{version1},
			"1.0", Strong,
		},
		{"5 before 13 and 4", "POST /a2a/message:send", `{"message":` + message0 + `}`, at(V1_0), nil, "0.2/0.3", Decisive},
		{"13 and 7 before 10", "POST /a2a/message:send", spelled, at(V0_3), []string{version1}, "0.2/0.3", Strong},
		{"10 before 13 and 4", "POST /a2a/v1/message:send", `{}`, at(V0_3), []string{version1}, "1.0", Strong},
		{
			"9 and 13 before 7", "POST /a2a/message:send",
			`{"message":{"role":"user"},"configuration":{"returnImmediately":true}}`, at(V1_0), nil, "1.0", Strong,
		},
		{
			"5 before 10 and 4: kind", "POST /message:send",
			`{"message":{"kind":"message","messageId":"m","parts":[]}}`,
			Known{},
			[]string{version1},
			"0.2/0.3", Decisive,
		},
		{
			"10: kind left over", "POST /message:send",
			`{"message":{"kind":"message","messageId":"m","role":"ROLE_USER","parts":[]}}`,
			Known{},
			[]string{version1},
			"1.0", Strong,
		},
		{
			"7, 8: proto JSON of 0.x and 1.0 look alike", "POST /message:send", `{"message":` + message1 + `}`,
			Known{},
			nil, "1.0", Strong,
		},
		{
			"8: proto JSON marks", "POST /message:send",
			`{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"}]}}`,
			Known{},
			nil, "0.2/0.3", Decisive,
		},
		{
			"8: file of the proto JSON", "POST /message:send",
			`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"file":{"fileWithUri":"u"}}]}}`,
			Known{},
			nil, "0.2/0.3", Decisive,
		},
		{
			"8: request of the proto JSON", "POST /message:send", `{"request":` + message1 + `}`,
			Known{},
			nil, "0.2/0.3",
			Decisive,
		},
		{"8: resource name", "POST /tasks/t:cancel", `{"name":"tasks/t"}`, Known{}, nil, "0.2/0.3", Decisive},
		{"9 with 4", "POST /message:send", `{"configuration":{"returnImmediately":true}}`, Known{}, nil, "1.0", Strong},
		{
			"9 against 4", "POST /v1/message:send", `{"configuration":{"returnImmediately":true}}`,
			Known{},
			nil,
			"0.2/0.3/1.0", Hint,
		},
		{
			"10 before 9", "POST /message:send", `{"configuration":{"blocking":true}}`,
			Known{},
			[]string{version1},
			"1.0",
			Strong,
		},
		{"11 is a hint only", "POST /v1/message:send", `{}`, Known{}, []string{"A2A-Extensions: x"}, "0.2/0.3", Strong},
		{"12: old card", "GET /agents/x/.well-known/agent.json", ``, Known{}, nil, "0.1/0.2", Hint},
		{"12: new card", "GET /.well-known/agent-card.json", ``, Known{}, nil, "0.3/1.0", Hint},
		{"13: card elsewhere", "GET /card.json", ``, Known{Card: true}, nil, "", Hint},
		{
			"14 is a hint only", "POST /v1/message:send", `{}`,
			Known{},
			[]string{"Content-Type: application/a2a+json"},
			"0.2/0.3", Strong,
		},
		{
			"unknown method with a message of 1.0", "POST /", rpc("SendMessages", `{"message":`+message1+`}`),
			Known{},
			nil, "1.0", Decisive,
		},
		{
			"unknown method with a message of 0.x", "POST /", rpc("message/sned", `{"message":`+message0+`}`),
			Known{},
			nil, "0.2/0.3", Decisive,
		},
		{"unknown method at home", "POST /", rpc("ext/do", `{}`), at0_1, nil, "0.1", NoEvidence},
		{"no JSON at home", "POST /", `{"jsonrpc":`, at0_1, nil, "0.1", NoEvidence},
		{"tasks/list at home", "POST /", rpc("tasks/list", `{}`), at0_1, nil, "0.2/0.3", Hint},
		{"tasks/list with a filter", "POST /", rpc("tasks/list", `{"contextId":"c"}`), Known{}, nil, "0.2/0.3", Hint},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := ask(test.line, test.body, test.known, test.header...)
			if !c.A2A() {
				t.Fatal("not taken for A2A")
			}
			if got := c.Dialects.String(); got != test.want || c.Evidence != test.evidence {
				t.Errorf("dialects %q (%v), want %q (%v)", got, c.Evidence, test.want, test.evidence)
			}
		})
	}
}

// TestNotA2A holds what must not be taken for A2A.
func TestNotA2A(t *testing.T) {
	home := Known{Bindings: BindingsOf(JSONRPC), Dialects: Of(V1_0)}
	root := Known{Bases: []Base{{Path: "", Dialects: Of(V1_0)}}}
	tests := []struct {
		name, line, body string
		known            Known
		header           []string
	}{
		{"preflight", "OPTIONS /message:send", ``, Known{}, []string{version1}},
		{"probe", "HEAD /.well-known/agent-card.json", ``, Known{}, nil},
		{"preflight at home", "OPTIONS /", ``, home, nil},
		{"page", "GET /", ``, home, nil},
		{"health check at home", "GET /health", ``, root, nil},
		{"key set", "GET /.well-known/jwks.json", ``, root, nil},
		{"token", "POST /oauth/token", `grant_type=client_credentials`, root, nil},
		{"path alone", "GET /tasks/7", ``, Known{}, nil},
		{"list alone", "GET /tasks", ``, Known{}, nil},
		{"card alone", "GET /v1/card", ``, Known{}, nil},
		{"cancel alone", "POST /v1/projects/p/tasks/7:cancel", `{}`, Known{}, nil},
		{"other verb", "PUT /tasks/7", `{}`, Known{}, nil},
		{"other messages", "POST /v1/projects/p/messages:send", `{"message":{"token":"x"}}`, Known{}, nil},
		{"MCP by parameter", "POST /mcp", rpc("tasks/get", `{"taskId":"t"}`), Known{}, nil},
		{"MCP by metadata", "POST /", rpc("tasks/cancel", `{"taskId":"t","_meta":{}}`), home, nil},
		{
			"MCP at home", "POST /", rpc("tasks/cancel", `{"taskId":"t"}`), home,
			[]string{"MCP-Protocol-Version: 2025-11-25"},
		},
		{"MCP by session", "POST /mcp", rpc("tasks/get", `{"id":"t"}`), Known{}, []string{"Mcp-Session-Id: 1"}},
		{
			"MCP by version", "POST /", rpc("tasks/list", `{"pageSize":1}`), home,
			[]string{"MCP-Protocol-Version: 2025-11-25"},
		},
		{"MCP list", "POST /mcp", rpc("tasks/list", `{"cursor":"x"}`), Known{}, nil},
		{"MCP start", "POST /", rpc("initialize", `{}`), home, nil},
		{"MCP tool", "POST /", rpc("tools/call", `{}`), home, nil},
		{"MCP result", "POST /", rpc("tasks/result", `{"taskId":"t"}`), home, nil},
		{
			"MCP batch", "POST /mcp", `[` + rpc("tasks/get", `{"taskId":"t"}`) + `,` + rpc("ping", `{}`) + `]`,
			Known{},
			nil,
		},
		{"unknown method", "POST /rpc", rpc("eth_call", `[]`), Known{}, []string{version1}},
		{"chat hook", "POST /hook", `{"message":{"text":"hi"}}`, Known{}, nil},
		{"other job", "POST /hook", `{"id":"1","status":{"state":"completed"}}`, Known{}, nil},
		{"other task", "POST /hook", `{"task":{"id":"1","status":"done"}}`, Known{}, nil},
		{"no JSON", "POST /hook", `a=b`, Known{}, nil},
		{"nothing", "POST /hook", ``, Known{}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if c := ask(test.line, test.body, test.known, test.header...); c.A2A() || c.Dialects != 0 {
				t.Errorf("taken for %v %v in %q", c.Binding, c.Operation, c.Dialects)
			}
		})
	}
}

func TestUnknownAtKnownEndpoint(t *testing.T) {
	known := Known{
		Bindings: BindingsOf(JSONRPC), Dialects: Of(V0_3),
		Bases: []Base{{Path: "/rest", Dialects: Of(V1_0)}},
	}
	tests := []struct {
		name, line, body string
		binding          Binding
		want             string
	}{
		{"empty body", "POST /rpc", ``, JSONRPC, "0.3"},
		{"cut body", "POST /rpc", `{"jsonrpc":"2.0","meth`, JSONRPC, "0.3"},
		{"no method", "POST /rpc", `{"jsonrpc":"2.0","id":4}`, JSONRPC, "0.3"},
		{"method is a number", "POST /rpc", `{"jsonrpc":"2.0","id":4,"method":1}`, JSONRPC, "0.3"},
		{"extension", "POST /rpc", rpc("x/y", `{}`), JSONRPC, "0.3"},
		{"unknown verb", "POST /rest/tasks/7:restart", `{}`, HTTPJSON, "1.0"},
		{"wrong HTTP method", "DELETE /rest/message:send", ``, HTTPJSON, "1.0"},
		{"unknown route", "GET /rest/tasks/7/artifacts", ``, HTTPJSON, "1.0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := ask(test.line, test.body, known)
			if c.Binding != test.binding || c.Operation != NoOperation || c.Dialects.String() != test.want {
				t.Errorf("got %v %v in %q", c.Binding, c.Operation, c.Dialects)
			}
		})
	}
	if c := ask("POST /rpc", `{"jsonrpc":"2.0","id":"x"}`, known); c.ID.Text() != "x" {
		t.Errorf("id of a call without method is %s", c.ID.Raw())
	}
}

func TestBatch(t *testing.T) {
	body := `[` + rpc("message/send", `{"message":{"messageId":"m1"}}`) + `,` + rpc("ping",
		`{}`) + `,3,` + rpc("tasks/get", `{"id":"t1"}`) + `]`
	c := ask("POST /", body, Known{})
	if c.Binding != JSONRPC || c.Operation != NoOperation || c.Dialects != Of(V0_2, V0_3) || len(c.Batch) != 4 {
		t.Fatalf("got %v %v in %q, %d calls", c.Binding, c.Operation, c.Dialects, len(c.Batch))
	}
	for i, want := range []Operation{SendMessage, NoOperation, NoOperation, GetTask} {
		expect.Equal(t, fmt.Sprintf("call %d", i), want, c.Batch[i].Operation)
	}
	if c.Batch[0].MessageID != "m1" || c.Batch[3].TaskID != "t1" || c.Batch[1].Method != "ping" {
		t.Error("the calls of the batch are not decoded")
	}
	if c := ask("POST /", `[]`, Known{Bindings: BindingsOf(JSONRPC)}); c.Batch == nil || len(c.Batch) != 0 {
		t.Errorf("empty batch at home is %v", c.Batch)
	}
	long := "[" + strings.Repeat(rpc("GetTask", `{"id":"t"}`)+",", 500) + "1]"
	if c := ask("POST /", long, Known{}); len(c.Batch) != maxBatch {
		t.Errorf("%d calls decoded, want %d", len(c.Batch), maxBatch)
	}
}

func TestNotifications(t *testing.T) {
	tests := []struct {
		name, body string
		header     []string
		task       string
		want       string
	}{
		{
			"1.0", `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`, nil,
			"t",
			"1.0",
		},
		{
			"1.0 message", `{"message":{"messageId":"m","taskId":"t","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`, nil,
			"t", "1.0",
		},
		{
			"1.0 artifact",
			`{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}`,
			nil, "t", "1.0",
		},
		{"0.2 or 0.3", `{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"}}`, nil, "t", "0.2/0.3"},
		{"proto JSON", `{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}`, nil, "t", "0.2/0.3"},
		{"0.1 with session", `{"id":"t","sessionId":"s","status":{"state":"completed"}}`, nil, "t", "0.1"},
		{
			"0.1 with token", `{"id":"t","status":{"state":"completed"}}`,
			[]string{"X-A2A-Notification-Token: k"},
			"t",
			"0.1",
		},
		{
			"in an envelope",
			`{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"}}}`,
			nil, "t", "0.2/0.3",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := ask("POST /hook", test.body, Known{}, test.header...)
			if c.Operation != Webhook || c.Binding != NoBinding || c.TaskID != test.task ||
				c.Dialects.String() != test.want {
				t.Errorf("got %v of task %q in %q", c.Operation, c.TaskID, c.Dialects)
			}
		})
	}
}

// A user's message that is posted to a path of no known operation is not a notification of an agent.
func TestNoNotification(t *testing.T) {
	const message = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`
	expect.Equal(t, "a message of a user is taken for",
		NoOperation, ask("POST /nope:send", message, Known{}).Operation)
}

func TestGRPC(t *testing.T) {
	for path, want := range map[string]Operation{
		"/a2a.v1.A2AService/SendStreamingMessage":                 SendStreamingMessage,
		"/a2a.v1.A2AService/TaskSubscription":                     SubscribeToTask,
		"/a2a.v1.A2AService/GetAgentCard":                         GetExtendedCard,
		"/a2a.v1.A2AService/CreateTaskPushNotification":           CreatePushConfig,
		"/x/lf.a2a.v1.A2AService/ListTaskPushNotificationConfigs": ListPushConfigs,
		"/lf.a2a.v1.A2AService/Frobnicate":                        NoOperation,
	} {
		c := ask("POST "+path, "\x00\x00\x00\x00\x00", Known{})
		if c.Binding != GRPC || c.Operation != want || c.Streams != want.Streams() || c.Doc.Err != nil {
			t.Errorf("%s is %v %v", path, c.Binding, c.Operation)
		}
		if a := DecodeAnswer(&c, 200, "application/grpc", []byte("\x00")); a.Doc.Err != nil ||
			a.Payload.Kind != NoPayload {
			t.Errorf("%s: the answer was decoded", path)
		}
	}
	if c := ask("GET /a2a.v1.A2AService/GetTask", "", Known{}); c.A2A() {
		t.Error("a GET is a gRPC call")
	}
}
