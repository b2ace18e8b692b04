package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Objects as agents from before 0.1 write them.
const (
	earlyTask = `{"id":"t1","sessionId":"s1","status":{"state":"completed","message":{"role":"agent","parts":[{"type":"text","text":"Booked"}]},` +
		`"timestamp":"2026-03-01T10:00:02Z"},"history":[{"state":"submitted","timestamp":"2026-03-01T10:00:00Z"},{"state":"completed",` +
		`"message":{"role":"agent","parts":[{"type":"text","text":"Booked"}]},"timestamp":"2026-03-01T10:00:02Z"}],` +
		`"artifacts":[{"name":"ticket","index":0,"parts":[{"type":"file","file":{"name":"t.pdf","uri":"https://f.example/t"}}]}]}`
	earlyStatus       = `{"id":"t1","status":{"state":"completed"},"final":true}`
	earlyArtifact     = `{"id":"t1","artifact":{"name":"ticket","index":1,"append":true,"parts":[{"type":"text","text":"4A"}]}}`
	earlyNotification = `{"taskId":"t1","eventType":"artifact","status":{"state":"working"},"timestamp":"2026-03-01T10:00:00Z"}`
	earlyCard         = `{"name":"Booker","description":"d","url":"/","version":"1","capabilities":{"streaming":true,"pushNotifications":true,` +
		`"stateTransitionHistory":true},"authentication":{"schemes":["bearer"]},"skills":[{"id":"s","name":"S","description":"d",` +
		`"inputModes":["text"],"outputModes":["text"],"examples":["book"]}]}`
)

// Clients make the ids of tasks and, before 0.1, of sessions. Calls have the same contents in both except for streams
// and push notifications.
func TestRequestsUpTo01(t *testing.T) {
	two := 2
	for _, tt := range []struct {
		name         string
		do           func(ctx context.Context, c *Client) error
		early, older string // path and body; older is for 0.1
	}{
		{
			"send",
			func(ctx context.Context, c *Client) error {
				_, err := c.Send(ctx, Message{Parts: []Part{
					{Text: "hi"},
					{Bytes: []byte{0, 1}, MediaType: "a/b", Filename: "f"},
				}}, SendOptions{HistoryLength: &two})
				return err
			},
			`/a tasks/send {"sessionId":"id","id":"id","message":{"role":"user","parts":[` + partsUpTo01 + `]},"historyLength":2}`,
			`/a tasks/send {"id":"id","message":{"role":"user","parts":[` + partsUpTo01 + `]},"historyLength":2}`,
		},
		{
			"send with a webhook, in a task and session",
			func(ctx context.Context, c *Client) error {
				m := Message{TaskID: "t", ContextID: "s", Parts: []Part{{Text: "hi"}}}
				_, err := c.Send(ctx, m, SendOptions{Push: &PushConfig{
					ID: "p", URL: "https://h", Token: "k", Scheme: "Bearer", Events: []string{"status"},
				}})
				return err
			},
			`/a tasks/send {"sessionId":"s","id":"t","message":{"role":"user","parts":[{"type":"text","text":"hi"}]},` +
				`"pushNotification":{"url":"https://h","token":"k","events":["status"]}}`,
			`/a tasks/send {"sessionId":"s","id":"t","message":{"role":"user","parts":[{"type":"text","text":"hi"}]},` +
				`"pushNotification":{"url":"https://h","token":"k","authentication":{"schemes":["Bearer"]}}}`,
		},
		{
			"send in a task alone",
			func(ctx context.Context, c *Client) error {
				_, err := c.Send(ctx, Message{TaskID: "t", Parts: []Part{{Text: "hi"}}}, SendOptions{})
				return err
			},
			`/a tasks/send {"id":"t","message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}`, "same",
		},
		{
			"stream",
			func(ctx context.Context, c *Client) error { return drain(c.Stream(ctx, Text("hi"), SendOptions{})) },
			`/a/subscribe tasks/sendSubscribe {"sessionId":"id","id":"id","message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}`,
			`/a tasks/sendSubscribe {"id":"id","message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}`,
		},
		{
			"get", func(ctx context.Context, c *Client) error { _, err := c.Get(ctx, "t", &two); return err },
			`/a tasks/get {"id":"t","historyLength":2}`, "same",
		},
		{
			"cancel", func(ctx context.Context, c *Client) error { _, err := c.Cancel(ctx, "t", nil); return err },
			`/a tasks/cancel {"id":"t"}`, "same",
		},
		{
			"set a webhook",
			func(ctx context.Context, c *Client) error {
				_, err := c.CreatePush(ctx, PushConfig{
					TaskID: "t", ID: "p", URL: "https://h", Scheme: "Bearer", Events: []string{"artifact"},
				})
				return err
			},
			`/a tasks/pushNotification/set {"id":"t","pushNotificationConfig":{"url":"https://h","events":["artifact"]}}`,
			`/a tasks/pushNotification/set {"id":"t","pushNotificationConfig":{"url":"https://h","authentication":{"schemes":["Bearer"]}}}`,
		},
		{
			"get a webhook", func(ctx context.Context, c *Client) error { _, err := c.GetPush(ctx, "t", "p"); return err },
			`/a tasks/pushNotification/get {"id":"t"}`, "same",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := agent(t, reply(500, "text/plain", "enough"))
			for p, want := range map[Protocol]string{Early: tt.early, JSONRPC01: tt.older} {
				if want == "same" {
					want = tt.early
				}
				path, call, _ := strings.Cut(want, " ")
				method, params, _ := strings.Cut(call, " ")
				var refused *Error
				if err := tt.do(t.Context(), speak(t, a, p, Options{})); !errors.As(err, &refused) || refused.HTTPStatus != 500 {
					t.Errorf("%s: got %v, want HTTP 500", p, err)
				}
				got := <-a.seen
				want = path + ` {"jsonrpc":"2.0","id":"id","method":"` + method + `","params":` + params + `}`
				if diff := cmp.Diff(want, got.path+" "+got.body); diff != "" || got.header.Get("A2A-Version") != "" {
					t.Errorf("%s (-want +got):\n%s", p, diff)
				}
			}
		})
	}
	c := speak(t, agent(t, reply(500, "", "")), Early, Options{})
	expect.ErrorHas(t, "", "A2A legacy JSONRPC has no SubscribeToTask", drain(c.Subscribe(t.Context(), "t")))
}

const partsUpTo01 = `{"type":"text","text":"hi"},{"type":"file","file":{"bytes":"AAE=","name":"f","mimeType":"a/b"}}`

// A history of statuses contains no messages, and the caller of a stream knows the session of the task.
func TestAnswersBefore01(t *testing.T) {
	said := &Message{Role: Agent, Parts: []Part{{Text: "Booked"}}}
	a := agent(t, reply(200, "application/json", `{"jsonrpc":"2.0","id":"id","result":`+earlyTask+`}`))
	c := speak(t, a, Early, Options{})
	got := must.Get(c.Send(t.Context(), Text("x"), SendOptions{}))(t)
	want := &Task{
		ID: "t1", ContextID: "s1", Status: Status{State: Completed, Message: said, Timestamp: "2026-03-01T10:00:02Z"},
		Statuses: []Status{
			{State: Submitted, Timestamp: "2026-03-01T10:00:00Z"},
			{State: Completed, Message: said, Timestamp: "2026-03-01T10:00:02Z"},
		},
		Artifacts: []Artifact{{Name: "ticket", Parts: []Part{{Filename: "t.pdf", URL: "https://f.example/t"}}}},
	}
	expect.Same(t, "task", want, got.Task, ignoreRaw)

	c = speak(t, agent(t, reply(200, "text/event-stream",
		"event: status\ndata: {\"id\":1,\"result\":{\"id\":\"t1\",\"status\":{\"state\":\"working\"}}}\n\n"+
			"event: artifact\ndata: {\"id\":1,\"result\":"+earlyArtifact+"}\n\n"+
			"event: status\ndata: {\"id\":1,\"result\":"+earlyStatus+"}\n\n")), Early, Options{})
	var events []Event
	m := Text("x")
	m.TaskID, m.ContextID = "t1", "s1"
	for e, err := range c.Stream(t.Context(), m, SendOptions{}) {
		must.Do(t, err)
		events = append(events, e)
	}
	expect.Same(t, "events", []Event{
		{Name: "status", Status: &StatusUpdate{TaskID: "t1", ContextID: "s1", Status: Status{State: Working}}},
		{Name: "artifact", Artifact: &ArtifactUpdate{
			TaskID: "t1", ContextID: "s1", Append: true, Artifact: Artifact{Name: "ticket", Parts: []Part{{Text: "4A"}}},
		}},
		{Name: "status", Status: &StatusUpdate{TaskID: "t1", ContextID: "s1", Status: Status{State: Completed}, Final: true}},
	}, events, ignoreRaw)

	c = speak(t, agent(t, reply(200, "application/json",
		`{"result":{"id":"t1","pushNotificationConfig":{"url":"https://h","events":["status"]}}}`)), Early, Options{})
	config := must.Get(c.GetPush(t.Context(), "t1", ""))(t)
	if diff := cmp.Diff(&PushConfig{TaskID: "t1", URL: "https://h", Events: []string{"status"}}, config,
		cmpopts.IgnoreFields(PushConfig{}, "Raw")); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

// The codes have other meanings in later versions.
func TestRefusalsBefore01(t *testing.T) {
	send := func(ctx context.Context, c *Client) error {
		_, err := c.Send(ctx, Text("x"), SendOptions{})
		return err
	}
	push := func(url string) func(context.Context, *Client) error {
		return func(ctx context.Context, c *Client) error {
			_, err := c.Send(ctx, Text("x"), SendOptions{Push: &PushConfig{URL: url}})
			return err
		}
	}
	stream := func(ctx context.Context, c *Client) error { return drain(c.Stream(ctx, Text("x"), SendOptions{})) }
	get := func(ctx context.Context, c *Client) error { _, err := c.Get(ctx, "t", nil); return err }
	cancel := func(ctx context.Context, c *Client) error { _, err := c.Cancel(ctx, "t", nil); return err }
	set := func(url string) func(context.Context, *Client) error {
		return func(ctx context.Context, c *Client) error {
			_, err := c.CreatePush(ctx, PushConfig{TaskID: "t", URL: url})
			return err
		}
	}
	for _, tt := range []struct {
		name   string
		do     func(context.Context, *Client) error
		status int
		code   string
		want   string
	}{
		{"without credentials", get, 401, "-32000", EarlyUnauthorized},
		{"unknown task", get, 200, "-32001", "TASK_NOT_FOUND"},
		{"cancel", cancel, 200, "-32002", "TASK_NOT_CANCELABLE"},
		{"send to a task that has ended", send, 200, "-32002", EarlyInvalidState},
		{"stream of a task that has ended", stream, 200, "-32002", EarlyInvalidState},
		{"no room", send, 200, "-32003", EarlyFull},
		{"no room for a stream", stream, 200, "-32003", EarlyFull},
		{"no push notifications", set("https://h"), 200, "-32003", "PUSH_NOTIFICATION_NOT_SUPPORTED"},
		{"a webhook without TLS", set("http://h"), 200, "-32004", EarlyInsecureWebhook},
		{"a message with one", push("http://h"), 200, "-32004", EarlyInsecureWebhook},
		{"a message with TLS", push("https://h"), 200, "-32004", "UNSUPPORTED_OPERATION"},
		{"no such method", get, 200, "-32601", ""},
		{"a code of later versions", get, 200, "-32009", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := agent(t, reply(tt.status, "application/json",
				`{"jsonrpc":"2.0","id":1,"error":{"code":`+tt.code+`,"message":"no"}}`))
			var got *Error
			if err := tt.do(t.Context(), speak(t, a, Early, Options{})); !errors.As(err, &got) || got.Reason != tt.want {
				t.Errorf("got %v, want the reason %q", err, tt.want)
			}
		})
	}
}

// The client distinguishes a card from before 0.1 from one of 0.1. If a card has no version, other protocols are
// possible.
func TestCardsBefore01(t *testing.T) {
	for _, tt := range []struct {
		name, card string
		want       Protocol
	}{
		{"early", earlyCard, Early},
		{"K4: early, without input modes", strings.Replace(earlyCard, `"inputModes":["text"],`, "", 1), Early},
		{"0.1", strings.Replace(earlyCard, `"inputModes":["text"],"outputModes":["text"],`, "", 1), JSONRPC01},
		{"0.2", strings.Replace(earlyCard, `"authentication"`, `"security":[],"defaultInputModes":[],"was"`, 1), JSONRPC03},
	} {
		a := agent(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/.well-known/agent.json" {
				http.NotFound(w, r)
				return
			}
			reply(200, "application/json", tt.card)(w, r)
		})
		for _, p := range []Protocol{Early, JSONRPC01, JSONRPC03} {
			c, err := Connect(t.Context(), a.url, Options{Prefer: []Protocol{p}})
			if want := (Interface{URL: a.url, Protocol: p}); err != nil || c.Endpoint() != want {
				t.Errorf("%s: got %v, %v; want %v, which was asked for", tt.name, c, err, want)
			}
		}
		c := must.Get(Connect(t.Context(), a.url, Options{}))(t)
		if got := c.Endpoint().Protocol; got != tt.want || !c.Card().Streaming || !c.Card().Push {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestNotificationsBefore01(t *testing.T) {
	for body, want := range map[string]Event{
		earlyNotification: {Name: "artifact", Status: &StatusUpdate{
			TaskID: "t1", Status: Status{State: Working, Timestamp: "2026-03-01T10:00:00Z"},
		}},
		`{"taskId":"t1","eventType":"status","status":"completed","timestamp":"2026-03-01T10:00:00Z"}`: {
			Name:   "status",
			Status: &StatusUpdate{TaskID: "t1", Status: Status{State: Completed, Timestamp: "2026-03-01T10:00:00Z"}},
		},
	} {
		got, err := ReadNotification([]byte(body))
		if diff := cmp.Diff(want, got, ignoreRaw); diff != "" || err != nil || got.TaskID() != "t1" ||
			string(got.Raw) != body {
			t.Errorf("%s: %v (-want +got):\n%s", body, err, diff)
		}
	}
	for _, body := range []string{
		`{"taskId":"t1","eventType":"status"}`, `{"taskId":"t1","eventType":"status","status":[]}`,
	} {
		if got, err := ReadNotification([]byte(body)); err == nil {
			t.Errorf("%s: got %+v, want an error", body, got)
		}
	}
}
