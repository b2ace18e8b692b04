package refagent_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// Three clients follow a task that waits for its client, and see the same events as the client that continues it.
func TestSubscribersSeeTheSameEvents(t *testing.T) {
	eachLink(t, refagent.Options{}, func(t *testing.T, _ link, c *client.Client) {
		task := send(t, c, client.Text("multi-turn"))
		follow := func(stream func(func(client.Event, error) bool), joined func()) (line []string) {
			for e, err := range stream {
				if err != nil {
					t.Error(err)
					break
				}
				if line = append(line, describe(e)+eventContent(e)); len(line) == 1 {
					joined()
				}
			}
			return line
		}
		var wg, joined sync.WaitGroup
		lines := make([][]string, 3)
		joined.Add(len(lines))
		for i := range lines {
			wg.Go(func() { lines[i] = follow(c.Subscribe(t.Context(), task.ID), joined.Done) })
		}
		joined.Wait()
		sender := follow(c.Stream(t.Context(), followUp("done", task), client.SendOptions{}), func() {})
		wg.Wait()
		if len(sender) < 3 {
			t.Errorf("the sender saw %q, want more", sender)
		}
		for _, line := range lines {
			if len(line) == 0 || line[0] != "task:input-required" {
				t.Fatalf("a subscription brought %q, want the task first, as it waits", line)
			}
			expect.Same(t, "a subscriber saw other events", sender[max(0, len(sender)-len(line)+1):], line[1:])
		}
	})
}

// eventContent distinguishes events of the same kind.
func eventContent(e client.Event) string {
	switch {
	case e.Artifact != nil:
		return " " + e.Artifact.Artifact.Text()
	case e.Status != nil && e.Status.Status.Message != nil:
		return " " + e.Status.Status.Message.ID
	}
	return ""
}

func TestTaskOutlivesItsClient(t *testing.T) {
	eachLink(t, refagent.Options{}, func(t *testing.T, _ link, c *client.Client) {
		var id string
		for e, err := range c.Stream(t.Context(), client.Text("long-running"), client.SendOptions{}) {
			must.Do(t, err)
			id = e.Task.ID
			break // leaves the stream
		}
		waitUntil(t, c, id, client.Completed)

		ctx, cancel := context.WithCancel(t.Context())
		m := client.Text("task-cancel")
		m.ContextID = "abandoned"
		answered := make(chan error, 1)
		go func() {
			_, err := c.Send(ctx, m, client.SendOptions{})
			answered <- err
		}()
		var task *client.Task
		if c.Endpoint().Protocol.Version != "1.0" {
			cancel()
			<-answered
			return // 0.3 cannot find a task whose id it never got
		}
		for task == nil {
			page := must.Get(c.List(t.Context(), client.ListOptions{ContextID: "abandoned"}))(t)
			if len(page.Tasks) > 0 {
				task = &page.Tasks[0]
			}
		}
		cancel()
		expect.ErrorIs(t, "", context.Canceled, <-answered)
		if s := get(t, c, task.ID).Status.State; s.Terminal() {
			t.Errorf("the task ended as %s with its client", s)
		}
	})
}

func TestCloseEndsStreams(t *testing.T) {
	a := must.Get(refagent.New("spec", refagent.Options{}))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := &http.Server{Handler: a}
	go s.Serve(l) // until Close
	defer s.Close()
	c := agenttest.Connect(t, "http://"+l.Addr().String()+"/spec", client.JSONRPC10, client.Options{})
	n := 0
	for _, err := range c.Stream(t.Context(), client.Text("task-cancel"), client.SendOptions{}) {
		must.Do(t, err)
		if n++; n == 2 {
			a.Close()
		}
	}
	expect.Equal(t, "events", 2, n)
}

func TestPushNotifications(t *testing.T) {
	eachLink(t, refagent.Options{Push: true}, func(t *testing.T, l link, c *client.Client) {
		hook := newWebhook(t)
		ctx := t.Context()
		config := client.PushConfig{URL: hook.url, Token: "tok", Scheme: "Bearer", Credentials: "secret"}
		task := begin(t, c, "multi-turn")
		waitUntil(t, c, task.ID, client.InputRequired)
		config.TaskID = task.ID
		made, err := c.CreatePush(ctx, config)
		if err != nil || made.ID == "" || made.TaskID != task.ID || made.URL != hook.url {
			t.Fatalf("create: got %+v, %v", made, err)
		}
		config.ID = "second"
		must.Get(c.CreatePush(ctx, config))(t)
		if list, err := c.ListPush(ctx, task.ID); err != nil || len(list) != 2 {
			t.Errorf("list: got %v, %v, want two configs", list, err)
		}
		if got, err := c.GetPush(ctx, task.ID, made.ID); err != nil || got.URL != hook.url || got.Scheme != "Bearer" {
			t.Errorf("get: got %+v, %v", got, err)
		}
		for range 2 {
			if err := c.DeletePush(ctx, task.ID, "second"); err != nil {
				t.Errorf("delete: %v", err)
			}
		}
		_, err = c.GetPush(ctx, task.ID, "second")
		checkRefusal(t, err, -32001)
		send(t, c, followUp("done", task))

		want := []string{"working", "artifact:final!", "completed"}
		if l.protocol.Version != "1.0" {
			want = []string{"task:working", "task:completed"}
		}
		for _, w := range want {
			got := <-hook.got
			if l.agent == "spec03-proto" { // its Task names no kind, which is not read here
				got.what, got.taskID = w, task.ID
			}
			if got.what != w || got.auth != "Bearer secret" || got.token != "tok" || got.taskID != task.ID {
				t.Errorf("notified of %+v, want %s with credentials", got, w)
			}
		}
	})
}

func TestInlinePushIsRetried(t *testing.T) {
	eachLink(t, refagent.Options{Push: true}, func(t *testing.T, _ link, c *client.Client) {
		hook := newWebhook(t)
		hook.failures <- 503
		_, err := c.Send(t.Context(), client.Text("task-failure"),
			client.SendOptions{Push: &client.PushConfig{URL: hook.url}})
		must.Do(t, err)
		if got := <-hook.got; got.auth != "" || !strings.Contains(got.what, "working") {
			t.Errorf("notified of %+v, want working without credentials", got)
		}
		expect.Contains(t, "notified of", "failed", (<-hook.got).what)
	})
}

// A webhook receives push notifications.
type webhook struct {
	url      string
	got      chan notification
	failures chan int // statuses to answer before it accepts notifications
}

type notification struct{ what, taskID, auth, token, mediaType string }

func newWebhook(t *testing.T) *webhook {
	h := &webhook{got: make(chan notification, 100), failures: make(chan int, 1)}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	h.url = "http://" + l.Addr().String() + "/hook"
	s := &http.Server{Handler: h}
	go s.Serve(l) // until Close
	t.Cleanup(func() { s.Close() })
	return h
}

func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case status := <-h.failures:
		w.WriteHeader(status)
		return
	default:
	}
	n := notification{
		auth: r.Header.Get("Authorization"), token: r.Header.Get("X-A2A-Notification-Token"),
		mediaType: r.Header.Get("Content-Type"),
	}
	var body struct {
		StatusUpdate struct {
			TaskID string
			Status struct{ State string }
		}
		ArtifactUpdate struct {
			TaskID   string
			Artifact struct{ Name string }
		}
		Kind, ID string
		Status   struct{ State string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		n.what = err.Error()
	}
	switch state := strings.TrimPrefix(body.StatusUpdate.Status.State, "TASK_STATE_"); {
	case body.Kind == "task":
		n.what, n.taskID = "task:"+body.Status.State, body.ID
	case state != "":
		n.what, n.taskID = strings.ToLower(state), body.StatusUpdate.TaskID
	default:
		n.what, n.taskID = "artifact:"+body.ArtifactUpdate.Artifact.Name+"!", body.ArtifactUpdate.TaskID
	}
	h.got <- n
}
