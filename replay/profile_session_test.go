package replay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A turn is a request of a session and the agent's answer. In the answer, {{ID}} is the JSON-RPC id of the request
// and {{URL}} the agent's URL.
type turn struct {
	name   string
	method string // of HTTP, with the path; or of JSON-RPC
	params string
	status int // 200 if it is 0
	media  string
	answer []string // one is a body, several are events
}

// A session is the exchanges of one client and one agent.
type session struct {
	version string // of A2A, for its header; empty for none
	turns   []turn
}

// start runs the agent of the session until the test ends, and returns its URL.
func (k *session) start(t testing.TB) string {
	t.Helper()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		expect.OK(t, err)
		var asked struct {
			ID     json.RawMessage
			Method string
		}
		method := r.Method + " " + r.URL.RequestURI()
		if json.Unmarshal(body, &asked) == nil && asked.Method != "" {
			method = asked.Method
		}
		for i := range k.turns {
			if k.turns[i].method == method && k.turns[i].fails() == strings.Contains(string(body), noSuchTask) {
				k.turns[i].write(w, strings.NewReplacer("{{ID}}", string(asked.ID), "{{URL}}", "http://"+r.Host))
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(agent.Close)
	return agent.URL
}

// noSuchTask is the id of the task that the agent does not know.
const noSuchTask = "no-such-task"

// fails reports whether the turn is about the unknown task.
func (n *turn) fails() bool { return strings.Contains(n.params, noSuchTask) }

func (n *turn) write(w http.ResponseWriter, fill *strings.Replacer) {
	media := "application/json"
	if n.media != "" {
		media = n.media
	}
	w.Header().Set("Content-Type", media)
	if n.status != 0 {
		w.WriteHeader(n.status)
	}
	for _, text := range n.answer {
		text = fill.Replace(text)
		if len(n.answer) > 1 {
			text = "data: " + text + "\n\n"
		}
		io.WriteString(w, text) //nolint:errcheck // the client has left
	}
}

// record records the session through a tap.
func (k *session) record(t testing.TB, agent string) *capture.Memory {
	t.Helper()
	return record(t, agent, func(tapURL string) {
		for _, n := range k.turns {
			method, path, isHTTP := strings.Cut(n.method, " ")
			body := n.params
			if !isHTTP {
				method, path = http.MethodPost, "/"
				body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, n.method, n.params)
			}
			r := must.Get(http.NewRequestWithContext(t.Context(), method, tapURL+path, strings.NewReader(body)))(t)
			r.Header.Set("Content-Type", "application/json")
			if k.version != "" {
				r.Header.Set("A2A-Version", k.version)
			}
			res := must.Get((&http.Transport{DisableKeepAlives: true}).RoundTrip(r))(t)
			must.Get(io.ReadAll(res.Body))(t)
			res.Body.Close()
		}
	})
}

// number returns the number of a turn's exchange.
func (k *session) number(t testing.TB, name string) uint64 {
	t.Helper()
	for i, n := range k.turns {
		if n.name == name {
			return uint64(i + 1)
		}
	}
	t.Fatalf("there is no turn %q", name)
	return 0
}

// rpc wraps results of JSON-RPC.
func rpc(results ...string) []string {
	for i, text := range results {
		results[i] = `{"jsonrpc":"2.0","id":{{ID}},"result":` + text + `}`
	}
	return results
}

const (
	richTask = `{"id":"task-00000001","contextId":"ctx-00000001","status":{"state":"TASK_STATE_COMPLETED",` +
		`"timestamp":"2026-01-02T03:04:05Z","message":{"role":"ROLE_AGENT","messageId":"m-9","parts":[{"text":"done"}]}},` +
		`"artifacts":[{"artifactId":"a1","name":"tickets","parts":[{"text":"two seats"},` +
		`{"data":{"seats":2,"rows":["a","b"]},"mediaType":"application/json"}]}],"metadata":{"model":"m1"}}`
	canceled = `{"id":"task-00000001","contextId":"ctx-00000001","status":{"state":"TASK_STATE_CANCELED"}}`
	listed   = `{"tasks":[` + canceled + `],"nextPageToken":"","pageSize":50,"totalSize":1}`
	config   = `{"id":"cfg-00000001","taskId":"task-00000001","url":"http://hook.example/in","token":"",` +
		`"authentication":{"scheme":"Bearer"}}`
	configs  = `{"configs":[` + config + `],"nextPageToken":""}`
	richCard = `{"name":"Tickets","description":"sells tickets","version":"1.0.0","capabilities":{"streaming":true,` +
		`"pushNotifications":false},"supportedInterfaces":[{"url":"{{URL}}/","protocolBinding":"JSONRPC",` +
		`"protocolVersion":"1.0"},{"url":"{{URL}}/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],` +
		`"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
		`"skills":[{"id":"sell","name":"Sell","description":"sells","tags":["a","b"]}]}`
	noTask = `{"code":-32001,"message":"no such task","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",` +
		`"reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{"taskId":"x"}}]}`
	noTaskREST = `{"error":{"code":404,"status":"NOT_FOUND","message":"no such task","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}`
	message1 = `{"message":{"role":"ROLE_AGENT","messageId":"m-7","contextId":"ctx-00000001","parts":[{"text":"hi"}]}}`
	task03   = `{"kind":"task","id":"task-00000001","contextId":"ctx-00000001","status":{"state":"completed"},` +
		`"artifacts":[{"artifactId":"a1","parts":[{"kind":"text","text":"two seats"},` +
		`{"kind":"file","file":{"uri":"http://files.example/1","mimeType":"text/csv"}}]}]}`
	working03 = `{"kind":"status-update","taskId":"task-00000001","contextId":"ctx-00000001",` +
		`"status":{"state":"working"},"final":false}`
	ended03 = `{"kind":"status-update","taskId":"task-00000001","contextId":"ctx-00000001",` +
		`"status":{"state":"completed"},"final":true}`
	message03 = `{"kind":"message","messageId":"m-7","role":"agent","parts":[{"kind":"text","text":"hi"}]}`
	card03    = `{"protocolVersion":"0.3.0","name":"Tickets","description":"sells tickets","version":"1.0.0",` +
		`"url":"{{URL}}/","preferredTransport":"JSONRPC","capabilities":{"streaming":true},"defaultInputModes":["text/plain"],` +
		`"defaultOutputModes":["text/plain"],"skills":[]}`
)

func failure(object string) []string {
	return []string{`{"jsonrpc":"2.0","id":{{ID}},"error":` + object + `}`}
}

const (
	events  = "text/event-stream"
	unknown = `{"id":"` + noSuchTask + `"}`
	setHook = `{"taskId":"task-00000001","url":"http://hook.example/in"}`
	theHook = `{"taskId":"task-00000001","id":"cfg-00000001"}`
	ofTask  = `{"taskId":"task-00000001"}`
	hello03 = `{"message":{"kind":"message","role":"user","messageId":"m1","parts":[{"kind":"text","text":"hello"}]}}`
)

// named is an artifact's chunk with a name.
func named(text string, last bool) string {
	return strings.Replace(chunk(text, last), `"artifactId"`, `"name":"tickets","artifactId"`, 1)
}

// The sessions in which changes are planted: every operation, both bindings, two dialects.
var sessions = map[string]*session{
	"1.0 jsonrpc": {version: "1.0", turns: []turn{
		{name: "card", method: "GET /.well-known/agent-card.json", answer: []string{richCard}},
		{name: "send", method: "SendMessage", params: hello, answer: rpc(`{"task":` + richTask + `}`)},
		{
			name: "stream", method: "SendStreamingMessage", params: hello, media: events,
			answer: rpc(snapshot("SUBMITTED"), status("WORKING"), named("one", false), named("two", true), status("COMPLETED")),
		},
		{
			name: "subscribe", method: "SubscribeToTask", params: theID, media: events,
			answer: rpc(snapshot("WORKING"), named("two", true), status("INPUT_REQUIRED")),
		},
		{name: "cancel", method: "CancelTask", params: theID, answer: rpc(canceled)},
		{name: "list", method: "ListTasks", params: `{}`, answer: rpc(listed)},
		{name: "set hook", method: "CreateTaskPushNotificationConfig", params: setHook, answer: rpc(config)},
		{name: "get hook", method: "GetTaskPushNotificationConfig", params: theHook, answer: rpc(config)},
		{name: "list hooks", method: "ListTaskPushNotificationConfigs", params: ofTask, answer: rpc(configs)},
		{name: "delete hook", method: "DeleteTaskPushNotificationConfig", params: theHook, answer: rpc(`{}`)},
		{name: "extended card", method: "GetExtendedAgentCard", params: `{}`, answer: rpc(richCard)},
		{name: "unknown", method: "GetTask", params: unknown, answer: failure(noTask)},
	}},
	"1.0 http": {version: "1.0", turns: []turn{
		{name: "send", method: "POST /message:send", params: hello, answer: []string{`{"task":` + richTask + `}`}},
		{name: "get", method: "GET /tasks/task-00000001", answer: []string{richTask}},
		{
			name: "stream", method: "POST /message:stream", params: hello, media: events,
			answer: []string{snapshot("SUBMITTED"), status("WORKING"), status("COMPLETED")},
		},
		{name: "list", method: "GET /tasks", answer: []string{listed}},
		{name: "unknown", method: "GET /tasks/no-such-task", status: 404, answer: []string{noTaskREST}},
	}},
	"1.0 message": {version: "1.0", turns: []turn{
		{name: "send", method: "SendMessage", params: hello, answer: rpc(message1)},
	}},
	"0.3 jsonrpc": {turns: []turn{
		{name: "card", method: "GET /.well-known/agent-card.json", answer: []string{card03}},
		{name: "send", method: "message/send", params: hello03, answer: rpc(task03)},
		{name: "stream", method: "message/stream", params: hello03, media: events, answer: rpc(task03, working03, ended03)},
		{name: "get", method: "tasks/get", params: theID, answer: rpc(task03)},
		{name: "unknown", method: "tasks/get", params: unknown, answer: failure(`{"code":-32001,"message":"no such task"}`)},
	}},
}
