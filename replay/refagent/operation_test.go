package refagent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

const zeroID = "00000000-0000-0000-0000-000000000000"

// begin sends a text and returns the task at once.
func begin(t *testing.T, c *client.Client, text string) *client.Task {
	t.Helper()
	r := must.Get(c.Send(t.Context(), client.Text(text), client.SendOptions{ReturnImmediately: true}))(t)
	if r.Task == nil {
		t.Fatalf("got %s, want a task", r.Raw)
	}
	return r.Task
}

func send(t *testing.T, c *client.Client, m client.Message) *client.Task {
	t.Helper()
	r := must.Get(c.Send(t.Context(), m, client.SendOptions{}))(t)
	if r.Task == nil {
		t.Fatalf("got %s, want a task", r.Raw)
	}
	return r.Task
}

func get(t *testing.T, c *client.Client, id string) *client.Task {
	t.Helper()
	return must.Get(c.Get(t.Context(), id, nil))(t)
}

// followUp is a message to an existing task.
func followUp(text string, task *client.Task) client.Message {
	m := client.Text(text)
	m.TaskID, m.ContextID = task.ID, task.ContextID
	return m
}

func TestMultiTurn(t *testing.T) {
	eachLink(t, refagent.Options{}, func(t *testing.T, _ link, c *client.Client) {
		first := send(t, c, client.Text("multi-turn start"))
		m := followUp("an abandoned thought", first)
		m.ContextID = "" // the agent infers it
		second := send(t, c, m)
		if second.ID != first.ID || second.ContextID != first.ContextID || second.Status.State != client.InputRequired {
			t.Errorf("second turn: got %s, want the same task waiting for more", second.Raw)
		}
		line, last := collect(t, c.Stream(t.Context(), followUp("that is all. Done!", first), client.SendOptions{}))
		expect.Equal(t, "third turn", "task:input-required working artifact:final! completed", line)
		expect.Equal(t, "third turn is about task", first.ID, last.Status.TaskID)
		var said []string
		for _, h := range get(t, c, first.ID).History {
			said = append(said, string(h.Role)+": "+h.Text())
		}
		want := []string{
			"user: multi-turn start",
			"agent: [multi-turn] Please send a follow-up message to continue. Say 'done' to complete.",
			"user: an abandoned thought",
			"agent: [multi-turn] Got it. Send another message, or say 'done' to complete.",
			"user: that is all. Done!",
		}
		expect.Same(t, "history", want, said)
	})
}

func TestAuthRequiredKeepsItsMessageInStreams(t *testing.T) {
	eachLink(t, refagent.Options{}, func(t *testing.T, _ link, c *client.Client) {
		task := send(t, c, client.Text("tck-auth-required"))
		for e, err := range c.Stream(t.Context(), followUp("here", task), client.SendOptions{}) {
			must.Do(t, err)
			if e.State() == client.AuthRequired && e.Task.Status.Message == nil {
				t.Errorf("%s waits for authorization without words for what", e.Raw)
			}
		}
	})
}

func TestHistoryLength(t *testing.T) {
	eachLink(t, refagent.Options{}, func(t *testing.T, l link, c *client.Client) {
		first := send(t, c, client.Text("multi-turn start"))
		send(t, c, followUp("done", first))
		for _, tt := range []struct{ limit, want int }{{0, 0}, {1, 1}, {2, 2}, {10, 3}} {
			task := must.Get(c.Get(t.Context(), first.ID, &tt.limit))(t)
			if l.protocol == client.GRPC03 && tt.limit == 0 {
				continue // there it means no limit
			}
			if len(task.History) != tt.want {
				t.Errorf("limit %d: got %d messages, want %d", tt.limit, len(task.History), tt.want)
			}
		}
		if l.proto() {
			return // proto JSON cannot tell 0 from no limit, and a reading has it in the query
		}
		zero := 0
		r, err := c.Send(t.Context(), client.Text("task-lifecycle"), client.SendOptions{HistoryLength: &zero})
		if err != nil || r.Task.History != nil {
			t.Errorf("send with limit 0: got %v, %v, want no history", r, err)
		}
		for e, err := range c.Stream(t.Context(), client.Text("task-lifecycle"), client.SendOptions{HistoryLength: &zero}) {
			if err != nil || e.Task != nil && e.Task.History != nil {
				t.Errorf("stream with limit 0: got %s, %v, want no history", e.Raw, err)
			}
		}
		_, err = c.Get(t.Context(), first.ID, new(-1))
		checkInvalid(t, err)
	})
}

// checkInvalid expects a refusal of the parameters, for which only JSON-RPC has a code.
func checkInvalid(t *testing.T, err error) {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) || e.Code != -32602 && e.HTTPStatus != 400 && e.Status != "INVALID_ARGUMENT" {
		t.Errorf("got %v, want invalid parameters", err)
	}
}

func TestReturnImmediately(t *testing.T) {
	eachLink(t, refagent.Options{}, func(t *testing.T, _ link, c *client.Client) {
		task := begin(t, c, "long-running start")
		if s := task.Status.State; s != client.Submitted && s != client.Working {
			t.Errorf("state %q, want one that is active", s)
		}
		waitUntil(t, c, task.ID, client.Completed)
		if got := len(get(t, c, task.ID).Artifacts); got != 5 {
			t.Errorf("got %d artifacts, want 5", got)
		}
	})
}

// waitUntil reads a task until it is in a state; the test's deadline bounds it. It does not subscribe: in dialects
// where a subscriber receives only future events, a late subscriber would wait forever.
func waitUntil(t *testing.T, c *client.Client, id string, want client.State) {
	t.Helper()
	for {
		task := get(t, c, id)
		if task.Status.State == want {
			return
		}
		if task.Status.State.Terminal() {
			t.Fatalf("task ended as %s, want %s", task.Status.State, want)
		}
	}
}

func TestCancel(t *testing.T) {
	eachLink(t, refagent.Options{}, func(t *testing.T, l link, c *client.Client) {
		said := `{"reason":"test","requestedBy":"me"}`
		if l.protocol == client.REST03 || l.protocol == client.GRPC03 {
			said = "" // the request has only the name of the task
		}
		task := begin(t, c, "task-cancel start")
		canceled, err := c.Cancel(t.Context(), task.ID, json.RawMessage(`{"reason":"test","requestedBy":"me"}`))
		must.Do(t, err)
		for _, task := range []*client.Task{canceled, get(t, c, task.ID)} {
			if task.Status.State != client.Canceled ||
				task.Status.Message.Text() != "[task-cancel] Task canceled by client request." {
				t.Errorf("got %s, want a canceled task", task.Raw)
			}
			expect.Same(t, "metadata", said, string(task.Metadata))
		}
		_, err = c.Cancel(t.Context(), task.ID, nil)
		checkRefusal(t, err, -32002)
	})
}

func TestRefusals(t *testing.T) {
	eachLink(t, refagent.Options{}, func(t *testing.T, l link, c *client.Client) {
		ctx := t.Context()
		done := send(t, c, client.Text("task-lifecycle"))
		busy := begin(t, c, "task-cancel")
		tests := []struct {
			name   string
			code   int
			status int // on HTTP+JSON
			do     func() error
		}{
			{"get unknown", -32001, 404, func() error { _, err := c.Get(ctx, zeroID, nil); return err }},
			{"cancel unknown", -32001, 404, func() error { _, err := c.Cancel(ctx, zeroID, nil); return err }},
			{"cancel ended", -32002, 400, func() error { _, err := c.Cancel(ctx, done.ID, nil); return err }},
			{"send to unknown", -32001, 404, sendTo(ctx, c, &client.Task{ID: zeroID})},
			{"send to ended", -32004, 400, sendTo(ctx, c, done)},
			{"send to busy", -32004, 400, sendTo(ctx, c, busy)},
			{
				"stream to ended", -32004, 400,
				func() error { return lastError(c.Stream(ctx, followUp("x", done), client.SendOptions{})) },
			},
			{"subscribe unknown", -32001, 404, func() error { return lastError(c.Subscribe(ctx, zeroID)) }},
			{"subscribe ended", -32004, 400, func() error { return lastError(c.Subscribe(ctx, done.ID)) }},
			{"create push", -32003, 400, func() error {
				_, err := c.CreatePush(ctx,
					client.PushConfig{TaskID: zeroID, ID: "test-config", URL: "https://example.com/webhook"})
				return err
			}},
			{"get push", -32003, 400, func() error { _, err := c.GetPush(ctx, zeroID, "x"); return err }},
			{"list push", -32003, 400, func() error { _, err := c.ListPush(ctx, zeroID); return err }},
			{"delete push", -32003, 400, func() error { return c.DeletePush(ctx, zeroID, "x") }},
			{"inline push", -32003, 400, func() error {
				_, err := c.Send(ctx, client.Text("task-lifecycle"),
					client.SendOptions{Push: &client.PushConfig{URL: "https://example.com/"}})
				return err
			}},
			{"media type", -32005, 400, func() error {
				m := client.Message{Parts: []client.Part{{Bytes: []byte("x"), MediaType: "application/x-absurd"}}}
				_, err := c.Send(ctx, m, client.SendOptions{})
				return err
			}},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				err := tt.do()
				checkRefusal(t, err, tt.code)
				want := 200
				if l.protocol.Binding == client.REST10.Binding {
					want = tt.status
				}
				if e := new(client.Error); errors.As(err, &e) && e.HTTPStatus != want {
					t.Errorf("HTTP status %d, want %d", e.HTTPStatus, want)
				}
			})
		}
		_, err := c.Send(ctx, client.Message{Parts: []client.Part{{Text: "x"}}, TaskID: busy.ID, ContextID: "other"},
			client.SendOptions{})
		checkInvalid(t, err)
	})
}

// S3-20: an agent without push notifications reports that before it reads the parameters of those operations.
func TestPushNotSupportedComesFirst(t *testing.T) {
	spoil := map[string][]func(*client.Outgoing){
		client.JSONRPC10.Binding: {withParams(`[]`), withParams(`{}`), withParams(`{"id":7,"taskId":[],"task_id":{}}`), withParams(`"x"`)},
		client.REST10.Binding: {
			func(o *client.Outgoing) { o.Body = []byte(`{`) },
			func(o *client.Outgoing) { o.Body, o.URL = []byte(`[7]`), o.URL+"?pageSize=x" },
			func(o *client.Outgoing) { o.Body = []byte(`{"url":7}`) },
		},
		client.GRPC10.Binding: {
			func(o *client.Outgoing) { o.Body = nil },
			func(o *client.Outgoing) { o.Body = []byte{0, 0, 0, 0, 1, 0xff} },
		},
	}
	for _, l := range specLinks {
		for i, edit := range spoil[l.protocol.Binding] {
			t.Run(fmt.Sprint(l, " ", i), func(t *testing.T) {
				ctx := t.Context()
				c := agenttest.Connect(t, serve(t, l.agent, l.with(refagent.Options{}))+"/"+l.agent, l.protocol, client.Options{
					ProtoJSON: l.agent == "spec03-proto", Edit: func(o *client.Outgoing) {
						if o.Operation != a2a.GetCard {
							edit(o)
						}
					},
				})
				_, create := c.CreatePush(ctx, client.PushConfig{TaskID: zeroID, ID: "c", URL: "https://example.com/webhook"})
				_, get := c.GetPush(ctx, zeroID, "c")
				_, list := c.ListPush(ctx, zeroID)
				for _, err := range []error{create, get, list, c.DeletePush(ctx, zeroID, "c")} {
					checkRefusal(t, err, -32003)
				}
			})
		}
	}
}

// withParams returns an edit that replaces the parameters of a call over JSON-RPC.
func withParams(params string) func(*client.Outgoing) {
	return func(o *client.Outgoing) {
		before, _, _ := bytes.Cut(o.Body, []byte(`,"params":`))
		o.Body = slices.Concat(before, []byte(`,"params":`+params+`}`))
	}
}

func sendTo(ctx context.Context, c *client.Client, task *client.Task) func() error {
	return func() error {
		_, err := c.Send(ctx, followUp("x", task), client.SendOptions{})
		return err
	}
}

// lastError returns the error that ends a stream, or an error that says that the stream has events.
func lastError(stream func(func(client.Event, error) bool)) (err error) {
	err = errors.New("the stream is empty")
	for e, streamErr := range stream {
		if err = streamErr; err == nil {
			err = fmt.Errorf("the stream has an event: %s", e.Raw)
		}
	}
	return err
}

func TestExtendedCard(t *testing.T) {
	url := serve(t, "spec", refagent.Options{}) + "/spec"
	for _, p := range []client.Protocol{client.JSONRPC10, client.REST10} {
		t.Run(p.String(), func(t *testing.T) {
			card, err := agenttest.Connect(t, url, p, client.Options{Token: "agentbin-test-token"}).ExtendedCard(t.Context())
			must.Do(t, err)
			if card.Name != "AgentBin Spec Agent (Extended)" || len(card.Skills) != 9 || card.Skills[8].ID != "admin-status" {
				t.Errorf("got %s, want nine skills, the last of them admin-status", card.Raw)
			}
			_, err = agenttest.Connect(t, url, p, client.Options{Token: "wrong"}).ExtendedCard(t.Context())
			if e := new(client.Error); !errors.As(err, &e) || e.HTTPStatus != 401 {
				t.Errorf("wrong token: got %v, want HTTP 401", err)
			}
		})
	}
	_, err := agenttest.Connect(t, serve(t, "echo", refagent.Options{})+"/echo", client.REST10, client.Options{}).ExtendedCard(
		t.Context(),
	)
	checkRefusal(t, err, -32004)
	_, err = agenttest.Connect(t, serve(t, "spec03", refagent.Options{})+"/spec03", client.JSONRPC03, client.Options{}).ExtendedCard(
		t.Context(),
	)
	checkRefusal(t, err, -32007)
}

func TestAcceptedOutputModes(t *testing.T) {
	eachLink(t, refagent.Options{}, func(t *testing.T, _ link, c *client.Client) {
		for _, tt := range []struct {
			modes []string
			want  int
		}{{nil, 4}, {[]string{"text/plain"}, 3}, {[]string{"image/*"}, 4}, {[]string{"text/plain", "image/svg+xml"}, 4}} {
			r, err := c.Send(t.Context(), client.Text("data-types"), client.SendOptions{AcceptedOutputModes: tt.modes})
			must.Do(t, err)
			if got := len(r.Task.Artifacts); got != tt.want {
				t.Errorf("%v: got %d artifacts, want %d", tt.modes, got, tt.want)
			}
		}
	})
}

func TestListTasks(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for _, p := range []client.Protocol{client.JSONRPC10, client.REST10} {
		t.Run(p.String(), func(t *testing.T) {
			opts := refagent.Options{Now: func() time.Time { return now }}
			c := agenttest.Connect(t, serve(t, "spec", opts)+"/spec", p, client.Options{})
			empty, err := c.List(t.Context(), client.ListOptions{})
			if err != nil || len(empty.Tasks) != 0 || empty.PageSize != 50 {
				t.Fatalf("empty list: got %+v, %v", empty, err)
			}
			var made []string
			for range 4 {
				made = append([]string{send(t, c, client.Text("task-lifecycle")).ID}, made...)
				now = now.Add(time.Second)
			}
			failed := send(t, c, client.Text("task-failure"))
			made = append([]string{failed.ID}, made...)

			expect.Same(t, "pages of two, newest first", made, walk(t, c, client.ListOptions{PageSize: 2}))
			for name, o := range map[string]client.ListOptions{
				"state":   {State: client.Failed},
				"context": {ContextID: failed.ContextID},
				"time":    {StatusTimestampAfter: now},
			} {
				expect.Same(t, "by "+name, []string{failed.ID}, walk(t, c, o))
			}
			page, err := c.List(t.Context(),
				client.ListOptions{State: client.Completed, IncludeArtifacts: true, HistoryLength: new(1)})
			if err != nil || len(page.Tasks) != 4 || page.TotalSize != 4 {
				t.Fatalf("got %+v, %v, want four tasks", page, err)
			}
			if task := page.Tasks[0]; len(task.Artifacts) != 1 || len(task.History) != 1 {
				t.Errorf("got %s, want an artifact and a message", task.Raw)
			}
			for _, o := range []client.ListOptions{{PageSize: 101}, {PageSize: -1}, {PageToken: "???"}, {State: "asleep"}} {
				_, err := c.List(t.Context(), o)
				checkInvalid(t, err)
			}
		})
	}
}

// walk reads all pages and returns the ids, checking that artifacts are left out and the total is right.
func walk(t *testing.T, c *client.Client, o client.ListOptions) []string {
	t.Helper()
	var ids []string
	total := 0
	for {
		page := must.Get(c.List(t.Context(), o))(t)
		for _, task := range page.Tasks {
			ids = append(ids, task.ID)
			if task.Artifacts != nil || task.History != nil {
				t.Errorf("got %s, want neither artifacts nor history", task.Raw)
			}
		}
		total = page.TotalSize
		if o.PageToken = page.NextPageToken; o.PageToken == "" {
			break
		}
	}
	expect.Equal(t, "total size", len(ids), total)
	return ids
}
