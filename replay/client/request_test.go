package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"a2atap/proxy/expect"
)

// requestTests list the wire form of each operation: JSON-RPC bodies, and HTTP+JSON as "METHOD path body".
var requestTests = []struct {
	name            string
	do              func(ctx context.Context, c *Client) error
	rpc, rest, rpc3 string
}{
	{
		name: "send",
		do: func(ctx context.Context, c *Client) error {
			m := Message{
				ContextID: "c", TaskID: "t", References: []string{"r"}, Extensions: []string{"urn:x"},
				Metadata: json.RawMessage(`{"a":1}`),
				Parts: []Part{
					{Text: "hi"},
					{Bytes: []byte{0, 1}, MediaType: "a/b", Filename: "f"},
					{URL: "https://u", MediaType: "a/b"},
					{Data: json.RawMessage(`[1]`)},
					{},
				},
			}
			_, err := c.Send(ctx, m, SendOptions{
				ReturnImmediately: true, HistoryLength: new(3), AcceptedOutputModes: []string{"text/plain"},
				Push: &PushConfig{TaskID: "dropped", URL: "https://hook", Token: "tok", Scheme: "Bearer", Credentials: "cred"},
			})
			return err
		},
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"SendMessage","params":` + send10 + `}`,
		rest: "POST /a/message:send " + send10,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"message/send","params":{"message":{"kind":"message","messageId":"id","contextId":"c","taskId":"t","role":"user","parts":[` +
			`{"kind":"text","text":"hi"},{"kind":"file","file":{"bytes":"AAE=","name":"f","mimeType":"a/b"}},{"kind":"file","file":{"uri":"https://u","mimeType":"a/b"}},` +
			`{"kind":"data","data":[1]},{"kind":"text","text":""}],"referenceTaskIds":["r"],"extensions":["urn:x"],"metadata":{"a":1}},` +
			`"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":3,` +
			`"pushNotificationConfig":{"url":"https://hook","token":"tok","authentication":{"schemes":["Bearer"],"credentials":"cred"}},"blocking":false}}}`,
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
			_, err := c.Get(ctx, "a/b:cancel", new(0))
			return err
		},
		rpc:  `{"jsonrpc":"2.0","id":"id","method":"GetTask","params":{"id":"a/b:cancel","historyLength":0}}`,
		rest: `GET /a/tasks/a%2Fb%3Acancel?historyLength=0 `,
		rpc3: `{"jsonrpc":"2.0","id":"id","method":"tasks/get","params":{"id":"a/b:cancel","historyLength":0}}`,
	},
	{
		name: "list",
		do: func(ctx context.Context, c *Client) error {
			_, err := c.List(ctx, ListOptions{
				ContextID: "c d", State: InputRequired, PageSize: 5, PageToken: "p+", HistoryLength: new(2), IncludeArtifacts: true,
				StatusTimestampAfter: time.Date(2026, 3, 1, 11, 0, 0, 5e6, time.FixedZone("", 3600)),
			})
			return err
		},
		rpc: `{"jsonrpc":"2.0","id":"id","method":"ListTasks","params":{"contextId":"c d","status":"TASK_STATE_INPUT_REQUIRED","pageSize":5,"pageToken":"p+",` +
			`"historyLength":2,"statusTimestampAfter":"2026-03-01T10:00:00.005Z","includeArtifacts":true}}`,
		rest: `GET /a/tasks?contextId=c%20d&status=TASK_STATE_INPUT_REQUIRED&pageSize=5&pageToken=p%2B&historyLength=2&statusTimestampAfter=2026-03-01T10%3A00%3A00.005Z&includeArtifacts=true `,
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
			_, err := c.CreatePush(ctx,
				PushConfig{TaskID: "t", ID: "p", URL: "https://hook", Scheme: "Bearer", Credentials: "cred"})
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
					expect.ErrorHas(t, "0.3", "has no ListTasks", err)
					continue
				}
				var refused *Error
				if !errors.As(err, &refused) || refused.HTTPStatus != 500 {
					t.Errorf("%s: got %v, want HTTP 500", p, err)
				}
				got := <-a.seen
				expect.Same(t, p, want, got.method+" "+got.path+" "+got.body)
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
		expect.Equal(t, fmt.Sprintf("%s: %s", p, name), value, got.header.Get(name))
	}
}
