package refagent_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

// An exchange is a request in plain form: the first line is method and path, then header lines, a blank line, a body.
func exchange(t testing.TB, origin, request string) (*http.Response, string) {
	t.Helper()
	head, body, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(head, "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	req := must.Get(http.NewRequestWithContext(t.Context(), method, origin+path, strings.NewReader(body)))(t)
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	resp := must.Get(wireClient.Do(req))(t)
	defer resp.Body.Close()
	return resp, string(must.Get(io.ReadAll(resp.Body))(t))
}

// bodyOf returns the body of an exchange's answer.
func bodyOf(t testing.TB, origin, request string) string {
	t.Helper()
	_, body := exchange(t, origin, request)
	return body
}

// headOf returns the head of an exchange's answer.
func headOf(t testing.TB, origin, request string) *http.Response {
	t.Helper()
	resp, _ := exchange(t, origin, request)
	return resp
}

var wireClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}

const v10Header = "\nA2A-Version: 1.0\nContent-Type: application/json\n\n"

const at = `"timestamp":"2026-03-01T10:00:00.000Z"`

// userMessage is a message as a 1.0 client sends it; in the history the agent adds ids after messageId.
func userMessage(ids, text string) string {
	return `{"messageId":"m1",` + ids + `"role":"ROLE_USER","parts":[{"text":"` + text + `"}]}`
}

func rpc(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`
}

// The agent knows the methods of push notification configs only by their 1.0 names.
func TestPushMethodNames(t *testing.T) {
	origin := serve(t, "spec", refagent.Options{Push: true})
	for method, want := range map[string]string{
		"CreateTaskPushNotificationConfig": `"code":-32001`, // there is no such task
		"SetPushNotificationConfig":        `"code":-32601`,
		"SetTaskPushNotificationConfig":    `"code":-32601`,
	} {
		body := bodyOf(t, origin, "POST /spec"+v10Header+rpc("1", method, `{"taskId":"t9","url":"https://127.0.0.1:1/"}`))
		expect.Contains(t, method, want, body)
	}
}

// A wireTest compares a whole body. Agents have fixed clocks and ids that count from id-1. The first exchanges of a
// test prepare the last, whose answer counts.
type wireTest struct {
	name, agent string
	before      []string
	request     string
	status      int
	mediaType   string
	want        string
}

var wireTests = []wireTest{
	{
		name: "1.0 message", agent: "echo",
		request: "POST /echo" + v10Header + rpc(`"a"`, "SendMessage", `{"message":`+userMessage("", "hi")+`}`),
		status:  200, mediaType: "application/json",
		want: `{"jsonrpc":"2.0","id":"a","result":{"message":{"messageId":"id-1","contextId":"id-2","role":"ROLE_AGENT","parts":[{"text":"Echo: hi"}]}}}`,
	},
	{
		name: "1.0 message over HTTP+JSON", agent: "echo",
		request: "POST /echo/message:send" + v10Header + `{"message":` + userMessage("", "a < b & c") + `}`,
		status:  200, mediaType: "application/a2a+json",
		want: `{"message":{"messageId":"id-1","contextId":"id-2","role":"ROLE_AGENT","parts":[{"text":"Echo: a < b & c"}]}}`,
	},
	{
		name: "1.0 immediate task", agent: "spec",
		request: "POST /spec" + v10Header +
			rpc("7", "SendMessage", `{"message":`+userMessage("", "task-cancel")+`,"configuration":{"returnImmediately":true}}`),
		status: 200, mediaType: "application/json",
		want: `{"jsonrpc":"2.0","id":7,"result":{"task":{"id":"id-1","contextId":"id-2","status":{"state":"TASK_STATE_SUBMITTED",` + at + `},` +
			`"history":[` + userMessage(`"contextId":"id-2","taskId":"id-1",`, "task-cancel") + `]}}}`,
	},
	{
		name: "1.0 task with a file", agent: "spec",
		before:  []string{"POST /spec/message:send" + v10Header + `{"message":` + userMessage("", "tck-artifact-file") + `}`},
		request: "GET /spec/tasks/id-1?historyLength=0\nA2A-Version: 1.0",
		status:  200, mediaType: "application/a2a+json",
		want: `{"id":"id-1","contextId":"id-2","status":{"state":"TASK_STATE_COMPLETED",` + at + `},` +
			`"artifacts":[{"artifactId":"id-3","name":"output","parts":[{"raw":"ZmlsZSBjb250ZW50","filename":"output.txt","mediaType":"text/plain"}]}]}`,
	},
	{
		name: "1.0 empty list", agent: "spec",
		request: "POST /spec" + v10Header + rpc(`"d"`, "ListTasks", `{}`),
		status:  200, mediaType: "application/json",
		want: `{"jsonrpc":"2.0","id":"d","result":{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}}`,
	},
	{
		name: "1.0 error", agent: "spec",
		request: "POST /spec" + v10Header + rpc(`"e"`, "GetTask", `{"id":"t9"}`),
		status:  200, mediaType: "application/json",
		want: `{"jsonrpc":"2.0","id":"e","error":{"code":-32001,"message":"Task not found: t9",` +
			`"data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}`,
	},
	{
		name: "1.0 error over HTTP+JSON", agent: "spec", request: "GET /spec/tasks/t9\nA2A-Version: 1.0",
		status: 404, mediaType: "application/a2a+json",
		want: `{"error":{"code":404,"status":"NOT_FOUND","message":"Task not found: t9",` +
			`"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}`,
	},
	{
		name: "1.0 invalid parameters", agent: "spec",
		request: "POST /spec" + v10Header +
			rpc(`"f"`, "SendMessage", `{"message":{"messageId":"","role":"user","parts":[]}}`),
		status: 200, mediaType: "application/json",
		want: `{"jsonrpc":"2.0","id":"f","error":{"code":-32602,"message":"Invalid parameters: message.messageId is required",` +
			`"data":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[` +
			`{"field":"message.messageId","description":"is required"},{"field":"message.role","description":"must be ROLE_USER"},` +
			`{"field":"message.parts","description":"must hold at least one part"}]}]}}`,
	},
	{
		name: "1.0 stream", agent: "spec",
		request: "POST /spec" + v10Header +
			rpc(`"b"`, "SendStreamingMessage",
				`{"message":`+userMessage("", "tck-stream-artifact-chunked")+`,"configuration":{"historyLength":0}}`),
		status: 200, mediaType: "text/event-stream",
		want: `data: {"jsonrpc":"2.0","id":"b","result":{"task":{"id":"id-1","contextId":"id-2","status":{"state":"TASK_STATE_SUBMITTED",` + at + `}}}}` + "\n\n" +
			`data: {"jsonrpc":"2.0","id":"b","result":{"artifactUpdate":{"taskId":"id-1","contextId":"id-2","artifact":{"artifactId":"id-3","name":"output","parts":[{"text":"chunk-1 "}]}}}}` + "\n\n" +
			`data: {"jsonrpc":"2.0","id":"b","result":{"artifactUpdate":{"taskId":"id-1","contextId":"id-2","artifact":{"artifactId":"id-3","name":"output","parts":[{"text":"chunk-2"}]},"append":true,"lastChunk":true}}}` + "\n\n" +
			`data: {"jsonrpc":"2.0","id":"b","result":{"statusUpdate":{"taskId":"id-1","contextId":"id-2","status":{"state":"TASK_STATE_COMPLETED",` + at + `}}}}` + "\n\n",
	},
	{
		name: "1.0 stream over HTTP+JSON", agent: "spec",
		request: "POST /spec/message:stream" + v10Header + `{"message":` + userMessage("", "message-only") + `}`,
		status:  200, mediaType: "text/event-stream",
		want: `data: {"message":{"messageId":"id-1","contextId":"id-2","role":"ROLE_AGENT","parts":[{"text":"[message-only] You said: message-only"}]}}` + "\n\n",
	},
	{
		name: "1.0 subscription with GET", agent: "spec",
		before:  []string{"POST /spec/message:send" + v10Header + `{"message":` + userMessage("", "task-lifecycle") + `}`},
		request: "GET /spec/tasks/id-1:subscribe\nA2A-Version: 1.0", status: 400, mediaType: "application/a2a+json",
		want: `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"Task id-1 has ended (completed) and cannot be subscribed to",` +
			`"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION","domain":"a2a-protocol.org"}]}}`,
	},
	{
		name: "0.3 message", agent: "spec03",
		request: "POST /spec03\nContent-Type: application/json\n\n" + rpc("1", "message/send",
			`{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"message-only hello"}]}}`),
		status: 200, mediaType: "application/json",
		want: `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"id-1","contextId":"id-2","role":"agent","parts":[{"kind":"text","text":"[message-only] You said: message-only hello"}]}}`,
	},
	{
		name: "0.3 task", agent: "spec03",
		request: "POST /spec03\n\n" + rpc("1", "message/send",
			`{"message":{"messageId":"m1","role":"user","parts":[{"kind":"text","text":"tck-artifact-file-url"},{"kind":"data","data":{"k":1.50}}]}}`),
		status: 200, mediaType: "application/json",
		want: `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"id-1","contextId":"id-2","status":{"state":"completed",` + at + `},` +
			`"artifacts":[{"artifactId":"id-3","name":"output","parts":[{"kind":"file","file":{"name":"output.txt","mimeType":"text/plain","uri":"https://example.com/output.txt"}}]}],` +
			`"history":[{"kind":"message","messageId":"m1","contextId":"id-2","taskId":"id-1","role":"user","parts":[{"kind":"text","text":"tck-artifact-file-url"},{"kind":"data","data":{"k":1.50}}]}]}}`,
	},
	{
		name: "0.3 stream", agent: "spec03",
		request: "POST /spec03\n\n" + rpc("2", "message/stream",
			`{"message":{"messageId":"m1","role":"user","parts":[{"kind":"text","text":"tck-input-required"}]},"configuration":{"historyLength":0}}`),
		status: 200, mediaType: "text/event-stream",
		want: `data: {"jsonrpc":"2.0","id":2,"result":{"kind":"task","id":"id-1","contextId":"id-2","status":{"state":"submitted",` + at + `}}}` + "\n\n" +
			`data: {"jsonrpc":"2.0","id":2,"result":{"kind":"status-update","taskId":"id-1","contextId":"id-2","status":{"state":"input-required",` +
			`"message":{"kind":"message","messageId":"id-3","contextId":"id-2","taskId":"id-1","role":"agent","parts":[{"kind":"text","text":"Please send more input"}]},` + at + `},"final":true}}` + "\n\n",
	},
	{
		name: "0.3 error", agent: "spec03", request: "POST /spec03\n\n" + rpc("3", "tasks/get", `{"id":"t9"}`),
		status: 200, mediaType: "application/json",
		want: `{"jsonrpc":"2.0","id":3,"error":{"code":-32001,"message":"Task not found: t9"}}`,
	},
	{
		name: "1.0 method at a 0.3 agent", agent: "spec03",
		request: "POST /spec03" + v10Header + rpc("3", "SendMessage", `{}`),
		status:  200, mediaType: "application/json",
		want: `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found: SendMessage"}}`,
	},
}

func TestWire(t *testing.T) {
	for _, tt := range slices.Concat(wireTests, olderTests) {
		t.Run(tt.name, func(t *testing.T) {
			origin := serve(t, tt.agent, fixed())
			for _, b := range tt.before {
				exchange(t, origin, b)
			}
			resp, body := exchange(t, origin, tt.request)
			if resp.StatusCode != tt.status || resp.Header.Get("Content-Type") != tt.mediaType {
				t.Errorf("got %d %s, want %d %s", resp.StatusCode, resp.Header.Get("Content-Type"), tt.status, tt.mediaType)
			}
			if diff := cmp.Diff(tt.want, body); diff != "" {
				t.Errorf("body (-want +got):\n%s\ngot %s", diff, body)
			}
		})
	}
}

// envelopeTests have invalid JSON-RPC envelopes; the answer is an error under HTTP 200.
var envelopeTests = []struct{ name, body, want string }{
	{"not JSON", `{this is not valid json`, `"id":null,"error":{"code":-32700,`},
	{"empty", ``, `"id":null,"error":{"code":-32700,`},
	{"two values", `{} {}`, `"id":null,"error":{"code":-32700,`},
	{"not UTF-8", "{\"jsonrpc\":\"\xff\"}", `"id":null,"error":{"code":-32700,`},
	{"byte order mark", "\ufeff" + rpc("1", "GetTask", `{"id":"x"}`), `"id":null,"error":{"code":-32700,`},
	{"no object", `"hello"`, `"id":null,"error":{"code":-32600,`},
	{"batch", `[` + rpc("1", "GetTask", `{"id":"x"}`) + `]`, `"id":null,"error":{"code":-32600,`},
	{"no version", `{"id":1,"method":"GetTask","params":{"id":"x"}}`, `"id":1,"error":{"code":-32600,`},
	{"old version", `{"jsonrpc":"1.0","id":1,"method":"GetTask"}`, `"id":1,"error":{"code":-32600,`},
	{"no method", `{"jsonrpc":"2.0","id":"q"}`, `"id":"q","error":{"code":-32600,`},
	{"method is no string", `{"jsonrpc":"2.0","id":"q","method":3}`, `"id":"q","error":{"code":-32600,`},
	{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"GetTask"}`, `"id":null,"error":{"code":-32600,`},
	{"no id", `{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}`, `"id":null,"error":{"code":-32600,`},
	{"long id", rpc("9007199254740993", "Nothing", `{}`), `"id":9007199254740993,"error":{"code":-32601,`},
	{"unknown method", rpc(`"ü\u0000"`, "DoSomethingUnsupported", `{}`), `"id":"ü\u0000","error":{"code":-32601,`},
	{"positional params", rpc("1", "GetTask", `["x"]`), `"id":1,"error":{"code":-32602,`},
	{"null params", rpc("1", "GetTask", `null`), `"id":1,"error":{"code":-32602,`},
	{"case of names counts", rpc("1", "GetTask", `{"ID":"x"}`), `"id":1,"error":{"code":-32602,`},
	{"null message", rpc("1", "SendMessage", `{"message":null}`), `message is required`},
	{"message is a string", rpc("1", "SendMessage", `{"message":"hi"}`), `message must be an object`},
	{
		"two contents",
		rpc("1", "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a","url":"b"}]}}`),
		`message.parts[0] must hold exactly one`,
	},
	{
		"bad base64", rpc("1", "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"*"}]}}`),
		`message.parts[0].raw must be base64`,
	},
	{"boolean as string", rpc("1", "ListTasks", `{"includeArtifacts":"true"}`), `includeArtifacts must be true or false`},
	{"fraction", rpc("1", "ListTasks", `{"pageSize":1.5}`), `pageSize must be an integer`},
	{
		"bad time", rpc("1", "ListTasks", `{"statusTimestampAfter":"yesterday"}`),
		`statusTimestampAfter must be an RFC 3339 timestamp`,
	},
	{
		"integral float and string are numbers", rpc("1", "ListTasks", `{"pageSize":1e1,"historyLength":"2"}`),
		`"pageSize":10,`,
	},
	{"snake case is read", rpc("1", "ListTasks", `{"page_size":3}`), `"pageSize":3,`},
	{"unknown members are skipped", rpc("1", "ListTasks", `{"colour":"red","status":null}`), `"totalSize":0`},
	{
		"null is data", rpc("1", "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":null}]}}`),
		`"message":{`,
	},
}

func TestEnvelope(t *testing.T) {
	origin := serve(t, "spec", refagent.Options{})
	for _, tt := range envelopeTests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := exchange(t, origin, "POST /spec"+v10Header+tt.body)
			if resp.StatusCode != 200 || !strings.HasPrefix(body, `{"jsonrpc":"2.0",`) || !strings.Contains(body, tt.want) {
				t.Errorf("got %d %s, want 200 with %s", resp.StatusCode, body, tt.want)
			}
		})
	}
}

// partTests have invalid parts of a 0.3 message.
var partTests = []struct{ part, want string }{
	{`{"text":"a"}`, `message.parts[0].kind must be \"text\", \"file\" or \"data\"`},
	{`{"kind":"text"}`, `message.parts[0].text is required`},
	{`{"kind":"text","text":7}`, `message.parts[0].text must be a string`},
	{`{"kind":"data"}`, `message.parts[0].data is required`},
	{`{"kind":"file"}`, `message.parts[0].file is required`},
	{`{"kind":"file","file":{"name":"x"}}`, `message.parts[0].file must hold either bytes or uri`},
	{`{"kind":"file","file":{"bytes":"","uri":"x"}}`, `message.parts[0].file must hold either bytes or uri`},
	{`{"kind":"file","file":{"bytes":"*"}}`, `message.parts[0].file.bytes must be base64`},
	{`{"kind":"file","file":{"uri":"https://x","mimeType":"a/b"}}`, `"code":-32005`},
	{`{"kind":"file","file":{"bytes":"AAE","mimeType":"text/plain; charset=utf-8"}}`, `"result"`},
	{`"hi"`, `message.parts[0] must be an object`},
}

func TestParts03(t *testing.T) {
	origin := serve(t, "spec03", refagent.Options{})
	for _, tt := range partTests {
		message := `{"message":{"messageId":"m","role":"user","parts":[` + tt.part + `]}}`
		expect.Contains(t, tt.part, tt.want, bodyOf(t, origin, "POST /spec03\n\n"+rpc("1", "message/send", message)))
	}
	for message, want := range map[string]string{
		`{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}`:           `message.role must be \"user\"`,
		`{"message":{"messageId":"m","role":"user","kind":"task","parts":[]}}`:  `message.kind must be \"message\"`,
		`{"message":{"messageId":"m","role":"user"}}`:                           `message.parts is required`,
		`{"message":{"messageId":"m","role":"user","parts":[],"extensions":1}}`: `message.extensions must be an array of strings`,
	} {
		expect.Contains(t, message, want, bodyOf(t, origin, "POST /spec03\n\n"+rpc("1", "message/send", message)))
	}
}

func TestLargeBody(t *testing.T) {
	origin := serve(t, "spec", refagent.Options{})
	large := strings.Repeat(" ", 16<<20+1)
	for _, path := range []string{"/spec", "/spec/message:send"} {
		if resp, body := exchange(t, origin, "POST "+path+"\n\n"+large); resp.StatusCode != 413 ||
			!strings.Contains(body, "larger than 16 MiB") {
			t.Errorf("%s: got %d %s, want 413", path, resp.StatusCode, body)
		}
	}
}
