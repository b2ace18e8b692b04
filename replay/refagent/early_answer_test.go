package refagent_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/replay/refagent"
)

// The requirements of a server of the dialect before 0.1, by their ids. Each is covered by a row of earlyAnswers, or
// by the tests of earlyBehaviors.
const earlyRequirements = `S4-I1 S4-I2 S4-I3 S4-I4 S4-I5 S4-I6 S4-1.1 S4-1.2a S4-1.2b S4-1.3 S4-1.4 S4-1.5 S4-2.1 S4-2.2 S4-2.3
S4-2.4 S4-2.5 S4-3.1a S4-3.1b S4-3.1c S4-3.2a S4-3.2b S4-3.3 S4-3.4 S4-4.1a S4-4.1b S4-4.1c S4-4.1d S4-4.1e S4-4.1f
S4-4.1g S4-4.2 S4-4.3 S4-4.4 S4-5.1a S4-5.1b S4-5.1c S4-5.2a S4-5.2b S4-5.2c S4-5.3 S4-5.4 S4-5.5 S4-6.1a S4-6.1b
S4-6.1c S4-6.2a S4-6.2b S4-6.3a S4-6.3b S4-6.3c S4-6.4 S4-V1 S4-V2 S4-V3 S4-V4 S4-V5 S4-V6 S4-V7 S4-V8 S4-V9 S4-V10 S4-P1
S4-P2 S4-P3 S4-P4 S4-P5 S4-P6`

func legacySends(id, text string) string { return legacyCall("/", "tasks/send", legacySend(id, text)) }

func legacyBody(body string) string { return "POST /" + jsonHeader + body }

var (
	asksBearer = refagent.Options{Auth: &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "s3"}}
	asksKey    = refagent.Options{Auth: &refagent.Credentials{Scheme: refagent.APIKeyAuth, Header: "X-Key", Secret: "k"}}
	pushes     = refagent.Options{Push: true}
	canceled   = []string{legacySends("t1", "task-cancel"), legacyCall("/", "tasks/cancel", `{"id":"t1"}`)}
)

// earlyAnswers are single exchanges with the agent legacy; want has regular expressions for the head and the body.
var earlyAnswers = []struct {
	rows    string
	opts    refagent.Options
	before  []string
	request string
	status  int
	want    []string
}{
	{
		rows: "S4-1.1 S4-1.2a S4-1.3 S4-2.1 S4-V2 S4-V10 S4-P4", request: legacySends("t1", "task-cancel"), status: 200,
		want: []string{
			`^\{"jsonrpc":"2\.0","id":1,"result":\{"id":"t1","sessionId":"s1",` +
				`"status":\{"state":"submitted","timestamp":"[^"]*"\},"history":`,
		},
	},
	{
		rows: "S4-1.2a S4-V10", request: legacyBody(`{"jsonrpc":"2.0","id":"a-7","method":"tasks/get","params":{"id":"no"}}`),
		status: 200, want: []string{`^\{"jsonrpc":"2.0","id":"a-7","error":\{"code":-32001,"message":"[^"]+"\}\}$`},
	},
	{
		rows: "S4-1.2b", request: legacyCall("/", "tasks/sendSubscribe", legacySend("t", "x")), status: 200,
		want: []string{`"code":-32601,"message":"Method not found: tasks/sendSubscribe"`},
	},
	{
		rows: "S4-1.2b S4-P1", request: legacyCall("/", "tasks/dance", `{}`), status: 200,
		want: []string{`"code":-32601,"message":"Method not found: tasks/dance"`},
	},
	{
		rows: "S4-1.4 S4-V1 S4-6.2a S4-6.3a", opts: asksBearer, status: 200,
		request: "GET /.well-known/agent.json\nOrigin: https://page.example",
		want:    []string{`(?m)^Access-Control-Allow-Origin: \*$`, `"url":"http://127\.0\.0\.1:\d+"`, `"skills":\[\{"id":`},
	},
	{
		rows: "S4-1.5 S4-P1", request: legacyBody(`{"jsonrpc":`), status: 200,
		want: []string{`"id":null,"error":\{"code":-32700`},
	},
	{
		rows: "S4-1.5 S4-P1", request: legacyBody(`{"id":1,"method":"tasks/get","params":{"id":"t"}}`), status: 200,
		want: []string{`"id":1,"error":\{"code":-32600,"message":"[^"]*jsonrpc`},
	},
	{
		rows: "S4-1.5 S4-P1", request: legacyBody(`{"jsonrpc":"2.0","id":1,"params":{"id":"t"}}`), status: 200,
		want: []string{`"id":1,"error":\{"code":-32600,"message":"[^"]*method`},
	},
	{
		rows: "S4-1.5 S4-P1", request: legacyBody(`{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"t"}}`), status: 200,
		want: []string{`"id":null,"error":\{"code":-32600,"message":"[^"]*id is missing`},
	},
	{
		rows: "S4-2.5 S4-3.3 S4-V7 S4-P6", before: canceled,
		request: legacyCall("/", "tasks/cancel", `{"id":"t1"}`), status: 200,
		want: []string{`"code":-32002,"message":"Task t1 has already ended \(canceled\)"`},
	},
	{
		rows: "S4-2.5 S4-V7 S4-P6", before: canceled, request: legacySends("t1", "again"), status: 200,
		want: []string{`"code":-32002,"message":"Task t1 has ended \(canceled\) and takes no more messages"`},
	},
	{
		rows: "S4-2.5 S4-V7 S4-P2", before: []string{legacySends("t1", "task-cancel")}, request: legacySends("t1", "again"),
		status: 200, want: []string{`"code":-32002,"message":"Task t1 is being worked on`},
	},
	{
		rows: "S4-3.2a", request: legacyCall("/", "tasks/get", `{"id":"nope"}`), status: 200,
		want: []string{`"code":-32001,"message":"Task not found: nope"`},
	},
	{
		rows: "S4-3.3 S4-V4", before: []string{legacySends("t1", "task-cancel")},
		request: legacyCall("/", "tasks/cancel", `{"id":"t1"}`), status: 200,
		want: []string{`"result":\{"id":"t1",.*"status":\{"state":"canceled"`},
	},
	{
		rows: "S4-3.4 S4-I6", opts: refagent.Options{MaxTasks: 1}, before: []string{legacySends("t1", "task-cancel")}, request: legacySends("t2", "x"),
		status: 200, want: []string{`"code":-32003`},
	},
	{
		rows: "S4-4.1a", request: legacyCall("/subscribe", "tasks/send", legacySend("t", "x")), status: 400,
		want: []string{`\n\{"error":"Only tasks/sendSubscribe supported"\}$`},
	},
	{
		rows:    "S4-4.1b S4-4.1c S4-4.1d S4-4.1e S4-4.1g S4-V10",
		request: legacyCall("/subscribe", "tasks/sendSubscribe", legacySend("t1", "task-lifecycle x")), status: 200,
		want: []string{
			`(?m)^Content-Type: text/event-stream$`, `(?m)^Cache-Control: no-cache$`,
			`\n\nevent: status\ndata: ` +
				`\{"jsonrpc":"2.0","id":1,"result":\{"id":"t1","status":\{"state":"submitted",[^}]*\}\}\}\n\n` +
				`event: status\ndata: \{[^\n]*"state":"working"[^\n]*\}\n\n` +
				`event: artifact\ndata: \{"jsonrpc":"2.0","id":1,"result":\{"id":"t1","artifact":\{[^\n]*\}\n\n` +
				`event: status\ndata: \{[^\n]*"state":"completed"[^\n]*"final":true\}\}\n\n$`,
		},
	},
	{
		rows: "S4-I3 S4-5.1a", before: canceled[:1], request: legacyCall("/", "tasks/pushNotification/set",
			`{"id":"t1","pushNotificationConfig":{"url":"https://127.0.0.1:1/"}}`),
		status: 200, want: []string{`"error":\{"code":-32601,"message":"Method not found: tasks/pushNotification/set"`},
	},
	{
		rows: "S4-I3 S4-5.1a", request: legacyCall("/", "tasks/send", strings.TrimSuffix(legacySend("t1", "task-cancel"), "}")+
			`,"pushNotification":{"url":"https://127.0.0.1:1/"}}`),
		status: 200, want: []string{`"code":-32602`},
	},
	{
		rows: "S4-I3 S4-5.1a S4-5.1c", opts: pushes, before: canceled[:1],
		request: legacyCall("/", "tasks/pushNotification/set",
			`{"id":"t1","pushNotificationConfig":{"url":"https://127.0.0.1:1/","token":"s","events":["status","artifact"]}}`),
		status: 200, want: []string{
			`"result":\{"id":"t1","pushNotificationConfig":` +
				`\{"url":"https://127.0.0.1:1/","events":\["status","artifact"\]\}\}`,
		},
	},
	{
		rows: "S4-5.1a", opts: pushes, before: canceled[:1], request: legacyCall("/", "tasks/pushNotification/set",
			`{"id":"t1","pushNotificationConfig":{"url":"https://127.0.0.1:1/","events":["all"]}}`),
		status: 200, want: []string{`"code":-32602`, `events`},
	},
	{
		rows: "S4-5.1b", opts: pushes, before: canceled[:1], request: legacyCall("/", "tasks/pushNotification/set",
			`{"id":"t1","pushNotificationConfig":{"url":"http://127.0.0.1:1/"}}`),
		status: 200, want: []string{`"code":-32004,"message":"The webhook URL must use https"`},
	},
	{
		rows: "S4-5.4 S4-5.1c", opts: pushes, before: append(canceled[:1:1], legacyCall("/", "tasks/pushNotification/set",
			`{"id":"t1","pushNotificationConfig":{"url":"https://127.0.0.1:1/x","token":"s","events":["status"]}}`)),
		request: legacyCall("/", "tasks/pushNotification/get", `{"id":"t1"}`), status: 200,
		want: []string{`"result":\{"id":"t1","pushNotificationConfig":\{"url":"https://127.0.0.1:1/x","events":\["status"\]\}\}`},
	},
	{
		rows: "S4-5.1c", opts: pushes, request: legacyCall("/", "tasks/pushNotification/set",
			`{"id":"nope","pushNotificationConfig":{"url":"https://127.0.0.1:1/"}}`),
		status: 200, want: []string{`"code":-32001`},
	},
	{
		rows: "S4-6.2b", opts: asksBearer, status: 204,
		request: "OPTIONS /.well-known/agent.json\nOrigin: https://page.example\nAccess-Control-Request-Method: GET",
		want:    []string{`(?m)^Access-Control-Allow-Origin: \*$`, `(?m)^Access-Control-Allow-Methods: GET,.*OPTIONS`},
	},
	{
		rows: "S4-6.3b S4-6.3c S4-V8 S4-I5", opts: asksBearer, request: legacySends("t1", "x"), status: 401,
		want: []string{`^HTTP[^\n]*401`, `"jsonrpc":"2.0","id":1,"error":\{"code":-32000,`},
	},
	{
		rows: "S4-6.3b S4-6.3c S4-V8", opts: asksKey,
		request: legacyCall("/subscribe", "tasks/sendSubscribe", legacySend("t1", "x")), status: 401,
		want: []string{`"error":\{"code":-32000,`},
	},
	{
		rows: "S4-6.3b S4-V8", opts: asksKey, request: "GET /health", status: 401,
		want: []string{`"error":\{"code":-32000,`},
	},
	{
		rows: "S4-6.3b S4-I5", opts: asksKey,
		request: "POST /\nX-Key: k\n\n" + rpc("1", "tasks/get", `{"id":"t"}`), status: 200,
		want: []string{`"code":-32001`},
	},
	{
		rows: "S4-6.3b S4-I5", opts: asksBearer,
		request: "POST /\nAuthorization: Bearer s3\n\n" + rpc("1", "tasks/get", `{"id":"t"}`), status: 200,
		want: []string{`"code":-32001`},
	},
	{
		rows: "S4-V9 S4-I5", opts: asksKey, request: "GET /.well-known/agent.json", status: 200,
		want: []string{
			`"authentication":\{"schemes":\["apiKey"\],"credentials":\{"apiKey":\{"headerName":"X-Key"`,
			`"capabilities":\{"streaming":true,"pushNotifications":false,"stateTransitionHistory":true\}`,
		},
	},
}

func TestEarlyRequirements(t *testing.T) {
	shown := map[string]bool{}
	note := func(rows string) {
		for id := range strings.FieldsSeq(rows) {
			shown[id] = true
		}
	}
	for _, tt := range earlyAnswers {
		note(tt.rows)
		t.Run(tt.rows, func(t *testing.T) {
			origin := serve(t, "legacy", tt.opts)
			for _, b := range tt.before {
				exchange(t, origin, b)
			}
			resp, body := exchange(t, origin, tt.request)
			expect.Equal(t, "status", tt.status, resp.StatusCode)
			text := earlyText(t, resp, body)
			for _, want := range tt.want {
				if pattern := regexp.MustCompile(want); !pattern.MatchString(text) && !pattern.MatchString(body) {
					t.Errorf("got\n%s\nwant %s", text, want)
				}
			}
		})
	}
	for _, tt := range earlyBehaviors {
		note(tt.rows) // each runs by itself
	}
	for id := range strings.FieldsSeq(earlyRequirements) {
		if !shown[id] {
			t.Errorf("nothing shows %s", id)
		}
		delete(shown, id)
	}
	for id := range shown {
		t.Errorf("there is no requirement %s", id)
	}
}

// earlyText is a response as text: status line, header fields, an empty line, the body.
func earlyText(t *testing.T, resp *http.Response, body string) string {
	t.Helper()
	lines := []string{resp.Proto + " " + resp.Status}
	for name, v := range resp.Header {
		lines = append(lines, name+": "+strings.Join(v, ", "))
	}
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n") + "\n\n" + body
}
