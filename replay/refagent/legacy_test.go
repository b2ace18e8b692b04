package refagent_test

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/replay/refagent"
)

// legacyCall is a call of the dialect before 0.1.
func legacyCall(path, method, params string) string {
	return "POST " + path + jsonHeader + rpc("1", method, params)
}

// states returns the states in the answers to a task that is polled until it has ended or waits.
func legacyTask(t *testing.T, origin, id string) string {
	t.Helper()
	for {
		_, body := exchange(t, origin, legacyCall("/", "tasks/get", `{"id":"`+id+`"}`))
		for _, end := range []string{"completed", "failed", "canceled", "input-required"} {
			if strings.Contains(body, `"status":{"state":"`+end+`"`) {
				return body
			}
		}
		if strings.Contains(body, `"error"`) {
			t.Fatal(body)
		}
	}
}

// Each row of what a server of the dialect does.
func TestLegacyAnswers(t *testing.T) {
	send := func(id, text string) string { return legacyCall("/", "tasks/send", legacySend(id, text)) }
	for _, tt := range []struct {
		name    string
		opts    refagent.Options
		before  []string
		request string
		status  int
		want    string
	}{
		{
			name: "send answers at once", request: send("t1", "task-cancel"), status: 200,
			want: `"result":{"id":"t1","sessionId":"s1","status":{"state":"submitted",`,
		},
		{
			name: "no such method", request: legacyCall("/", "tasks/nonexistent", `{}`), status: 200,
			want: `{"code":-32601,"message":"Method not found: tasks/nonexistent"}`,
		},
		{
			name: "streams have a path", request: legacyCall("/", "tasks/sendSubscribe", legacySend("t", "x")), status: 200,
			want: `"code":-32601`,
		},
		{
			name: "and it has one method", request: legacyCall("/subscribe", "tasks/send", legacySend("t", "x")), status: 400,
			want: `{"error":"Only tasks/sendSubscribe supported"}`,
		},
		{name: "no JSON", request: "POST /" + jsonHeader + `{"jsonrpc":`, status: 200, want: `"code":-32700`},
		{name: "no call", request: "POST /" + jsonHeader + `{"not":"valid jsonrpc"}`, status: 200, want: `"code":-32600`},
		{
			name: "unknown task", request: legacyCall("/", "tasks/get", `{"id":"nope"}`), status: 200,
			want: `{"code":-32001,"message":"Task not found: nope"}`,
		},
		{
			name:    "a task that has ended is not canceled",
			before:  []string{send("t1", "task-cancel"), legacyCall("/", "tasks/cancel", `{"id":"t1"}`)},
			request: legacyCall("/", "tasks/cancel", `{"id":"t1"}`), status: 200, want: `"code":-32002`,
		},
		{
			name: "nor resumed", before: []string{send("t1", "task-cancel"), legacyCall("/", "tasks/cancel", `{"id":"t1"}`)},
			request: send("t1", "more"), status: 200, want: `"code":-32002`,
		},
		{
			name: "canceled", before: []string{send("t1", "task-cancel")},
			request: legacyCall("/", "tasks/cancel", `{"id":"t1"}`),
			status:  200, want: `"status":{"state":"canceled"`,
		},
		{
			name: "full", opts: refagent.Options{MaxTasks: 1}, before: []string{send("t1", "task-cancel")},
			request: send("t2", "task-cancel"), status: 200, want: `"code":-32003`,
		},
		{
			name: "a webhook without TLS", opts: refagent.Options{Push: true}, before: []string{send("t1", "task-cancel")},
			request: legacyCall("/", "tasks/pushNotification/set",
				`{"id":"t1","pushNotificationConfig":{"url":"http://127.0.0.1:1/"}}`),
			status: 200, want: `"code":-32004`,
		},
		{
			name: "a webhook without push notifications", before: []string{send("t1", "task-cancel")},
			request: legacyCall("/", "tasks/pushNotification/set",
				`{"id":"t1","pushNotificationConfig":{"url":"https://127.0.0.1:1/"}}`),
			status: 200, want: `"error":{"code":-32601,"message":"Method not found: tasks/pushNotification/set"}`,
		},
		{
			name: "a message with a webhook without push notifications",
			request: legacyCall("/", "tasks/send", strings.TrimSuffix(legacySend("t1", "task-cancel"), "}")+
				`,"pushNotification":{"url":"https://127.0.0.1:1/"}}`),
			status: 200, want: `"code":-32602`,
		},
		{
			name: "a webhook", opts: refagent.Options{Push: true}, before: []string{
				send("t1", "task-cancel"),
				legacyCall("/", "tasks/pushNotification/set",
					`{"id":"t1","pushNotificationConfig":{"url":"https://127.0.0.1:1/","token":"s","events":["status"]}}`),
			},
			request: legacyCall("/", "tasks/pushNotification/get", `{"id":"t1"}`), status: 200,
			want: `"result":{"id":"t1","pushNotificationConfig":{"url":"https://127.0.0.1:1/","events":["status"]}}`,
		},
		{
			name: "an event that there is not", opts: refagent.Options{Push: true}, before: []string{send("t1", "task-cancel")},
			request: legacyCall("/", "tasks/pushNotification/set",
				`{"id":"t1","pushNotificationConfig":{"url":"https://127.0.0.1:1/","events":["all"]}}`),
			status: 200, want: `"code":-32602`,
		},
		{
			name:    "without credentials",
			opts:    refagent.Options{Auth: &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "s"}},
			request: legacyCall("/", "tasks/get", `{"id":"t"}`), status: 401,
			want: `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,`,
		},
		{
			name:    "a stream without credentials",
			opts:    refagent.Options{Auth: &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "s"}},
			request: legacyCall("/subscribe", "tasks/sendSubscribe", legacySend("t", "x")), status: 401, want: `"code":-32000`,
		},
		{
			name:    "the card is public",
			opts:    refagent.Options{Auth: &refagent.Credentials{Scheme: refagent.APIKeyAuth, Header: "X-Key", Secret: "s"}},
			request: "GET /.well-known/agent.json", status: 200,
			want: `"authentication":{"schemes":["apiKey"],"credentials":{"apiKey":{"headerName":"X-Key"}}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			origin := serve(t, "legacy", tt.opts)
			for _, b := range tt.before {
				exchange(t, origin, b)
			}
			resp, body := exchange(t, origin, tt.request)
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("got %d %s, want %d %s", resp.StatusCode, body, tt.status, tt.want)
			}
		})
	}
}

// A task's history is its statuses, and their order is that of the state machine.
func TestLegacyHistory(t *testing.T) {
	origin := serve(t, "legacy", refagent.Options{})
	for text, want := range map[string]string{
		"task-lifecycle x": "submitted working completed",
		"message-only x":   "submitted working completed",
		"task-failure x":   "submitted working failed",
		"long-running x":   "submitted working completed",
		"data-types x":     "submitted working completed",
		"multi-turn x":     "submitted working input-required",
		"abracadabra":      "submitted failed",
	} {
		id := strings.Fields(text)[0]
		exchange(t, origin, legacyCall("/", "tasks/send", legacySend(id, text)))
		body := legacyTask(t, origin, id)
		if got := legacyStates(t, body); got != want {
			t.Errorf("%s: history %s, want %s", text, got, want)
		}
	}
	_, body := exchange(t, origin, legacyCall("/", "tasks/get", `{"id":"task-lifecycle","historyLength":1}`))
	if got := legacyStates(t, body); got != "completed" {
		t.Errorf("the last entry is %s, want completed", got)
	}
	if body := legacyTask(t, origin, "abracadabra"); !strings.Contains(body, "No matching skill for this request.") {
		t.Errorf("got %s", body)
	}
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("multi-turn", "done")))
	if got := legacyStates(t,
		legacyTask(t, origin, "multi-turn")); got != "submitted working input-required working completed" {
		t.Errorf("after the second turn: %s", got)
	}
}

// legacyStates returns the states in the history of a task.
func legacyStates(t *testing.T, body string) string {
	t.Helper()
	var answer struct {
		Result struct {
			History []struct{ State, Timestamp string }
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, h := range answer.Result.History {
		if _, err := time.Parse(time.RFC3339, h.Timestamp); err != nil {
			t.Errorf("status %+v: %v", h, err)
		}
		states = append(states, h.State)
	}
	return strings.Join(states, " ")
}

// A stream has named events, tells of every state, goes on while the task waits, and ends with the task.
func TestLegacyStream(t *testing.T) {
	origin := serve(t, "legacy", refagent.Options{})
	resp, body := exchange(t, origin,
		legacyCall("/subscribe", "tasks/sendSubscribe", legacySend("t1", "task-lifecycle x")))
	if resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("got %v", resp.Header)
	}
	if got, want := legacyEvents(body), "status submitted, status working, artifact, status completed final"; got != want {
		t.Errorf("got %s, want %s; body %s", got, want, body)
	}
	if _, body := exchange(t, origin,
		legacyCall("/subscribe", "tasks/sendSubscribe",
			legacySend("t1", "again"))); legacyEvents(body) != "status completed final" {
		t.Errorf("a task that has ended is shown as %s", body)
	}

	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/subscribe",
		strings.NewReader(rpc("7", "tasks/sendSubscribe", legacySend("t2", "multi-turn x"))))
	if err != nil {
		t.Fatal(err)
	}
	open, err := wireClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Body.Close()
	lines := bufio.NewReader(open.Body)
	var seen strings.Builder
	for !strings.Contains(seen.String(), `"input-required"`) {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen.WriteString(line)
	}
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t2", "done")))
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	seen.Write(rest)
	want := "status submitted, status working, artifact, status input-required, status working, artifact, status completed final"
	if got := legacyEvents(seen.String()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// legacyEvents returns the events of a stream in short.
func legacyEvents(body string) string {
	var events []string
	for frame := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		name, data, _ := strings.Cut(frame, "\n")
		word := strings.TrimPrefix(name, "event: ")
		if _, after, ok := strings.Cut(data, `"state":"`); ok {
			state, _, _ := strings.Cut(after, `"`)
			word += " " + state
		}
		if strings.Contains(data, `"final":true`) {
			word += " final"
		}
		events = append(events, word)
	}
	return strings.Join(events, ", ")
}

// A webhook gets the events that it asked for, with its token, and is dropped when it fails for good.
func TestLegacyWebhooks(t *testing.T) {
	type note struct{ Authorization, TaskID, EventType, State string }
	notes := make(chan note, 16)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct {
			TaskID, EventType, Timestamp string
			Status                       struct{ State string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Timestamp == "" {
			t.Errorf("got %+v, %v", body, err)
		}
		notes <- note{r.Header.Get("Authorization"), body.TaskID, body.EventType, body.Status.State}
	}))
	defer hook.Close()
	roots := x509.NewCertPool()
	roots.AddCert(hook.Certificate())
	origin := serve(t, "legacy", refagent.Options{Push: true, WebhookRoots: roots})
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t1", "multi-turn x")))
	legacyTask(t, origin, "t1")
	exchange(t, origin, legacyCall("/", "tasks/pushNotification/set",
		`{"id":"t1","pushNotificationConfig":{"url":"`+hook.URL+`","token":"s3","events":["status"]}}`))
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t1", "done")))
	var got []note
	for range 2 {
		got = append(got, <-notes)
	}
	want := []note{{"Bearer s3", "t1", "status", "working"}, {"Bearer s3", "t1", "status", "completed"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
}

// A webhook that fails is asked three times more, and then no longer there; the task goes on.
func TestLegacyWebhookIsDropped(t *testing.T) {
	asked := make(chan struct{}, 16)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer hook.Close()
	roots := x509.NewCertPool()
	roots.AddCert(hook.Certificate())
	origin := serve(t, "legacy", refagent.Options{Push: true, WebhookRoots: roots})
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t1", "multi-turn x")))
	legacyTask(t, origin, "t1")
	exchange(t, origin, legacyCall("/", "tasks/pushNotification/set",
		`{"id":"t1","pushNotificationConfig":{"url":"`+hook.URL+`"}}`))
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t1", "more")))
	for range 4 {
		<-asked
	}
	for body := ""; !strings.Contains(body, `"error"`); {
		_, body = exchange(t, origin, legacyCall("/", "tasks/pushNotification/get", `{"id":"t1"}`))
	}
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t1", "done")))
	if body := legacyTask(t, origin, "t1"); !strings.Contains(body, `"status":{"state":"completed"`) {
		t.Errorf("got %s", body)
	}
	if len(asked) > 0 {
		t.Error("the webhook was asked after it was dropped")
	}
}
