package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const taskResult = `{"id":"t1","status":{"state":"TASK_STATE_WORKING"}}`

// requestTests say what goes over the wire for each operation: JSON-RPC bodies, and HTTP+JSON as "METHOD path body".
var requestTests = []struct {
	name            string
	do              func(ctx context.Context, c *Client) error
	rpc, rest, rpc3 string
}{
	{
		name: "send",
		do: func(ctx context.Context, c *Client) error {
			three := 3
			m := Message{
				ContextID: "c", TaskID: "t", References: []string{"r"}, Extensions: []string{"urn:x"}, Metadata: json.RawMessage(`{"a":1}`),
				Parts: []Part{
					{Text: "hi"},
					{Bytes: []byte{0, 1}, MediaType: "a/b", Filename: "f"},
					{URL: "https://u", MediaType: "a/b"},
					{Data: json.RawMessage(`[1]`)},
					{},
				},
			}
			_, err := c.Send(ctx, m, SendOptions{
				ReturnImmediately: true, HistoryLength: &three, AcceptedOutputModes: []string{"text/plain"},
				Push: &PushConfig{TaskID: "dropped", URL: "https://hook", Token: "tok", Scheme: "Bearer", Credentials: "cred"},
			})
			return err
		},
		rpc: `{"jsonrpc":"2.0","id":"id","method":"SendMessage","params":` + send10 + `}`, rest: "POST /a/message:send " + send10,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"message/send","params":{"message":{"kind":"message","messageId":"id","contextId":"c","taskId":"t","role":"user","parts":[` +
			`{"kind":"text","text":"hi"},{"kind":"file","file":{"name":"f","mimeType":"a/b","bytes":"AAE="}},{"kind":"file","file":{"mimeType":"a/b","uri":"https://u"}},` +
			`{"kind":"data","data":[1]},{"kind":"text","text":""}],"referenceTaskIds":["r"],"extensions":["urn:x"],"metadata":{"a":1}},` +
			`"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":3,"blocking":false,` +
			`"pushNotificationConfig":{"url":"https://hook","token":"tok","authentication":{"schemes":["Bearer"],"credentials":"cred"}}}}}`,
	},
	{
		name: "plain send",
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Send(ctx, Text("x"), SendOptions{})
			return err
		},
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"SendMessage","params":{"message":{"messageId":"id","role":"ROLE_USER","parts":[{"text":"x"}]}}}`,
		rest: `POST /a/message:send {"message":{"messageId":"id","role":"ROLE_USER","parts":[{"text":"x"}]}}`,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"message/send","params":{"message":{"kind":"message","messageId":"id","role":"user",` +
			`"parts":[{"kind":"text","text":"x"}]},"configuration":{"blocking":true}}}`,
	},
	{
		name: "stream",
		do:   func(ctx context.Context, c *Client) error { return drain(c.Stream(ctx, Text("x"), SendOptions{})) },
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"SendStreamingMessage","params":{"message":{"messageId":"id","role":"ROLE_USER","parts":[{"text":"x"}]}}}`,
		rest: `POST /a/message:stream {"message":{"messageId":"id","role":"ROLE_USER","parts":[{"text":"x"}]}}`,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"message/stream","params":{"message":{"kind":"message","messageId":"id","role":"user","parts":[{"kind":"text","text":"x"}]}}}`,
	},
	{
		name: "get",
		do: func(ctx context.Context, c *Client) error {
			zero := 0
			_, err := c.Get(ctx, "a/b:cancel", &zero)
			return err
		},
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"GetTask","params":{"id":"a/b:cancel","historyLength":0}}`,
		rest: `GET /a/tasks/a%2Fb%3Acancel?historyLength=0 `,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"tasks/get","params":{"id":"a/b:cancel","historyLength":0}}`,
	},
	{
		name: "list",
		do: func(ctx context.Context, c *Client) error {
			two := 2
			_, err := c.List(ctx, ListOptions{
				ContextID: "c d", State: InputRequired, PageSize: 5, PageToken: "p+", HistoryLength: &two, IncludeArtifacts: true,
				StatusTimestampAfter: time.Date(2026, 3, 1, 11, 0, 0, 5e6, time.FixedZone("", 3600)),
			})
			return err
		},
		rpc: `{"jsonrpc":"2.0","id":"id","method":"ListTasks","params":{"contextId":"c d","status":"TASK_STATE_INPUT_REQUIRED","pageSize":5,"pageToken":"p+",` +
			`"historyLength":2,"statusTimestampAfter":"2026-03-01T10:00:00.005Z","includeArtifacts":true}}`,
		rest: `GET /a/tasks?contextId=c+d&historyLength=2&includeArtifacts=true&pageSize=5&pageToken=p%2B&status=TASK_STATE_INPUT_REQUIRED&statusTimestampAfter=2026-03-01T10%3A00%3A00.005Z `,
	},
	{
		name: "cancel",
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Cancel(ctx, "t", json.RawMessage(`{"why":"so"}`))
			return err
		},
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"CancelTask","params":{"id":"t","metadata":{"why":"so"}}}`,
		rest: `POST /a/tasks/t:cancel {"metadata":{"why":"so"}}`,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"tasks/cancel","params":{"id":"t","metadata":{"why":"so"}}}`,
	},
	{
		name: "subscribe",
		do:   func(ctx context.Context, c *Client) error { return drain(c.Subscribe(ctx, "t")) },
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"SubscribeToTask","params":{"id":"t"}}`,
		rest: `POST /a/tasks/t:subscribe {}`,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"tasks/resubscribe","params":{"id":"t"}}`,
	},
	{
		name: "create push",
		do: func(ctx context.Context, c *Client) error {
			_, err := c.CreatePush(ctx, PushConfig{TaskID: "t", ID: "p", URL: "https://hook", Scheme: "Bearer", Credentials: "cred"})
			return err
		},
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"CreateTaskPushNotificationConfig","params":{"id":"p","taskId":"t","url":"https://hook","authentication":{"scheme":"Bearer","credentials":"cred"}}}`,
		rest: `POST /a/tasks/t/pushNotificationConfigs {"id":"p","url":"https://hook","authentication":{"scheme":"Bearer","credentials":"cred"}}`,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"tasks/pushNotificationConfig/set","params":{"taskId":"t","pushNotificationConfig":{"id":"p","url":"https://hook","authentication":{"schemes":["Bearer"],"credentials":"cred"}}}}`,
	},
	{
		name: "get push",
		do:   func(ctx context.Context, c *Client) error { _, err := c.GetPush(ctx, "t", "p"); return err },
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"GetTaskPushNotificationConfig","params":{"taskId":"t","id":"p"}}`,
		rest: `GET /a/tasks/t/pushNotificationConfigs/p `,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"tasks/pushNotificationConfig/get","params":{"id":"t","pushNotificationConfigId":"p"}}`,
	},
	{
		name: "list push",
		do:   func(ctx context.Context, c *Client) error { _, err := c.ListPush(ctx, "t"); return err },
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"ListTaskPushNotificationConfigs","params":{"taskId":"t"}}`,
		rest: `GET /a/tasks/t/pushNotificationConfigs `,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"tasks/pushNotificationConfig/list","params":{"id":"t"}}`,
	},
	{
		name: "delete push",
		do:   func(ctx context.Context, c *Client) error { return c.DeletePush(ctx, "t", "p") },
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"DeleteTaskPushNotificationConfig","params":{"taskId":"t","id":"p"}}`,
		rest: `DELETE /a/tasks/t/pushNotificationConfigs/p `,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"tasks/pushNotificationConfig/delete","params":{"id":"t","pushNotificationConfigId":"p"}}`,
	},
	{
		name: "extended card",
		do:   func(ctx context.Context, c *Client) error { _, err := c.ExtendedCard(ctx); return err },
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"GetExtendedAgentCard"}`,
		rest: `GET /a/extendedAgentCard `,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"agent/getAuthenticatedExtendedCard"}`,
	},
}

const send10 = `{"message":{"messageId":"id","contextId":"c","taskId":"t","role":"ROLE_USER","parts":[{"text":"hi"},` +
	`{"raw":"AAE=","filename":"f","mediaType":"a/b"},{"url":"https://u","mediaType":"a/b"},{"data":[1]},{"text":""}],` +
	`"referenceTaskIds":["r"],"extensions":["urn:x"],"metadata":{"a":1}},"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":3,` +
	`"returnImmediately":true,"taskPushNotificationConfig":{"url":"https://hook","token":"tok","authentication":{"scheme":"Bearer","credentials":"cred"}}}}`

func drain(stream func(func(Event, error) bool)) error {
	for _, err := range stream {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestRequests(t *testing.T) {
	a := agent(t, reply(500, "text/plain", "enough"))
	for _, tt := range requestTests {
		t.Run(tt.name, func(t *testing.T) {
			for p, want := range map[Protocol]string{
				JSONRPC10: "POST /a " + tt.rpc, REST10: tt.rest, JSONRPC03: "POST /a " + tt.rpc3,
			} {
				c := speak(t, a, p, Options{Version: "1.2", Token: "secret"})
				err := tt.do(t.Context(), c)
				if tt.rpc3 == "" && p == JSONRPC03 {
					if err == nil || !strings.Contains(err.Error(), "has no ListTasks") {
						t.Errorf("0.3: got %v, want no such operation", err)
					}
					continue
				}
				var refused *Error
				if !errors.As(err, &refused) || refused.HTTPStatus != 500 {
					t.Errorf("%s: got %v, want HTTP 500", p, err)
				}
				got := <-a.seen
				if diff := cmp.Diff(want, got.method+" "+got.path+" "+got.body); diff != "" {
					t.Errorf("%s (-want +got):\n%s", p, diff)
				}
				checkHeader(t, p, got)
			}
		})
	}
}

func checkHeader(t *testing.T, p Protocol, got seen) {
	t.Helper()
	want := map[string]string{"User-Agent": "a2atap/1.2", "Authorization": "Bearer secret", "A2A-Version": "1.0"}
	if p == JSONRPC03 {
		want["A2A-Version"] = ""
	}
	if got.body != "" {
		want["Content-Type"] = "application/json"
	}
	for name, value := range want {
		if got.header.Get(name) != value {
			t.Errorf("%s: %s: got %q, want %q", p, name, got.header.Get(name), value)
		}
	}
}

func TestEditChangesTheRequest(t *testing.T) {
	a := agent(t, reply(200, "application/json", taskResult))
	c := speak(t, a, REST10, Options{UserAgent: "planner/1.0", Edit: func(o *Outgoing) {
		if o.Operation == CancelTask {
			o.Method, o.URL, o.Body = "PUT", strings.Replace(o.URL, "/a/", "/b/", 1), []byte("edited")
			o.Header.Del("A2A-Version")
		}
	}})
	if _, err := c.Cancel(t.Context(), "t", nil); err != nil {
		t.Fatal(err)
	}
	got := <-a.seen
	if got.method != "PUT" || got.path != "/b/tasks/t:cancel" || got.body != "edited" || got.header.Get("A2A-Version") != "" ||
		got.header.Get("User-Agent") != "planner/1.0" {
		t.Errorf("got %+v, want the edited request", got)
	}
}

func TestRefusals(t *testing.T) {
	const info = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}`
	for _, tt := range []struct {
		name     string
		protocol Protocol
		status   int
		body     string
		want     Error
	}{
		{
			"1.0", JSONRPC10, 200, `{"jsonrpc":"2.0","id":"id","error":{"code":-32001,"message":"gone","data":[` + info + `]}}`,
			Error{Code: -32001, Reason: "TASK_NOT_FOUND", HTTPStatus: 200, Message: "gone"},
		},
		{
			"no data", JSONRPC03, 200, `{"jsonrpc":"2.0","id":"id","error":{"code":-32002,"message":"late"}}`,
			Error{Code: -32002, Reason: "TASK_NOT_CANCELABLE", HTTPStatus: 200, Message: "late"},
		},
		{
			"standard code", JSONRPC10, 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
			Error{Code: -32700, HTTPStatus: 200, Message: "what?"},
		},
		{
			"HTTP+JSON", REST10, 404, `{"error":{"code":404,"status":"NOT_FOUND","message":"gone","details":[` + info + `]}}`,
			Error{Code: -32001, Reason: "TASK_NOT_FOUND", HTTPStatus: 404, Message: "gone"},
		},
		{"gateway", REST10, 502, `<html>`, Error{HTTPStatus: 502, Message: "Bad Gateway"}},
		{"gateway before JSON-RPC", JSONRPC10, 401, `{"detail":"no"}`, Error{HTTPStatus: 401, Message: "Unauthorized"}},
		{"error under 200", REST10, 200, `{"error":{"code":404,"message":"gone"}}`, Error{HTTPStatus: 200, Message: "gone"}},
		{"broken error", JSONRPC10, 200, `{"error":{"code":"-32001","message":5}}`, Error{HTTPStatus: 200, Message: "OK"}},
		{"error without an envelope", REST10, 404, `{"code":404,"message":"gone","details":[` + info + `]}`, Error{Code: -32001, Reason: "TASK_NOT_FOUND", HTTPStatus: 404, Message: "gone"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := speak(t, agent(t, reply(tt.status, "application/json", tt.body)), tt.protocol, Options{})
			_, getErr := c.Get(t.Context(), "t", nil)
			for _, err := range []error{getErr, drain(c.Subscribe(t.Context(), "t"))} {
				var got *Error
				if !errors.As(err, &got) {
					t.Fatalf("got %v, want a refusal", err)
				}
				if diff := cmp.Diff(tt.want, *got, cmpopts.IgnoreFields(Error{}, "Raw")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if string(got.Raw) != tt.body || !strings.Contains(got.Error(), tt.want.Message) {
					t.Errorf("got %s (%q), want the message and the body", got, got.Raw)
				}
			}
		})
	}
}

func TestUnreadableAnswers(t *testing.T) {
	for _, body := range []string{``, `{"jsonrpc":"2.0","id":"id"}`, `{"result":`, `{"result":{"kind":"x"}}`, `{"result":{"id":5}}`} {
		c := speak(t, agent(t, reply(200, "application/json", body)), JSONRPC10, Options{})
		_, err := c.Send(t.Context(), Text("x"), SendOptions{})
		var refused *Error
		if err == nil || errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "SendMessage: read the ") {
			t.Errorf("%q: got %v, want an error about reading", body, err)
		}
	}
	c := speak(t, agent(t, reply(200, "application/json", `{"result":`+taskResult+`}`)), JSONRPC10, Options{})
	if err := drain(c.Subscribe(t.Context(), "t")); err == nil || !strings.Contains(err.Error(), "no text/event-stream") {
		t.Errorf("got %v, want no stream", err)
	}
	c, err := New(Interface{URL: "http://127.0.0.1:1/", Protocol: REST10}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "t", nil); err == nil || !strings.HasPrefix(err.Error(), "GetTask: GET http://127.0.0.1:1/tasks/t: ") {
		t.Errorf("got %v, want what was attempted", err)
	}
	if _, err := New(Interface{Protocol: Protocol{"0.3", "GRPC"}}, Options{}); err == nil || !strings.Contains(err.Error(), "A2A 1.0 HTTP+JSON") {
		t.Errorf("got %v, want the known protocols", err)
	}
}

// A stream yields each event when it arrives, ends with the answer, and is closed by leaving the loop.
func TestStreams(t *testing.T) {
	left, released := make(chan struct{}), make(chan struct{})
	step := make(chan struct{})
	a := agent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for i := range 3 {
			fmt.Fprintf(w, "data: {\"task\":\ndata: {\"id\":\"t%d\"}}\n\n", i)
			http.NewResponseController(w).Flush() //nolint:errcheck // the client has left
			<-step
		}
		if strings.HasSuffix(r.URL.Path, ":subscribe") {
			<-r.Context().Done()
			close(released)
		}
	})
	c := speak(t, a, REST10, Options{})
	n := 0
	for e, err := range c.Stream(t.Context(), Text("x"), SendOptions{}) {
		if err != nil || e.Task.ID != fmt.Sprintf("t%d", n) || string(e.Raw) != fmt.Sprintf("{\"task\":\n{\"id\":\"t%d\"}}", n) {
			t.Errorf("event %d: got %s, %v", n, e.Raw, err)
		}
		n++
		step <- struct{}{}
	}
	if n != 3 {
		t.Errorf("got %d events, want 3", n)
	}
	go func() {
		defer close(left)
		for _, err := range c.Subscribe(t.Context(), "t") {
			if err != nil {
				t.Error(err)
			}
			break
		}
	}()
	<-left
	for range 3 {
		step <- struct{}{}
	}
	<-released
}

func TestStreamErrors(t *testing.T) {
	a := agent(t, reply(200, "text/event-stream", "data: {\"task\":{\"id\":\"t\"}}\n\ndata: {\"error\":{\"code\":500,\"message\":\"late\"}}\n\ndata: {\"task\":{\"id\":\"t\"}}\n\n"))
	var got []string
	for e, err := range speak(t, a, REST10, Options{}).Subscribe(t.Context(), "t") {
		got = append(got, fmt.Sprint(e.Task != nil, " ", err))
	}
	if diff := cmp.Diff([]string{"true <nil>", "false agent refused: late ()"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	a = agent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush() //nolint:errcheck // the client has left
		cancel()
		<-r.Context().Done()
	})
	if err := drain(speak(t, a, REST10, Options{}).Subscribe(ctx, "t")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestTimeout(t *testing.T) {
	a := agent(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c := speak(t, a, REST10, Options{Timeout: 10 * time.Millisecond})
	if _, err := c.Get(t.Context(), "t", nil); err == nil {
		t.Error("got an answer, want a timeout")
	}
	if err := drain(c.Subscribe(t.Context(), "t")); err == nil {
		t.Error("got a stream, want a timeout")
	}
}

func TestNoProxyOnLoopback(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.invalid:1")
	for _, host := range []string{"localhost:80", "127.0.0.1:80", "[::1]:80", "127.9.9.9"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+host+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if u, err := proxyBeyondLoopback(r); u != nil || err != nil {
			t.Errorf("%s: got %v, %v, want no proxy", host, u, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	a := agent(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/a") {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		reply(200, "application/json", taskResult)(w, r)
	})
	c := speak(t, a, REST10, Options{})
	if _, err := c.Get(t.Context(), "t", nil); err != nil {
		t.Errorf("get: %v, want the redirect followed", err)
	}
	_, err := c.Send(t.Context(), Text("x"), SendOptions{})
	if refused := new(Error); !errors.As(err, &refused) || refused.HTTPStatus != 307 {
		t.Errorf("send: got %v, want the redirect as an answer", err)
	}
}
